//! Tasks: commands that run once for each generation, such as the smoke test at the end of a path.

use super::Stage;
use super::object::Object;

/// Judges a task by its run of this very generation; what an earlier one said counts for nothing.
pub(super) fn task(object: &Object) -> Stage {
    let run = object
        .condition("Succeeded")
        .filter(|it| object.has_observed() && it.generation == object.generation);
    let Some(run) = run else {
        let generation = object.generation.unwrap_or_default();
        return Stage::progressing(format!("generation {generation} has not been run yet"));
    };
    match run.status {
        "True" => Stage::Done,
        "False" => Stage::failed(format!("{}{}", run.message_of(), object.last_lines())),
        _ => Stage::progressing(run.message_of()),
    }
}
