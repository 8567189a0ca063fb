//! Transcripts of kubectl, as a reader of a terminal would see them.

use std::fmt::Write;

use anyhow::Result;
use pathline_testkit::kube::Outcome;

use super::target::Target;

/// A sequence of kubectl calls, and what each of them printed.
pub(crate) struct Session<'a> {
    target: &'a Target,
    transcript: String,
}

impl<'a> Session<'a> {
    pub(crate) fn new(target: &'a Target) -> Self {
        Self {
            target,
            transcript: String::new(),
        }
    }

    /// Runs `kubectl LINE`; words are split as a shell does, with single quotes only.
    pub(crate) async fn run(&mut self, line: &str) -> Result<Outcome> {
        let words = split(line);
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        let outcome = self.target.kubectl().run(&words).await?;
        self.note(line, &outcome);
        Ok(outcome)
    }

    /// Runs `kubectl LINE` with a manifest on its standard input.
    pub(crate) async fn feed(&mut self, line: &str, manifest: &str) -> Result<Outcome> {
        let words = split(line);
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        let outcome = self.target.kubectl().run_with(&words, manifest).await?;
        self.note(line, &outcome);
        Ok(outcome)
    }

    /// Adds a call made elsewhere.
    pub(crate) fn note(&mut self, line: &str, outcome: &Outcome) {
        let Outcome {
            code,
            stdout,
            stderr,
            ..
        } = outcome;
        write!(self.transcript, "$ kubectl {line}\n{stdout}{stderr}").expect("strings grow");
        if *code != 0 {
            writeln!(self.transcript, "(exit {code})").expect("strings grow");
        }
    }

    /// Returns the transcript without what differs from run to run.
    pub(crate) fn transcript(self) -> String {
        let mut lines: Vec<_> = self.transcript.lines().collect();
        // A server lists the faults of an object in no particular order.
        for faults in lines.chunk_by_mut(|a, b| a.starts_with("* ") && b.starts_with("* ")) {
            faults.sort_unstable();
        }
        lines
            .join("\n")
            .replace(&self.target.namespace, "NAMESPACE")
    }
}

/// Compares a text with the one recorded from the real server. Times, ages, uids and resource
/// versions may differ, and so may the width of columns, which follows from them, and what a
/// parser of regular expressions or a printer of structures says in its own words.
macro_rules! assert_recorded {
    ($name:literal, $text:expr) => {
        let text = $text;
        $crate::conformance::session::settings().bind(|| insta::assert_snapshot!($name, text))
    };
}
pub(crate) use assert_recorded;

pub(crate) fn settings() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_omit_expression(true);
    settings.add_filter(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UID");
    settings.add_filter(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME");
    settings.add_filter(r#"(resourceVersion"?: ?"?)\d+"#, "${1}RV");
    settings.add_filter(r"(Resource Version: +)\d+", "${1}RV");
    settings.add_filter(
        r"Invalid value: \[\{.*\}\]: must have",
        "Invalid value: [...]: must have",
    );
    settings.add_filter(
        r"(?s)(valid regular expression, but isn't: ).*?\n\(exit",
        "$1...\n(exit",
    );
    // What the client logs beside its answer (it had to wait, a request was cut off by its own
    // time-out) tells of a busy machine, not of the server.
    settings.add_filter(r"(?m)^[IWE]\d{4} \d\d:\d\d:\d\d\.\d+ .*\n", "");
    settings.add_filter(r"(?m)\b\d+(s|ms|m\d+s)( ago)?(\s|$)", "AGE$3");
    settings.add_filter(r"(?m)[ \t]+$", "");
    settings.add_filter(r"(\S) {2,}", "$1  ");
    settings
}

fn split(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for character in line.chars() {
        match character {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            other => words
                .last_mut()
                .expect("there is always a last word")
                .push(other),
        }
    }
    words
}
