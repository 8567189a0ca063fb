//! `pathline blueprint path`: the path of one owner.

use std::io::{self, Write};

use pathline_blueprint::blueprint::Blueprint;
use pathline_blueprint::owner::Owner;
use pathline_blueprint::path::{self, ResourceReport, State};
use pathline_blueprint::selection::Plan;
use pathline_blueprint::selector;
use serde::Serialize;

use super::{source, table};
use crate::cli::PathArgs;
use crate::terminal::output::print_data;
use crate::terminal::report::{CommandError, Exit};

/// The path of an owner through a blueprint.
#[derive(Debug, Serialize)]
pub(super) struct PathReport {
    /// Whether the blueprint's own selector picks the owner up.
    pub(super) matches: bool,
    pub(super) resources: Vec<ResourceReport>,
}

pub(super) fn run(args: &PathArgs) -> Result<Exit, CommandError> {
    let blueprint = source::blueprint(&args.blueprint)?;
    let owner = source::owner(&args.owner, blueprint.owner_kind)?;
    let path = PathReport::new(
        &source::plan(&args.blueprint.file, &blueprint)?,
        &blueprint,
        &owner,
    );
    print_data(args.output.format, &path, |out| {
        path.write(&blueprint, &owner, out)
    })?;
    Ok(if path.has_failed() {
        Exit::No
    } else {
        Exit::Yes
    })
}

impl PathReport {
    pub(super) fn new(plan: &Plan, blueprint: &Blueprint, owner: &Owner) -> Self {
        let score = selector::score(&blueprint.selector, owner);
        Self {
            matches: matches!(score, Ok(Some(_))),
            resources: path::resources(blueprint, &plan.choose(owner)),
        }
    }

    fn has_failed(&self) -> bool {
        let mut resources = self.resources.iter();
        resources.any(|resource| resource.state == State::Failed)
    }

    fn write(&self, blueprint: &Blueprint, owner: &Owner, out: &mut dyn Write) -> io::Result<()> {
        table::write(&self.resources, out)?;
        if !self.matches {
            let (blueprint, kind) = (&blueprint.name, blueprint.owner_kind.blueprint_noun());
            writeln!(
                out,
                "\nThe selector of the {kind} `{blueprint}` does not match the {} `{}`.",
                owner.kind.noun(),
                owner.name
            )?;
        }
        Ok(())
    }
}
