//! Random histories of one tracker.

use jiff::{SignedDuration, Timestamp};
use pathline_release::clauses::Clause;
use pathline_release::queue::{EntryState, Queues};
use pathline_release::tracker::Cycle;
use pathline_testkit::Dice;

use super::check::{Checker, require};
use super::counts::Counts;
use super::event::{Consequences, Event, State, apply};
use super::flows::{ENVIRONMENTS, mk_flow, rearranged};
use super::ledger::{Ledger, Named};
use super::moves::{Moves, Scene};
use super::promise;
use super::truth::Truth;
use super::world::World;

/// The number of steps of a history.
const STEPS: usize = 180;

struct History {
    dice: Dice,
    world: World,
    state: State,
    /// All that is stored of the state.
    ledger: Ledger,
    truth: Truth,
    checker: Checker,
    moves: Moves,
    counts: Counts,
    now: Timestamp,
    dropped: Option<Clause>,
    /// The state at the beginning, and everything that was put in, with its time.
    log: (State, Vec<(Event, Timestamp)>),
    /// Cycles that are still under way, or come a second time, with the world that they saw.
    late: Vec<(Cycle, World)>,
    story: Vec<String>,
}

/// Runs a history, without a clause of the rules if one is named.
pub(super) fn run(seed: u64, dropped: Option<Clause>) -> Result<Counts, String> {
    let mut history = History::new(seed, dropped);
    history.run()?;
    Ok(history.counts)
}

/// Tells the story of a history.
pub(super) fn tell(seed: u64) -> String {
    let mut history = History::new(seed, None);
    let ended = history.run();
    format!("{}\n{ended:?}", history.story.join("\n"))
}

impl History {
    fn new(seed: u64, dropped: Option<Clause>) -> Self {
        let mut dice = Dice::new(seed);
        let flow = mk_flow(&mut dice);
        let state = State::new(flow, dropped);
        Self {
            dice,
            world: World::new(),
            log: (state.clone(), Vec::new()),
            state,
            ledger: Ledger::default(),
            truth: Truth::default(),
            checker: Checker::default(),
            moves: Moves::default(),
            counts: Counts::default(),
            now: Timestamp::UNIX_EPOCH,
            dropped,
            late: Vec::new(),
            story: Vec::new(),
        }
    }

    fn run(&mut self) -> Result<(), String> {
        for _ in 0..STEPS {
            let time = SignedDuration::from_secs(self.dice.one_of(&[1, 1, 2, 5]));
            self.now += time;
            self.truth.pass(&self.state, time);
            self.step()?;
        }
        self.replay()
    }

    fn step(&mut self) -> Result<(), String> {
        let (environment, _) = self.dice.one_of(&ENVIRONMENTS);
        match self.dice.below(100) {
            0..=19 => {
                let told = self.world.change(&mut self.dice);
                self.story.push(told);
                Ok(())
            }
            20..=37 => self.poll(),
            38..=52 => {
                let names = ENVIRONMENTS.into_iter().map(|(it, _)| it);
                let ticking = names.filter(|_| self.dice.chance(70)).collect();
                self.happen(&Event::Tick(ticking))
            }
            53..=70 => self.report(environment),
            71..=74 => {
                let release = self.named(40);
                self.happen(&Event::Promote(environment, release))
            }
            75..=76 => {
                let release = self.named(40);
                self.happen(&Event::PromoteNow(environment, release))
            }
            77..=79 => self.live(environment),
            80..=83 => self.stop(environment),
            84..=85 => {
                let release = self.named(50);
                self.happen(&Event::Rollback(environment, release))
            }
            86 => self.happen(&Event::Request),
            87..=88 => {
                let flow = rearranged(&self.state.flow, &mut self.dice);
                self.happen(&Event::Arrange(Box::new(flow)))
            }
            89..=90 => self.restore(environment),
            91..=93 => self.promise(),
            94 => self.restart(),
            95 => {
                let event = match self.dice.chance(50) {
                    true => Event::Checkpoint,
                    false => Event::Expire,
                };
                self.happen(&event)
            }
            96 => self.happen(&Event::Advance),
            97..=98 if !self.late.is_empty() => {
                let (late, world) = self.late.swap_remove(self.dice.index(self.late.len()));
                self.observe(&late, &world)
            }
            99 if self.dice.chance(10) => self.happen(&Event::Delete),
            _ => Ok(()),
        }
    }

    /// Returns the number of a release, or of none, in so many of a hundred cases.
    fn named(&mut self, percent: u64) -> Option<u64> {
        let last = self.state.releases.len() as u64;
        let is_named = self.dice.chance(percent);
        is_named.then(|| 1 + self.dice.below(last + 1))
    }

    fn poll(&mut self) -> Result<(), String> {
        let cycle = self.world.poll(&self.state.tracker, &mut self.dice);
        let world = self.world.clone();
        if self.dice.chance(25) {
            self.late.push((cycle.clone(), world.clone()));
        }
        if self.dice.chance(10) {
            return Ok(());
        }
        self.observe(&cycle, &world)
    }

    fn observe(&mut self, cycle: &Cycle, world: &World) -> Result<(), String> {
        let before = self.state.tracker.clone();
        let event = Event::Cycle(Box::new(cycle.clone()));
        let Consequences {
            outcome: Some(outcome),
            ..
        } = self.take(&event)?
        else {
            return Err("a cycle without an outcome".to_owned());
        };
        let trackers = (&before, &self.state.tracker);
        let answers = (cycle, &outcome);
        self.checker
            .observed(world, trackers, answers, &mut self.counts)
    }

    /// Reports about what is deploying, or about something else: late, twice, or of another attempt.
    fn report(&mut self, environment: &'static str) -> Result<(), String> {
        let queues = &self.state.queues;
        let is_deploying = |it: &&str| queues.newest(it, EntryState::Deploying).is_some();
        let names = ENVIRONMENTS.into_iter().map(|(it, _)| it);
        let busy: Vec<_> = names.filter(is_deploying).collect();
        let environment = match busy.is_empty() || self.dice.chance(15) {
            true => environment,
            false => self.dice.one_of(&busy),
        };
        let deploying = self.state.queues.newest(environment, EntryState::Deploying);
        let any = 1 + self.dice.below(5);
        let release = deploying.filter(|_| self.dice.chance(80)).unwrap_or(any);
        let entry = self.state.queues.entry(environment, release);
        let attempt = entry.map(|it| it.attempt).unwrap_or_default();
        let attempt = match self.dice.chance(95) {
            true => attempt,
            false => attempt + 1,
        };
        let is_ready = self.dice.chance(75);
        self.happen(&Event::Report(environment, release, attempt, is_ready))
    }

    /// Says of what is deployed, or of something else, that it is live or is not.
    fn live(&mut self, environment: &'static str) -> Result<(), String> {
        let deployed = self.state.queues.newest(environment, EntryState::Deployed);
        let any = 1 + self.dice.below(5);
        let release = deployed.filter(|_| self.dice.chance(90)).unwrap_or(any);
        let is_live = self.dice.chance(60);
        self.happen(&Event::Live(environment, release, is_live))
    }

    /// Holds something, or resumes it; most of what is held is resumed before long.
    fn stop(&mut self, environment: &'static str) -> Result<(), String> {
        let names = || ENVIRONMENTS.into_iter().map(|(it, _)| it);
        let holds = self.state.queues.holds();
        let held: Vec<_> = names().filter(|it| holds.get(it).is_some()).collect();
        let halts = &self.state.halts;
        let halted: Vec<_> = names().filter(|it| halts.get(it).is_some()).collect();
        let event = match self.dice.below(10) {
            0 => Event::Hold(environment),
            1 => Event::Halt(environment, true),
            2..=6 if !held.is_empty() => Event::Resume(self.dice.one_of(&held)),
            _ if !halted.is_empty() => Event::Halt(self.dice.one_of(&halted), false),
            _ => Event::Resume(environment),
        };
        self.happen(&event)
    }

    /// Reports about what is restored.
    fn restore(&mut self, environment: &'static str) -> Result<(), String> {
        let names = ENVIRONMENTS.into_iter().map(|(it, _)| it);
        let restoring = names.map(|it| (it, self.state.queues.restoring(it)));
        let mut restoring = restoring.filter_map(|(name, it)| Some((name, it?)));
        let (environment, release, attempt) = match restoring.next() {
            Some((name, it)) => (name, it.failed, it.attempt),
            None => (environment, 1, 0),
        };
        let is_ready = self.dice.chance(70);
        self.happen(&Event::Restored(environment, release, attempt, is_ready))
    }

    /// Ends Pathline, and starts it again after a while in which nobody watches.
    fn restart(&mut self) -> Result<(), String> {
        self.state = self.state.stored(self.dropped);
        self.now += SignedDuration::from_secs(self.dice.one_of(&[1, 10, 40]));
        self.happen(&Event::Restart)
    }

    /// Checks what is promised for a release.
    fn promise(&mut self) -> Result<(), String> {
        let Some(release) = self.named(100) else {
            return Ok(());
        };
        self.story.push(format!("why {release}"));
        self.counts.promises += 1;
        let named = Named {
            release: Some(release),
            rollback_of: None,
        };
        let setting = (&self.state.flow, &self.state.halts);
        let restored = self.ledger.restore(named, self.dropped);
        let told = restored.why(setting, release, self.now);
        let expected = self.state.queues.why(setting, release, self.now);
        require(told == expected, || {
            format!("restored, it is told otherwise: {told:?}, and not {expected:?}")
        })?;
        promise::check(&self.state, release, self.now)
    }

    fn happen(&mut self, event: &Event) -> Result<(), String> {
        let pending = self.state.tracker.pending().cloned();
        let Consequences { formed, .. } = self.take(event)?;
        match (event, &formed) {
            (Event::Request, Some(release)) => {
                self.counts.requested += 1;
                self.checker.requested(release, pending.as_ref())
            }
            (Event::Rollback(environment, _), Some(release)) => {
                self.counts.rolled_back += 1;
                let is_held = self.state.queues.holds().get(environment).is_some();
                require(is_held, || "what is rolled back is not held".into())?;
                self.checker.rolled_back(release)
            }
            _ => Ok(()),
        }
    }

    /// Lets an event happen, to the whole state and to what is restored of it, and checks what follows.
    fn take(&mut self, event: &Event) -> Result<Consequences, String> {
        self.story.push(format!("{} {event:?}", self.now));
        self.moves.is_deleted |= matches!(event, Event::Delete);
        let before = self.ledger.restore(Named::by(event), self.dropped);
        if let Event::Rollback(environment, release) = event {
            let target = (*environment, *release);
            let setting = (&self.state.flow, &self.state.halts);
            let expected = self.state.queues.rollback_target(setting, target, self.now);
            let found = before.rollback_target(setting, target, self.now);
            require(found == expected, || {
                "restored, the target is another".into()
            })?;
        }
        let restoring = match event {
            Event::Restored(environment, _, _, true) => Some(*environment),
            _ => None,
        };
        let is_restoring = |state: &State, it: &str| state.queues.restoring(it).is_some();
        let restoring = restoring.filter(|it| is_restoring(&self.state, it));
        let consequences = self.state.take(event, self.now);
        self.log.1.push((event.clone(), self.now));
        self.restored_does_the_same(&before, event, &consequences)?;
        let restored = restoring.filter(|it| !is_restoring(&self.state, it));
        self.counts.restored += u64::from(restored.is_some());
        let transitions = &consequences.transitions;
        let scene = Scene {
            state: &self.state,
            ledger: &self.ledger,
            truth: &self.truth,
            event,
            at: self.now,
        };
        self.moves.moved(scene, transitions, &mut self.counts)?;
        self.truth.note(&self.state, event, transitions, restored);
        Ok(consequences)
    }

    /// Checks that queues which are restored from what is stored do what the whole ones do, and stores that.
    fn restored_does_the_same(
        &mut self,
        before: &Queues,
        event: &Event,
        consequences: &Consequences,
    ) -> Result<(), String> {
        let mut restored = before.clone();
        let setting = (&self.state.flow, &self.state.halts);
        let formed = consequences.formed.as_ref();
        let found = apply(&mut restored, setting, event, formed, self.now);
        require(found == consequences.transitions, || {
            format!("restored, it does {found:?}, and not {consequences:?}")
        })?;
        for (environment, release, entry) in restored.changes(before) {
            let whole = self.state.queues.entry(environment, release);
            require(whole == Some(entry), || {
                format!("restored, {environment}.{release} is {entry:?}, and not {whole:?}")
            })?;
        }
        let is_deleted = self.moves.is_deleted;
        self.ledger.store((&restored, before), formed, is_deleted);
        Ok(())
    }

    /// Checks that a prefix of the log gives the same state as often as it is replayed, restarts or not.
    fn replay(&mut self) -> Result<(), String> {
        let (first, log) = &self.log;
        let length = self.dice.index(log.len() + 1);
        let mut straight = first.clone();
        let mut restarted = first.clone();
        for (event, at) in &log[..length] {
            straight.take(event, *at);
            if self.dice.chance(20) {
                restarted = restarted.stored(self.dropped);
            }
            restarted.take(event, *at);
        }
        match straight == restarted {
            true => Ok(()),
            false => Err("10: replayed, the log gives another state".to_owned()),
        }
    }
}
