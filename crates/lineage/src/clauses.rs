//! The clauses of the evidence rule and of waiting, by name.
//!
//! Every condition of the rules is asked through [`Clauses::holds`], which is the condition itself. The model in
//! `tests/it/model.rs` drops one clause at a time and shows that answers become wrong without it. It lives outside
//! of the crate, so it needs a way in: the feature `clauses`, which nothing but the crate's own tests enables. All
//! that it opens is in this file; with the feature off, none of it is compiled.
#![cfg_attr(
    not(feature = "clauses"),
    expect(
        unreachable_pub,
        reason = "public for the model, by the feature `clauses`"
    )
)]

#[cfg(feature = "clauses")]
use crate::state::State;

/// One clause of the evidence rule, or of the rules for those who wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clause {
    /// Inputs of a run are those of that run.
    ThatRun,
    /// An applied value proves an output only if the output has it.
    AppliedValue,
    /// An input that is handed on equals the output.
    SameValue,
    /// A rule proves the inputs it names, no others.
    RuleNames,
    /// Proof by a rule is doubted once the rule no longer matches.
    StillMatches,
    /// A rule that matches shows which values are used, not that an apply was observed.
    RuleDated,
    /// An answer is given of a look with the templates of now.
    Confirmed,
    /// An answer is given of a look with the blueprints and templates that somebody has applied before.
    Named,
    /// An answer is given of a look with the labels and annotations of now.
    Metadata,
    /// Superseded only if the owner was looked at as it is now: it may say the value again.
    NewerOwner,
    /// It holds only if the final objects are as they were observed.
    FinalObjects,
    /// It runs only if the processes that ran still do.
    Processes,
    /// It runs only if the deliveries are as they were.
    Deliveries,
    /// A generation is one of an object, by its uid.
    Uid,
    /// A generation is one of a template.
    Template,
    /// Inputs belong to the generation that their apply made.
    Generation,
    /// The object carries the id of these inputs.
    InputsId,
    /// The object carried no other inputs before that nobody remembers.
    Earlier,
    /// The observed generation equals the generation.
    Observed,
    /// Health is True.
    Healthy,
    /// Health is True by a rule that reads status.
    HealthReads,
    /// The condition, a declaration or the table vouches for the observed generation.
    Vouched,
    /// Input sets that differ in metadata only can't be told apart by a generation.
    MetadataOnly,
    /// A generation that somebody else made keeps the inputs while our fields hold our values.
    Held,
    /// A mutable artifact proves nothing.
    Mutable,
    /// Arrived: no resource on the way was given something else since, and has not said that it is
    /// done.
    Upstream,
    /// Live: nothing that was stamped before is still there.
    Alone,
    /// Live: what runs was started with the input, which its object was not given in its metadata alone.
    InMetadata,
    /// Settled: a generation that proves nothing does not say either that the work is done.
    Believed,
    /// Settled: applied with what the owner and the producers give now.
    UpToDate,
    /// Settled: seen since the last apply.
    SeenSince,
    /// Settled, failed: what was seen is what was applied last.
    Shown,
    /// Settled: nobody else changed what was applied.
    Untouched,
    /// Settled: an output that was there once is there again.
    Emitted,
    /// Settled: every correlation rule matches.
    Matched,
    /// Settled: healthy.
    Well,
    /// Settled, failed: the generation was observed, as far as the object says so.
    Reported,
    /// Failed only if the object says that it will get no further: health that is False may pass.
    Passing,
    /// Superseded only if nothing on the path carries the value, or only what nobody applies again.
    Carried,
    /// Superseded only if the value was there: one that never was is still to come.
    WasThere,
    /// A look at an earlier generation of the owner says nothing about a later one.
    Since,
}

/// The clauses that are asked: all of them, unless the model drops one.
pub(crate) type Clauses = pathline_clauses::Clauses<Clause>;

/// The model's way in.
#[cfg(feature = "clauses")]
impl State {
    /// Asks one clause less from now on, or all of them. What is written as JSON does not say so.
    #[must_use]
    pub fn without(mut self, dropped: Option<Clause>) -> Self {
        *self.clauses_mut() = Clauses::without(dropped);
        self
    }

    /// Tells whether a resource ever had an output.
    pub fn has_emitted(&self, resource: &str) -> bool {
        self.history_of(resource).is_some_and(|it| it.emits())
    }

    /// Returns the object that a resource was applied to last, by its uid, and the generation that this made.
    pub fn last_applied(&self, resource: &str) -> Option<(&str, Option<i64>)> {
        let applied = self.history_of(resource)?.last_apply()?;
        Some((&applied.uid, applied.generation))
    }
}
