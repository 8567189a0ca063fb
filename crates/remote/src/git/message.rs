//! Commit messages with trailers, in git's format.

use std::fmt::Write;

use gix::objs::commit::MessageRef;

use super::Error;

/// A trailer of a commit message: a line `key: value` in its last paragraph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trailer {
    /// The key: letters, digits and dashes. Several trailers may have the same one.
    pub key: String,
    /// The value. One of several lines is folded in a message, and read back as one line.
    pub value: String,
}

impl Trailer {
    /// Makes a trailer; whether it can be written is checked when it is.
    pub fn new(key: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            value: value.into(),
        }
    }
}

/// Reads the trailers of a commit message, in their order, as `git interpret-trailers --parse` does.
///
/// ```
/// use pathline_remote::git::{Trailer, trailers};
///
/// let message = "deploy: shop\n\nChange: 1a2b\nChange: 3c4d\n";
/// let expected = [Trailer::new("Change", "1a2b"), Trailer::new("Change", "3c4d")];
/// assert_eq!(trailers(message), expected);
/// ```
pub fn trailers(message: impl AsRef<[u8]>) -> Vec<Trailer> {
    let message = with_empty_lines(message.as_ref());
    let Some(body) = MessageRef::from_bytes(&message).body() else {
        return Vec::new();
    };
    let trailers = body.trailers();
    trailers
        .map(|it| Trailer::new(it.token.to_string(), it.value.to_string()))
        .collect()
}

/// Empties lines of white space only: for git they separate paragraphs, for gix only empty ones
/// separate the title from the rest.
fn with_empty_lines(message: &[u8]) -> Vec<u8> {
    let lines = message.split(|byte| *byte == b'\n').map(|line| {
        if line.iter().all(u8::is_ascii_whitespace) {
            &[]
        } else {
            line
        }
    });
    lines.collect::<Vec<_>>().join(&b'\n')
}

/// Writes a message that ends in a block of trailers, as `git interpret-trailers` would.
///
/// A trailer value of several lines is folded: the following lines are indented.
pub(super) fn with_trailers(message: &str, trailers: &[Trailer]) -> Result<String, Error> {
    let refuse = |what: String, reason| Err(Error::InvalidMessage { what, reason });
    let message = message.trim_end();
    if message.trim().is_empty() {
        return refuse("the message".into(), "it is empty");
    }
    if message.contains('\0') {
        return refuse("the message".into(), "it contains a NUL byte");
    }
    let mut text = message.trim_start_matches('\n').to_owned();
    text.push('\n');
    if !trailers.is_empty() && !ends_in_trailers(message) {
        text.push('\n');
    }
    for Trailer { key, value } in trailers {
        if !is_trailer_key(key) {
            return refuse(
                format!("the trailer `{key}`"),
                "its name may only have letters, digits and dashes",
            );
        }
        let mut lines = value.lines().map(str::trim).filter(|line| !line.is_empty());
        let Some(first) = lines.next().filter(|_| !value.contains('\0')) else {
            return refuse(
                format!("the trailer `{key}`"),
                "its value is empty or has a NUL byte",
            );
        };
        writeln!(text, "{key}: {first}").expect("a String takes any text");
        for line in lines {
            writeln!(text, " {line}").expect("a String takes any text");
        }
    }
    Ok(text)
}

fn is_trailer_key(key: &str) -> bool {
    !key.is_empty()
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Tells whether the last paragraph, which must not be the first, is a block of trailers already.
fn ends_in_trailers(message: &str) -> bool {
    let message = with_empty_lines(message.as_bytes());
    let message = MessageRef::from_bytes(&message);
    let (Some(whole), Some(body)) = (message.body, message.body()) else {
        return false;
    };
    body.without_trailer().len() < whole.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(trailers: &[(&str, &str)]) -> Vec<Trailer> {
        let trailers = trailers.iter();
        trailers
            .map(|(key, value)| Trailer::new(*key, *value))
            .collect()
    }

    fn written(message: &str, trailers: &[(&str, &str)]) -> Result<String, Error> {
        with_trailers(message, &list(trailers))
    }

    #[test]
    fn trailers_follow_after_an_empty_line() {
        let text = written("deploy: app\n\n", &[("Commit", "abc"), ("App", "x")]).unwrap();
        assert_eq!(text, "deploy: app\n\nCommit: abc\nApp: x\n");
    }

    #[test]
    fn key_may_repeat_and_the_order_stays() {
        let given = [("Change", "2"), ("App", "x"), ("Change", "1")];
        let text = written("Subject", &given).unwrap();
        assert_eq!(text, "Subject\n\nChange: 2\nApp: x\nChange: 1\n");
        assert_eq!(trailers(text), list(&given));
    }

    #[test]
    fn trailers_join_a_block_that_is_there() {
        for block in [
            "Signed-off-by: A <a@b>",
            "Note: one\n two",
            "Note: one\r\n two\r",
            "See https://example.org\nSigned-off-by: A <a@b>",
            "(cherry picked from commit 1a2b)",
        ] {
            let text = written(&format!("Subject\n\n{block}"), &[("App", "x")]).unwrap();
            let block = block.trim_end();
            assert_eq!(text, format!("Subject\n\n{block}\nApp: x\n"));
        }
    }

    #[test]
    fn text_that_only_looks_like_trailers_is_no_block() {
        for message in [
            "fix: it",
            "fix: it\nand: that",
            "Subject\n\nA body: with words",
            "Subject\n\nNote: one\nand more words",
        ] {
            let text = written(message, &[("App", "x")]).unwrap();
            assert_eq!(text, format!("{message}\n\nApp: x\n"));
            assert_eq!(trailers(text), list(&[("App", "x")]), "{message:?}");
        }
    }

    #[test]
    fn a_value_of_several_lines_is_folded() {
        for value in ["one\n\ntwo", "one\r\ntwo\r\n", " one \n \t\n two "] {
            let text = written("Subject", &[("Note", value)]).unwrap();
            assert_eq!(text, "Subject\n\nNote: one\n two\n", "{value:?}");
            assert_eq!(trailers(text), list(&[("Note", "one two")]));
        }
    }

    #[test]
    fn what_git_could_not_read_back_is_refused() {
        for (message, trailers) in [
            (" \n", vec![]),
            ("a\0b", vec![]),
            ("a", vec![("two words", "x")]),
            ("a", vec![("", "x")]),
            ("a", vec![("Ä", "x")]),
            ("a", vec![("App:", "x")]),
            ("a", vec![("App\n", "x")]),
            ("a", vec![("Empty", " ")]),
            ("a", vec![("Lines", "\r\n\n")]),
            ("a", vec![("Nul", "x\0")]),
            ("a", vec![("Good", "x"), ("Nul", "x\0")]),
        ] {
            assert!(
                written(message, &trailers).is_err(),
                "{message:?} {trailers:?}"
            );
        }
    }
}
