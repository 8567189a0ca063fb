//! The end of a wait, in words and as an exit code.

use std::io::{self, Write};
use std::time::Duration;

use jiff::SignedDuration;
use pathline_client::api::{WaitResult, WaitState};
use pathline_clock::Clock;

use super::view::{line, subject};
use super::{Request, running};
use crate::terminal::client::ClientError;
use crate::terminal::report::{CommandError, Exit};

/// The end of a wait.
#[derive(Debug)]
pub(crate) enum Ending {
    /// The server has decided.
    Decided(WaitResult),
    /// Time was up; this was the last word.
    TimedOut(Option<WaitResult>),
    /// Time was up, and nobody could be asked any more, for this reason.
    Unasked(Option<ClientError>),
}

impl Ending {
    /// Returns what was told last.
    pub(crate) fn waited(&self) -> Option<&WaitResult> {
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
        let progress = self.waited().map(|waited| waited.progress.as_slice());
        writeln!(out, "{} {verb} what was asked for", request.owner())?;
        let mut written = Vec::new();
        for progress in progress.unwrap_or_default() {
            let subject = subject(progress);
            if !written.contains(&subject) {
                writeln!(out, "  {subject}")?;
                written.push(subject);
            }
        }
        let running = self.waited().map(|waited| waited.running.as_slice());
        for object in running.unwrap_or_default() {
            writeln!(out, "{}", running::line(object))?;
        }
        Ok(())
    }

    /// Returns why it has not happened, with the exit code; none if it has.
    pub(crate) fn failure(self, request: &Request) -> Option<CommandError> {
        match self {
            Self::Unasked(trouble) => Some(unasked(request.timeout, trouble)),
            Self::TimedOut(last) => Some(late(request, last.as_ref())),
            Self::Decided(waited) => match waited.state {
                WaitState::Holds => None,
                WaitState::Waiting => Some(late(request, Some(&waited))),
                WaitState::Impossible => Some(impossible(&waited)),
                WaitState::Unproven => Some(unproven(&waited)),
            },
        }
    }
}

/// Says that nobody could be asked until time was up.
pub(crate) fn unasked(timeout: Duration, trouble: Option<ClientError>) -> CommandError {
    let time = SignedDuration::try_from(timeout).unwrap_or(SignedDuration::MAX);
    let message = format!("for the rest of {time:#} nobody could be asked");
    match trouble {
        Some(trouble) => CommandError::from(trouble).within(message),
        None => CommandError::new("the question was taken, and nothing was answered")
            .within(message)
            .with_hint("wait again, or longer with `--timeout`; the log of Pathline says what keeps it busy")
            .with_exit(Exit::Unknown),
    }
}

fn impossible(waited: &WaitResult) -> CommandError {
    let message = waited
        .impossible
        .as_ref()
        .map(|impossible| impossible.message.clone());
    let message = message.unwrap_or_else(|| "it can't happen any more".to_owned());
    CommandError::new(message).with_exit(Exit::No)
}

fn unproven(waited: &WaitResult) -> CommandError {
    let missing = waited.missing_proof.iter();
    let missing = missing.map(|it| format!("\n  {} ({}): {}", it.resource, it.template, it.why));
    let missing: String = missing.collect();
    let message = format!("everything has settled, and it cannot be proven:{missing}");
    let hint = if waited.missing_proof.iter().any(|it| it.assumed) {
        "`--accept-assumed` counts what is only assumed"
    } else {
        "mend what is named, and wait again"
    };
    CommandError::new(message)
        .with_hint(hint)
        .with_exit(Exit::Unknown)
}

fn late(request: &Request, last: Option<&WaitResult>) -> CommandError {
    // What an apply took of it is no reason to say less than was asked for.
    let whole = request.timeout.saturating_add(Duration::from_millis(999));
    let seconds = i64::try_from(whole.as_secs()).unwrap_or(i64::MAX);
    let time = SignedDuration::from_secs(seconds);
    let progress = last.map(|waited| waited.progress.as_slice());
    let unmet = progress.unwrap_or_default().iter();
    let unmet = unmet.filter(|progress| !progress.missing.is_empty());
    let now = Clock::system().now();
    let unmet = unmet.map(|it| format!("\n  {}", line(it, now)));
    let unmet: String = unmet.collect();
    let is_there = last.is_none_or(|waited| waited.generation != 0);
    let more = if is_there {
        format!("`pathline lineage {}` shows more", delayed(request, last))
    } else {
        "check the name and the namespace (`-n`)".to_owned()
    };
    CommandError::new(format!("after {time:#} it has not happened yet{unmet}"))
        .with_hint(format!("wait again, or longer with `--timeout`; {more}"))
        .with_exit(Exit::TimedOut)
}

/// Returns the owner that keeps others waiting, as an argument: the delivery, where it is across git.
fn delayed(request: &Request, last: Option<&WaitResult>) -> String {
    let progress = last.map(|waited| waited.progress.as_slice());
    let mut deliverables = progress.unwrap_or_default().iter();
    let deliverable = deliverables.find_map(|it| it.deliverables.first()?.split_once('/'));
    match deliverable {
        Some((namespace, name)) => format!("deliverable/{name} -n {namespace}"),
        None => format!("{} -n {}", request.owner, request.namespace),
    }
}

#[cfg(test)]
mod tests {
    use pathline_client::api::{Impossible, MissingProof, Progress};

    use super::*;

    fn mk_request() -> Request {
        Request {
            owner: "workload/hello".parse().unwrap(),
            namespace: "default".to_owned(),
            awaited: vec!["param:debug=on".parse().unwrap()],
            changes: None,
            seen: Vec::new(),
            live: true,
            accept_assumed: false,
            timeout: Duration::from_millis(89_700),
        }
    }

    fn mk_waited(state: WaitState) -> WaitResult {
        WaitResult {
            state,
            generation: 2,
            id: "2".to_owned(),
            progress: vec![Progress {
                wait_for: "param:debug=on".to_owned(),
                input: "param:debug".to_owned(),
                value: "on".to_owned(),
                reached: vec!["build".to_owned()],
                at_work: None,
                deliverables: Vec::new(),
                missing: vec!["run has made nothing yet".to_owned()],
            }],
            impossible: Some(Impossible {
                reason: "unused".to_owned(),
                message: "nothing reads it: check its spelling".to_owned(),
                resource: None,
                input: None,
                by: None,
            }),
            missing_proof: vec![MissingProof {
                resource: "build".to_owned(),
                template: "ClusterImageTemplate/kpack".to_owned(),
                why: "declare artifactTracing".to_owned(),
                assumed: true,
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
        let (exit, text) = said(decided(WaitState::Impossible));
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
    fn want_of_proof_that_nothing_makes_up_for_does_not_advise_to_accept_it() {
        let mut waited = mk_waited(WaitState::Unproven);
        waited.missing_proof[0].assumed = false;
        let (_, text) = said(Ending::Decided(waited));
        assert!(!text.contains("--accept-assumed"), "{text}");
    }

    #[test]
    fn delivery_that_is_waited_for_is_the_one_to_ask_about() {
        let mut waited = mk_waited(WaitState::Waiting);
        waited.progress[0].deliverables = vec!["prod/shop".to_owned()];
        let (_, text) = said(Ending::TimedOut(Some(waited)));
        let more = "`pathline lineage deliverable/shop -n prod` shows more";
        assert!(text.contains(more), "{text}");
    }

    #[test]
    fn owner_that_is_not_there_has_no_lineage_to_show() {
        let mut waited = mk_waited(WaitState::Waiting);
        waited.generation = 0;
        let (_, text) = said(Ending::TimedOut(Some(waited)));
        assert!(text.contains("check the name and the namespace"), "{text}");
        assert!(!text.contains("pathline lineage"), "{text}");
    }

    #[test]
    fn server_that_takes_the_question_and_is_silent_is_said_to_be_so() {
        let (exit, text) = said(Ending::Unasked(None));
        assert_eq!(exit, Exit::Unknown);
        assert!(text.contains("nothing was answered"), "{text}");
        assert!(text.contains("the log of Pathline"), "{text}");
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
