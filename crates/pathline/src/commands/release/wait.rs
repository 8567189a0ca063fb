//! `pathline release wait`.

use std::time::Duration;

use jiff::SignedDuration;
use pathline_client::api::{ReleaseWait, WaitState};
use pathline_clock::instant;
use tokio::time::{Instant, timeout_at};

use super::why::earliest;
use crate::cli::WaitReleaseArgs;
use crate::commands::wait::{FIRST_ANSWER_TIMEOUT, View, read, timeout, unasked};
use crate::terminal::client::{Client, ClientError};
use crate::terminal::output::{Format, print_data, print_text, say};
use crate::terminal::report::{CommandError, Exit};

/// The end of a wait for a release.
enum Ending {
    Decided(ReleaseWait),
    /// Time was up; this was the last word.
    TimedOut(Option<ReleaseWait>),
    /// Time was up, and nobody could be asked any more.
    Unasked(Option<ClientError>),
}

pub(super) async fn wait(args: &WaitReleaseArgs) -> Result<Exit, CommandError> {
    let limit = timeout(args.timeout)?;
    let deadline = instant() + limit;
    let away = |error: &ClientError| say(&format!("{error}; waiting until one is started"));
    let ending = match Client::await_server(&args.server.options(), deadline, away).await {
        Err(error) if error.is_stopped() => Ending::Unasked(Some(error)),
        client => follow(&client?, args, deadline).await?,
    };
    report(ending, args.output.format, limit)
}

/// Follows until it is decided or time is up, and says where the release is meanwhile.
async fn follow(
    client: &Client,
    args: &WaitReleaseArgs,
    deadline: Instant,
) -> Result<Ending, CommandError> {
    let number = args.release.map(|it| it.to_string());
    let mut query = vec![("environment", args.environment.as_str())];
    query.extend(number.as_deref().map(|it| ("release", it)));
    query.extend(args.commit.as_deref().map(|it| ("commit", it)));
    let path = ["trackers", args.tracker.as_str(), "wait"];
    let mut events = client.events(&path, &query);
    let mut view = View::new(&format!("{} in {}", args.tracker, args.environment));
    let mut last = None;
    // Whoever gives no time wants to know how it is.
    let first = deadline.max(instant() + FIRST_ANSWER_TIMEOUT);
    loop {
        let next = events.next(|error| view.broken(error));
        let until = if last.is_none() { first } else { deadline };
        let Ok(event) = timeout_at(until, next).await else {
            return Ok(match events.is_connected() {
                true => Ending::TimedOut(last),
                false => Ending::Unasked(events.trouble()),
            });
        };
        let waited: ReleaseWait = read(&event?.data)?;
        // How it ends is told once, by the report.
        if waited.is_decided() {
            return Ok(Ending::Decided(waited));
        }
        view.show_lines(vec![line(&waited)]);
        last = Some(waited);
    }
}

/// Says how it ended: as data on stdout, and on stderr why it has not happened.
fn report(ending: Ending, format: Format, limit: Duration) -> Result<Exit, CommandError> {
    let told = match &ending {
        Ending::Decided(waited) | Ending::TimedOut(Some(waited)) => Some(waited),
        Ending::TimedOut(None) | Ending::Unasked(_) => None,
    };
    if let Some(waited) = told.filter(|_| format != Format::Text) {
        print_data(format, waited, |_| Ok(()))?;
    }
    match ending {
        Ending::Unasked(trouble) => Err(unasked(limit, trouble)),
        Ending::TimedOut(last) => Err(late(last.as_ref(), limit)),
        Ending::Decided(waited) => match waited.state {
            WaitState::Holds => {
                if format == Format::Text {
                    print_text(|out| writeln!(out, "{}: {}", waited.tracker, waited.sentence))?;
                }
                Ok(Exit::Yes)
            }
            WaitState::Unproven => Err(refused(&waited).with_exit(Exit::Unknown)),
            WaitState::Impossible | WaitState::Waiting => Err(refused(&waited)),
        },
    }
}

fn refused(waited: &ReleaseWait) -> CommandError {
    let message = waited.impossible.as_ref().map(|it| it.message.clone());
    CommandError::new(message.unwrap_or_else(|| waited.sentence.clone())).with_exit(Exit::No)
}

fn late(last: Option<&ReleaseWait>, limit: Duration) -> CommandError {
    let time = SignedDuration::try_from(limit).unwrap_or(SignedDuration::MAX);
    let message = match last {
        Some(waited) => format!(
            "after {time:#} it is not in `{}` yet\n  {}",
            waited.environment,
            line(waited)
        ),
        None => format!("after {time:#} nothing was answered"),
    };
    let more = last.map(|it| format!("; `pathline release why {}` shows more", it.tracker));
    CommandError::new(message)
        .with_hint(format!(
            "wait again, or longer with `--timeout`{}",
            more.unwrap_or_default()
        ))
        .with_exit(Exit::TimedOut)
}

/// Returns where the release is, in one line.
fn line(waited: &ReleaseWait) -> String {
    match waited.earliest {
        Some(at) => format!(
            "{} (earliest {})",
            waited.sentence,
            earliest(Some(at), false)
        ),
        None => waited.sentence.clone(),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use pathline_client::api::Impossible;

    use super::*;
    use crate::cli::Cli;

    const LIMIT: Duration = Duration::from_secs(1800);

    fn mk_waited(state: WaitState) -> ReleaseWait {
        ReleaseWait {
            state,
            tracker: "shop.web".to_owned(),
            environment: "prod".to_owned(),
            release: Some(41),
            entry: None,
            sentence: "release 41 is queued in `dev`".to_owned(),
            earliest: None,
            impossible: (state == WaitState::Impossible).then(|| Impossible {
                reason: "superseded".to_owned(),
                message: "superseded by release 42".to_owned(),
                resource: None,
                input: None,
                by: None,
            }),
        }
    }

    fn ended(ending: Ending) -> (Exit, String) {
        match report(ending, Format::Text, LIMIT) {
            Ok(exit) => (exit, String::new()),
            Err(error) => (error.exit(), format!("{error:?}")),
        }
    }

    #[test]
    fn each_ending_has_the_exit_code_of_waits() {
        let decided = |state| Ending::Decided(mk_waited(state));
        assert_eq!(ended(decided(WaitState::Holds)).0, Exit::Yes);
        let (exit, text) = ended(decided(WaitState::Impossible));
        assert_eq!(exit, Exit::No);
        assert!(text.contains("superseded by release 42"), "{text}");
        assert_eq!(ended(decided(WaitState::Unproven)).0, Exit::Unknown);
        let (exit, text) = ended(Ending::TimedOut(Some(mk_waited(WaitState::Waiting))));
        assert_eq!(exit, Exit::TimedOut);
        assert!(text.contains("after 30m it is not in `prod` yet"), "{text}");
        assert!(text.contains("pathline release why shop.web"), "{text}");
        assert_eq!(ended(Ending::TimedOut(None)).0, Exit::TimedOut);
        assert_eq!(ended(Ending::Unasked(None)).0, Exit::Unknown);
    }

    #[test]
    fn wait_without_a_release_names_both_ways_to_say_which() {
        let wait = ["pathline", "release", "wait", "shop.web", "--in", "prod"];
        let refused = Cli::try_parse_from(wait).unwrap_err().to_string();
        assert!(
            refused.contains("--commit <COMMIT>") && refused.contains("--release <NUMBER>"),
            "{refused}"
        );
        for which in [["--release", "4"], ["--commit", "4f0c1d2"]] {
            let wait = wait.iter().chain(&which);
            assert!(Cli::try_parse_from(wait).is_ok(), "{which:?}");
        }
    }

    #[test]
    fn earliest_time_is_told_where_there_is_one() {
        let mut waited = mk_waited(WaitState::Waiting);
        waited.earliest = Some(jiff::Timestamp::UNIX_EPOCH);
        assert_eq!(
            line(&waited),
            "release 41 is queued in `dev` (earliest 1970-01-01T00:00:00Z)"
        );
    }
}
