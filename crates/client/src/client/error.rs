//! Errors of the client.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use reqwest::StatusCode;
use url::Url;

use crate::api::{FieldProblem, Problem, ProblemDetail, ServerFile};

/// An error of the client: a Pathline was not asked, or did not answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No Pathline runs on the data directory.
    #[error("no Pathline runs on {}", .data_dir.display())]
    NotThere {
        /// The data directory.
        data_dir: PathBuf,
    },
    /// The file that should hold the address of a Pathline holds something else.
    #[error("{} does not hold the address of a Pathline", .path.display())]
    NoAddress {
        /// The file.
        path: PathBuf,
    },
    /// A file with an address or a token cannot be read.
    #[error("cannot read {}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// An address was given, and no token for it.
    #[error("there is no token for {url}")]
    NoToken {
        /// The address.
        url: Url,
    },
    /// The token can't be put into a header.
    #[error("the token of {from} cannot be sent: it holds more than letters, digits and signs")]
    MalformedToken {
        /// The place of the token, in words.
        from: String,
    },
    /// Nothing listens at the address.
    #[error("nothing answers at {url}")]
    Unreachable {
        /// The address.
        url: Url,
        /// The data directory that named the address, if one did.
        data_dir: Option<PathBuf>,
        /// The error of the connection.
        #[source]
        source: reqwest::Error,
    },
    /// The answer did not come in time.
    #[error("{url} did not answer in time")]
    Slow {
        /// The address of what was asked for.
        url: Url,
        /// The error of the connection.
        #[source]
        source: reqwest::Error,
    },
    /// The answer broke off.
    #[error("the answer of {url} broke off")]
    Broken {
        /// The address of what was asked for.
        url: Url,
        /// The error of the connection.
        #[source]
        source: reqwest::Error,
    },
    /// The answer is larger than anything that is read.
    #[error("the answer of {url} is larger than {limit} bytes")]
    TooLarge {
        /// The address of what was asked for.
        url: Url,
        /// The most bytes that are read.
        limit: usize,
    },
    /// The answer is not what Pathline answers.
    #[error("the answer of {url} is not one of Pathline")]
    Foreign {
        /// The address of what was asked for.
        url: Url,
        /// The first difference.
        #[source]
        source: serde_json::Error,
    },
    /// An error was answered, but not as Pathline does.
    #[error("{url} answered {status}, and not as Pathline does")]
    Stranger {
        /// The address of what was asked for.
        url: Url,
        /// The status of the answer.
        status: StatusCode,
        /// Whether the data directory may name another address by now.
        has_moved: bool,
    },
    /// A stream did not begin.
    #[error("{url} said nothing for {} s", .waited.as_secs())]
    Silent {
        /// The address of what was asked for.
        url: Url,
        /// The time that it had.
        waited: Duration,
    },
    /// The question does not fit into a URL.
    #[error("the question has {bytes} bytes; at most {limit} can be asked")]
    LongQuestion {
        /// The bytes of the question.
        bytes: usize,
        /// The most bytes that can be asked.
        limit: usize,
    },
    /// Pathline answered with an error.
    #[error("{message}")]
    Refused {
        /// The status of the answer.
        status: StatusCode,
        /// The code for programs.
        code: String,
        /// The message for people.
        message: String,
        /// The next thing to try.
        hint: Option<String>,
        /// The fields of the request that are wrong.
        details: Vec<FieldProblem>,
    },
}

impl Error {
    /// Returns what a server says that does not do what it was asked.
    /// `is_own` tells whether the token is the one that Pathline keeps in its data directory.
    pub(super) fn refused(
        status: StatusCode,
        problem: Problem,
        token_from: &str,
        is_own: bool,
    ) -> Self {
        let ProblemDetail {
            code,
            message,
            hint: said,
            details,
        } = problem.error;
        let hint = match status {
            // No command helps: all of them would send this token.
            StatusCode::UNAUTHORIZED if is_own => Some(format!(
                "the token came from {token_from}; start Pathline again, which makes another one, or give one with \
                 `--token-file` or PATHLINE_TOKEN"
            )),
            StatusCode::UNAUTHORIZED => Some(format!(
                "the token came from {token_from}; `--token-file` or PATHLINE_TOKEN gives another one, and \
                 `pathline token create` on the machine of Pathline makes one"
            )),
            StatusCode::FORBIDDEN if code != "withheld" => Some(format!(
                "the token came from {token_from}; one with a larger scope is needed (`pathline token create --help`)"
            )),
            _ => said,
        };
        Self::Refused {
            status,
            code,
            message,
            hint,
            details,
        }
    }

    /// Tells whether a Pathline has run on the data directory, and does not run now.
    pub fn is_stopped(&self) -> bool {
        match self {
            Self::NotThere { data_dir } => ServerFile::token_path(data_dir).exists(),
            _ => false,
        }
    }

    /// Tells whether the same may well succeed in a moment, as when Pathline is being restarted.
    pub(super) fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable { .. }
            | Self::Slow { .. }
            | Self::Silent { .. }
            | Self::Broken { .. } => true,
            Self::Stranger {
                status, has_moved, ..
            } => *has_moved || status.is_server_error(),
            // A Pathline that is being restarted takes these files away and brings them again.
            Self::NotThere { .. }
            | Self::NoAddress { .. }
            | Self::File { .. }
            | Self::NoToken { .. } => true,
            Self::Refused { status, .. } => {
                status.is_server_error() || *status == StatusCode::TOO_MANY_REQUESTS
            }
            _ => false,
        }
    }
}
