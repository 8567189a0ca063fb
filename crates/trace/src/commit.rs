//! Commits of source repositories, by names that nobody else has.

use std::fmt;
use std::str::FromStr;

use pathline_lineage::RepositoryId;

/// The least number of digits by which somebody may ask for a commit.
pub const MIN_DIGITS: usize = 7;

/// The algorithm that names the objects of a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Algorithm {
    /// SHA-1: 40 digits.
    Sha1,
    /// SHA-256: 64 digits.
    Sha256,
}

impl Algorithm {
    fn of(digits: usize) -> Option<Self> {
        match digits {
            40 => Some(Self::Sha1),
            64 => Some(Self::Sha256),
            _ => None,
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sha1 => "sha1",
            Self::Sha256 => "sha256",
        })
    }
}

/// The whole hash of a commit, in lower case.
///
/// ```
/// use pathline_trace::commit::CommitHash;
///
/// let hash: CommitHash = "8F1C2E7a90b5c1d2e3f405162738495a6b7c8d9e".parse()?;
/// assert_eq!(hash.as_str(), "8f1c2e7a90b5c1d2e3f405162738495a6b7c8d9e");
/// assert_eq!(hash.short(), "8f1c2e7");
/// assert!("8f1c2e7".parse::<CommitHash>().is_err());
/// # Ok::<(), pathline_trace::commit::NotAHash>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommitHash(Box<str>);

impl CommitHash {
    /// Returns all digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns as many digits as people read.
    #[must_use]
    pub fn short(&self) -> &str {
        &self.0[..MIN_DIGITS]
    }

    /// Returns the algorithm that has made it.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        match self.0.len() {
            40 => Algorithm::Sha1,
            _ => Algorithm::Sha256,
        }
    }
}

impl fmt::Display for CommitHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for CommitHash {
    type Err = NotAHash;

    fn from_str(text: &str) -> Result<Self, NotAHash> {
        if !is_hex(text) {
            return Err(NotAHash::Digits);
        }
        if Algorithm::of(text.len()).is_none() {
            return Err(NotAHash::Length(text.len()));
        }
        // git's name for no commit at all: what a hook is given for a branch that is new or gone.
        if text.bytes().all(|byte| byte == b'0') {
            return Err(NotAHash::Zero);
        }
        Ok(Self(text.to_ascii_lowercase().into()))
    }
}

/// Says why a text is not the hash of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAHash {
    /// It has other characters than hexadecimal digits, or none at all.
    #[error("a commit hash has hexadecimal digits only")]
    Digits,
    /// It has another number of digits.
    #[error("a commit hash has 40 or 64 digits, not {0}; `git rev-parse HEAD` prints all of them")]
    Length(usize),
    /// It stands for no commit.
    #[error("a hash of zeros stands for no commit")]
    Zero,
}

/// The first digits of a hash, by which somebody asks for a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashPrefix(Box<str>);

impl HashPrefix {
    /// Returns the digits, in lower case.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for HashPrefix {
    type Err = NotAPrefix;

    fn from_str(text: &str) -> Result<Self, NotAPrefix> {
        if is_hex(text) && (MIN_DIGITS..=64).contains(&text.len()) {
            return Ok(Self(text.to_ascii_lowercase().into()));
        }
        Err(NotAPrefix)
    }
}

/// Says that a text is not the beginning of a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a commit is asked for by 7 to 64 hexadecimal digits of its hash")]
pub struct NotAPrefix;

fn is_hex(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A commit of a source repository. A hash alone names no commit: forks and mirrors have the same ones.
///
/// ```
/// use pathline_trace::commit::SourceCommit;
///
/// let text = "git.example.org/shop/web@sha1:8f1c2e7a90b5c1d2e3f405162738495a6b7c8d9e";
/// let commit: SourceCommit = text.parse()?;
/// assert_eq!(commit.repository.as_str(), "git.example.org/shop/web");
/// assert_eq!(commit.to_string(), text);
/// # Ok::<(), pathline_trace::commit::NotACommit>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceCommit {
    /// The repository.
    pub repository: RepositoryId,
    /// The hash.
    pub hash: CommitHash,
}

impl fmt::Display for SourceCommit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { repository, hash } = self;
        write!(f, "{repository}@{}:{hash}", hash.algorithm())
    }
}

impl FromStr for SourceCommit {
    type Err = NotACommit;

    fn from_str(text: &str) -> Result<Self, NotACommit> {
        let (repository, named) = text.rsplit_once('@').ok_or(NotACommit::Form)?;
        let (algorithm, hash) = named.split_once(':').ok_or(NotACommit::Form)?;
        let hash: CommitHash = hash.parse()?;
        if repository.is_empty() || hash.algorithm().to_string() != algorithm {
            return Err(NotACommit::Form);
        }
        // Others may write an address where we write an identity.
        let repository = match repository.contains("://") {
            true => RepositoryId::of(repository),
            false => RepositoryId::from_text(repository),
        };
        Ok(Self { repository, hash })
    }
}

/// Says why a text does not name a commit of a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotACommit {
    /// It has another form.
    #[error("a commit is named as REPOSITORY@sha1:HASH")]
    Form,
    /// The hash is none.
    #[error(transparent)]
    Hash(#[from] NotAHash),
}
