//! The rules of supply chains, where objects are written: here, in the embedded API server, and in the
//! webhook that real clusters ask.

use clap::ValueEnum;
use pathline_blueprint::admission::{admit, first};
use pathline_cluster::{Admission, Review, Verdict};
use pathline_kinds::carto;
use serde::Deserialize;
use serde_json::Value;

/// By this name refusals are signed.
pub(crate) const NAME: &str = "admission.pathline.dev";

/// The treatment of a blueprint or template that breaks a rule.
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
        if review.group == carto::GROUP {
            judge(self.0, review.object)
        } else {
            Verdict::silent()
        }
    }
}

/// Decides about one object.
pub(crate) fn judge(mode: Mode, object: &Value) -> Verdict {
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
            judge(Mode::Enforce, &empty),
            Verdict::Denied(message.clone())
        );
        assert_eq!(judge(Mode::Warn, &empty), Verdict::Allowed(vec![message]));
        let fine = json!({"apiVersion": "carto.run/v1alpha1", "kind": "ClusterTemplate", "spec": {"ytt": "a: 1"}});
        assert_eq!(judge(Mode::Enforce, &fine), Verdict::silent());
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
