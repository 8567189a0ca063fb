//! References: the revision of a repository that is followed.

use serde::{Deserialize, Serialize};

use super::fields::Wrong;

/// The longest name of a branch or tag, in bytes.
const MAX_NAME: usize = 244;

/// The revision of a repository that a tracker reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reference {
    /// The remote's own choice.
    Head,
    /// A tag.
    Tag(String),
    /// A branch.
    Branch(String),
    /// One commit, by all of its digits.
    Commit(String),
}

impl Reference {
    pub(super) fn parse(field: &str, text: &str) -> Result<Self, Wrong> {
        let is_valid = match field {
            "commit" => is_commit(text),
            _ => is_name(text),
        };
        if !is_valid {
            let message = match field {
                "commit" => "a commit is 40 lower-case hexadecimal digits",
                _ => "not a name that git allows",
            };
            return Err(("malformed", message.to_owned()));
        }
        let text = text.to_owned();
        Ok(match field {
            "commit" => Self::Commit(text),
            "tag" => Self::Tag(text),
            _ => Self::Branch(text),
        })
    }
}

fn is_commit(text: &str) -> bool {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.len() == 40 && text.bytes().all(is_hex)
}

/// Tells whether git-check-ref-format would allow a branch or tag of that name.
fn is_name(text: &str) -> bool {
    let is_forbidden = |it: char| it.is_ascii_control() || " ~^:?*[\\".contains(it);
    let is_part =
        |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock");
    text.len() <= MAX_NAME
        && text != "@"
        && !text.starts_with('-')
        && !text.ends_with('.')
        && !text.contains("..")
        && !text.contains("@{")
        && !text.contains(is_forbidden)
        && text.split('/').all(is_part)
}
