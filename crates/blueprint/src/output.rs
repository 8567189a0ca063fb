//! The output that a resource gives to others, and how it is read from the stamped object.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use pathline_jsonpath::go;
use pathline_kinds::carto::{CompletionCondition, ObservedCompletion, ObservedMatch, OutputStatus};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::template::OutputRule;
use crate::{evaluate, yaml};

/// The output that one resource gives to others.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// A source, or a source that has been deployed.
    Source {
        /// The address at which it can be fetched.
        url: Value,
        /// The version of it.
        revision: Value,
    },
    /// An image.
    Image(Value),
    /// A configuration.
    Config(Value),
}

/// Says why a stamped object gives nothing yet.
#[derive(Debug, Clone, PartialEq)]
pub enum Unavailable {
    /// Nothing is at the path of an output.
    MissingValue {
        /// The path.
        path: String,
    },
    /// The object has not deployed what it was given.
    NotMet(String),
    /// The object failed to deploy what it was given.
    Failed(String),
    /// The object does not say which generation its status is about.
    NoObservedGeneration,
}

impl Output {
    /// Returns the values by the names that status gives them.
    pub fn values(&self) -> Vec<(&'static str, &Value)> {
        match self {
            Self::Source { url, revision } => vec![("url", url), ("revision", revision)],
            Self::Image(image) => vec![("image", image)],
            Self::Config(config) => vec![("config", config)],
        }
    }

    /// Reports the values; one that has not changed keeps its time.
    pub fn status(&self, previous: &[OutputStatus], now: &Time) -> Vec<OutputStatus> {
        let report = |(name, value): (&'static str, &Value)| {
            let text = yaml::document(value);
            let digest = digest(&text);
            let unchanged = previous
                .iter()
                .find(|old| old.name == name && old.digest == digest);
            OutputStatus {
                name: name.to_owned(),
                preview: preview(&text),
                digest,
                last_transition_time: unchanged
                    .map_or(now, |old| &old.last_transition_time)
                    .clone(),
            }
        };
        self.values().into_iter().map(report).collect()
    }
}

/// The longest preview, in bytes.
const PREVIEW_BYTES: usize = 1024;

fn preview(text: &str) -> String {
    let end = text.len().min(PREVIEW_BYTES);
    String::from_utf8_lossy(&text.as_bytes()[..end]).into_owned()
}

/// Returns the SHA-256 of a text, as `sha256:<hex>`.
pub(crate) fn digest(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    hash.iter()
        .fold("sha256:".to_owned(), |hex, byte| format!("{hex}{byte:02x}"))
}

/// Reads what a stamped object gives; a template without outputs gives nothing.
///
/// `deployment` is what the resource was given to deploy; a deployment template hands it on.
///
/// # Errors
///
/// Fails while the object does not have the value, or does not meet what the rule asks for.
pub fn read(
    rule: &OutputRule,
    object: &Value,
    deployment: Option<&Output>,
) -> Result<Option<Output>, Unavailable> {
    let at = |path: &String| {
        evaluate::present(path, object)
            .map_err(|_| Unavailable::MissingValue { path: path.clone() })
    };
    match rule {
        OutputRule::Source { url, revision } => Ok(Some(Output::Source {
            url: at(url)?,
            revision: at(revision)?,
        })),
        OutputRule::Image(path) => Ok(Some(Output::Image(at(path)?))),
        OutputRule::Config(path) => Ok(Some(Output::Config(at(path)?))),
        OutputRule::Matches(matches) => {
            matches
                .iter()
                .try_for_each(|pair| check_match(pair, object))?;
            Ok(deployment.cloned())
        }
        OutputRule::Completion(completion) => {
            check_completion(completion, object)?;
            Ok(deployment.cloned())
        }
        OutputRule::Nothing => Ok(None),
    }
}

fn check_match(pair: &ObservedMatch, object: &Value) -> Result<(), Unavailable> {
    let find = |what: &str, path: &str| {
        evaluate::value(path, object).map_err(|error| {
            Unavailable::NotMet(format!("could not find value on {what} [{path}]: {error}"))
        })
    };
    let input = find("input", &pair.input)?;
    let output = find("output", &pair.output)?;
    if input == output {
        return Ok(());
    }
    Err(Unavailable::NotMet(format!(
        "input [{}] and output [{}] do not match: {} != {}",
        pair.input,
        pair.output,
        go::print(&input),
        go::print(&output)
    )))
}

fn check_completion(completion: &ObservedCompletion, object: &Value) -> Result<(), Unavailable> {
    let observed = object.pointer("/status/observedGeneration");
    let observed = observed.ok_or(Unavailable::NoObservedGeneration)?;
    let generation = object
        .pointer("/metadata/generation")
        .unwrap_or(&Value::Null);
    if observed != generation {
        return Err(Unavailable::NotMet(format!(
            "observedGeneration does not equal generation: {} != {}",
            go::print(observed),
            go::print(generation)
        )));
    }
    let actual = |condition: &CompletionCondition| evaluate::value(&condition.key, object);
    if let Some(failed) = &completion.failed
        && actual(failed).is_ok_and(|value| value == json!(failed.value))
    {
        let CompletionCondition { key, value } = failed;
        return Err(Unavailable::Failed(format!(
            "deployment failure condition [{key}] was: {value}"
        )));
    }
    let CompletionCondition {
        key,
        value: expected,
    } = &completion.succeeded;
    match actual(&completion.succeeded) {
        Ok(value) if value == json!(expected) => Ok(()),
        Ok(value) => Err(Unavailable::NotMet(format!(
            "deployment success condition [{key}] was: {}, expected: {expected}",
            go::print(&value)
        ))),
        Err(error) => Err(Unavailable::NotMet(format!(
            "failed to evaluate [{key}]: {error}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(seconds: i64) -> Time {
        Time(jiff::Timestamp::from_second(seconds).unwrap())
    }

    #[test]
    fn digests_agree_with_cartographer() {
        let known = [
            (
                json!("knitting"),
                "sha256:ccea367d03c124f9594e3ba0aa97e533c35a47694f62757e4dce79039ca361d7",
            ),
            (
                json!("5"),
                "sha256:11fd182657d58787e0e5b61c5da79195f8715fef7f957b9cdba2d8a581b2ca33",
            ),
            (
                json!("three"),
                "sha256:f6936912184481f5edd4c304ce27c5a1a827804fc7f329f43d273b8621870776",
            ),
        ];
        for (value, expected) in known {
            assert_eq!(
                Output::Image(value).status(&[], &time(0))[0].digest,
                expected
            );
        }
    }

    #[test]
    fn a_long_value_is_previewed_and_hashed_whole() {
        let line = format!("bar{}", ".".repeat(100));
        let last = format!("bar{}you can see me now you cant", ".".repeat(72));
        let data = json!({"aa": line, "bb": line, "cc": line, "dd": line, "ee": line, "ff": line, "gg": last});
        let value = json!({
            "apiVersion": "example.com/v1alpha1",
            "kind": "SomeService",
            "metadata": {"name": "service"},
            "data": {"player_initial_lives": "three", "player_loves": "hockey"},
            "spec": {"template": {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "example-second-configmap"},
                "data": data,
            }},
        });
        let status = Output::Config(value).status(&[], &time(0)).remove(0);
        assert_eq!(
            status.digest,
            "sha256:868a6f6b23762ce221f64bee95aacb0d431b6f0900bb2d23cce6f1f02224a56a"
        );
        assert_eq!(status.preview.len(), PREVIEW_BYTES);
        assert!(status.preview.ends_with("you can see me"));
    }

    #[test]
    fn only_what_changed_gets_a_new_time() {
        let source = |revision: &str| Output::Source {
            url: json!("u"),
            revision: json!(revision),
        };
        let before = source("1").status(&[], &time(10));
        let after = source("2").status(&before, &time(20));
        assert_eq!(after[0], before[0]);
        assert_eq!(after[1].last_transition_time, time(20));
    }

    #[test]
    fn outputs_are_read_at_their_paths() {
        let object = json!({"status": {"url": "u", "revision": 7, "image": null}});
        let source = OutputRule::Source {
            url: ".status.url".into(),
            revision: "status.revision".into(),
        };
        assert_eq!(
            read(&source, &object, None),
            Ok(Some(Output::Source {
                url: json!("u"),
                revision: json!(7)
            }))
        );
        for path in ["status.image", "status.absent", "status[0]"] {
            let missing = Unavailable::MissingValue {
                path: path.to_owned(),
            };
            assert_eq!(
                read(&OutputRule::Image(path.to_owned()), &object, None),
                Err(missing)
            );
        }
        assert_eq!(read(&OutputRule::Nothing, &object, None), Ok(None));
    }

    #[test]
    fn a_deployment_is_handed_on_once_what_was_asked_for_is_observed() {
        let deployment = Output::Source {
            url: json!("u"),
            revision: json!("r2"),
        };
        let rule = OutputRule::Matches(vec![ObservedMatch {
            input: "spec.revision".into(),
            output: "status.running".into(),
        }]);
        let read = |object: Value| read(&rule, &object, Some(&deployment));
        let spec = json!({"revision": "r2"});
        assert_eq!(
            read(json!({"spec": spec, "status": {"running": "r2"}})),
            Ok(Some(deployment.clone()))
        );
        assert_eq!(
            read(json!({"spec": spec, "status": {"running": "r1"}})),
            Err(Unavailable::NotMet(
                "input [spec.revision] and output [status.running] do not match: r2 != r1".into()
            ))
        );
        assert_eq!(
            read(json!({"spec": spec})),
            Err(Unavailable::NotMet(
                "could not find value on output [status.running]: jsonpath returned empty list: status.running"
                    .into()
            ))
        );
        assert!(
            read(json!({"spec": {"revision": {"a": [1]}}, "status": {"running": {"a": [1]}}}))
                .is_ok()
        );
    }

    #[test]
    fn completion_is_judged_on_the_current_generation() {
        let rule = OutputRule::Completion(
            serde_json::from_value(json!({
                "succeeded": {"key": "status.phase", "value": "Done"},
                "failed": {"key": "status.phase", "value": "Broken"},
            }))
            .unwrap(),
        );
        let deployment = Output::Source {
            url: json!("u"),
            revision: json!("r"),
        };
        let read = |observed: Value, phase: &str| {
            let object = json!({
                "metadata": {"generation": 2},
                "status": {"observedGeneration": observed, "phase": phase},
            });
            read(&rule, &object, Some(&deployment))
        };
        assert_eq!(read(json!(2), "Done"), Ok(Some(deployment.clone())));
        assert_eq!(
            read(json!(1), "Done"),
            Err(Unavailable::NotMet(
                "observedGeneration does not equal generation: 1 != 2".into()
            ))
        );
        assert_eq!(
            read(json!(2), "Broken"),
            Err(Unavailable::Failed(
                "deployment failure condition [status.phase] was: Broken".into()
            ))
        );
        assert_eq!(
            read(json!(2), "Going"),
            Err(Unavailable::NotMet(
                "deployment success condition [status.phase] was: Going, expected: Done".into()
            ))
        );
        let silent = json!({"metadata": {"generation": 1}, "status": {}});
        assert_eq!(
            super::read(&rule, &silent, None),
            Err(Unavailable::NoObservedGeneration)
        );
    }
}
