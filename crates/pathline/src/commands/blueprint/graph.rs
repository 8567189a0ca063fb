//! `pathline blueprint graph`: a blueprint drawn, without the help of any program.

mod dot;
mod layout;
mod mermaid;
mod picture;
mod svg;
mod text;

use self::picture::Picture;
use super::report;
use super::source;
use crate::cli::{GraphArgs, GraphFormat};
use crate::output::{print_bytes, print_text};
use crate::report::{Exit, Failure};

pub(super) fn run(args: &GraphArgs) -> Result<Exit, Failure> {
    let blueprint = source::blueprint(&args.blueprint)?;
    let plan = source::plan(&args.blueprint.file, &blueprint)?;
    let path = match &args.owner {
        None => None,
        Some(file) => {
            let owner = source::owner(file, blueprint.owner_kind)?;
            Some(report::resources(&blueprint, &plan.choose(&owner)))
        }
    };
    let picture = Picture::new(&blueprint, path.as_deref());
    match args.format {
        GraphFormat::Text => print_text(|out| text::write(&picture, out))?,
        GraphFormat::Mermaid => print_bytes(mermaid::write(&picture).as_bytes())?,
        GraphFormat::Dot => print_bytes(dot::write(&picture).as_bytes())?,
        GraphFormat::Svg => print_bytes(svg(&picture)?.as_bytes())?,
    }
    Ok(Exit::Yes)
}

fn svg(picture: &Picture) -> Result<String, Failure> {
    svg::write(picture).ok_or_else(|| {
        let count = picture.nodes.len() - 1;
        let message = format!("a blueprint with {count} resources is too large for a drawing");
        Failure::new(message)
            .with_hint("`--format dot` is for programs that draw large graphs")
            .with_exit(Exit::Unknown)
    })
}
