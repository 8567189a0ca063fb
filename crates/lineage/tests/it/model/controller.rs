//! The controllers, by how they behave.

use pathline_lineage::Trust;

/// The behaviour of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Controller {
    /// Reports the observed generation, health and the output of that generation at once; may say
    /// before that it has begun. Declared by the template.
    Honest,
    /// The same, in the condition it reports.
    HonestCondition,
    /// Honest, and also works on its own; work on an old generation may still be in flight.
    SelfStarting,
    /// Reports the new generation and the old Ready first, the output later. Never declared.
    Lagging,
    /// Reports no generation.
    Silent,
    /// Observes at once and builds later; its health is presumed, whatever the template declares.
    Presumed,
    /// Fails now and then: says so, with the generation, and keeps the old output.
    Failing,
    /// Its health and its output come and go.
    Flapping,
    /// Reports which value of an input it used, and nothing else.
    Correlated,
    /// The same, and notes the generation before it works; skips what was applied in between.
    Matching,
    /// No controller: the output is a field that was applied.
    Applied,
    /// Silent, and hands its upstream's output on.
    HandsOn,
    /// One object a set of inputs.
    Runs,
    /// No object: the chosen option passes its upstream's output through.
    PassesThrough,
}

pub(super) const CONTROLLERS: [Controller; 14] = [
    Controller::Honest,
    Controller::HonestCondition,
    Controller::SelfStarting,
    Controller::Lagging,
    Controller::Silent,
    Controller::Presumed,
    Controller::Failing,
    Controller::Flapping,
    Controller::Correlated,
    Controller::Matching,
    Controller::Applied,
    Controller::HandsOn,
    Controller::Runs,
    Controller::PassesThrough,
];

impl Controller {
    /// Returns what its template says about observed generations.
    pub(super) fn trust(self) -> Trust {
        match self {
            Self::Honest | Self::SelfStarting | Self::Presumed | Self::Failing | Self::Flapping => {
                Trust::Declared
            }
            Self::HonestCondition | Self::Lagging | Self::Matching => Trust::Condition,
            Self::Silent
            | Self::Correlated
            | Self::Applied
            | Self::HandsOn
            | Self::Runs
            | Self::PassesThrough => Trust::Never,
        }
    }

    /// Tells whether it says of each generation, honestly, when it is done.
    pub(super) fn reports(self) -> bool {
        matches!(
            self,
            Self::Honest
                | Self::HonestCondition
                | Self::SelfStarting
                | Self::Failing
                | Self::Flapping
        )
    }

    /// Tells whether it says which values it used.
    pub(super) fn correlates(self) -> bool {
        matches!(self, Self::Correlated | Self::Matching)
    }

    /// Tells whether what it made is proven once everything has settled.
    pub(super) fn is_provable(self) -> bool {
        match self {
            Self::Honest
            | Self::HonestCondition
            | Self::SelfStarting
            | Self::Failing
            | Self::Flapping
            | Self::Correlated
            | Self::Matching
            | Self::Applied
            | Self::Runs
            | Self::PassesThrough => true,
            Self::Lagging | Self::Silent | Self::Presumed | Self::HandsOn => false,
        }
    }
}
