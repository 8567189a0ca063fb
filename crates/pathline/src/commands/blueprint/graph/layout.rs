//! Where everything stands in a drawing, in character cells.

use ascii_dag::render::engine::{NodePaintCtx, NodeRegion};
use ascii_dag::{
    CustomNode, EdgePathView, Graph, LabelSlot, LayoutIR, NodeKind, RenderOptions, ScenePlanner,
};

use super::picture::{Node, Picture};

/// What is larger is neither drawn in a moment nor read by anyone.
const NODES_MAX: usize = 120;
const EDGES_MAX: usize = 360;

/// The places of nodes and edges, in the order of the picture.
pub(super) struct Layout {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) nodes: Vec<Area>,
    pub(super) edges: Vec<Route>,
    /// The same, drawn with characters.
    pub(super) drawn: String,
}

/// The cells of a node.
#[derive(Clone, Copy, Default)]
pub(super) struct Area {
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) width: usize,
    pub(super) height: usize,
}

/// The turns of an edge, and where its label stands if there is room for one.
#[derive(Clone, Default)]
pub(super) struct Route {
    pub(super) turns: Vec<(usize, usize)>,
    pub(super) label: Option<(usize, usize)>,
}

/// Places nodes and edges, unless there are too many of them.
pub(super) fn place(picture: &Picture) -> Option<Layout> {
    if picture.nodes.len() > NODES_MAX || picture.edges.len() > EDGES_MAX {
        return None;
    }
    let payloads: Vec<String> = picture
        .nodes
        .iter()
        .map(|node| node.lines.join("\n"))
        .collect();
    let labels: Vec<Option<String>> = picture.edges.iter().map(|edge| edge.label()).collect();
    let mut graph = Graph::new();
    for (index, (node, payload)) in picture.nodes.iter().zip(&payloads).enumerate() {
        let (width, height) = size(node);
        graph.add_node(
            index,
            CustomNode {
                label: &node.name,
                width,
                height,
                painter: Some(paint),
                payload,
            },
        );
    }
    for (edge, label) in picture.edges.iter().zip(&labels) {
        graph.add_edge(edge.from, edge.to, label.as_deref());
    }
    Some(measure(&graph.compute_layout(), picture))
}

fn size(node: &Node) -> (usize, usize) {
    let lines = node.lines.iter().chain([&node.name]);
    let width = lines.map(|line| line.chars().count()).max();
    (width.unwrap_or_default() + 4, node.lines.len() + 3)
}

fn paint(region: &mut NodeRegion<'_, '_>, node: NodePaintCtx<'_>) {
    region.frame();
    region.write_str(2, 1, node.label);
    for (row, line) in node.payload.lines().enumerate() {
        region.write_str(2, row + 2, line);
    }
}

fn measure(layout: &LayoutIR<'_>, picture: &Picture) -> Layout {
    let options = RenderOptions::plain();
    let mut measured = Layout {
        width: layout.width(),
        height: layout.height(),
        nodes: vec![Area::default(); picture.nodes.len()],
        edges: vec![Route::default(); picture.edges.len()],
        drawn: layout.render_string(&options),
    };
    let mut planner = ScenePlanner::new();
    let Ok(scene) = planner.plan(layout, &options.plan).quiet() else {
        return measured;
    };
    (measured.width, measured.height) = (scene.width(), scene.height());
    for node in scene.nodes() {
        if let (Some(index), false) = (node.id, matches!(node.kind, NodeKind::Dummy)) {
            measured.nodes[index] = Area {
                x: node.x,
                y: node.y,
                width: node.width,
                height: node.height,
            };
        }
    }
    for edge in scene.edges() {
        let mut turns = vec![edge.from];
        match edge.path {
            EdgePathView::Corner { bend_at } => {
                turns.extend([(edge.from.0, bend_at), (edge.to.0, bend_at)]);
            }
            EdgePathView::SideChannel {
                channel_at,
                span_start,
                span_end,
            } => turns.extend([
                (edge.from.0, span_start),
                (channel_at, span_start),
                (channel_at, span_end),
                (edge.to.0, span_end),
            ]),
            EdgePathView::MultiSegment { waypoints, .. } => turns.extend(waypoints),
            _ => {}
        }
        turns.push(edge.to);
        let label = edge.label.and_then(|label| match label.slot {
            LabelSlot::Inline { x, y, .. } => Some((x, y)),
            _ => None,
        });
        measured.edges[edge.input_index] = Route { turns, label };
    }
    measured
}
