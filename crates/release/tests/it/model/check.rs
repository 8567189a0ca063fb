//! The invariants.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use pathline_release::label::Kind;
use pathline_release::queue::{EntryState, Flow, Queues, Transition};
use pathline_release::tracker::{Cycle, ImageQuery, Outcome, SourceRead, Tracker};
use pathline_release::{Level, Release, Version};

use super::world::{Source, World};

/// Counts of releases and transitions, so that a model in which nothing happens is noticed.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) releases: u64,
    pub(super) deployed: u64,
    pub(super) at_the_end: u64,
    pub(super) promoted: u64,
    pub(super) discarded: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.releases += other.releases;
        self.deployed += other.deployed;
        self.at_the_end += other.at_the_end;
        self.promoted += other.promoted;
        self.discarded += other.discarded;
    }
}

/// The past of a history that invariants compare with what follows.
#[derive(Default)]
pub(super) struct Checker {
    pub(super) releases: Vec<Release>,
    pub(super) counts: Counts,
    /// The newest release that was deployed, by environment.
    deployed: BTreeMap<String, u64>,
    /// Whether somebody has promoted a release in an environment.
    promoted: BTreeMap<(String, u64), bool>,
    pub(super) is_deleted: bool,
}

type Checked = Result<(), String>;

fn require(holds: bool, broken: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(broken()) }
}

impl Checker {
    /// Checks what followed from a cycle; `before` is the tracker before it.
    pub(super) fn observed(
        &mut self,
        world: &World,
        (before, tracker): (&Tracker, &Tracker),
        cycle: &Cycle,
        outcome: &Outcome,
    ) -> Checked {
        let is_stale = cycle.basis != before.basis() || before.is_deleted();
        require(outcome.is_discarded == is_stale, || {
            "a stale cycle counts".into()
        })?;
        self.counts.discarded += u64::from(is_stale);
        let is_read = match cycle.source {
            SourceRead::Unchanged => before.source().is_some(),
            SourceRead::Read(_) => true,
            SourceRead::Problem(_) => false,
        };
        let is_good = is_read && cycle.registry.problem.is_none() && !is_stale;
        if let Some(release) = &outcome.release {
            require(is_good, || "9.5: a release without both answers".into())?;
            self.released(world, release)?;
        }
        if is_good {
            self.settled(world, tracker, outcome.release.is_some())?;
        }
        Ok(())
    }

    fn released(&mut self, world: &World, release: &Release) -> Checked {
        let previous = self.releases.last();
        let number = previous.map_or(1, |it| it.number + 1);
        require(release.number == number, || {
            "1: numbers follow each other".into()
        })?;
        let (label, image) = (&release.configuration.label, &release.image);
        if label.kind() != Kind::Follow {
            require(image.tag == label.as_str(), || {
                "3: the tag is the label".into()
            })?;
        }
        let query = ImageQuery::of(&release.configuration);
        let selected = world.select(&query, previous.map(|it| &it.image));
        require(selected.as_ref() == Some(image), || {
            "3: the label selects another image".into()
        })?;
        let is_current =
            matches!(&world.source, Source::Readable(it) if it.is_same(&release.configuration));
        let is_former = previous.is_some_and(|it| it.configuration.is_same(&release.configuration));
        require(is_current || is_former, || {
            "9: a configuration from nowhere".into()
        })?;
        if let Some(previous) = previous {
            require(*image != previous.image, || {
                "2: the image did not move".into()
            })?;
            let is_same_label = previous.configuration.is_same_label(&release.configuration);
            let versions = (
                Version::parse(&previous.image.tag),
                Version::parse(&image.tag),
            );
            if let (true, (Some(from), Some(to))) = (is_same_label, versions) {
                require(to.cmp_precedence(&from).is_ge(), || {
                    "D11: a downgrade".into()
                })?;
            }
        }
        self.releases.push(release.clone());
        self.counts.releases += 1;
        Ok(())
    }

    /// Checks that nothing is left to be done after a good cycle; one that has released something may leave something
    /// for the next.
    fn settled(&self, world: &World, tracker: &Tracker, has_released: bool) -> Checked {
        let Source::Readable(source) = &world.source else {
            return Ok(());
        };
        let last = tracker.last_release();
        let is_released = last.is_some_and(|it| it.configuration.is_same(source));
        let pending = tracker.pending().map(|it| &it.configuration);
        match pending {
            None => require(is_released, || "9.5: a configuration is lost".into()),
            Some(pending) => {
                require(!is_released, || "D6: what is released waits".into())?;
                require(pending.is_same(source), || "D5: an older one waits".into())?;
                let selected = world.select(&ImageQuery::of(pending), last.map(|it| &it.image));
                let is_waiting = match (&selected, last) {
                    (None, _) => true,
                    (Some(_), None) => false,
                    (Some(image), Some(last)) => {
                        *image == last.image || last.configuration.is_same_label(pending)
                    }
                };
                require(is_waiting || has_released, || {
                    "9.5: an image that is there is waited for".into()
                })
            }
        }
    }

    /// Checks transitions of entries; `is_by_hand` if somebody promoted.
    pub(super) fn moved(
        &mut self,
        flow: &Flow,
        queues: &Queues,
        transitions: &[Transition],
        is_by_hand: bool,
    ) -> Checked {
        for transition in transitions {
            self.moved_one(flow, queues, transition, is_by_hand)?;
        }
        self.stands(flow, queues)
    }

    fn moved_one(
        &mut self,
        flow: &Flow,
        queues: &Queues,
        transition: &Transition,
        is_by_hand: bool,
    ) -> Checked {
        let Transition {
            environment,
            release,
            from,
            to,
        } = transition;
        let key = (environment.clone(), *release);
        if is_by_hand && *to == EntryState::Queued {
            self.promoted.insert(key.clone(), true);
            self.counts.promoted += 1;
        }
        let is_retried = is_by_hand && *from == Some(EntryState::Failed);
        let was_settled = from.is_some_and(EntryState::is_terminal);
        require(!was_settled || is_retried, || {
            format!("8: {transition:?} after the end")
        })?;
        let is_new = from.is_none() || *to == EntryState::Queued || *to == EntryState::Deploying;
        require(!(self.is_deleted && is_new), || {
            format!("9.2: {transition:?} after the deletion")
        })?;
        let found = self.releases.iter().find(|it| it.number == *release);
        let Some(found) = found else {
            return Err(format!("9: {transition:?} of no release"));
        };
        let vetos = &found.configuration.vetos;
        let is_omitted = vetos.omit_from_namespaces.contains(environment);
        require(is_omitted == (*to == EntryState::Skipped), || {
            format!("omit: {transition:?}")
        })?;
        let is_promoted = self.promoted.contains_key(&key);
        if *to == EntryState::Deploying && !is_promoted {
            require(vetos.auto_deploy, || format!("veto: {transition:?}"))?;
            self.is_accepted(flow, queues, environment, found)?;
        }
        if *to == EntryState::Deployed {
            let before = self.deployed.insert(environment.clone(), *release);
            require(before < Some(*release), || {
                format!("7: {transition:?} after {before:?}")
            })?;
            self.counts.deployed += 1;
            self.counts.at_the_end += u64::from(environment == "prod");
        }
        Ok(())
    }

    fn is_accepted(
        &self,
        flow: &Flow,
        queues: &Queues,
        environment: &str,
        release: &Release,
    ) -> Checked {
        let mut all = flow.environments().iter();
        let accepts = all
            .find(|it| it.name == environment)
            .and_then(|it| it.accepts);
        let deployed = queues.newest(environment, EntryState::Deployed);
        let deployed = self.releases.iter().find(|it| Some(it.number) == deployed);
        if let (Some(accepts), Some(deployed)) = (accepts, deployed) {
            let level = Level::between(&deployed.image.tag, &release.image.tag);
            return require(level <= accepts, || {
                format!("accepts: {level:?} in {environment}")
            });
        }
        Ok(())
    }

    /// Checks what holds of all entries at any time.
    fn stands(&self, flow: &Flow, queues: &Queues) -> Checked {
        let environments = flow.environments();
        let of = |name: &str, state| {
            queues
                .entries(name)
                .filter(|it| it.1.state == state)
                .count()
        };
        for environment in environments {
            for state in [EntryState::Queued, EntryState::Deploying] {
                let count = of(&environment.name, state);
                require(count <= 1, || {
                    format!("6: {count} {state} in {}", environment.name)
                })?;
            }
        }
        for release in &self.releases {
            let states = environments.iter().map(|it| {
                let entry = queues.entry(&it.name, release.number);
                entry.map(|it| it.state)
            });
            let states: Vec<_> = states.collect();
            require(states[0].is_some(), || {
                "4: no entry in the first environment".into()
            })?;
            for pair in states.windows(2) {
                let is_through =
                    matches!(pair[0], Some(EntryState::Deployed | EntryState::Skipped));
                require(pair[1].is_none() || is_through, || format!("5: {states:?}"))?;
            }
        }
        Ok(())
    }
}
