//! Where everything is that is waited for: live on a terminal, in plain lines elsewhere.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use pathline_server::api::{Position, Waited};

use super::Request;
use crate::client::ClientError;
use crate::output::say;

/// How often the moving line moves.
const TICK: Duration = Duration::from_millis(100);

/// Shows how far it is.
pub(super) struct View {
    spinner: Option<ProgressBar>,
    shown: Vec<String>,
    /// The trouble that was told last.
    trouble: String,
}

impl View {
    /// Returns a view that fits where stderr goes.
    pub(super) fn new(request: &Request) -> Self {
        let spinner = io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{spinner:.cyan} {msg} {elapsed:.dim}")
                .expect("the template is well-formed");
            let spinner = ProgressBar::new_spinner().with_style(style);
            spinner.set_message(format!("waiting for {}", request.owner()));
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
    pub(super) fn show(&mut self, waited: &Waited) {
        let lines: Vec<_> = waited.positions.iter().map(line).collect();
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
    pub(super) fn broken(&mut self, error: &ClientError) {
        let told = format!("{error}; trying again");
        if told == self.trouble {
            return;
        }
        self.trouble.clone_from(&told);
        match &self.spinner {
            Some(spinner) => spinner.suspend(|| say(&told)),
            None => say(&told),
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
pub(super) fn line(position: &Position) -> String {
    let Position {
        wish,
        reached,
        missing,
        ..
    } = position;
    let reached = match reached.as_slice() {
        [] => "not seen yet".to_owned(),
        reached => format!("in {}", reached.join(", ")),
    };
    if missing.is_empty() {
        format!("{wish}  {reached}, where it is wanted")
    } else {
        format!("{wish}  {reached}; {}", missing.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_says_how_far_it_is_and_what_is_missing() {
        let mut position = Position {
            wish: "source=8f1c2e7".to_owned(),
            input: String::new(),
            value: String::new(),
            reached: Vec::new(),
            missing: vec!["nobody has fetched it yet".to_owned()],
        };
        assert_eq!(
            line(&position),
            "source=8f1c2e7  not seen yet; nobody has fetched it yet"
        );
        position.reached = vec!["source".to_owned(), "build".to_owned()];
        position.missing.clear();
        assert_eq!(
            line(&position),
            "source=8f1c2e7  in source, build, where it is wanted"
        );
    }
}
