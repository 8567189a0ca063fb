//! Commit messages with trailers, in git's format.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::Error;

/// Writes a message that ends in a block of trailers, as `git interpret-trailers` would.
///
/// A trailer value of several lines is folded: the following lines are indented.
pub(super) fn with_trailers(
    message: &str,
    trailers: &BTreeMap<String, String>,
) -> Result<String, Error> {
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
    for (key, value) in trailers {
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

/// Whether the last paragraph, which must not be the first, is a block of trailers already.
fn ends_in_trailers(message: &str) -> bool {
    let Some((_, last)) = message.rsplit_once("\n\n") else {
        return false;
    };
    last.lines().all(|line| {
        line.split_once(": ")
            .is_some_and(|(key, _)| is_trailer_key(key))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(message: &str, trailers: &[(&str, &str)]) -> Result<String, Error> {
        let trailers = trailers
            .iter()
            .map(|(k, v)| ((*k).into(), (*v).into()))
            .collect();
        with_trailers(message, &trailers)
    }

    #[test]
    fn trailers_follow_after_an_empty_line() {
        let text = written("deploy: app\n\n", &[("Commit", "abc"), ("App", "x")]).unwrap();
        assert_eq!(text, "deploy: app\n\nApp: x\nCommit: abc\n");
    }

    #[test]
    fn trailers_join_a_block_that_is_there() {
        let text = written("Subject\n\nSigned-off-by: A <a@b>", &[("App", "x")]).unwrap();
        assert_eq!(text, "Subject\n\nSigned-off-by: A <a@b>\nApp: x\n");
    }

    #[test]
    fn a_value_of_several_lines_is_folded() {
        let text = written("Subject", &[("Note", "one\n\ntwo")]).unwrap();
        assert_eq!(text, "Subject\n\nNote: one\n two\n");
    }

    #[test]
    fn what_git_could_not_read_back_is_refused() {
        for (message, trailers) in [
            (" \n", vec![]),
            ("a\0b", vec![]),
            ("a", vec![("two words", "x")]),
            ("a", vec![("Empty", " ")]),
            ("a", vec![("Nul", "x\0")]),
        ] {
            assert!(
                written(message, &trailers).is_err(),
                "{message:?} {trailers:?}"
            );
        }
    }
}
