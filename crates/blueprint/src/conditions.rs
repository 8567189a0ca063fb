//! Conditions: what happened, as status tells it. The lists are closed: their types and their order
//! are part of the API.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use pathline_jsonpath::go;
use pathline_kinds::carto::{Condition, ConditionStatus};

use crate::graph::Fault;
use crate::owner::Owner;
use crate::realization::{Outcome, Realization};
use crate::selection::NoBlueprint;
use crate::service_account;

/// A condition without its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The type of the condition.
    pub r#type: String,
    /// The status: whether it holds.
    pub status: ConditionStatus,
    /// The reason, in one word.
    pub reason: String,
    /// The reason, for people.
    pub message: String,
}

impl Verdict {
    /// Makes a verdict.
    pub fn new(r#type: &str, status: ConditionStatus, reason: &str, message: &str) -> Self {
        Self {
            r#type: r#type.to_owned(),
            status,
            reason: reason.to_owned(),
            message: message.chars().take(MESSAGE_LIMIT).collect(),
        }
    }

    /// Says the same under another type.
    fn retyped(&self, r#type: &str) -> Self {
        Self {
            r#type: r#type.to_owned(),
            ..self.clone()
        }
    }
}

/// The longest message the API accepts.
const MESSAGE_LIMIT: usize = 32_768;

/// The result of reconciling an owner, from which its conditions follow.
#[derive(Debug)]
pub enum Happened<'a> {
    /// No blueprint could be chosen for it.
    NoBlueprint(&'a NoBlueprint),
    /// Its blueprint cannot be used; this is how the blueprint says so.
    NotReady(&'a Verdict),
    /// Nothing could be written under its service account.
    NoAccount(&'a service_account::Fault),
    /// The resources of its blueprint were realized, as far as they could be.
    Realized {
        /// The [title](crate::blueprint::Blueprint::title) of the blueprint.
        blueprint: &'a str,
        /// The resources, in declared order.
        resources: &'a [Realization],
    },
}

/// Returns the conditions of an owner: its blueprint, `ResourcesSubmitted`, `ResourcesHealthy`, `Ready`.
pub fn of_owner(owner: &Owner, happened: &Happened<'_>) -> Vec<Verdict> {
    let blueprint_ready = format!("{}Ready", owner.kind.blueprint_word());
    match happened {
        Happened::NoBlueprint(why) => {
            let (reason, message) = explain(owner, why);
            with_summary(vec![Verdict::new(
                &blueprint_ready,
                ConditionStatus::False,
                &reason,
                &message,
            )])
        }
        Happened::NotReady(verdict) => with_summary(vec![verdict.retyped(&blueprint_ready)]),
        Happened::NoAccount(fault) => {
            let (reason, message) = match fault {
                service_account::Fault::Account(message) => ("ServiceAccountError", message),
                service_account::Fault::Token(message) => ("ServiceAccountTokenError", message),
                service_account::Fault::Client(message) => {
                    ("ResourceRealizerBuilderError", message)
                }
            };
            with_summary(vec![
                Verdict::new(&blueprint_ready, ConditionStatus::True, "Ready", ""),
                Verdict::new(
                    "ResourcesSubmitted",
                    ConditionStatus::False,
                    reason,
                    message,
                ),
            ])
        }
        Happened::Realized {
            blueprint,
            resources,
        } => with_summary(vec![
            Verdict::new(&blueprint_ready, ConditionStatus::True, "Ready", ""),
            submitted(blueprint, resources),
            healthy(resources),
        ]),
    }
}

/// Returns the conditions of one resource: `ResourceSubmitted`, `Healthy`, `Ready`; `Selected` alone if
/// it is skipped.
pub fn of_resource(blueprint: &str, realization: &Realization) -> Vec<Verdict> {
    let submitted = realization.submitted(blueprint);
    if !realization.is_selected() {
        return vec![submitted];
    }
    let healthy = (!matches!(realization.outcome, Outcome::PassedThrough))
        .then(|| realization.health.clone());
    with_summary(std::iter::once(submitted).chain(healthy).collect())
}

/// Returns the conditions of a blueprint: `TemplatesReady`, `Ready`.
///
/// `missing` names the resources whose template does not exist, `fault` what makes the blueprint
/// unusable even with all its templates.
pub fn of_blueprint(missing: &[&str], fault: Option<&Fault>) -> Vec<Verdict> {
    let templates = if missing.is_empty() {
        Verdict::new("TemplatesReady", ConditionStatus::True, "Ready", "")
    } else {
        let message = format!(
            "did not find the template of the resource(s) [{}]",
            missing.join(", ")
        );
        Verdict::new(
            "TemplatesReady",
            ConditionStatus::False,
            "TemplatesNotFound",
            &message,
        )
    };
    let mut verdicts = with_summary(vec![templates]);
    if let (Some(fault), Some(ready)) = (fault, verdicts.last_mut()) {
        *ready = Verdict::new(
            "Ready",
            ConditionStatus::False,
            fault.reason(),
            &fault.to_string(),
        );
    }
    verdicts
}

/// Gives verdicts their times: what is the same as before keeps its own.
pub fn with_times(verdicts: Vec<Verdict>, previous: &[Condition], now: &Time) -> Vec<Condition> {
    let timed = |verdict: Verdict| {
        let unchanged = previous.iter().find(|old| {
            old.r#type == verdict.r#type
                && old.status == verdict.status
                && old.reason == verdict.reason
                && old.message == verdict.message
        });
        Condition {
            r#type: verdict.r#type,
            status: verdict.status,
            reason: verdict.reason,
            message: verdict.message,
            last_transition_time: unchanged
                .map_or(now, |old| &old.last_transition_time)
                .clone(),
            observed_generation: None,
        }
    };
    verdicts.into_iter().map(timed).collect()
}

fn explain(owner: &Owner, why: &NoBlueprint) -> (String, String) {
    let (noun, blueprint) = (owner.kind.noun(), owner.kind.blueprint_noun());
    let (kind, word) = (owner.kind.name(), owner.kind.blueprint_word());
    match why {
        NoBlueprint::LabelsMissing => (
            format!("{kind}LabelsMissing"),
            format!("{noun} has no labels to match to {blueprint}"),
        ),
        NoBlueprint::NotFound { broken } => {
            let labels = go::print_map(
                owner
                    .labels
                    .iter()
                    .map(|(key, value)| (key.as_str(), value.clone())),
            );
            let mut message = format!(
                "no {blueprint} found where full selector is satisfied by labels: {labels}"
            );
            for (name, error) in broken {
                message.push_str(&format!(
                    "; the selector of {blueprint} [{name}] cannot be evaluated: {error}"
                ));
            }
            (format!("{word}NotFound"), message)
        }
        NoBlueprint::Several => (
            format!("Multiple{word}Matches"),
            format!("{noun} may only match a single {blueprint}'s selector"),
        ),
    }
}

/// Shows the first resource that failed; one that merely waits is shown only if none failed.
fn submitted(blueprint: &str, resources: &[Realization]) -> Verdict {
    let is_failed = |resource: &&Realization| matches!(resource.outcome, Outcome::Failed(_));
    let is_waiting = |resource: &&Realization| matches!(resource.outcome, Outcome::Waiting { .. });
    let shown = resources
        .iter()
        .find(is_failed)
        .or_else(|| resources.iter().find(is_waiting));
    if !resources.is_empty() && !resources.iter().any(Realization::is_selected) {
        let message = "no resource is on the path of this owner; see status.path for the reasons";
        return Verdict::new(
            "ResourcesSubmitted",
            ConditionStatus::False,
            "NothingSelected",
            message,
        );
    }
    shown.map_or_else(
        || {
            Verdict::new(
                "ResourcesSubmitted",
                ConditionStatus::True,
                "ResourceSubmissionComplete",
                "",
            )
        },
        |resource| resource.submitted(blueprint).retyped("ResourcesSubmitted"),
    )
}

fn healthy(resources: &[Realization]) -> Verdict {
    let judged = resources.iter().filter(|resource| {
        resource.is_selected() && !matches!(resource.outcome, Outcome::PassedThrough)
    });
    let with = |status| {
        judged
            .clone()
            .map(|resource| &resource.health)
            .find(|health| health.status == status)
    };
    let (status, message) = match (with(ConditionStatus::False), with(ConditionStatus::Unknown)) {
        (Some(health), _) | (None, Some(health)) => (health.status, health.message.as_str()),
        (None, None) => (ConditionStatus::True, ""),
    };
    Verdict::new("ResourcesHealthy", status, "HealthyConditionRule", message)
}

/// Adds `Ready`: the last verdict that is False decides, else the first that is Unknown.
pub(crate) fn with_summary(mut verdicts: Vec<Verdict>) -> Vec<Verdict> {
    let is = |status| move |verdict: &&Verdict| verdict.status == status;
    let failed = verdicts.iter().rfind(is(ConditionStatus::False));
    let decides = failed.or_else(|| verdicts.iter().find(is(ConditionStatus::Unknown)));
    let ready = decides.map_or_else(
        || Verdict::new("Ready", ConditionStatus::True, "Ready", ""),
        |verdict| verdict.retyped("Ready"),
    );
    verdicts.push(ready);
    verdicts
}

#[cfg(test)]
mod tests {
    use pathline_kinds::carto::ConditionStatus::{False, True, Unknown};
    use pathline_testkit::cases;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::health;
    use crate::owner::OwnerKind;
    use crate::realization::Failure;
    use crate::testing::owner;

    fn workload() -> Owner {
        owner(
            OwnerKind::Workload,
            json!({"metadata": {"name": "app", "labels": {"b": "2", "a": "1"}}}),
        )
    }

    fn realization(name: &str, outcome: Outcome, health: Verdict) -> Realization {
        Realization {
            resource: name.to_owned(),
            template: None,
            stamped: None,
            producers: vec![],
            outcome,
            output: None,
            health,
            is_observed: true,
            failed: None,
        }
    }

    fn skipped() -> Outcome {
        Outcome::Skipped {
            reason: "NoOptionSelected",
            message: "no option".to_owned(),
        }
    }

    fn healthy() -> Verdict {
        Verdict::new("Healthy", True, "AlwaysHealthy", "")
    }

    fn waiting() -> Outcome {
        Outcome::Waiting {
            input: "code".to_owned(),
            producer: "fetch".to_owned(),
        }
    }

    fn rejected(reason: &str) -> Outcome {
        Outcome::Failed(Failure::Rejected {
            object: "dev/m".to_owned(),
            reason: reason.to_owned(),
            is_forbidden: false,
            is_invalid: false,
        })
    }

    fn shown(verdicts: &[Verdict]) -> Vec<(&str, ConditionStatus, &str)> {
        verdicts
            .iter()
            .map(|v| (v.r#type.as_str(), v.status, v.reason.as_str()))
            .collect()
    }

    fn owner_conditions(resources: &[Realization]) -> Vec<Verdict> {
        of_owner(
            &workload(),
            &Happened::Realized {
                blueprint: "supply chain [chain]",
                resources,
            },
        )
    }

    #[test]
    fn an_owner_without_blueprint_shows_two_conditions() {
        let none = |why| of_owner(&workload(), &Happened::NoBlueprint(&why));
        let missing = none(NoBlueprint::NotFound { broken: vec![] });
        assert_eq!(
            shown(&missing),
            [
                ("SupplyChainReady", False, "SupplyChainNotFound"),
                ("Ready", False, "SupplyChainNotFound"),
            ]
        );
        assert_eq!(
            missing[1].message,
            "no supply chain found where full selector is satisfied by labels: map[a:1 b:2]"
        );
        assert_eq!(
            none(NoBlueprint::LabelsMissing)[0].reason,
            "WorkloadLabelsMissing"
        );
        assert_eq!(
            none(NoBlueprint::Several)[0].message,
            "workload may only match a single supply chain's selector"
        );
        let deliverable = owner(OwnerKind::Deliverable, json!({"metadata": {"name": "app"}}));
        let conditions = of_owner(&deliverable, &Happened::NoBlueprint(&NoBlueprint::Several));
        assert_eq!(
            shown(&conditions)[0],
            ("DeliveryReady", False, "MultipleDeliveryMatches")
        );
    }

    #[test]
    fn an_owner_copies_why_its_blueprint_is_not_ready() {
        let blueprint = of_blueprint(&["a", "b"], None);
        assert_eq!(
            shown(&blueprint),
            [
                ("TemplatesReady", False, "TemplatesNotFound"),
                ("Ready", False, "TemplatesNotFound"),
            ]
        );
        let conditions = of_owner(&workload(), &Happened::NotReady(&blueprint[1]));
        assert_eq!(
            shown(&conditions)[0],
            ("SupplyChainReady", False, "TemplatesNotFound")
        );
        assert_eq!(
            conditions[0].message,
            "did not find the template of the resource(s) [a, b]"
        );
        let fault = Fault::DuplicateName("a".to_owned());
        assert_eq!(
            shown(&of_blueprint(&[], Some(&fault))),
            [
                ("TemplatesReady", True, "Ready"),
                ("Ready", False, "DuplicateResourceName"),
            ]
        );
    }

    #[test]
    fn an_owner_without_account_says_so_where_resources_are_submitted() {
        let fault = service_account::Fault::Token("no token".to_owned());
        let conditions = of_owner(&workload(), &Happened::NoAccount(&fault));
        assert_eq!(
            shown(&conditions),
            [
                ("SupplyChainReady", True, "Ready"),
                ("ResourcesSubmitted", False, "ServiceAccountTokenError"),
                ("Ready", False, "ServiceAccountTokenError"),
            ]
        );
        assert_eq!(conditions[1].message, "no token");
        let fault = service_account::Fault::Account("none".to_owned());
        let conditions = of_owner(&workload(), &Happened::NoAccount(&fault));
        assert_eq!(conditions[2].reason, "ServiceAccountError");
    }

    #[test]
    fn an_owner_shows_the_first_failure_before_any_wait() {
        let resources = [
            realization("waits", waiting(), health::unknown()),
            realization("fails", rejected("no"), healthy()),
            realization("fails-too", rejected("never"), healthy()),
        ];
        let conditions = owner_conditions(&resources);
        assert_eq!(
            shown(&conditions),
            [
                ("SupplyChainReady", True, "Ready"),
                ("ResourcesSubmitted", False, "TemplateRejectedByAPIServer"),
                ("ResourcesHealthy", Unknown, "HealthyConditionRule"),
                ("Ready", False, "TemplateRejectedByAPIServer"),
            ]
        );
        assert_eq!(
            conditions[3].message,
            "unable to apply object [dev/m] for resource [fails] in supply chain [chain]: no"
        );
        let conditions = owner_conditions(&resources[..1]);
        assert_eq!(
            conditions[1].message,
            "waiting for input [code] from resource [fetch]"
        );
        assert_eq!(
            shown(&conditions)[3],
            ("Ready", Unknown, "WaitingForInputs")
        );
    }

    #[test]
    fn what_is_skipped_takes_no_part_unless_it_is_everything() {
        let resources = [
            realization("skipped", skipped(), health::unknown()),
            realization("done", Outcome::Submitted, healthy()),
        ];
        let conditions = owner_conditions(&resources);
        assert_eq!(shown(&conditions)[3], ("Ready", True, "Ready"));
        let conditions = owner_conditions(&resources[..1]);
        assert_eq!(
            shown(&conditions)[1..],
            [
                ("ResourcesSubmitted", False, "NothingSelected"),
                ("ResourcesHealthy", True, "HealthyConditionRule"),
                ("Ready", False, "NothingSelected"),
            ]
        );
        assert_eq!(shown(&owner_conditions(&[]))[3], ("Ready", True, "Ready"));
    }

    #[test]
    fn health_is_that_of_the_worst_resource_but_not_of_pass_through() {
        let sick = Verdict::new("Healthy", False, "MatchedField", "field value: 5");
        let passed = realization("passed", Outcome::PassedThrough, health::unknown());
        let resources = [
            passed.clone(),
            realization(
                "a",
                Outcome::Submitted,
                Verdict::new("Healthy", Unknown, "X", ""),
            ),
            realization("b", Outcome::Submitted, sick),
        ];
        let conditions = owner_conditions(&resources);
        assert_eq!(
            shown(&conditions)[2],
            ("ResourcesHealthy", False, "HealthyConditionRule")
        );
        assert_eq!(conditions[2].message, "field value: 5");
        assert_eq!(
            shown(&owner_conditions(std::slice::from_ref(&passed)))[3],
            ("Ready", True, "Ready")
        );
        assert_eq!(
            shown(&of_resource("chain", &passed)),
            [
                ("ResourceSubmitted", True, "PassThrough"),
                ("Ready", True, "Ready"),
            ]
        );
    }

    #[test]
    fn only_what_changed_gets_a_new_time() {
        let at = |seconds| Time(jiff::Timestamp::from_second(seconds).unwrap());
        let verdict = |message| Verdict::new("Ready", False, "R", message);
        let first = with_times(vec![verdict("a")], &[], &at(1));
        assert_eq!(with_times(vec![verdict("a")], &first, &at(2)), first);
        let changed = with_times(vec![verdict("b")], &first, &at(3));
        assert_eq!(changed[0].last_transition_time, at(3));
    }

    #[test]
    fn a_message_fits_the_api() {
        let verdict = Verdict::new("Ready", False, "R", &"é".repeat(40_000));
        assert_eq!(verdict.message.chars().count(), MESSAGE_LIMIT);
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn ready_is_true_only_if_all_is(statuses in proptest::collection::vec(0..3, 0..6)) {
            let verdicts: Vec<Verdict> = statuses
                .iter()
                .map(|status| Verdict::new("T", [True, False, Unknown][usize::try_from(*status).unwrap()], "R", ""))
                .collect();
            let summary = with_summary(verdicts.clone()).pop().unwrap().status;
            let any = |wanted| verdicts.iter().any(|verdict| verdict.status == wanted);
            let expected = if any(False) { False } else if any(Unknown) { Unknown } else { True };
            prop_assert_eq!(summary, expected);
        }
    }
}
