//! The invariants of queues.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use pathline_release::queue::{EntryState, Environment, Promotion, Restore, Transition};
use pathline_release::{Cause, Level, Release};

use super::check::{Checked, require};
use super::counts::Counts;
use super::event::{Event, State};
use super::ledger::Ledger;
use super::truth::Truth;

/// The past of the queues, which invariants compare with what follows.
#[derive(Default)]
pub(super) struct Moves {
    /// The newest release that was deployed, by environment.
    deployed: BTreeMap<String, u64>,
    /// Each release that somebody has promoted, with its environment.
    promoted: BTreeSet<(String, u64)>,
    /// Each deployment that has begun: environment, release and attempt.
    taken: BTreeSet<(String, u64, u32)>,
    pub(super) is_deleted: bool,
}

/// All that there is when transitions are checked.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) state: &'a State,
    pub(super) ledger: &'a Ledger,
    pub(super) truth: &'a Truth,
    pub(super) event: &'a Event,
    pub(super) at: Timestamp,
}

impl Scene<'_> {
    fn state_of(&self, environment: &str, release: u64) -> Option<EntryState> {
        let entry = self.ledger.entry(environment, release);
        entry.map(|it| it.state)
    }

    /// Tells whether the event is somebody's word about a release in an environment.
    fn is_by_hand(&self, environment: &str) -> bool {
        matches!(self.event,
            Event::Promote(it, _) | Event::PromoteNow(it, _) if *it == environment)
    }

    fn environment(&self, name: &str) -> Result<&Environment, String> {
        let found = self.state.flow.get(name);
        found.ok_or_else(|| format!("something happens in `{name}`, which is gone"))
    }

    /// Tells whether a release was deployed or skipped in all environments just before one.
    fn is_through(&self, environment: &Environment, release: u64) -> bool {
        let all = self.state.flow.environments();
        let before = all.iter().rev().map(|it| it.position);
        let Some(before) = before.filter(|it| *it < environment.position).max() else {
            return true;
        };
        let mut before = all.iter().filter(|it| it.position == before);
        before.all(|it| {
            let state = self.state_of(&it.name, release);
            matches!(state, Some(EntryState::Deployed | EntryState::Skipped))
        })
    }

    /// Tells whether a release was live for long enough before an environment.
    fn has_soaked(&self, environment: &Environment, release: u64) -> bool {
        let is_deployed = |it: &str| self.state_of(it, release) == Some(EntryState::Deployed);
        let flow = (&self.state.flow, environment);
        self.truth.has_soaked(flow, release, is_deployed)
    }

    /// Tells whether a release is still the one that was deployed last, somewhere at the last position before an
    /// environment where it was deployed.
    fn is_current(&self, environment: &Environment, release: u64) -> bool {
        let all = self.state.flow.environments();
        let is_deployed = |it: &&Environment| {
            let state = self.state_of(&it.name, release);
            it.position < environment.position && state == Some(EntryState::Deployed)
        };
        let Some(last) = all.iter().rev().find(is_deployed) else {
            return true;
        };
        let mut beside = all.iter().filter(|it| it.position == last.position);
        beside.any(|it| {
            let newest = self.state.queues.newest(&it.name, EntryState::Deployed);
            newest == Some(release)
        })
    }
}

impl Moves {
    /// Checks transitions of entries.
    pub(super) fn moved(
        &mut self,
        scene: Scene<'_>,
        transitions: &[Transition],
        counts: &mut Counts,
    ) -> Checked {
        for transition in transitions {
            self.moved_one(scene, transition, counts)
                .map_err(|broken| format!("{broken}: {transition:?}"))?;
        }
        self.stands(scene)
    }

    fn moved_one(
        &mut self,
        scene: Scene<'_>,
        transition: &Transition,
        counts: &mut Counts,
    ) -> Checked {
        let Transition {
            environment,
            release,
            from,
            to,
        } = transition;
        let found = scene.state.releases.get(release);
        let found = found.ok_or("9: of no release")?;
        self.ended(scene, transition)?;
        if *to == EntryState::Cancelled {
            counts.cancelled += 1;
            // What is counted of a soak may be less than what was live: nobody watches during a restart.
            let is_gone = scene
                .state
                .flow
                .get(environment)
                .is_none_or(|it| !scene.is_through(it, *release) || it.soak.is_positive());
            return require(is_gone || self.is_deleted, || "it is there".into());
        }
        if scene.is_by_hand(environment) && matches!(to, EntryState::Queued | EntryState::Deploying)
        {
            let is_now = *to == EntryState::Deploying;
            counts.promoted_now += u64::from(is_now);
            counts.promoted += u64::from(!is_now);
            self.promoted.insert((environment.clone(), *release));
        }
        if matches!(from, None | Some(EntryState::Cancelled)) {
            counts.entered_again += u64::from(from.is_some());
            self.entered(scene, transition, found, counts)?;
        }
        match to {
            EntryState::Deploying => self.taken(scene, transition, found),
            EntryState::Deployed => self.deployed(transition, counts),
            _ => Ok(()),
        }
    }

    /// Checks what happens to what is settled, and to what is being deployed.
    fn ended(&self, scene: Scene<'_>, transition: &Transition) -> Checked {
        let Transition {
            environment,
            from,
            to,
            release,
        } = transition;
        let is_retried = scene.is_by_hand(environment) && *from == Some(EntryState::Failed);
        let is_again = *from == Some(EntryState::Cancelled) && !self.is_deleted;
        let was_settled = from.is_some_and(EntryState::is_terminal);
        require(!was_settled || is_retried || is_again, || {
            "8: after the end".into()
        })?;
        let is_new = from.is_none() || *to == EntryState::Queued || *to == EntryState::Deploying;
        require(!(self.is_deleted && is_new), || {
            "9.2: after the deletion".into()
        })?;
        if *from == Some(EntryState::Deploying) && *to == EntryState::Superseded {
            let entry = scene.ledger.entry(environment, *release);
            let by = entry.and_then(|it| it.superseded_by);
            let by = by.and_then(|it| scene.state.releases.get(&it));
            let is_rollback = by.is_some_and(|it| it.cause == Cause::Rollback);
            return require(is_rollback, || "a deployment is interrupted".into());
        }
        Ok(())
    }

    /// Checks that a release may be where it comes to.
    fn entered(
        &mut self,
        scene: Scene<'_>,
        transition: &Transition,
        found: &Release,
        counts: &mut Counts,
    ) -> Checked {
        let Transition {
            environment: name,
            release,
            to,
            ..
        } = transition;
        let environment = scene.environment(name)?;
        if let Some(rollback) = &found.rollback {
            let own = scene.environment(&rollback.environment)?;
            let is_before = environment.position < own.position;
            let is_right = match is_before {
                true => *to == EntryState::Skipped,
                false => {
                    let is_omitted = found.configuration.vetos.omits(name, None);
                    let is_own = rollback.environment == *name && !is_omitted;
                    is_own && *to == EntryState::Deploying
                }
            };
            return require(is_right, || "a rollback is for one environment".into());
        }
        let is_now = scene.is_by_hand(name) && *to == EntryState::Deploying;
        if !is_now {
            self.promoted.remove(&(name.clone(), *release));
        }
        let vetos = &found.configuration.vetos;
        let is_omitted = vetos.omits(name, None);
        require(is_omitted == (*to == EntryState::Skipped), || "omit".into())?;
        require(scene.is_through(environment, *release), || {
            "5: it is not through before".into()
        })?;
        if is_now || is_omitted {
            return Ok(());
        }
        require(scene.is_current(environment, *release), || {
            "what was replaced goes on".into()
        })?;
        let has_soaked = scene.has_soaked(environment, *release);
        let is_first = scene.state.flow.environments()[0].position == environment.position;
        counts.soaked += u64::from(environment.soak.is_positive() && !is_first);
        require(has_soaked, || "it has not soaked".into())
    }

    /// Checks that an environment may take a release.
    fn taken(&mut self, scene: Scene<'_>, transition: &Transition, found: &Release) -> Checked {
        let Transition {
            environment: name,
            release,
            ..
        } = transition;
        let environment = scene.environment(name)?;
        let attempt = scene.ledger.entry(name, *release).map(|it| it.attempt);
        let attempt = attempt.unwrap_or_default();
        let is_first = self.taken.insert((name.clone(), *release, attempt));
        require(is_first, || "8: the same attempt twice".into())?;
        if found.cause == Cause::Rollback {
            return Ok(());
        }
        let queues = &scene.state.queues;
        let is_held = queues.holds().get(name).is_some() || scene.state.halts.get(name).is_some();
        require(!is_held, || "it is held".into())?;
        let mut freezes = environment.freezes.iter();
        let is_frozen = freezes.any(|it| it.from <= scene.at && scene.at < it.until);
        require(!is_frozen, || "it is frozen".into())?;
        require(scene.is_through(environment, *release), || {
            "5: it is taken, and not through before".into()
        })?;
        let vetos = &found.configuration.vetos;
        require(!vetos.omits(name, None), || {
            "it is taken, and omitted".into()
        })?;
        if self.promoted.contains(&(name.clone(), *release)) {
            return Ok(());
        }
        require(scene.has_soaked(environment, *release), || {
            "it is taken, and has not soaked".into()
        })?;
        let is_automatic = environment.promotion == Promotion::Auto;
        require(vetos.auto_deploy && is_automatic, || "by hand only".into())?;
        let deployed = queues.newest(name, EntryState::Deployed);
        let deployed = deployed.and_then(|it| scene.state.releases.get(&it));
        if let (Some(accepts), Some(deployed)) = (environment.accepts, deployed) {
            let level = Level::between(&deployed.image.tag, &found.image.tag);
            return require(level <= accepts, || format!("accepts: {level:?}"));
        }
        Ok(())
    }

    fn deployed(&mut self, transition: &Transition, counts: &mut Counts) -> Checked {
        let Transition {
            environment,
            release,
            ..
        } = transition;
        let before = self.deployed.insert(environment.clone(), *release);
        counts.deployed += 1;
        counts.at_the_end += u64::from(environment == "prod");
        require(before < Some(*release), || format!("7: after {before:?}"))
    }

    /// Checks what holds of all entries at any time.
    fn stands(&self, scene: Scene<'_>) -> Checked {
        let flow = &scene.state.flow;
        let mut open: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        let mut restoring: BTreeMap<&str, usize> = BTreeMap::new();
        for (environment, release, entry) in scene.ledger.entries() {
            if entry.restore == Some(Restore::Pending) {
                *restoring.entry(environment).or_default() += 1;
            }
            if matches!(entry.state, EntryState::Queued | EntryState::Deploying) {
                *open.entry((environment, entry.state.as_str())).or_default() += 1;
            }
            let is_there = flow.get(environment).is_some();
            require(is_there || entry.state.is_terminal(), || {
                format!("release {release} waits in `{environment}`, which is gone")
            })?;
        }
        for ((environment, state), count) in &open {
            require(*count <= 1, || {
                format!("6: {count} {state} in {environment}")
            })?;
        }
        for (environment, count) in restoring {
            let is_deploying = open.contains_key(&(environment, EntryState::Deploying.as_str()));
            require(count == 1 && !is_deploying, || {
                format!("something is restored in {environment} beside another")
            })?;
        }
        self.begins(scene)
    }

    /// Checks that the newest release is in each environment at the first position.
    fn begins(&self, scene: Scene<'_>) -> Checked {
        let mut newest_first = scene.state.releases.values().rev();
        let newest = newest_first.find(|it| it.cause != Cause::Rollback);
        let Some(newest) = newest.filter(|_| !self.is_deleted) else {
            return Ok(());
        };
        let all = scene.state.flow.environments();
        let first = all.first().map(|it| it.position);
        let mut first = all.iter().filter(|it| Some(it.position) == first);
        let is_there = first.all(|it| scene.state_of(&it.name, newest.number).is_some());
        require(is_there, || "4: no entry in the first environment".into())
    }
}
