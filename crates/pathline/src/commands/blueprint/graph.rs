//! `pathline blueprint graph`: a blueprint drawn, without the help of any program.

mod convert;

use pathline_blueprint::path;
use pathline_graph::{Graph, dot, mermaid, svg, text};

use super::source;
use crate::cli::{GraphArgs, GraphFormat};
use crate::terminal::output::{print_bytes, print_text};
use crate::terminal::report::{CommandError, Exit};

pub(super) fn run(args: &GraphArgs) -> Result<Exit, CommandError> {
    let blueprint = source::blueprint(&args.blueprint)?;
    let plan = source::plan(&args.blueprint.file, &blueprint)?;
    let path = match &args.owner {
        None => None,
        Some(file) => {
            let owner = source::owner(file, blueprint.owner_kind)?;
            Some(path::resources(&blueprint, &plan.choose(&owner)))
        }
    };
    let graph = convert::graph(&blueprint, path.as_deref());
    match args.format {
        GraphFormat::Text => print_text(|out| text::write(&graph, out))?,
        GraphFormat::Mermaid => print_bytes(mermaid::write(&graph).as_bytes())?,
        GraphFormat::Dot => print_bytes(dot::write(&graph).as_bytes())?,
        GraphFormat::Svg => print_bytes(draw_svg(&graph)?.as_bytes())?,
    }
    Ok(Exit::Yes)
}

fn draw_svg(graph: &Graph) -> Result<String, CommandError> {
    svg::write(graph).ok_or_else(|| {
        let count = graph.nodes.len() - 1;
        let message = format!("a blueprint with {count} resources is too large for a drawing");
        CommandError::new(message)
            .with_hint("`--format dot` is for programs that draw large graphs")
            .with_exit(Exit::Unknown)
    })
}
