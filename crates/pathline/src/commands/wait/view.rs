//! The progress of everything that is waited for: live on a terminal, in plain lines elsewhere.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use jiff::Timestamp;
use pathline_client::api::{Progress, WaitResult};
use pathline_clock::Clock;

use crate::terminal::client::ClientError;
use crate::terminal::output::say;

/// The interval at which the moving line moves.
const TICK: Duration = Duration::from_millis(100);

/// Shows how far it is.
pub(crate) struct View {
    spinner: Option<ProgressBar>,
    shown: Vec<String>,
    /// The trouble that was told last.
    trouble: String,
}

impl View {
    /// Returns a view that fits where stderr goes; `awaited` is what is waited for.
    pub(crate) fn new(awaited: &str) -> Self {
        let spinner = io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{spinner:.cyan} {msg} {elapsed:.dim}")
                .expect("the template is well-formed");
            let spinner = ProgressBar::new_spinner().with_style(style);
            spinner.set_message(format!("waiting for {awaited}"));
            spinner.enable_steady_tick(TICK);
            spinner
        });
        Self {
            spinner,
            shown: Vec::new(),
            trouble: String::new(),
        }
    }

    /// Shows where everything is now.
    pub(super) fn show(&mut self, waited: &WaitResult) {
        let now = Clock::system().now();
        let lines = waited.progress.iter().map(|it| line(it, now));
        self.show_lines(lines.collect());
    }

    /// Shows lines; those that were shown before are not repeated where they would be.
    pub(crate) fn show_lines(&mut self, lines: Vec<String>) {
        match &self.spinner {
            Some(spinner) => spinner.set_message(lines.join("\n  ")),
            None => {
                let news = lines.iter().filter(|line| !self.shown.contains(line));
                news.for_each(|line| say(line));
            }
        }
        self.shown = lines;
        self.trouble.clear();
    }

    /// Says that the connection has to be made again, unless that was said before.
    pub(crate) fn broken(&mut self, error: &ClientError) {
        let text = format!("{error}; trying again");
        if text == self.trouble {
            return;
        }
        self.trouble.clone_from(&text);
        match &self.spinner {
            Some(spinner) => spinner.suspend(|| say(&text)),
            None => say(&text),
        }
    }
}

impl Drop for View {
    fn drop(&mut self) {
        if let Some(spinner) = &self.spinner {
            spinner.finish_and_clear();
        }
    }
}

/// Returns where something is, in one line.
pub(super) fn line(progress: &Progress, now: Timestamp) -> String {
    let Progress {
        input,
        reached,
        missing,
        at_work,
        ..
    } = progress;
    let mut line = subject(progress);
    line.push_str("  ");
    let place = match reached.as_slice() {
        [] if input.is_empty() => String::new(),
        [] => "not seen yet".to_owned(),
        reached => format!("in {}", reached.join(", ")),
    };
    line.push_str(&place);
    if missing.is_empty() {
        line.push_str(", where it is wanted");
        return line;
    }
    let since = at_work.as_ref().and_then(|it| it.since);
    let separator = if place.is_empty() { "" } else { "; " };
    line.push_str(separator);
    line.push_str(&missing.join("; "));
    line.push_str(&since.map(|since| elapsed(since, now)).unwrap_or_default());
    line
}

/// Returns what is waited for, with the input that it is about.
pub(super) fn subject(progress: &Progress) -> String {
    let Progress {
        wait_for,
        input,
        value,
        ..
    } = progress;
    match wait_for.as_str() {
        "current" if !input.is_empty() => format!("current {input}={value}"),
        wait_for => wait_for.to_owned(),
    }
}

/// Returns how long something has been at work, in whole seconds; nothing if that is less than one.
fn elapsed(since: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(since).as_secs();
    match seconds {
        ..1 => String::new(),
        1..120 => format!(", {seconds} s"),
        _ => format!(", {} min", seconds / 60),
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use pathline_client::api::AtWork;

    use super::*;

    #[test]
    fn line_says_how_far_it_is_and_what_is_missing() {
        let mut progress = Progress {
            wait_for: "source=8f1c2e7".to_owned(),
            input: "fetch".to_owned(),
            value: "8f1c2e7".to_owned(),
            reached: Vec::new(),
            at_work: None,
            deliverables: Vec::new(),
            missing: vec!["nobody has fetched it yet".to_owned()],
        };
        let now = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(10);
        assert_eq!(
            line(&progress, now),
            "source=8f1c2e7  not seen yet; nobody has fetched it yet"
        );
        progress.reached = vec!["source".to_owned(), "test".to_owned()];
        progress.missing = vec!["`build` runs".to_owned()];
        progress.at_work = Some(AtWork {
            resource: "build".to_owned(),
            since: Some(Timestamp::UNIX_EPOCH),
        });
        assert_eq!(
            line(&progress, now),
            "source=8f1c2e7  in source, test; `build` runs, 10 s"
        );
        progress.reached.push("build".to_owned());
        progress.missing.clear();
        assert_eq!(
            line(&progress, now),
            "source=8f1c2e7  in source, test, build, where it is wanted"
        );
    }

    #[test]
    fn line_of_current_names_the_input() {
        let mut progress = Progress {
            wait_for: "current".to_owned(),
            input: "param:debug".to_owned(),
            value: "on".to_owned(),
            reached: Vec::new(),
            at_work: None,
            deliverables: Vec::new(),
            missing: vec!["`config` runs".to_owned()],
        };
        let now = Timestamp::UNIX_EPOCH;
        let text = "current param:debug=on  not seen yet; `config` runs";
        assert_eq!(line(&progress, now), text);
        progress.input.clear();
        progress.missing = vec!["`run` rolls out: it is not ready".to_owned()];
        assert_eq!(
            line(&progress, now),
            "current  `run` rolls out: it is not ready"
        );
    }
}
