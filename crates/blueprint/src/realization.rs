//! The realization of one resource, and how its status tells it.

mod failure;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use pathline_kinds::carto::{
    API_VERSION, ConditionStatus, ObjectReference, ProducerReference, ResourceStatus,
    StampedReference,
};

use crate::conditions::{self, Verdict};
use crate::output::Output;
use crate::selection::{Skip, Unmet};
use crate::template::TemplateKind;

pub use failure::Failure;

/// The realization of one resource for one owner.
#[derive(Debug, Clone, PartialEq)]
pub struct Realization {
    /// The name of the resource.
    pub resource: String,
    /// Kind and name of the template that was chosen, unless an input is handed on.
    pub template: Option<(TemplateKind, String)>,
    /// The object that was stamped.
    pub stamped: Option<StampedReference>,
    /// The resources it takes inputs from.
    pub producers: Vec<String>,
    /// The outcome: how far it came.
    pub outcome: Outcome,
    /// The output that it gives to others.
    pub output: Option<Output>,
    /// The health of the stamped object.
    pub health: Verdict,
    /// Whether what the object reports is about what was written last, as far as it says.
    pub is_observed: bool,
    /// The reason for which the stamped object will get no further until somebody changes something.
    pub failed: Option<String>,
}

/// The outcome of a realization: how far it came.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It is stamped, and what it gives has been read.
    Submitted,
    /// It hands an input on.
    PassedThrough,
    /// An input does not exist yet; nothing is written until it does.
    Waiting {
        /// The input, by name; empty for the deployment.
        input: String,
        /// The resource that has not produced it.
        producer: String,
    },
    /// It is not on the path of the owner.
    Skipped {
        /// The reason, in one word.
        reason: &'static str,
        /// The reason, for people.
        message: String,
    },
    /// Something is in the way.
    Failed(Failure),
}

impl Outcome {
    /// Returns the outcome of a resource that is not on the path, with the reason for people.
    pub fn skipped(why: &Skip, message: String) -> Self {
        let reason = match why {
            Skip::Unmet(Unmet::Selector { .. }) => "SelectorNotMatched",
            Skip::Unmet(Unmet::Producer { .. }) => "ProducerNotSelected",
            Skip::NoOption(_) => "NoOptionSelected",
        };
        Self::Skipped { reason, message }
    }
}

impl Realization {
    /// Tells whether the resource is on the path of the owner.
    pub fn is_selected(&self) -> bool {
        !matches!(self.outcome, Outcome::Skipped { .. })
    }

    /// Tells whether what was made of the current inputs is in place and works.
    pub fn is_settled(&self) -> bool {
        match self.outcome {
            Outcome::Submitted => self.is_observed && self.health.status == ConditionStatus::True,
            Outcome::PassedThrough => true,
            Outcome::Waiting { .. } | Outcome::Skipped { .. } | Outcome::Failed(_) => false,
        }
    }

    /// Returns why the resource can't go on until somebody changes something.
    pub fn failure(&self, blueprint: &str) -> Option<String> {
        let outcome = match &self.outcome {
            Outcome::Failed(failure) if failure.is_final() => Some(self.submitted(blueprint)),
            _ => None,
        };
        outcome.map(words).or_else(|| self.failed.clone())
    }

    /// Returns what is wrong with the resource, whether or not it may pass.
    pub fn trouble(&self, blueprint: &str) -> Option<String> {
        let health = Some(self.health.clone()).filter(|_| self.is_observed);
        let mut verdicts = [Some(self.submitted(blueprint)), health]
            .into_iter()
            .flatten();
        let wrong = verdicts.find(|it| it.status == ConditionStatus::False && self.is_selected());
        wrong.map(words)
    }

    /// Returns the condition `ResourceSubmitted`; for what is skipped, `Selected`.
    pub(crate) fn submitted(&self, blueprint: &str) -> Verdict {
        let (status, reason, message) = match &self.outcome {
            Outcome::Submitted => (
                ConditionStatus::True,
                "ResourceSubmissionComplete",
                String::new(),
            ),
            Outcome::PassedThrough => (ConditionStatus::True, "PassThrough", String::new()),
            Outcome::Waiting { input, producer } => {
                let input = if input.is_empty() {
                    "deployment"
                } else {
                    input
                };
                let message = format!("waiting for input [{input}] from resource [{producer}]");
                (ConditionStatus::Unknown, "WaitingForInputs", message)
            }
            Outcome::Skipped { reason, message } => {
                return Verdict::new("Selected", ConditionStatus::False, reason, message);
            }
            Outcome::Failed(failure) => self.explain(failure, blueprint),
        };
        Verdict::new("ResourceSubmitted", status, reason, &message)
    }

    /// Reports the resource. `previous` is what was reported last.
    ///
    /// A resource that was not written this time keeps the reference to what it wrote before: the
    /// object is still there, and must be found when it is to be removed.
    pub fn status(
        &self,
        blueprint: &str,
        previous: Option<&ResourceStatus>,
        now: &Time,
    ) -> ResourceStatus {
        let is_kept = match self.outcome {
            Outcome::Submitted | Outcome::PassedThrough | Outcome::Skipped { .. } => false,
            Outcome::Waiting { .. } | Outcome::Failed(_) => self.stamped.is_none(),
        };
        let kept = previous.filter(|_| is_kept);
        let old_outputs = previous.map_or(&[][..], |old| &old.outputs);
        let old_conditions = previous.map_or(&[][..], |old| &old.conditions);
        let template = self.template.as_ref().map(|(kind, name)| ObjectReference {
            api_version: Some(API_VERSION.to_owned()),
            kind: Some(kind.name().to_owned()),
            name: Some(name.clone()),
            ..ObjectReference::default()
        });
        ResourceStatus {
            name: self.resource.clone(),
            template_ref: kept.and_then(|old| old.template_ref.clone()).or(template),
            stamped_ref: kept.map_or_else(|| self.stamped.clone(), |old| old.stamped_ref.clone()),
            inputs: self
                .producers
                .iter()
                .map(|name| ProducerReference { name: name.clone() })
                .collect(),
            outputs: match (&self.output, kept) {
                (Some(output), _) => output.status(old_outputs, now),
                (None, Some(old)) => old.outputs.clone(),
                (None, None) => Vec::new(),
            },
            conditions: conditions::with_times(
                conditions::of_resource(blueprint, self),
                old_conditions,
                now,
            ),
        }
    }
}

/// Returns what a verdict says: its message, if it has one.
fn words(verdict: Verdict) -> String {
    if verdict.message.is_empty() {
        verdict.reason
    } else {
        verdict.message
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::output::Unavailable;
    use crate::selection::NoTemplate;
    use crate::{health, selector, stamp};

    fn stamped() -> StampedReference {
        StampedReference {
            resource: Some("configmaps".to_owned()),
            namespace: Some("dev".to_owned()),
            name: Some("m".to_owned()),
            ..StampedReference::default()
        }
    }

    fn realization(outcome: Outcome) -> Realization {
        Realization {
            resource: "build".to_owned(),
            template: Some((TemplateKind::Image, "t".to_owned())),
            stamped: None,
            producers: vec!["fetch".to_owned()],
            outcome,
            output: None,
            health: health::unknown(),
            is_observed: true,
            failed: None,
        }
    }

    fn explained(failure: Failure) -> (ConditionStatus, String, String) {
        let verdict = realization(Outcome::Failed(failure)).submitted("supply chain [chain]");
        (verdict.status, verdict.reason, verdict.message)
    }

    #[test]
    fn failure_of_a_delivery_names_the_delivery() {
        let failure = Failure::TemplateUnavailable("gone".to_owned());
        let told = realization(Outcome::Failed(failure)).submitted("delivery [py]");
        assert!(
            told.message.contains("in delivery [py]: gone"),
            "{}",
            told.message
        );
    }

    #[test]
    fn every_failure_has_its_reason_and_text() {
        let cases = [
            (
                Failure::NoTemplate(NoTemplate::Matches(vec!["a".into(), "b".into()])),
                ConditionStatus::False,
                "TemplateOptionsMatchError",
                "expected exactly 1 option to match, found [2] matching options [a, b] for resource [build] \
                 in supply chain [chain]",
            ),
            (
                Failure::NoTemplate(NoTemplate::Selector {
                    option: "a".into(),
                    reason: selector::Error::UnknownOperator("Like".into()),
                }),
                ConditionStatus::False,
                "ResolveTemplateOptionsError",
                "error matching against template option [a] for resource [build] in supply chain [chain]: \
                 operator [Like] is invalid",
            ),
            (
                Failure::TemplateUnavailable("gone".into()),
                ConditionStatus::False,
                "TemplateObjectRetrievalFailure",
                "unable to get template [t] for resource [build] in supply chain [chain]: gone",
            ),
            (
                Failure::Stamp(stamp::Error::Namespace),
                ConditionStatus::False,
                "TemplateStampFailure",
                "unable to stamp object for resource [build] for template [ClusterImageTemplate/t] \
                 in supply chain [chain]: cannot set namespace in resource template",
            ),
            (
                Failure::Unavailable(Unavailable::NotMet("a != b".into())),
                ConditionStatus::Unknown,
                "ConditionNotMet",
                "resource [build] condition not met: a != b",
            ),
            (
                Failure::Unavailable(Unavailable::Failed("broken".into())),
                ConditionStatus::False,
                "FailedConditionMet",
                "resource [build] failed condition met: broken",
            ),
            (
                Failure::Unavailable(Unavailable::NoObservedGeneration),
                ConditionStatus::False,
                "TemplateStampFailure",
                "resource [build] cannot satisfy observedCompletion without observedGeneration in object status",
            ),
            (
                Failure::NoSuchInput("x".into()),
                ConditionStatus::False,
                "PassThrough",
                "pass through [x] does not refer to a known input of resource [build] in supply chain [chain]",
            ),
        ];
        for (failure, status, reason, message) in cases {
            assert_eq!(
                explained(failure),
                (status, reason.to_owned(), message.to_owned())
            );
        }
    }

    #[test]
    fn a_missing_value_is_explained_by_health() {
        let missing = |status| {
            let failure = Failure::Unavailable(Unavailable::MissingValue {
                path: "p".to_owned(),
            });
            let mut realization = realization(Outcome::Failed(failure));
            realization.stamped = Some(stamped());
            realization.health.status = status;
            realization.submitted("supply chain [chain]").message
        };
        assert_eq!(
            missing(ConditionStatus::True),
            "cannot read value [p] from healthy object [configmaps/m] in namespace [dev], contact Platform Eng"
        );
        assert_eq!(
            missing(ConditionStatus::False),
            "cannot read value [p] from unhealthy object [configmaps/m] in namespace [dev], examine object, \
             particularly whether it is receiving proper inputs"
        );
        assert_eq!(
            missing(ConditionStatus::Unknown),
            "waiting to read value [p] from object [configmaps/m] in namespace [dev]"
        );
    }

    #[test]
    fn what_was_not_written_this_time_is_still_referred_to() {
        let now = Time(jiff::Timestamp::UNIX_EPOCH);
        let mut submitted = realization(Outcome::Submitted);
        submitted.stamped = Some(stamped());
        submitted.output = Some(Output::Image(json!("i")));
        let before = submitted.status("chain", None, &now);
        assert_eq!(before.stamped_ref, Some(stamped()));

        let wait = || Outcome::Waiting {
            input: String::new(),
            producer: "fetch".to_owned(),
        };
        let waiting = realization(wait()).status("chain", Some(&before), &now);
        assert_eq!(
            (&waiting.stamped_ref, &waiting.outputs),
            (&before.stamped_ref, &before.outputs)
        );
        assert_eq!(
            waiting.conditions[0].message,
            "waiting for input [deployment] from resource [fetch]"
        );
        assert_eq!(
            realization(wait()).status("chain", None, &now).stamped_ref,
            None
        );

        let mut passed = realization(Outcome::PassedThrough);
        passed.template = None;
        passed.output = Some(Output::Image(json!("j")));
        let passed = passed.status("chain", Some(&before), &now);
        assert_eq!((passed.stamped_ref, passed.template_ref), (None, None));
        assert_eq!(passed.outputs[0].preview, "j\n");
    }

    #[test]
    fn what_is_skipped_shows_one_condition_and_nothing_of_before() {
        let now = Time(jiff::Timestamp::UNIX_EPOCH);
        let mut before = realization(Outcome::Submitted);
        before.stamped = Some(stamped());
        let before = before.status("chain", None, &now);
        let why = Skip::Unmet(Unmet::Selector { requirement: 0 });
        let outcome = Outcome::skipped(&why, "label [a] does not exist".to_owned());
        let mut skipped = realization(outcome);
        skipped.template = None;
        skipped.producers.clear();
        let status = skipped.status("chain", Some(&before), &now);
        let [condition] = &status.conditions[..] else {
            panic!("one condition, not {:?}", status.conditions);
        };
        assert_eq!(condition.r#type, "Selected");
        assert_eq!(condition.status, ConditionStatus::False);
        assert_eq!(condition.reason, "SelectorNotMatched");
        assert_eq!(condition.message, "label [a] does not exist");
        assert_eq!((status.stamped_ref, status.template_ref), (None, None));
    }

    #[test]
    fn only_what_may_get_better_by_itself_is_tried_again() {
        let rejected = |is_forbidden| Failure::Rejected {
            object: "dev/m".into(),
            reason: "no".into(),
            is_forbidden,
            is_invalid: false,
        };
        assert!(rejected(false).is_retried());
        assert!(!rejected(true).is_retried());
        assert!(!Failure::Stamp(stamp::Error::Namespace).is_retried());
    }
}
