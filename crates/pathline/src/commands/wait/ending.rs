//! How waiting ended, in words and as an exit code.

use std::io::{self, Write};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use pathline_server::api::{WaitState, Waited};

use super::view::{line, subject};
use super::{Request, running};
use crate::client::ClientError;
use crate::report::{Exit, Failure};

/// How waiting ended.
#[derive(Debug)]
pub(crate) enum Ending {
    /// The server has decided.
    Decided(Waited),
    /// Time was up; this was the last word.
    TimedOut(Option<Waited>),
    /// Time was up, and nobody could be asked any more, for this reason.
    Unasked(Option<ClientError>),
}

impl Ending {
    /// Returns what was told last.
    pub(crate) fn waited(&self) -> Option<&Waited> {
        match self {
            Self::Decided(waited) => Some(waited),
            Self::TimedOut(last) => last.as_ref(),
            Self::Unasked(_) => None,
        }
    }

    /// Tells whether it has happened.
    pub(crate) fn holds(&self) -> bool {
        matches!(self, Self::Decided(waited) if waited.state == WaitState::Holds)
    }

    /// Says that it has happened.
    pub(crate) fn write(&self, request: &Request, out: &mut dyn Write) -> io::Result<()> {
        let verb = if request.live {
            "runs with"
        } else {
            "is made of"
        };
        let positions = self.waited().map(|waited| waited.positions.as_slice());
        writeln!(out, "{} {verb} what was asked for", request.owner())?;
        let mut told = Vec::new();
        for position in positions.unwrap_or_default() {
            let subject = subject(position);
            if !told.contains(&subject) {
                writeln!(out, "  {subject}")?;
                told.push(subject);
            }
        }
        let running = self.waited().map(|waited| waited.running.as_slice());
        for object in running.unwrap_or_default() {
            writeln!(out, "{}", running::line(object))?;
        }
        Ok(())
    }

    /// Returns why it has not happened, with the exit code; none if it has.
    pub(crate) fn failure(self, request: &Request) -> Option<Failure> {
        match self {
            Self::Unasked(trouble) => Some(unasked(request.timeout, trouble)),
            Self::TimedOut(last) => Some(late(request, last.as_ref())),
            Self::Decided(waited) => match waited.state {
                WaitState::Holds => None,
                WaitState::Waiting => Some(late(request, Some(&waited))),
                WaitState::Never => Some(never(&waited)),
                WaitState::Unproven => Some(unproven(&waited)),
            },
        }
    }
}

/// Says that nobody could be asked until time was up.
pub(crate) fn unasked(timeout: Duration, trouble: Option<ClientError>) -> Failure {
    let time = SignedDuration::try_from(timeout).unwrap_or(SignedDuration::MAX);
    let message = format!("for the rest of {time:#} nobody could be asked");
    match trouble {
        Some(trouble) => Failure::from(trouble).within(message),
        None => Failure::new(message).with_exit(Exit::Unknown),
    }
}

fn never(waited: &Waited) -> Failure {
    let message = waited.never.as_ref().map(|never| never.message.clone());
    let message = message.unwrap_or_else(|| "it can't happen any more".to_owned());
    Failure::new(message).with_exit(Exit::No)
}

fn unproven(waited: &Waited) -> Failure {
    let mend = waited
        .mend
        .iter()
        .map(|mend| format!("\n  {} ({}): {}", mend.resource, mend.template, mend.why));
    let mend: String = mend.collect();
    Failure::new(format!(
        "everything has settled, and it cannot be proven:{mend}"
    ))
    .with_hint("`--accept-assumed` counts what is only assumed")
    .with_exit(Exit::Unknown)
}

fn late(request: &Request, last: Option<&Waited>) -> Failure {
    let seconds = i64::try_from(request.timeout.as_secs()).unwrap_or(i64::MAX);
    let time = SignedDuration::from_secs(seconds);
    let positions = last.map(|waited| waited.positions.as_slice());
    let unmet = positions.unwrap_or_default().iter();
    let unmet = unmet.filter(|position| !position.missing.is_empty());
    let now = Timestamp::now();
    let unmet = unmet.map(|it| format!("\n  {}", line(it, now)));
    let unmet: String = unmet.collect();
    Failure::new(format!("after {time:#} it has not happened yet{unmet}"))
        .with_hint(format!(
            "wait again, or longer with `--timeout`; `pathline lineage {} -n {}` shows more",
            request.owner, request.namespace
        ))
        .with_exit(Exit::TimedOut)
}

#[cfg(test)]
mod tests {
    use pathline_server::api::{Impossible, Mend, Position};

    use super::*;

    fn mk_request() -> Request {
        Request {
            owner: "workload/hello".parse().unwrap(),
            namespace: "default".to_owned(),
            wishes: vec!["param:debug=on".parse().unwrap()],
            changes: None,
            seen: Vec::new(),
            live: true,
            accept_assumed: false,
            timeout: Duration::from_secs(90),
        }
    }

    fn mk_waited(state: WaitState) -> Waited {
        Waited {
            state,
            generation: 2,
            id: "2".to_owned(),
            positions: vec![Position {
                wish: "param:debug=on".to_owned(),
                input: "param:debug".to_owned(),
                value: "on".to_owned(),
                reached: vec!["build".to_owned()],
                at_work: None,
                missing: vec!["run has made nothing yet".to_owned()],
            }],
            never: Some(Impossible {
                reason: "unused".to_owned(),
                message: "nothing reads it: check its spelling".to_owned(),
                input: None,
                by: None,
            }),
            mend: vec![Mend {
                resource: "build".to_owned(),
                template: "ClusterImageTemplate/kpack".to_owned(),
                why: "declare artifactTracing".to_owned(),
            }],
            notes: Vec::new(),
            running: Vec::new(),
        }
    }

    fn said(ending: Ending) -> (Exit, String) {
        let failure = ending.failure(&mk_request()).expect("no success");
        (failure.exit(), format!("{failure:?}"))
    }

    #[test]
    fn each_ending_has_its_exit_code_and_says_what_to_do_next() {
        let decided = |state| Ending::Decided(mk_waited(state));
        assert!(decided(WaitState::Holds).failure(&mk_request()).is_none());
        let (exit, text) = said(decided(WaitState::Never));
        assert_eq!(exit, Exit::No);
        assert!(text.contains("check its spelling"), "{text}");
        let (exit, text) = said(decided(WaitState::Unproven));
        assert_eq!(exit, Exit::Unknown);
        assert!(text.contains("ClusterImageTemplate/kpack"), "{text}");
        assert!(text.contains("--accept-assumed"), "{text}");
        let (exit, text) = said(Ending::TimedOut(Some(mk_waited(WaitState::Waiting))));
        assert_eq!(exit, Exit::TimedOut);
        assert!(text.contains("after 1m 30s"), "{text}");
        assert!(text.contains("run has made nothing yet"), "{text}");
        assert!(
            text.contains("pathline lineage workload/hello -n default"),
            "{text}"
        );
    }

    #[test]
    fn server_that_never_said_a_word_is_late_too() {
        assert_eq!(said(Ending::TimedOut(None)).0, Exit::TimedOut);
    }

    #[test]
    fn who_could_not_be_asked_until_the_end_has_no_answer() {
        let data_dir = "/nowhere".into();
        let (exit, text) = said(Ending::Unasked(Some(ClientError::NotThere { data_dir })));
        assert_eq!(exit, Exit::Unknown);
        assert!(text.contains("nobody could be asked"), "{text}");
        assert!(text.contains("no Pathline runs on /nowhere"), "{text}");
    }
}
