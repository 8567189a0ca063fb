//! Answers to why a release is not in an environment yet, and when it can be.

mod absent;
mod coming;
mod sentence;

use jiff::Timestamp;

use self::sentence::Asked;
use super::{EntryState, Flow, Holds, Queues};

/// The answer for one environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    /// The environment.
    pub environment: String,
    /// The state of the release there; nothing if it has not got there.
    pub state: Option<EntryState>,
    /// The answer in words; where somebody has to do something, with the command.
    pub sentence: String,
    /// The earliest instant at which it is taken there. It is kept if nobody does anything, nothing new is released,
    /// deployments take no time, and what is live stays so.
    pub earliest: Option<Timestamp>,
    /// Whether it gets there no more, also if somebody promotes or resumes.
    pub never: bool,
}

impl Queues {
    /// Says for each environment, the first one first, why a release is not there yet; `halts` are the holds of
    /// environments as a whole. Nothing is said of a release that is not known.
    pub fn why(&self, (flow, halts): (&Flow, &Holds), release: u64, now: Timestamp) -> Vec<Why> {
        if !self.releases.contains_key(&release) {
            return Vec::new();
        }
        let mut queues = self.clone();
        queues.advance(flow, now);
        let future = queues.future((flow, halts), release, now);
        let mut answers: Vec<Why> = Vec::new();
        for environment in flow.environments() {
            let asked = Asked {
                queues: &queues,
                future: &future,
                flow,
                halts,
                release,
                now,
                environment,
                before: &answers,
            };
            let answer = asked.answer();
            answers.push(answer);
        }
        answers
    }
}
