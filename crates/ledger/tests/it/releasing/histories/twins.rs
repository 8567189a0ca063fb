//! Queues in memory that know everything, beside those that the ledger restores.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use pathline_ledger::releases::{
    ActOutcome, QueueAction, QueuesOf, ReleaseFilter, StoredRelease, TrackerRef,
};
use pathline_ledger::{Ledger, Page};
use pathline_release::TrackerName;
use pathline_release::queue::{Entry, EntryState, Flow, Hold, Holds, Queues, Report, Transition};
use pathline_testkit::Dice;

use super::flows::{ENVIRONMENTS, mk_flow};
use crate::home::Home;
use crate::releasing::{listed, mk_by, mk_hold};
use crate::story::at;
use crate::tracking::{Seen, create, mk_name, open};

pub(super) struct Twins {
    ledger: Ledger,
    name: TrackerName,
    uid: String,
    memory: Queues,
    halts: Holds,
    flow: Flow,
    dice: Dice,
    now: Timestamp,
    formed: u64,
    images: u64,
    moved: usize,
}

impl Twins {
    pub(super) async fn new(home: &Home, mut dice: Dice, name: &str) -> anyhow::Result<Self> {
        let ledger = open(home).await?;
        // What an earlier history has left.
        let halts = ledger.releases().environment_holds().await?;
        let handled = ledger.releases().handled_ticks().await?;
        let now = handled.into_values().max().unwrap_or(at(0));
        let now = now + SignedDuration::from_secs(1);
        let uid = create(&ledger, name).await?.uid;
        let name = mk_name(name);
        Ok(Self {
            ledger,
            memory: Queues::new(name.clone()),
            name,
            uid,
            halts,
            flow: mk_flow(&mut dice, now),
            dice,
            now,
            formed: 0,
            images: 0,
            moved: 0,
        })
    }

    /// Returns the number of changes of states.
    pub(super) fn moved(&self) -> usize {
        self.moved
    }

    /// Lets something happen to both, and says what.
    pub(super) async fn step(&mut self) -> anyhow::Result<String> {
        let seconds = self.dice.one_of(&[1, 1, 2, 5]);
        self.now += SignedDuration::from_secs(seconds);
        let (environment, _) = self.dice.one_of(&ENVIRONMENTS);
        match self.dice.below(100) {
            0..=11 => self.form().await,
            12..=34 => self.tick().await,
            35..=63 => self.report(environment).await,
            64..=69 => self.promote(environment).await,
            70..=74 => self.live(environment).await,
            75..=80 => self.hold(environment).await,
            81..=84 => self.halt(environment).await,
            85..=88 => self.roll_back(environment).await,
            89..=91 => self.restored(environment).await,
            92..=93 => {
                self.flow = mk_flow(&mut self.dice, self.now);
                self.act(QueueAction::Advance).await
            }
            94..=95 => self.act(QueueAction::Checkpoint).await,
            96 => self.act(QueueAction::Restarted).await,
            97 => self.act(QueueAction::Expire).await,
            98 if self.dice.chance(10) => self.delete().await,
            _ => self.act(QueueAction::Advance).await,
        }
    }

    async fn form(&mut self) -> anyhow::Result<String> {
        let Some(tracker) = self.ledger.trackers().get(&self.name).await? else {
            return Ok("nothing is formed any more".to_owned());
        };
        self.images += 1;
        let mut seen = Seen::new("one", &format!("sha256:{}", self.images));
        seen.time = self.now;
        let mut result = seen.result(&tracker);
        result.flow = self.flow.clone();
        let formed = result.release.clone().expect("the image is another");
        self.ledger.trackers().apply(result).await?;
        self.formed = formed.number;
        let transitions = self.memory.enter(&self.flow, &formed, self.now);
        Ok(self.told("form", &transitions))
    }

    /// Ticks, after what has soaked was entered.
    async fn tick(&mut self) -> anyhow::Result<String> {
        self.act(QueueAction::Advance).await?;
        let names = ENVIRONMENTS.into_iter().map(|(it, _)| it);
        let ticking: Vec<&str> = names.filter(|_| self.dice.chance(70)).collect();
        let ticks: Vec<_> = ticking
            .iter()
            .map(|it| ((*it).to_owned(), self.now))
            .collect();
        let ticked = self
            .ledger
            .releases()
            .tick(&self.flow, &ticks, self.now)
            .await?;
        let setting = (&self.flow, &self.halts);
        let transitions = self.memory.tick(setting, &ticking, self.now);
        let told = self.told("tick", &transitions);
        assert_eq!(ticked.moved > 0, !transitions.is_empty(), "{told}");
        Ok(told)
    }

    async fn report(&mut self, environment: &str) -> anyhow::Result<String> {
        let names = ENVIRONMENTS.into_iter().map(|(it, _)| it);
        let busy = names.filter(|it| self.memory.newest(it, EntryState::Deploying).is_some());
        let busy: Vec<&str> = busy.collect();
        let environment = match busy.is_empty() {
            true => environment,
            false => self.dice.one_of(&busy),
        };
        let deploying = self.memory.newest(environment, EntryState::Deploying);
        let release = deploying.unwrap_or_else(|| self.any_release());
        let entry = self.memory.entry(environment, release);
        let action = QueueAction::Report {
            environment: environment.to_owned(),
            release,
            attempt: entry.map_or(0, |it| it.attempt),
            report: self.mk_report(),
        };
        self.act(action).await
    }

    async fn restored(&mut self, environment: &str) -> anyhow::Result<String> {
        let names = ENVIRONMENTS.into_iter().map(|(it, _)| it);
        let mut restoring = names.filter_map(|it| Some((it, self.memory.restoring(it)?)));
        let (environment, failed, attempt) = match restoring.next() {
            Some((environment, it)) => (environment, it.failed, it.attempt),
            None => (environment, 1, 0),
        };
        let action = QueueAction::ReportRestore {
            environment: environment.to_owned(),
            failed,
            attempt,
            report: self.mk_report(),
        };
        self.act(action).await
    }

    async fn promote(&mut self, environment: &str) -> anyhow::Result<String> {
        let action = QueueAction::Promote {
            environment: environment.to_owned(),
            release: self.named(40),
            now: self.dice.chance(40),
        };
        self.act(action).await
    }

    async fn live(&mut self, environment: &str) -> anyhow::Result<String> {
        let deployed = self.memory.newest(environment, EntryState::Deployed);
        let action = QueueAction::Live {
            environment: environment.to_owned(),
            release: deployed.unwrap_or_else(|| self.any_release()),
            is_live: self.dice.chance(60),
        };
        self.act(action).await
    }

    async fn hold(&mut self, environment: &str) -> anyhow::Result<String> {
        let held: Vec<String> = self
            .memory
            .holds()
            .iter()
            .map(|it| it.0.to_owned())
            .collect();
        let action = match held.first() {
            Some(held) if self.dice.chance(80) => QueueAction::Resume {
                environment: held.clone(),
            },
            _ => QueueAction::Hold {
                environment: environment.to_owned(),
            },
        };
        self.act(action).await
    }

    async fn halt(&mut self, environment: &str) -> anyhow::Result<String> {
        let halted = self.halts.iter().next().map(|it| it.0.to_owned());
        let releases = self.ledger.releases();
        let told = match halted {
            Some(halted) => {
                let resumed = releases
                    .resume_environment(&halted, &mk_by(), self.now)
                    .await?;
                assert_eq!(resumed, self.halts.resume(&halted));
                format!("resume all of {halted}")
            }
            None => {
                releases
                    .hold_environment(environment, mk_hold(self.now))
                    .await?;
                self.halts.hold(environment, mk_hold(self.now));
                format!("hold all of {environment}")
            }
        };
        assert_eq!(releases.environment_holds().await?, self.halts);
        Ok(told)
    }

    async fn roll_back(&mut self, environment: &str) -> anyhow::Result<String> {
        let release = self.named(50);
        let action = QueueAction::Rollback {
            environment: environment.to_owned(),
            release,
        };
        let target = self.memory.rollback_target(
            (&self.flow, &self.halts),
            (environment, release),
            self.now,
        );
        let outcome = self.send(action).await?;
        let expected = match target {
            Err(refusal) => {
                assert_eq!(outcome, ActOutcome::NotRolledBack(refusal.clone()));
                return Ok(format!("no rollback: {refusal}"));
            }
            Ok(target) => target,
        };
        let ActOutcome::Done {
            transitions,
            formed: Some(formed),
            ..
        } = outcome
        else {
            panic!("a rollback to {expected} was refused: {outcome:?}");
        };
        let release = &formed.release;
        self.formed = release.number;
        assert_eq!(release.rollback.as_ref().map(|it| it.to), Some(expected));
        let by = mk_by();
        let hold = Hold::of_rollback(expected, by.reason, by.who, self.now);
        let moved = self.memory.roll_back(&self.flow, release, hold, self.now);
        assert_eq!(listed(&transitions), listed(&moved));
        Ok(self.told("rollback", &moved))
    }

    /// Deletes the tracker, if it is there.
    pub(super) async fn delete(&mut self) -> anyhow::Result<String> {
        let trackers = self.ledger.trackers();
        trackers.delete(&self.name, None, "ops", self.now).await?;
        let transitions = self.memory.delete(self.now);
        Ok(self.told("delete", &transitions))
    }

    async fn send(&self, action: QueueAction) -> anyhow::Result<ActOutcome> {
        let tracker = TrackerRef::Uid(self.uid.clone());
        let releases = self.ledger.releases();
        let by = mk_by();
        Ok(releases
            .act(tracker, &self.flow, action, &by, self.now)
            .await?)
    }

    /// Does to both what needs no other answer than the transitions.
    async fn act(&mut self, action: QueueAction) -> anyhow::Result<String> {
        let outcome = self.send(action.clone()).await?;
        let told = format!("{action:?}");
        let expected = self.remember(action);
        match (&outcome, &expected) {
            (ActOutcome::Done { transitions, .. }, Some(expected)) => {
                assert_eq!(listed(transitions), listed(expected), "{told}");
            }
            (ActOutcome::Done { .. }, None) => panic!("{told} was done"),
            (_, Some(_)) => panic!("{told} was refused: {outcome:?}"),
            (_, None) => {}
        }
        let transitions = expected.unwrap_or_default();
        Ok(self.told(&told, &transitions))
    }

    /// Does in memory what an action does; nothing if it is refused.
    fn remember(&mut self, action: QueueAction) -> Option<Vec<Transition>> {
        let (memory, flow, at) = (&mut self.memory, &self.flow, self.now);
        match action {
            QueueAction::Advance => Some(memory.advance(flow, at)),
            QueueAction::Expire => Some(memory.expire(flow, at)),
            QueueAction::Report {
                environment,
                release,
                attempt,
                report,
            } => Some(memory.report(flow, (&environment, release), attempt, report, at)),
            QueueAction::Live {
                environment,
                release,
                is_live,
            } => Some(memory.live(flow, (&environment, release), is_live, at)),
            QueueAction::Promote {
                environment,
                release,
                now: true,
            } => {
                let setting = (flow, &self.halts);
                let wanted = (environment.as_str(), release);
                memory.promote_now(setting, wanted, at).ok()
            }
            QueueAction::Promote {
                environment,
                release,
                now: false,
            } => memory.promote(flow, (&environment, release), at).ok(),
            QueueAction::Hold { environment } => flow.get(&environment).map(|_| {
                memory.hold(&environment, mk_hold(at));
                Vec::new()
            }),
            QueueAction::Resume { environment } => memory.resume(&environment).map(|_| Vec::new()),
            still => {
                match still {
                    QueueAction::Checkpoint => memory.checkpoint(at),
                    QueueAction::Restarted => memory.restarted(at),
                    QueueAction::ReportRestore {
                        environment,
                        failed,
                        attempt,
                        report,
                    } => memory.report_restore((&environment, failed), attempt, report, at),
                    other => panic!("{other:?} is not for both"),
                }
                Some(Vec::new())
            }
        }
    }

    /// Compares everything that is stored, and the answers about the newest release and another one.
    pub(super) async fn compare(&mut self, step: &str) -> anyhow::Result<()> {
        let asked = [self.any_release(), self.formed];
        let filter = ReleaseFilter {
            tracker: Some(self.name.clone()),
            ..ReleaseFilter::default()
        };
        let releases = self.ledger.releases();
        let all = releases.list(&filter, &Page::first(1000)).await?.items;
        for release in &all {
            assert_eq!(release.entries, self.entries(release), "{step}");
        }
        for release in asked {
            let tracker = &TrackerRef::Uid(self.uid.clone());
            let which = QueuesOf::One {
                tracker,
                release: Some(release),
            };
            let found = releases.queues(which).await?;
            let [restored] = &found[..] else {
                panic!("{step}: {found:?}");
            };
            let setting = (&self.flow, &self.halts);
            let told = restored.queues.why(setting, release, self.now);
            let expected = self.memory.why(setting, release, self.now);
            assert_eq!(told, expected, "{step}: why {release}");
            assert_eq!(restored.queues.holds(), self.memory.holds(), "{step}");
        }
        Ok(())
    }

    fn entries(&self, release: &StoredRelease) -> BTreeMap<String, Entry> {
        let names = ENVIRONMENTS.into_iter().map(|(it, _)| it);
        let number = release.release.number;
        let entries = names.map(|it| (it.to_owned(), self.memory.entry(it, number).cloned()));
        entries.filter_map(|(name, it)| Some((name, it?))).collect()
    }

    fn told(&mut self, what: &str, transitions: &[Transition]) -> String {
        self.moved += transitions.len();
        format!("{what}: {}", listed(transitions))
    }

    /// Returns the number of a release, or of one that is not there.
    fn any_release(&mut self) -> u64 {
        1 + self.dice.below(self.formed + 1)
    }

    fn named(&mut self, percent: u64) -> Option<u64> {
        let is_named = self.dice.chance(percent);
        is_named.then(|| self.any_release())
    }

    fn mk_report(&mut self) -> Report {
        match self.dice.chance(75) {
            true => Report::Ready,
            false => Report::Failed("it failed".to_owned()),
        }
    }
}
