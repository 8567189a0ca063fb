//! Artifacts, evidence, owners and times in words.

use jiff::Timestamp;
use pathline_lineage::Evidence;

use crate::api::{Artifact, OwnerRef};

/// Returns what something is: `image`, `param debug`, `field spec.source.git.url`.
pub fn label(artifact: &Artifact) -> String {
    let kind = artifact.kind.as_str();
    match &artifact.name {
        Some(name) => format!("{kind} {}", one_line(name)),
        None => kind.to_owned(),
    }
}

/// Returns what something is, with its value, on one line.
pub fn named(artifact: &Artifact) -> String {
    format!("{} {}", label(artifact), one_line(&artifact.value))
}

/// Returns how it is known that one thing was made from another: `proven by generation`, `assumed`.
pub fn proof(evidence: Evidence) -> String {
    if evidence.is_proof() {
        format!("proven by {evidence}")
    } else {
        "assumed".to_owned()
    }
}

/// Returns who owns a path: `workload default/hello`.
pub fn owner(owner: &OwnerRef) -> String {
    let kind = owner.kind.to_ascii_lowercase();
    format!("{kind} {}/{}", owner.namespace, owner.name)
}

/// Returns a time to the second.
pub fn time(time: Timestamp) -> String {
    time.strftime("%F %TZ").to_string()
}

/// Returns names as a list in a sentence.
pub fn list(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

/// Returns a text so that it stays one line, and nothing of it acts on the terminal.
pub fn one_line(text: &str) -> String {
    let printable = |character: char| {
        if character.is_control() {
            '\u{fffd}'
        } else {
            character
        }
    };
    text.chars().map(printable).collect()
}

/// Cuts the middle out of a text that has more than `most` characters: both ends of a reference
/// matter.
pub fn shorten(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let kept = most.saturating_sub(1);
    let (head, tail) = (kept.div_ceil(2), kept / 2);
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(count - tail).collect();
    format!("{start}…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_keeps_both_ends() {
        assert_eq!(shorten("main@sha1:8f1c2e7d", 11), "main@…c2e7d");
        assert_eq!(shorten("main@sha1:8f1c2e7d", 18), "main@sha1:8f1c2e7d");
        assert_eq!(shorten("äöüäöü", 3), "ä…ü");
        assert_eq!(shorten("abc", 0), "…");
    }

    #[test]
    fn nothing_of_a_value_acts_on_the_terminal() {
        assert_eq!(one_line("a\u{1b}[31m\nb"), "a\u{fffd}[31m\u{fffd}b");
    }

    #[test]
    fn names_are_listed_as_in_a_sentence() {
        let names = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(list(&names), "a, b and c");
        assert_eq!(list(&names[..2]), "a and b");
        assert_eq!(list(&names[..1]), "a");
    }
}
