//! Errors in words for people.

use std::error::Error as StdError;
use std::iter::successors;

/// Returns an error with all its causes, in one line.
pub fn explain(error: &(dyn StdError + 'static)) -> String {
    let mut text = String::new();
    for more in causes(error) {
        if text.is_empty() {
            text = more;
        } else if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
    }
    text
}

/// Returns the words of an error and of each of its causes.
///
/// Of an answer of the API server only its message is told: kube shows all of the answer, as Rust's debug text.
pub fn causes(error: &(dyn StdError + 'static)) -> Vec<String> {
    let mut causes = Vec::new();
    for error in chain(error) {
        let text = error.to_string();
        causes.push(match answer(error) {
            Some((shown, message)) => text.replace(&shown, &message),
            None => text,
        });
        if is_answer(error) {
            break;
        }
    }
    causes
}

fn chain<'e>(
    error: &'e (dyn StdError + 'static),
) -> impl Iterator<Item = &'e (dyn StdError + 'static)> {
    successors(Some(error), |&error| error.source())
}

fn is_answer(error: &(dyn StdError + 'static)) -> bool {
    matches!(error.downcast_ref(), Some(kube::Error::Api(_)))
}

/// Returns the answer of the API server that is behind an error, as kube shows it and in its own words.
fn answer(error: &(dyn StdError + 'static)) -> Option<(String, String)> {
    chain(error).find_map(|error| match error.downcast_ref() {
        Some(kube::Error::Api(status)) => Some((error.to_string(), status.message.clone())),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use kube::core::Status;

    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("failed to write: {0}")]
    struct Outer(#[source] kube::Error);

    #[test]
    fn answer_of_the_server_is_told_in_its_own_words() {
        let status = Status::failure("there is no room", "InternalError");
        let error = Outer(kube::Error::Api(status.boxed()));
        assert!(error.to_string().contains("Status {"), "{error}");
        assert_eq!(explain(&error), "failed to write: there is no room");
        assert_eq!(
            causes(&error),
            ["failed to write: there is no room", "there is no room"]
        );
    }

    #[derive(Debug, thiserror::Error)]
    #[error("cannot: {0}")]
    struct Cannot(#[source] std::io::Error);

    #[test]
    fn cause_that_an_error_tells_itself_is_told_once() {
        let error = Cannot(std::io::Error::other("no"));
        assert_eq!(explain(&error), "cannot: no");
        assert_eq!(causes(&error), ["cannot: no", "no"]);
    }
}
