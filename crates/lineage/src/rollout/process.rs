//! Processes of the embedded cluster.

use serde_json::Value;

use super::Stage;
use super::object::Object;

/// The number of times in a row that a process may end on its own, and is only late.
const CRASHES: i64 = 3;
/// The reason of a process that is started again as soon as somebody else gives its port up: that is
/// no crash of its own.
const PORT_TAKEN: &str = "PortTaken";

pub(super) fn process(object: &Object) -> Stage {
    let generation = object.generation.unwrap_or_default();
    if !object.has_observed() {
        return Stage::progressing(format!("generation {generation} has not been started yet"));
    }
    let ready = object
        .condition("Ready")
        .filter(|it| it.generation == object.generation);
    let told = ready.map(|it| it.message_of()).unwrap_or_default();
    let running = object.status("/running/generation").and_then(Value::as_i64);
    if ready.is_some_and(|it| it.status == "True") && running == Some(generation) {
        return Stage::Done;
    }
    let crashes = object.count("crashes");
    let is_taken = ready.is_some_and(|it| it.reason == PORT_TAKEN);
    if crashes > CRASHES && running.is_none() && !is_taken {
        let said = object.last_lines();
        return Stage::failed(format!("it ended {crashes} times in a row: {told}{said}"));
    }
    Stage::progressing(told)
}
