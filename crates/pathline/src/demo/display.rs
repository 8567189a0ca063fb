//! Tells the story on stderr: live on a terminal, in plain lines elsewhere.

use std::io::{self, IsTerminal};
use std::time::{Duration, SystemTime};

use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressStyle};

use super::scene::Commit;
use super::stage::Stage;
use super::story::{Trouble, short};
use crate::terminal::output::say;

const GOOD: Style = AnsiColor::Green.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();
const NAME: Style = AnsiColor::Yellow.on_default();
const SOFT: Style = Style::new().dimmed();

/// The interval at which the moving line moves.
const TICK: Duration = Duration::from_millis(100);

/// Lines that stay, and on a terminal one last line that moves.
pub(crate) struct Display {
    spinner: Option<ProgressBar>,
}

impl Display {
    /// Returns a display that fits where stderr goes.
    pub(crate) fn new() -> Self {
        Self {
            spinner: io::stderr().is_terminal().then(new_spinner),
        }
    }

    /// Prints a line that stays.
    pub(crate) fn line(&self, text: &str) {
        match &self.spinner {
            Some(spinner) => spinner.suspend(|| say(text)),
            None => say(text),
        }
    }

    /// Says what is being done, and for how long, until the next word.
    pub(crate) fn doing(&self, what: &str) {
        if let Some(spinner) = &self.spinner
            && spinner.message() != what
        {
            spinner.reset();
            spinner.set_message(what.to_owned());
            spinner.enable_steady_tick(TICK);
        }
    }

    /// Takes the moving line away.
    pub(crate) fn rest(&self) {
        if let Some(spinner) = &self.spinner {
            spinner.disable_steady_tick();
            spinner.set_message("");
            spinner.finish_and_clear();
        }
    }

    pub(super) fn made(&self, commit: &Commit) {
        self.line("");
        self.line(&format!(
            "{NAME}{}{NAME:#}  {}",
            short(&commit.id),
            commit.subject
        ));
    }

    pub(super) fn next(&self, commit: &Commit, stage: Stage) {
        self.doing(&format!("{} is {}", short(&commit.id), stage.doing()));
    }

    pub(super) fn reached(&self, commit: &Commit, stage: Stage, detail: &str) {
        let (id, age) = (short(&commit.id), age(commit.made_at));
        let done = stage.done();
        self.line(&format!(
            "{NAME}{id}{NAME:#}  {age:>7}  {GOOD}{done:<9}{GOOD:#}  {SOFT}{detail}{SOFT:#}"
        ));
    }

    pub(super) fn failed(&self, commit: &Commit, stage: Stage, trouble: &Trouble) {
        let (id, age) = (short(&commit.id), age(commit.made_at));
        let done = stage.done();
        self.line(&format!(
            "{NAME}{id}{NAME:#}  {age:>7}  {BAD}not {done}{BAD:#}  {}",
            trouble.object
        ));
        self.trouble(trouble);
    }

    /// Shows what is known about a station that is not reached.
    pub(super) fn trouble(&self, trouble: &Trouble) {
        self.line(&format!("  {}", trouble.message));
        for line in trouble.log_tail.lines() {
            self.line(&format!("  {SOFT}|{SOFT:#} {line}"));
        }
        if let Some(path) = &trouble.log_path {
            self.line(&format!("  the whole log: {path}"));
        }
    }
}

/// Returns the time since then, as people say it.
fn age(then: SystemTime) -> String {
    let seconds = then.elapsed().unwrap_or_default().as_secs_f64();
    if seconds < 60.0 {
        format!("+{seconds:.1}s")
    } else {
        format!("+{:.0}m{:02.0}s", (seconds / 60.0).floor(), seconds % 60.0)
    }
}

fn new_spinner() -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner:.cyan} {msg} {elapsed:.dim}")
        .expect("the template is well-formed");
    ProgressBar::new_spinner().with_style(style)
}
