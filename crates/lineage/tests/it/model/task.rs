//! Tasks at the end of the path: those parts whose controller says honestly when it is done are judged as one, too.

use pathline_lineage::rollout::{self, Below};
use pathline_lineage::{Health, Rollout};
use pathline_testkit::Dice;
use serde_json::{Value, json};

use super::check::{self, Fault};
use super::object::Object;
use super::part::Part;
use super::world::World;

/// Tells whether a part is a task.
pub(super) fn is_task(part: &Part, dice: &mut Dice) -> bool {
    part.controller.reports() && part.counted && dice.chance(50)
}

/// Judges a task as Pathline saw it last; the rest of its rollout is that of a process.
pub(super) fn rollout(part: &Part, process: Rollout) -> Rollout {
    let Some(seen) = part.seen.as_ref().filter(|_| part.is_task) else {
        return process;
    };
    let object = rollout::Object::read(&object(seen));
    let judged = rollout::judge(&object, &Below::default(), &[]);
    Rollout {
        uid: judged.uid,
        generation: judged.generation,
        stage: judged.stage,
        ..process
    }
}

/// Checks that every task at the end of the path, as Pathline saw it, has really run what it holds.
pub(super) fn has_run(world: &World) -> Result<(), Fault> {
    for resource in world.state.chain().finals() {
        let part = &world.parts[check::index_of(world, &resource.name)];
        let seen = part.seen.as_ref().filter(|_| part.is_task);
        let is_done = |it: &Object| it.status.done == Some(it.generation);
        if !seen.is_none_or(is_done) {
            let told = format!("{} is a task that has not been run", resource.name);
            return Err(Fault::new(told));
        }
    }
    Ok(())
}

/// Reads an object as a Task. What its controller tries again is a run that goes on.
fn object(seen: &Object) -> Value {
    let status = match (&seen.status.failed, seen.status.health) {
        (Some(_), _) => "False",
        (None, Health::True) => "True",
        (None, _) => "Unknown",
    };
    let condition = json!({
        "type": "Succeeded", "status": status, "observedGeneration": seen.status.condition_observed,
        "message": seen.status.failed,
    });
    json!({
        "apiVersion": "pathline.dev/v1alpha1", "kind": "Task",
        "metadata": {"name": seen.uid, "uid": seen.uid, "generation": seen.generation},
        "status": {"observedGeneration": seen.status.observed, "conditions": [condition]},
    })
}
