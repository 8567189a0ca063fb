//! Statuses of owners that a Pathline wrote which has ended.

use serde_json::{Value, json};

/// Returns how the status of an owner is to be changed so that it says of nothing that it runs; none if it
/// does not say so. The newest generation that was live is forgotten with it.
pub fn forget_live(status: &Value) -> Option<Value> {
    let mut inputs = status["inputs"].clone();
    let mut is_changed = is_live(status);
    for input in inputs.as_array_mut().into_iter().flatten() {
        if is_live(input) {
            input["live"] = "Unknown".into();
            is_changed = true;
        }
    }
    if !is_changed {
        return None;
    }
    let mut changed = json!({"live": "Unknown", "liveGeneration": null});
    if inputs.is_array() {
        changed["inputs"] = inputs;
    }
    Some(changed)
}

fn is_live(it: &Value) -> bool {
    it["live"] == "True"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_runs_any_more_that_ran_below_a_pathline_that_has_ended() {
        let inputs =
            json!([{"name": "source", "live": "True"}, {"name": "param:a", "live": "False"}]);
        let status = json!({"live": "False", "liveGeneration": 3, "inputs": inputs});
        let inputs =
            json!([{"name": "source", "live": "Unknown"}, {"name": "param:a", "live": "False"}]);
        let changed = json!({"live": "Unknown", "liveGeneration": null, "inputs": inputs});
        assert_eq!(forget_live(&status), Some(changed));
        let changed = json!({"live": "Unknown", "liveGeneration": null});
        assert_eq!(forget_live(&json!({"live": "True"})), Some(changed));
    }

    #[test]
    fn a_status_that_promises_nothing_stays_as_it_is() {
        assert_eq!(forget_live(&Value::Null), None);
        assert_eq!(
            forget_live(&json!({"live": "False", "inputs": [{"live": "Unknown"}]})),
            None
        );
    }
}
