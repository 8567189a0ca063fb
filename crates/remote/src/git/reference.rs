//! References, and the revisions that they name.

use std::fmt;

use super::Error;

/// Names a commit of a remote repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// The tip of a branch, by its short name.
    Branch(String),
    /// A tag, by its short name; an annotated one stands for the commit it names.
    Tag(String),
    /// A full reference name such as `refs/pull/7/head`.
    Name(String),
    /// A commit by its full id; the branch is only shown.
    Commit {
        /// 40 hexadecimal digits.
        id: String,
        /// The branch the commit is said to be on.
        branch: Option<String>,
    },
}

impl Reference {
    /// The tip of the branch with this short name.
    pub fn branch(name: impl Into<String>) -> Self {
        Self::Branch(name.into())
    }

    /// The reference as it is called on the remote; a commit is called by its id.
    pub(crate) fn full_name(&self) -> Result<String, Error> {
        let (kind, short, full) = match self {
            Self::Branch(name) => ("branch", name, format!("refs/heads/{name}")),
            Self::Tag(name) => ("tag", name, format!("refs/tags/{name}")),
            Self::Name(name) => ("reference", name, name.clone()),
            Self::Commit { id, .. } => {
                return match gix::ObjectId::from_hex(id.as_bytes()) {
                    Ok(_) => Ok(id.clone()),
                    Err(_) => Err(Error::InvalidReference {
                        kind: "commit",
                        name: id.clone(),
                    }),
                };
            }
        };
        match gix::validate::reference::name(full.as_str().into()) {
            Ok(_) => Ok(full),
            Err(_) => Err(Error::InvalidReference {
                kind,
                name: short.clone(),
            }),
        }
    }

    /// The name that stands before `@` in a revision.
    fn shown_name(&self) -> Option<&str> {
        match self {
            Self::Branch(name) | Self::Tag(name) | Self::Name(name) => Some(name),
            Self::Commit { branch, .. } => branch.as_deref(),
        }
    }

    pub(super) fn at(&self, commit: impl fmt::Display) -> Revision {
        Revision {
            name: self.shown_name().map(Into::into),
            commit: commit.to_string(),
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Branch(name) => write!(f, "branch `{name}`"),
            Self::Tag(name) => write!(f, "tag `{name}`"),
            Self::Name(name) => write!(f, "reference `{name}`"),
            Self::Commit { id, .. } => write!(f, "commit `{id}`"),
        }
    }
}

/// A commit and the name it was found by; prints as Flux writes it, `main@sha1:<commit>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// The branch, tag or reference, if there was one.
    pub name: Option<String>,
    /// The id of the commit, in hexadecimal.
    pub commit: String,
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{name}@sha1:{}", self.commit),
            None => write!(f, "sha1:{}", self.commit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_git_would_refuse_is_refused() {
        for name in ["", "a..b", "with space", "-/../x", "x.lock", "a\nb"] {
            assert!(Reference::branch(name).full_name().is_err(), "{name:?}");
        }
        let short = Reference::Commit {
            id: "abc123".into(),
            branch: None,
        };
        assert!(short.full_name().is_err());
        assert_eq!(
            Reference::branch("a/b").full_name().unwrap(),
            "refs/heads/a/b"
        );
    }

    #[test]
    fn a_revision_prints_as_flux_writes_it() {
        let commit = "0".repeat(40);
        assert_eq!(
            Reference::branch("main").at(&commit).to_string(),
            format!("main@sha1:{commit}")
        );
        let bare = Reference::Commit {
            id: commit.clone(),
            branch: None,
        };
        assert_eq!(bare.at(&commit).to_string(), format!("sha1:{commit}"));
    }
}
