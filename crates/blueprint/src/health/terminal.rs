//! Will a stamped object get any further without a change?
//!
//! Health that is False says only that something is wrong now: most controllers try again. An object
//! has failed for good where its kind says so, or where a rule of the template does.

use pathline_kinds::carto::HealthRule;
use serde_json::Value;

use super::{condition, find_condition, matches};

/// Conditions by which objects say that they will get no further until somebody changes something:
/// kstatus and Flux say `Stalled`, Jobs `Failed`, the controllers of AWS `ACK.Terminal`.
const TERMINAL: [&str; 3] = ["Stalled", "Failed", "ACK.Terminal"];

/// The condition by which runs say how they ended: Tekton's, kpack's builds, and `Task`.
const SUCCEEDED: &str = "Succeeded";

/// The number of lines of a log that are told.
const MAX_LINES: usize = 3;

/// The words of lines that say what went wrong, in lower case.
const TELLING: [&str; 6] = ["error", "fail", "panic", "exception", "fatal", "not found"];

/// The reason of a Deployment that has made no progress for too long.
const DEADLINE: &str = "ProgressDeadlineExceeded";

/// Returns why an object will get no further until somebody changes something; `None` if it may.
///
/// `is_run` tells that the object is one of a set of immutable ones: a run that is not healthy has
/// ended. Otherwise what the object reports has to be about its current generation.
pub fn terminal(rule: Option<&HealthRule>, object: &Value, is_run: bool) -> Option<String> {
    let is_current = |condition_type: &str| is_run || is_about_current(condition_type, object);
    let said = TERMINAL.into_iter().find_map(|terminal| {
        let (status, message) = condition(terminal, object)?;
        let holds = status == "True" && is_current(terminal);
        holds.then(|| words(terminal, message, object))
    });
    said.or_else(|| {
        let (status, message) = condition(SUCCEEDED, object)?;
        let ended = status == "False" && is_current(SUCCEEDED);
        ended.then(|| words(SUCCEEDED, message, object) + &log_of(object))
    })
    .or_else(|| deadline(object).filter(|_| is_current("Progressing")))
    .or_else(|| by_rule(rule, object, is_run))
}

/// Returns what a run printed of its failure and the path of its log, where its status has them, as that of a `Task`
/// does.
fn log_of(object: &Value) -> String {
    let status = |name: &str| object["status"][name].as_str().unwrap_or_default();
    let mut told = String::new();
    let lines = telling_lines(status("logTail"));
    if !lines.is_empty() {
        told += &format!("; it said: {}", lines.join(" / "));
    }
    match status("logPath") {
        "" => told,
        path => told + &format!("; its log is {path}"),
    }
}

/// Returns the last lines of a log that say what went wrong; if none does, its last lines.
fn telling_lines(log: &str) -> Vec<&str> {
    let lines = log.lines().map(str::trim).filter(|it| !it.is_empty());
    let lines: Vec<_> = lines.collect();
    let is_telling = |line: &&str| {
        let line = line.to_lowercase();
        TELLING.iter().any(|word| line.contains(word))
    };
    let telling: Vec<_> = lines.iter().copied().filter(is_telling).collect();
    let told = if telling.is_empty() { lines } else { telling };
    told[told.len().saturating_sub(MAX_LINES)..].to_vec()
}

fn deadline(object: &Value) -> Option<String> {
    let progressing = find_condition("Progressing", object)?;
    let exceeded = progressing["reason"] == DEADLINE;
    let message = progressing["message"].as_str().unwrap_or(DEADLINE);
    exceeded.then(|| message.to_owned())
}

/// Returns what the rule of a template says: of a run that it is unhealthy in any way, of any other
/// object that `multiMatch.unhealthy` holds.
fn by_rule(rule: Option<&HealthRule>, object: &Value, is_run: bool) -> Option<String> {
    let rule = rule?;
    if let Some(condition_type) = &rule.single_condition_type {
        let (status, message) = condition(condition_type, object)?;
        let ended = is_run && status == "False";
        return ended.then(|| words(condition_type, message, object));
    }
    let unhealthy = &rule.multi_match.as_ref()?.unhealthy;
    let matched = matches(unhealthy, object).flatten().next()?;
    (is_run || observed(object)).then_some(matched.message)
}

/// Tells whether a condition speaks about the current generation of an object. Where nothing says
/// so, it does only if there was no other generation.
fn is_about_current(condition_type: &str, object: &Value) -> bool {
    let found = find_condition(condition_type, object);
    let own = found.and_then(|it| it["observedGeneration"].as_i64());
    match own {
        Some(own) => Some(own) == generation(object),
        None => observed(object),
    }
}

fn observed(object: &Value) -> bool {
    let observed = object.pointer("/status/observedGeneration");
    match observed.and_then(Value::as_i64) {
        Some(observed) => Some(observed) == generation(object),
        None => generation(object).is_none_or(|it| it <= 1),
    }
}

fn generation(object: &Value) -> Option<i64> {
    object.pointer("/metadata/generation")?.as_i64()
}

/// Returns what a condition says, for people.
fn words(condition_type: &str, message: &str, object: &Value) -> String {
    let reason = find_condition(condition_type, object).and_then(|it| it["reason"].as_str());
    match (message, reason) {
        ("", Some(reason)) => reason.to_owned(),
        ("", None) => format!("its condition {condition_type} says so"),
        (message, _) => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(generation: i64, observed: Value, conditions: Value) -> Value {
        let mut object = json!({"metadata": {"generation": generation}, "status": {}});
        object["status"]["observedGeneration"] = observed;
        object["status"]["conditions"] = conditions;
        object
    }

    fn says(object: &Value) -> Option<String> {
        let ready: HealthRule =
            serde_json::from_value(json!({"singleConditionType": "Ready"})).unwrap();
        terminal(Some(&ready), object, false)
    }

    #[test]
    fn point_1_health_that_is_false_may_pass() {
        let starting =
            json!([{"type": "Ready", "status": "False", "message": "it is being started"}]);
        assert_eq!(says(&object(2, json!(2), starting)), None);
    }

    #[test]
    fn point_1_kinds_say_that_they_get_no_further() {
        for (condition, told) in [
            (
                json!({"type": "Stalled", "status": "True", "message": "no such URL"}),
                "no such URL",
            ),
            (
                json!({"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}),
                "BackoffLimitExceeded",
            ),
            (
                json!({"type": "Succeeded", "status": "False", "message": "exit code 1"}),
                "exit code 1",
            ),
            (
                json!({"type": "Progressing", "status": "False", "reason": DEADLINE, "message": "timed out"}),
                "timed out",
            ),
        ] {
            let at = |observed| says(&object(2, observed, json!([condition])));
            assert_eq!(at(json!(2)).as_deref(), Some(told));
            assert_eq!(at(json!(1)), None, "of an older generation: {condition}");
            assert_eq!(
                at(Value::Null),
                None,
                "nothing says which generation: {condition}"
            );
            let only = says(&object(1, Value::Null, json!([condition])));
            assert_eq!(
                only.as_deref(),
                Some(told),
                "there was no other: {condition}"
            );
        }
        let passing = json!([{"type": "Stalled", "status": "False"}, {"type": "Succeeded", "status": "Unknown"}]);
        assert_eq!(says(&object(1, json!(1), passing)), None);
    }

    #[test]
    fn failed_run_tells_the_lines_that_help_and_where_the_others_are() {
        let failed = json!([{"type": "Succeeded", "status": "False", "message": "exit code 1"}]);
        let mut task = object(1, json!(1), failed);
        task["status"]["logPath"] = json!("/logs/test.log");
        let told = |log: &str| {
            let mut task = task.clone();
            task["status"]["logTail"] = json!(log);
            says(&task).unwrap()
        };
        assert_eq!(
            told("ok 1\nSyntaxError: invalid syntax\n\n----\nRan 1 test\n\nFAILED (errors=1)\n"),
            "exit code 1; it said: SyntaxError: invalid syntax / FAILED (errors=1); its log is /logs/test.log"
        );
        assert_eq!(
            told("one\ntwo\n\nthree\nfour\n"),
            "exit code 1; it said: two / three / four; its log is /logs/test.log"
        );
        assert_eq!(told(""), "exit code 1; its log is /logs/test.log");
    }

    #[test]
    fn condition_may_say_itself_which_generation_it_is_about() {
        let stalled = |observed: i64| json!([{"type": "Stalled", "status": "True", "message": "m", "observedGeneration": observed}]);
        assert!(says(&object(2, Value::Null, stalled(2))).is_some());
        assert!(says(&object(2, json!(2), stalled(1))).is_none());
    }

    #[test]
    fn run_that_is_not_healthy_has_ended() {
        let ready: HealthRule =
            serde_json::from_value(json!({"singleConditionType": "Ready"})).unwrap();
        let failed = object(
            3,
            Value::Null,
            json!([{"type": "Ready", "status": "False", "message": "no"}]),
        );
        assert_eq!(terminal(Some(&ready), &failed, true).as_deref(), Some("no"));
        assert_eq!(terminal(Some(&ready), &failed, false), None);
    }

    #[test]
    fn rule_that_says_what_unhealthy_is_decides() {
        let rule: HealthRule = serde_json::from_value(json!({"multiMatch": {
            "healthy": {"matchConditions": [{"type": "Ready", "status": "True"}]},
            "unhealthy": {"matchFields": [{"key": "status.phase", "operator": "In", "values": ["Broken"]}]},
        }})).unwrap();
        let at = |observed: i64| json!({"metadata": {"generation": 2}, "status": {"observedGeneration": observed, "phase": "Broken"}});
        assert_eq!(
            terminal(Some(&rule), &at(2), false).as_deref(),
            Some("field value: Broken")
        );
        assert_eq!(terminal(Some(&rule), &at(1), false), None);
    }
}
