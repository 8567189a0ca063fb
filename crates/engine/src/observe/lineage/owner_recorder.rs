//! Records the lineage of one owner, and retries while the ledger is unavailable.

use std::collections::BTreeMap;

use pathline_ledger::{Change, Error, Ledger, OwnerRef};
use pathline_lineage::rollout::ConfigRecord;
use pathline_lineage::{OwnerLineage, Retiring};
use pathline_observe::{Backlog, Observation, Shown};

use crate::runtime::clock::Clock;
use crate::runtime::packed::Packed;

/// Records the lineage of one owner.
pub(super) struct OwnerRecorder {
    pub(super) owner: OwnerRef,
    clock: Clock,
    /// As the ledger had it, and all that was found since. None until the ledger was read.
    lineage: Option<Packed<OwnerLineage>>,
    /// The objects that ran when the owner was reconciled last.
    has_run: Option<Vec<Retiring>>,
    backlog: Backlog,
}

/// The lineage of an owner as the ledger has it now.
pub(crate) struct RecordedLineage {
    pub(crate) lineage: OwnerLineage,
    /// The part that the status shows.
    pub(crate) shown: Shown,
}

impl OwnerRecorder {
    pub(super) fn new(owner: OwnerRef, clock: Clock) -> Self {
        Self {
            owner,
            clock,
            lineage: None,
            has_run: None,
            backlog: Backlog::default(),
        }
    }

    /// Returns what is remembered of the ConfigMaps and Secrets that resources stamp.
    pub(super) async fn configs(
        &self,
        ledger: &Ledger,
    ) -> Result<BTreeMap<String, ConfigRecord>, Error> {
        match self.backlog.configs() {
            Some(newest) => Ok(newest.clone()),
            None => Ok(self.recall(ledger).await?.configs),
        }
    }

    /// Records an observation; returns the lineage once all of it is in the ledger.
    pub(super) async fn record(
        &mut self,
        ledger: &Ledger,
        observation: Observation,
    ) -> Result<RecordedLineage, Error> {
        self.backlog.keep(observation);
        let mut lineage = self.recall(ledger).await?;
        let caught_up = self.backlog.catch_up(&mut lineage);
        for error in caught_up.not_on_path {
            tracing::error!(%error, "what was stamped is not on the path");
        }
        self.has_run = Some(lineage.has_run());
        if self.lineage.is_none() || caught_up.is_changed {
            self.lineage = Some(Packed::new(&lineage));
        }
        self.flush(ledger, &lineage).await?;
        Ok(RecordedLineage {
            shown: Shown::of(&lineage, &self.owner.kind.to_lowercase()),
            lineage,
        })
    }

    /// Returns what ran for the owner before, as the ledger has it the first time.
    pub(super) async fn has_run(&self, ledger: &Ledger) -> Result<Vec<Retiring>, Error> {
        match &self.has_run {
            Some(has_run) => Ok(has_run.clone()),
            None => Ok(self.recall(ledger).await?.has_run()),
        }
    }

    /// Returns what is known, from the ledger the first time. Another owner that had the name
    /// before is gone.
    async fn recall(&self, ledger: &Ledger) -> Result<OwnerLineage, Error> {
        if let Some(lineage) = &self.lineage {
            return Ok(lineage.unpack());
        }
        let OwnerRef {
            kind,
            namespace,
            name,
            uid,
        } = &self.owner;
        let before = ledger.lineage().find_owner(kind, namespace, name).await?;
        if let Some(before) = before.filter(|before| before.uid != *uid) {
            ledger.lineage().gone(&before, self.clock.now()).await?;
        }
        let lineage = ledger.lineage().get(uid).await?;
        // One that was forgotten, since the cluster was restored, has no uid either.
        Ok(OwnerLineage {
            uid: uid.clone(),
            ..lineage.unwrap_or_default()
        })
    }

    /// Records that the owner is gone, after what it did last.
    pub(super) async fn end(&mut self, ledger: &Ledger) -> Result<(), Error> {
        if let Some(lineage) = &self.lineage {
            let lineage = lineage.unpack();
            self.flush(ledger, &lineage).await?;
        }
        ledger.lineage().gone(&self.owner, self.clock.now()).await
    }

    async fn flush(&mut self, ledger: &Ledger, lineage: &OwnerLineage) -> Result<(), Error> {
        let Some(unwritten) = self.backlog.unwritten() else {
            return Ok(());
        };
        let change = Change {
            owner: &self.owner,
            lineage,
            derivations: &unwritten.derivations,
            arrivals: &unwritten.arrivals,
            time: self.clock.now(),
        };
        ledger.lineage().record(&change).await?;
        self.backlog.written();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use jiff::Timestamp;
    use pathline_lineage::chain::{Chain, Resource};
    use pathline_lineage::{
        Applied, Artifact, Health, Inputs, Kind, Origin, Snapshot, Stamp, State, Template,
    };
    use serde_json::json;

    use super::*;

    /// The lineage of resources side by side, each of which makes something from the same param.
    fn lineage(resources: usize) -> OwnerLineage {
        let name = |index: usize| format!("resource-with-a-long-name-{index}");
        let input = "param:number-0".to_owned();
        let param = Artifact::param("number-0", &json!("on"));
        let chain = (0..resources).map(|index| Resource {
            name: name(index),
            reads: [input.clone()].into(),
            ..Resource::default()
        });
        let mut state = State::new(Chain::new(chain.collect()).expect("a path"));
        state.own([(input.clone(), param.clone())].into());
        for index in 0..resources {
            let stamp = Stamp {
                template: Template::default(),
                uid: name(index),
                generation: Some(1),
                inputs: Inputs::from([(Origin::owner(&input), param.clone())]),
                offered: BTreeSet::new(),
                applied: Applied::Elsewhere,
                rendered: None,
                time: Timestamp::UNIX_EPOCH,
            };
            let seen = Snapshot {
                template: Template::default(),
                uid: name(index),
                generation: Some(1),
                observed: None,
                condition_observed: None,
                health: Health::True,
                held: None,
                matched: Some(BTreeSet::new()),
                failed: None,
                inputs_id: None,
                earlier: Vec::new(),
                output: Some(Artifact::value(Kind::Config, &json!([index, "on"]))),
                time: Timestamp::UNIX_EPOCH,
            };
            let on_path = "it is on the path";
            state.stamped(&name(index), stamp).expect(on_path);
            state.seen(&name(index), &seen).expect(on_path);
        }
        OwnerLineage {
            state,
            ..OwnerLineage::default()
        }
    }

    #[test]
    fn an_idle_owner_takes_little_memory() {
        for (resources, most) in [(1, 4_000), (6, 20_000)] {
            let lineage = lineage(resources);
            let packed = Packed::new(&lineage);
            let bytes = packed.text_bytes().expect("a lineage survives JSON");
            assert!(bytes <= most, "{resources} resources take {bytes}");
            assert_eq!(packed.unpack(), lineage);
        }
    }
}
