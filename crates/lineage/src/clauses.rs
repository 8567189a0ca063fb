//! The clauses of the evidence rule and of waiting, by name.
//!
//! Every condition of the rules is asked through [`Clauses::holds`]. Outside of tests that is the
//! condition itself; tests drop one clause at a time and show that the answers become wrong.

/// One clause of the evidence rule, or of the rules for those who wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clause {
    /// Inputs of a run are those of that run.
    ThatRun,
    /// What was applied proves an output only if the output has that value.
    AppliedValue,
    /// An input that is handed on equals the output.
    SameValue,
    /// A rule proves the inputs it names, no others.
    RuleNames,
    /// What a rule proved is doubted once it no longer matches.
    StillMatches,
    /// A rule that matches shows which values are used, not that an apply was observed.
    RuleDated,
    /// An answer is given of a look with the templates of now.
    Confirmed,
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
    /// What was known of an earlier generation of the owner says nothing about a later one.
    Since,
}

/// Which clauses are asked.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Clauses {
    #[cfg(test)]
    pub(crate) dropped: Option<Clause>,
}

impl Clauses {
    /// Returns whether a condition holds; that of a dropped clause always does.
    pub(crate) fn holds(self, clause: Clause, condition: bool) -> bool {
        condition || self.is_dropped(clause)
    }

    /// Tells whether a clause is not asked: never, outside of tests.
    #[cfg(not(test))]
    pub(crate) fn is_dropped(self, _: Clause) -> bool {
        false
    }

    /// Tells whether a clause is not asked.
    #[cfg(test)]
    pub(crate) fn is_dropped(self, clause: Clause) -> bool {
        self.dropped == Some(clause)
    }
}
