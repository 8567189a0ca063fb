//! The rules of supply chains and of Environments, where objects are written: here, in the embedded API server, and in
//! the webhook that real clusters ask.

use clap::ValueEnum;
use kube::Resource;
use pathline_blueprint::admission::{admit, first};
use pathline_cluster::{Admission, Review, Verdict};
use pathline_kinds::carto;
use pathline_kinds::environment::Environment;
use pathline_release::environment::{listed, read};
use serde::Deserialize;
use serde_json::Value;

/// By this name refusals are signed.
pub(crate) const NAME: &str = "admission.pathline.dev";

/// The treatment of a blueprint, template or Environment that breaks a rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mode {
    /// It is refused
    #[default]
    Enforce,
    /// It is stored, and whoever writes it is warned
    Warn,
}

/// The rules, as the embedded API server asks them.
#[derive(Debug)]
pub(crate) struct Rules(pub(crate) Mode);

impl Admission for Rules {
    fn name(&self) -> &str {
        NAME
    }

    fn review(&self, review: &Review<'_>) -> Verdict {
        if review.group == carto::GROUP || review.group == Environment::group(&()) {
            judge(self.0, review.object, review.old)
        } else {
            Verdict::silent()
        }
    }
}

/// Decides about one object; `old` is what it replaces.
pub(crate) fn judge(mode: Mode, object: &Value, old: Option<&Value>) -> Verdict {
    let is_environment = object["kind"].as_str() == Some(&*Environment::kind(&()))
        && object["apiVersion"].as_str() == Some(&*Environment::api_version(&()));
    if is_environment {
        return judge_environment(mode, object, old);
    }
    let refusals = admit(object);
    match (mode, first(&refusals)) {
        (Mode::Enforce, Some(refusal)) => Verdict::Denied(refusal.message.clone()),
        _ => Verdict::Allowed(
            refusals
                .into_iter()
                .map(|refusal| refusal.message)
                .collect(),
        ),
    }
}

/// Decides about an Environment: all that is wrong with it is told at once.
fn judge_environment(mode: Mode, object: &Value, old: Option<&Value>) -> Verdict {
    let is_terminating = !object["metadata"]["deletionTimestamp"].is_null();
    // Whoever labels or removes one that is wrong already need not mend it.
    if is_terminating || old.is_some_and(|old| old["spec"] == object["spec"]) {
        return Verdict::silent();
    }
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let Err(problems) = read(name, &object["spec"]) else {
        return Verdict::silent();
    };
    let message = format!("the Environment is invalid: {}", listed(&problems));
    match mode {
        Mode::Enforce => Verdict::Denied(message),
        Mode::Warn => Verdict::Allowed(vec![message]),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_breaks_a_rule_is_refused_or_warned_of() {
        let empty =
            json!({"apiVersion": "carto.run/v1alpha1", "kind": "ClusterTemplate", "spec": {}});
        let message =
            "invalid template: must specify one of template or ytt, found neither".to_owned();
        assert_eq!(
            judge(Mode::Enforce, &empty, None),
            Verdict::Denied(message.clone())
        );
        assert_eq!(
            judge(Mode::Warn, &empty, None),
            Verdict::Allowed(vec![message])
        );
        let fine = json!({"apiVersion": "carto.run/v1alpha1", "kind": "ClusterTemplate", "spec": {"ytt": "a: 1"}});
        assert_eq!(judge(Mode::Enforce, &fine, None), Verdict::silent());
    }

    fn mk_environment(spec: &Value) -> Value {
        json!({
            "apiVersion": "pathline.dev/v1alpha1", "kind": "Environment", "metadata": {"name": "prod"}, "spec": spec,
        })
    }

    #[test]
    fn all_that_is_wrong_with_an_environment_is_told_at_once() {
        let wrong =
            mk_environment(&json!({"type": "prod", "soak": "-1h", "timeZone": "Mars/Phobos"}));
        let Verdict::Denied(message) = judge(Mode::Enforce, &wrong, None) else {
            panic!("it is refused");
        };
        assert!(
            message.contains("spec.soak: ") && message.contains("spec.timeZone: "),
            "{message}"
        );
        assert_eq!(
            judge(Mode::Warn, &wrong, None),
            Verdict::Allowed(vec![message])
        );
        let right = mk_environment(&json!({"type": "prod"}));
        assert_eq!(
            judge(Mode::Enforce, &right, Some(&wrong)),
            Verdict::silent()
        );
    }

    #[test]
    fn environment_that_is_wrong_already_may_be_labelled_and_removed() {
        let wrong = mk_environment(&json!({"type": "moon"}));
        let mut labelled = wrong.clone();
        labelled["metadata"]["labels"] = json!({"a": "b"});
        assert_eq!(
            judge(Mode::Enforce, &labelled, Some(&wrong)),
            Verdict::silent()
        );
        let mut removed = mk_environment(&json!({"type": "sun"}));
        removed["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        assert_eq!(
            judge(Mode::Enforce, &removed, Some(&wrong)),
            Verdict::silent()
        );
        let worse = mk_environment(&json!({"type": "sun"}));
        assert!(matches!(
            judge(Mode::Enforce, &worse, Some(&wrong)),
            Verdict::Denied(_)
        ));
    }

    #[test]
    fn kinds_of_other_groups_are_none_of_our_business() {
        let object = json!({"apiVersion": "other.dev/v1", "kind": "ClusterTemplate", "spec": {}});
        let review = Review {
            group: "other.dev",
            kind: "ClusterTemplate",
            object: &object,
            old: None,
        };
        assert_eq!(Rules(Mode::Enforce).review(&review), Verdict::silent());
    }
}
