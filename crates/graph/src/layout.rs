//! The layout of a drawing, in character cells.

use ascii_dag::render::engine::{NodePaintCtx, NodeRegion};
use ascii_dag::{
    CustomNode, EdgePathView, Graph as Dag, LabelSlot, LayoutIR, NodeKind, RenderOptions,
    ScenePlanner,
};

use crate::{Graph, Node};

/// The largest graph that is laid out. A larger one is neither drawn in a moment nor read by anyone.
const MAX_NODES: usize = 120;
const MAX_EDGES: usize = 360;

/// The places of nodes and edges, in the order of the graph.
pub(crate) struct Layout {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) nodes: Vec<Area>,
    pub(crate) edges: Vec<Route>,
    /// The same, drawn with characters.
    pub(crate) drawn: String,
}

/// The cells of a node.
#[derive(Clone, Copy, Default)]
pub(crate) struct Area {
    pub(crate) x: usize,
    pub(crate) y: usize,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

/// The turns of an edge, and where its label stands if there is room for one.
#[derive(Clone, Default)]
pub(crate) struct Route {
    pub(crate) turns: Vec<(usize, usize)>,
    pub(crate) label: Option<(usize, usize)>,
}

/// Places nodes and edges, unless there are too many of them.
pub(crate) fn place(graph: &Graph) -> Option<Layout> {
    if graph.nodes.len() > MAX_NODES || graph.edges.len() > MAX_EDGES {
        return None;
    }
    let payloads: Vec<String> = graph
        .nodes
        .iter()
        .map(|node| node.lines.join("\n"))
        .collect();
    let mut dag = Dag::new();
    for (index, (node, payload)) in graph.nodes.iter().zip(&payloads).enumerate() {
        let (width, height) = size(node);
        dag.add_node(
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
    for edge in &graph.edges {
        dag.add_edge(edge.from, edge.to, edge.label.as_deref());
    }
    Some(measure(&dag.compute_layout(), graph))
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

fn measure(layout: &LayoutIR<'_>, graph: &Graph) -> Layout {
    let options = RenderOptions::plain();
    let mut measured = Layout {
        width: layout.width(),
        height: layout.height(),
        nodes: vec![Area::default(); graph.nodes.len()],
        edges: vec![Route::default(); graph.edges.len()],
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
