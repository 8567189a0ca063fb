//! Failures: what is in the way of a resource, and how conditions tell it.

use pathline_kinds::carto::ConditionStatus;

use super::Realization;
use crate::output::Unavailable;
use crate::selection::NoTemplate;
use crate::stamp;

/// The failure that is in the way of a resource.
#[derive(Debug, Clone, PartialEq)]
pub enum Failure {
    /// No option could be chosen.
    NoTemplate(NoTemplate),
    /// The template does not exist, or cannot be read.
    TemplateUnavailable(String),
    /// The template cannot be stamped.
    Stamp(stamp::Error),
    /// The cluster did not take the object.
    Rejected {
        /// The object, as `namespace/name`.
        object: String,
        /// The message of the cluster.
        reason: String,
        /// Whether trying again cannot help before somebody changes what the account may do.
        is_forbidden: bool,
        /// Whether the object can't be taken as it is, whoever writes it.
        is_invalid: bool,
    },
    /// The stamped object does not give what it should.
    Unavailable(Unavailable),
    /// No run of the resource has been healthy yet.
    NoHealthyRun,
    /// The input that should be handed on is not an input of the resource.
    NoSuchInput(String),
}

impl Failure {
    /// Tells whether trying again may help although nothing changes.
    ///
    /// All else is woken by what it waits for: the template, the object, or the rights of the account.
    pub fn is_retried(&self) -> bool {
        match self {
            Self::Rejected { is_forbidden, .. } => !is_forbidden,
            Self::NoTemplate(_)
            | Self::TemplateUnavailable(_)
            | Self::Stamp(_)
            | Self::Unavailable(_)
            | Self::NoHealthyRun
            | Self::NoSuchInput(_) => false,
        }
    }
}

impl Failure {
    /// Tells whether nothing but a change of the owner, its blueprint or its template helps. What
    /// else is in the way may pass: a template or a right that is missing may have been given a moment
    /// ago, and the cluster may take later what it refuses now.
    pub fn is_final(&self) -> bool {
        match self {
            Self::NoTemplate(_) | Self::Stamp(_) | Self::NoSuchInput(_) => true,
            Self::Rejected { is_invalid, .. } => *is_invalid,
            Self::Unavailable(Unavailable::Failed(_)) => true,
            Self::TemplateUnavailable(_) | Self::Unavailable(_) | Self::NoHealthyRun => false,
        }
    }
}

impl Realization {
    /// Returns status, reason and message of the condition `ResourceSubmitted`.
    pub(super) fn explain(
        &self,
        failure: &Failure,
        blueprint: &str,
    ) -> (ConditionStatus, &'static str, String) {
        let resource = &self.resource;
        let (kind, template) = match &self.template {
            Some((kind, name)) => (kind.name(), name.as_str()),
            None => ("", ""),
        };
        let place = format!("in {blueprint}");
        match failure {
            Failure::NoTemplate(NoTemplate::Matches(options)) => (
                ConditionStatus::False,
                "TemplateOptionsMatchError",
                format!(
                    "expected exactly 1 option to match, found [{}] matching options [{}] for resource [{resource}] {place}",
                    options.len(),
                    options.join(", ")
                ),
            ),
            Failure::NoTemplate(NoTemplate::Selector { option, reason }) => (
                ConditionStatus::False,
                "ResolveTemplateOptionsError",
                format!(
                    "error matching against template option [{option}] for resource [{resource}] {place}: {reason}"
                ),
            ),
            Failure::NoTemplate(NoTemplate::OwnSelector(reason)) => (
                ConditionStatus::False,
                "ResolveTemplateOptionsError",
                format!(
                    "error matching against the selector of resource [{resource}] {place}: {reason}"
                ),
            ),
            Failure::TemplateUnavailable(reason) => (
                ConditionStatus::False,
                "TemplateObjectRetrievalFailure",
                format!(
                    "unable to get template [{template}] for resource [{resource}] {place}: {reason}"
                ),
            ),
            Failure::Stamp(reason) => (
                ConditionStatus::False,
                "TemplateStampFailure",
                format!(
                    "unable to stamp object for resource [{resource}] for template [{kind}/{template}] {place}: {reason}"
                ),
            ),
            Failure::Rejected { object, reason, .. } => (
                ConditionStatus::False,
                "TemplateRejectedByAPIServer",
                format!(
                    "unable to apply object [{object}] for resource [{resource}] {place}: {reason}"
                ),
            ),
            Failure::Unavailable(unavailable) => self.explain_unavailable(unavailable),
            // A run that goes on has not failed; Cartographer says False here.
            Failure::NoHealthyRun => (
                match self.health.status {
                    ConditionStatus::False => ConditionStatus::False,
                    ConditionStatus::True | ConditionStatus::Unknown => ConditionStatus::Unknown,
                },
                "SetOfImmutableStampedObjectsIncludesNoHealthyObject",
                format!(
                    "unable to retrieve outputs for resource [{resource}] {place}: failed to find any healthy object in the set of immutable stamped objects"
                ),
            ),
            Failure::NoSuchInput(input) => (
                ConditionStatus::False,
                "PassThrough",
                format!(
                    "pass through [{input}] does not refer to a known input of resource [{resource}] {place}"
                ),
            ),
        }
    }

    fn explain_unavailable(
        &self,
        unavailable: &Unavailable,
    ) -> (ConditionStatus, &'static str, String) {
        let resource = &self.resource;
        match unavailable {
            Unavailable::MissingValue { path } => (
                ConditionStatus::Unknown,
                "MissingValueAtPath",
                self.missing_value(path),
            ),
            Unavailable::NotMet(reason) => (
                ConditionStatus::Unknown,
                "ConditionNotMet",
                format!("resource [{resource}] condition not met: {reason}"),
            ),
            Unavailable::Failed(reason) => (
                ConditionStatus::False,
                "FailedConditionMet",
                format!("resource [{resource}] failed condition met: {reason}"),
            ),
            Unavailable::NoObservedGeneration => (
                ConditionStatus::False,
                "TemplateStampFailure",
                format!(
                    "resource [{resource}] cannot satisfy observedCompletion without observedGeneration in object status"
                ),
            ),
        }
    }

    fn missing_value(&self, path: &str) -> String {
        let stamped = self.stamped.clone().unwrap_or_default();
        let name = format!(
            "{}/{}",
            stamped.resource.unwrap_or_default(),
            stamped.name.unwrap_or_default()
        );
        let namespace = stamped.namespace.map_or_else(String::new, |namespace| {
            format!(" in namespace [{namespace}]")
        });
        match self.health.status {
            ConditionStatus::True => {
                format!(
                    "cannot read value [{path}] from healthy object [{name}]{namespace}, contact Platform Eng"
                )
            }
            ConditionStatus::False => format!(
                "cannot read value [{path}] from unhealthy object [{name}]{namespace}, examine object, \
                 particularly whether it is receiving proper inputs"
            ),
            ConditionStatus::Unknown => {
                format!("waiting to read value [{path}] from object [{name}]{namespace}")
            }
        }
    }
}
