//! Watching whether a process is ready.

use std::sync::Arc;
use std::time::Duration;

use pathline_clock::instant;
use pathline_kinds::workers::{HttpGet, Process};
use tokio::time::Instant;

use super::port::{self, PORT_TAKEN, Taken};
use super::probe;
use crate::child::RunHandle;
use crate::context::Context;
use crate::ports::Answerer;
use crate::status::Verdict;

/// The time that a process without a probe must have been running to count as ready.
const SETTLING: Duration = Duration::from_secs(1);
/// The interval at which a process that was just started is asked.
const SOON: Duration = Duration::from_millis(200);
/// The time after its first answer at which a process must answer again before that is believed:
/// one that is about to end has ended by then.
const CONFIRM_AFTER: Duration = Duration::from_millis(250);
/// The time that a process may take until its first answer before that is called wrong.
const STARTUP_TIMEOUT: Duration = Duration::from_secs(30);
/// The number of answers in a row that may be missing before anything is said.
const PARDONED_FAILURES: u32 = 2;

/// Tells when a process becomes ready, or stops being so.
pub(super) struct ReadinessWatch {
    process: Arc<Process>,
    context: Arc<Context>,
    run: RunHandle,
    /// Whether whoever answered before the start may still be the one that answers.
    is_suspect: bool,
    started: Instant,
    judge: Judge,
}

/// The result of asking a process.
#[derive(Debug)]
enum Observation {
    Answers,
    Silent(String),
    Taken(String),
}

impl ReadinessWatch {
    /// Watches a run that was started just now; `taken` is who had its port before.
    pub(super) fn new(
        process: &Arc<Process>,
        context: &Arc<Context>,
        run: RunHandle,
        taken: Option<&Taken>,
    ) -> Self {
        Self {
            process: process.clone(),
            context: context.clone(),
            run,
            is_suspect: taken.is_some(),
            started: instant(),
            judge: Judge::new(taken.map(Taken::verdict)),
        }
    }

    /// Returns when there is something new to say.
    pub(super) async fn changed(&mut self) -> Verdict {
        let process = self.process.clone();
        let Some(readiness) = &process.spec.readiness else {
            return self.settled().await;
        };
        let period = Duration::from_secs(readiness.period_seconds.into());
        loop {
            tokio::time::sleep(self.judge.pause(period)).await;
            let mut observation = self.observe(&readiness.http_get).await;
            if matches!(observation, Observation::Answers) && !self.judge.is_ready() {
                tokio::time::sleep(CONFIRM_AFTER).await;
                observation = self.observe(&readiness.http_get).await;
            }
            if let Some(verdict) = self.judge.judge(observation, self.started.elapsed()) {
                return verdict;
            }
        }
    }

    /// Returns when a process without a probe has been running long enough, and never again.
    async fn settled(&mut self) -> Verdict {
        if self.judge.is_ready() {
            return std::future::pending().await;
        }
        tokio::time::sleep(SETTLING).await;
        let verdict = Verdict::yes("Running", "it has been running for a second");
        self.judge.said = Some(verdict.clone());
        verdict
    }

    /// Asks the process. The answer is its own if the sockets that can give it belong to it before
    /// and after, and it has not ended.
    async fn observe(&mut self, target: &HttpGet) -> Observation {
        let port = target.port;
        let before = port::answerer(port, &self.run).await;
        if let Answerer::Stranger(stranger) = before {
            let taken = Taken::by(&self.context, port, stranger).await;
            return Observation::Taken(taken.message);
        }
        if let Err(why) = probe::ask(target).await {
            self.is_suspect = self.is_suspect && probe::connects(port).await;
            return Observation::Silent(why);
        }
        match (before, port::answerer(port, &self.run).await) {
            _ if !self.run.is_running() => Observation::Silent("it has ended".into()),
            (Answerer::Run(before), Answerer::Run(after)) if before == after => {
                Observation::Answers
            }
            (_, Answerer::Stranger(stranger)) => {
                let taken = Taken::by(&self.context, port, stranger).await;
                Observation::Taken(taken.message)
            }
            // Somebody answers, and the system does not tell who.
            (Answerer::Unknown | Answerer::Nobody, Answerer::Unknown | Answerer::Nobody) => {
                self.observe_blindly(port)
            }
            _ => Observation::Silent(format!("port {port} changes hands")),
        }
    }

    /// Judges an answer of which nothing is known but whether there was one before the start.
    fn observe_blindly(&self, port: u16) -> Observation {
        if self.is_suspect {
            Observation::Taken(Taken::unseen(port).message)
        } else {
            Observation::Answers
        }
    }
}

/// Turns observations into what is said.
#[derive(Debug, Default)]
struct Judge {
    was_ready: bool,
    failures: u32,
    said: Option<Verdict>,
}

impl Judge {
    fn new(said: Option<Verdict>) -> Self {
        Self {
            said,
            ..Self::default()
        }
    }

    fn is_ready(&self) -> bool {
        self.said.as_ref().is_some_and(|it| it.status == "True")
    }

    /// Returns the pause before the next question: none at first, and little while it starts.
    fn pause(&self, period: Duration) -> Duration {
        match &self.said {
            None if self.failures == 0 => Duration::ZERO,
            None => period.min(SOON),
            Some(said) if said.status == "Unknown" => period.min(SOON),
            Some(_) => period,
        }
    }

    /// Returns what to say unless it was said.
    fn judge(&mut self, observation: Observation, running_for: Duration) -> Option<Verdict> {
        let verdict = match observation {
            Observation::Answers => {
                self.failures = 0;
                self.was_ready = true;
                Verdict::yes("Answering", "it answers")
            }
            Observation::Taken(who) => Verdict::no(PORT_TAKEN, who),
            Observation::Silent(why) => {
                self.failures += 1;
                self.judge_silence(why, running_for)?
            }
        };
        let is_new = self.said.as_ref() != Some(&verdict);
        self.said = Some(verdict.clone());
        is_new.then_some(verdict)
    }

    /// A process that never answered is starting for a while; one that did is pardoned a little.
    fn judge_silence(&self, why: String, running_for: Duration) -> Option<Verdict> {
        if self.failures <= PARDONED_FAILURES {
            return None;
        }
        let is_starting = !self.was_ready && running_for < STARTUP_TIMEOUT;
        Some(if is_starting {
            Verdict::unknown(
                "Starting",
                format!("it was started and is not ready yet: {why}"),
            )
        } else {
            Verdict::no("NotAnswering", why)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOONER: Duration = Duration::from_secs(1);
    const LATER: Duration = STARTUP_TIMEOUT;

    fn silent() -> Observation {
        Observation::Silent("refused".into())
    }

    fn taken() -> Observation {
        Observation::Taken("by nginx".into())
    }

    /// Returns status and reason of what is said after each observation.
    fn story<const N: usize>(
        observations: [(Observation, Duration); N],
    ) -> [Option<(&'static str, &'static str)>; N] {
        let mut judge = Judge::default();
        observations.map(|(observation, running_for)| {
            let verdict = judge.judge(observation, running_for);
            verdict.map(|it| (it.status, it.reason))
        })
    }

    #[test]
    fn a_process_that_takes_long_to_start_is_starting_and_not_wrong() {
        let told = story([
            (silent(), SOONER),
            (silent(), SOONER),
            (silent(), SOONER),
            (silent(), SOONER),
            (silent(), LATER),
            (Observation::Answers, LATER),
        ]);
        let starting = Some(("Unknown", "Starting"));
        let wrong = Some(("False", "NotAnswering"));
        let ready = Some(("True", "Answering"));
        assert_eq!(told, [None, None, starting, None, wrong, ready]);
    }

    #[test]
    fn a_process_that_stops_answering_is_pardoned_twice() {
        let told = story([
            (Observation::Answers, SOONER),
            (silent(), SOONER),
            (silent(), SOONER),
            (silent(), SOONER),
            (silent(), SOONER),
            (Observation::Answers, SOONER),
        ]);
        let ready = Some(("True", "Answering"));
        let wrong = Some(("False", "NotAnswering"));
        assert_eq!(told, [ready, None, None, wrong, None, ready]);
    }

    #[test]
    fn a_taken_port_is_said_at_once_and_once() {
        let told = story([
            (taken(), SOONER),
            (taken(), SOONER),
            (Observation::Answers, SOONER),
            (taken(), SOONER),
        ]);
        let wrong = Some(("False", "PortTaken"));
        assert_eq!(told, [wrong, None, Some(("True", "Answering")), wrong]);
    }

    #[test]
    fn what_was_said_before_the_start_is_not_said_again() {
        let mut judge = Judge::new(Some(Verdict::no("PortTaken", "by nginx")));
        assert!(judge.judge(taken(), SOONER).is_none());
        assert!(judge.judge(Observation::Answers, SOONER).is_some());
    }
}
