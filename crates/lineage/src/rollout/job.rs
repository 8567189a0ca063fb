//! Jobs.

use serde_json::Value;

use super::Stage;
use super::below::Below;
use super::images;
use super::object::Object;

pub(super) fn job(object: &Object, below: &Below, wanted: &[String]) -> Stage {
    let is_true = |named: &str| object.condition(named).filter(|it| it.status == "True");
    if let Some(failed) = is_true("Failed") {
        return Stage::failed(failed.message_of());
    }
    let groups = below.pods_of(&object.uid);
    if let Some(reason) = groups.iter().find_map(|it| below.pods().crash(it)) {
        return Stage::failed(reason);
    }
    if is_true("Complete").is_none() {
        if object.spec("suspend") == Some(&Value::Bool(true)) {
            return Stage::progressing("it is suspended");
        }
        let done = object.count("succeeded");
        return Stage::progressing(format!("it is not complete: {done} pods have succeeded"));
    }
    let missing = groups
        .iter()
        .find_map(|it| images::missing(wanted, &object.images, it));
    missing.map_or(Stage::Done, Stage::progressing)
}
