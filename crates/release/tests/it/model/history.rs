//! Random histories of one tracker.

use jiff::{SignedDuration, Timestamp};
use pathline_release::Level;
use pathline_release::clauses::Clause;
use pathline_release::queue::{EntryState, Environment, Flow, Holds, Queues, Report, Transition};
use pathline_release::tracker::{Cycle, Tracker};
use pathline_testkit::Dice;

use super::check::{Checker, Counts};
use super::world::World;

/// The number of steps of a history.
const STEPS: usize = 120;

const ENVIRONMENTS: [&str; 4] = ["dev", "ha", "preprod", "prod"];

/// An input of the state machines, as a log would have it.
#[derive(Clone, Debug)]
enum Event {
    Cycle(Box<Cycle>),
    Tick(Vec<&'static str>),
    Report(&'static str, u64, u32, bool),
    Promote(&'static str, Option<u64>),
    Delete,
}

/// Both state machines.
#[derive(Clone, PartialEq, Debug)]
struct State {
    tracker: Tracker,
    queues: Queues,
}

struct History {
    dice: Dice,
    world: World,
    flow: Flow,
    state: State,
    checker: Checker,
    now: Timestamp,
    dropped: Option<Clause>,
    /// Everything that was put in, with its time.
    log: Vec<(Event, Timestamp)>,
    /// Cycles that are still under way, or come a second time, with the world that they saw.
    late: Vec<(Cycle, World)>,
    story: Vec<String>,
}

/// Runs a history, without a clause of the rules if one is named.
pub(super) fn run(seed: u64, dropped: Option<Clause>) -> Result<Counts, String> {
    let mut history = History::new(seed, dropped);
    history.run()?;
    Ok(history.checker.counts)
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
        Self {
            state: State::new(dropped),
            dice,
            world: World::new(),
            flow,
            checker: Checker::default(),
            now: Timestamp::UNIX_EPOCH,
            dropped,
            log: Vec::new(),
            late: Vec::new(),
            story: Vec::new(),
        }
    }

    fn run(&mut self) -> Result<(), String> {
        for _ in 0..STEPS {
            self.now += SignedDuration::from_secs(1);
            self.step()?;
        }
        self.replay()
    }

    fn step(&mut self) -> Result<(), String> {
        let environment = self.dice.one_of(&ENVIRONMENTS);
        match self.dice.below(20) {
            0..=4 => {
                let told = self.world.change(&mut self.dice);
                self.story.push(told);
                Ok(())
            }
            5..=8 => self.poll(),
            9..=11 => {
                let ticking = ENVIRONMENTS.into_iter().filter(|_| self.dice.chance(70));
                let ticking = ticking.collect();
                self.happen(Event::Tick(ticking))
            }
            12..=15 => self.report(environment),
            16 => {
                let release = self.dice.chance(40).then(|| 1 + self.dice.below(6));
                self.happen(Event::Promote(environment, release))
            }
            17 => {
                self.story.push("restart".to_owned());
                self.state = self.state.stored(self.dropped);
                Ok(())
            }
            18 if !self.late.is_empty() => {
                let (late, world) = self.late.swap_remove(self.dice.index(self.late.len()));
                self.observe(&late, &world)
            }
            19 if self.dice.chance(3) => self.happen(Event::Delete),
            _ => Ok(()),
        }
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
        let event = Event::Cycle(Box::new(cycle.clone()));
        self.story.push(format!("{event:?}"));
        self.log.push((event, self.now));
        let before = self.state.tracker.clone();
        let outcome = self.state.tracker.observe(cycle.clone(), self.now);
        let trackers = (&before, &self.state.tracker);
        self.checker.observed(world, trackers, cycle, &outcome)?;
        let Some(release) = outcome.release else {
            return Ok(());
        };
        let entered = self.state.queues.enter(&self.flow, &release, self.now);
        self.checker
            .moved(&self.flow, &self.state.queues, &entered, false)
    }

    /// Reports about what is deploying, or about something else: late, twice, or of another attempt.
    fn report(&mut self, environment: &'static str) -> Result<(), String> {
        let is_deploying = |it: &&str| {
            self.state
                .queues
                .newest(it, EntryState::Deploying)
                .is_some()
        };
        let busy: Vec<_> = ENVIRONMENTS.into_iter().filter(is_deploying).collect();
        let environment = match busy.is_empty() || self.dice.chance(15) {
            true => environment,
            false => self.dice.one_of(&busy),
        };
        let deploying = self.state.queues.newest(environment, EntryState::Deploying);
        let any = 1 + self.dice.below(5);
        let release = deploying.filter(|_| self.dice.chance(80)).unwrap_or(any);
        let entry = self.state.queues.entry(environment, release);
        let attempt = entry.map(|it| it.attempt).unwrap_or_default();
        let attempt = if self.dice.chance(95) {
            attempt
        } else {
            attempt + 1
        };
        let is_ready = self.dice.chance(75);
        self.happen(Event::Report(environment, release, attempt, is_ready))
    }

    fn happen(&mut self, event: Event) -> Result<(), String> {
        self.story.push(format!("{event:?}"));
        let is_by_hand = matches!(event, Event::Promote(..));
        self.checker.is_deleted |= matches!(event, Event::Delete);
        let transitions = self.state.take(&self.flow, &event, self.now);
        self.log.push((event, self.now));
        let queues = &self.state.queues;
        self.checker
            .moved(&self.flow, queues, &transitions, is_by_hand)
    }

    /// Checks that a prefix of the log gives the same state as often as it is replayed, restarts or not.
    fn replay(&mut self) -> Result<(), String> {
        let length = self.dice.index(self.log.len() + 1);
        let mut straight = State::new(self.dropped);
        let mut restarted = straight.clone();
        for (event, at) in &self.log[..length] {
            straight.take(&self.flow, event, *at);
            restarted = restarted.stored(self.dropped);
            restarted.take(&self.flow, event, *at);
        }
        match straight == restarted {
            true => Ok(()),
            false => Err("10: replayed, the log gives another state".to_owned()),
        }
    }
}

impl State {
    fn new(dropped: Option<Clause>) -> Self {
        let name = "a.b".parse().expect("a name");
        Self {
            tracker: Tracker::new(SignedDuration::ZERO).without(dropped),
            queues: Queues::new(name).without(dropped),
        }
    }

    fn take(&mut self, flow: &Flow, event: &Event, at: Timestamp) -> Vec<Transition> {
        match event {
            Event::Cycle(cycle) => {
                let outcome = self.tracker.observe((**cycle).clone(), at);
                let release = outcome.release.as_ref();
                release.map_or_else(Vec::new, |it| self.queues.enter(flow, it, at))
            }
            Event::Tick(environments) => {
                self.queues
                    .tick((flow, &Holds::default()), environments, at)
            }
            Event::Report(environment, release, attempt, is_ready) => {
                let report = match is_ready {
                    true => Report::Ready,
                    false => Report::Failed("it failed".to_owned()),
                };
                self.queues
                    .report(flow, (environment, *release), *attempt, report, at)
            }
            Event::Promote(environment, release) => {
                let promoted = self.queues.promote(flow, (environment, *release), at);
                promoted.unwrap_or_default()
            }
            Event::Delete => {
                self.tracker.delete();
                self.queues.delete(at)
            }
        }
    }

    /// Writes the state down and reads it again, as a restart does.
    fn stored(&self, dropped: Option<Clause>) -> Self {
        let tracker = serde_json::to_string(&self.tracker).expect("it can be written");
        let queues = serde_json::to_string(&self.queues).expect("it can be written");
        let tracker: Tracker = serde_json::from_str(&tracker).expect("it can be read");
        let queues: Queues = serde_json::from_str(&queues).expect("it can be read");
        Self {
            tracker: tracker.without(dropped),
            queues: queues.without(dropped),
        }
    }
}

fn mk_flow(dice: &mut Dice) -> Flow {
    let positions = (0..).zip(ENVIRONMENTS);
    let environments = positions.map(|(position, name)| {
        let mut environment = Environment::new(name, position);
        if dice.chance(25) {
            environment.accepts = Some(dice.one_of(&[Level::Digest, Level::Patch, Level::Minor]));
        }
        environment
    });
    Flow::new(environments.collect()).expect("four names")
}
