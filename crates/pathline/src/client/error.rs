//! Why a Pathline was not asked, or did not answer.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use pathline_server::api::{Problem, ServerFile};
use reqwest::StatusCode;
use url::Url;

use crate::report::{Exit, Hint};

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientError {
    #[error("no Pathline runs on {}", .data_dir.display())]
    NotThere { data_dir: PathBuf },
    #[error("{} does not hold the address of a Pathline", .path.display())]
    NoAddress { path: PathBuf },
    #[error("cannot read {}", .path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("there is no token for {url}")]
    NoToken { url: Url },
    #[error("the token of {from} cannot be sent: it holds more than letters, digits and signs")]
    MalformedToken { from: String },
    #[error("nothing answers at {url}")]
    Unreachable {
        url: Url,
        data_dir: Option<PathBuf>,
        #[source]
        source: reqwest::Error,
    },
    #[error("{url} did not answer in time")]
    Slow {
        url: Url,
        #[source]
        source: reqwest::Error,
    },
    #[error("the answer of {url} broke off")]
    Broken {
        url: Url,
        #[source]
        source: reqwest::Error,
    },
    #[error("the answer of {url} is larger than {limit} bytes")]
    TooLarge { url: Url, limit: usize },
    #[error("the answer of {url} is not one of Pathline")]
    Foreign {
        url: Url,
        #[source]
        source: serde_json::Error,
    },
    #[error("{url} answered {status}, and not as Pathline does")]
    Stranger {
        url: Url,
        status: StatusCode,
        /// Whether the data directory may name another address by now.
        has_moved: bool,
    },
    #[error("{url} said nothing for {} s", .waited.as_secs())]
    Silent { url: Url, waited: Duration },
    #[error("the question has {bytes} bytes; at most {limit} can be asked")]
    LongQuestion { bytes: usize, limit: usize },
    #[error("{message}")]
    Refused {
        status: StatusCode,
        code: String,
        message: String,
        hint: Option<String>,
    },
}

impl ClientError {
    /// Returns what a server says that does not do what it was asked.
    pub(super) fn refused(status: StatusCode, problem: Problem, token_from: &str) -> Self {
        let pathline_server::api::ProblemDetail {
            code,
            message,
            hint: said,
        } = problem.error;
        let hint = match status {
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
        }
    }

    /// Tells whether a Pathline has run on the data directory, and does not run now.
    pub(crate) fn is_stopped(&self) -> bool {
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

impl Hint for ClientError {
    fn hint(&self) -> Option<String> {
        let start = |data_dir: &PathBuf| {
            format!(
                "is Pathline running? start it with `pathline up --data-dir {}`",
                data_dir.display()
            )
        };
        match self {
            Self::NotThere { data_dir } => Some(format!(
                "{}, or say which one to ask: --data-dir DIR, or --server URL with --token-file FILE",
                start(data_dir)
            )),
            Self::NoAddress { .. } => {
                Some("start Pathline again, or name its address with --server URL".to_owned())
            }
            Self::NoToken { .. } => {
                Some("give one with --token-file FILE or the variable PATHLINE_TOKEN".to_owned())
            }
            Self::Unreachable { data_dir, .. } => Some(match data_dir {
                Some(data_dir) => start(data_dir),
                None => "is Pathline running there? check --server (or PATHLINE_SERVER)".to_owned(),
            }),
            Self::LongQuestion { .. } => {
                Some("wait for all that the owner has now, with `--for current`".to_owned())
            }
            Self::Foreign { .. } | Self::Stranger { .. } | Self::Silent { .. } => Some(
                "check the address; a proxy or another program may answer there, or another version of Pathline"
                    .to_owned(),
            ),
            Self::Slow { .. } => Some("try again; its log says what keeps it busy".to_owned()),
            Self::Refused { hint, .. } => hint.clone(),
            Self::File { .. }
            | Self::MalformedToken { .. }
            | Self::Broken { .. }
            | Self::TooLarge { .. } => None,
        }
    }

    fn code(&self) -> Option<&str> {
        match self {
            Self::Refused { code, .. } => Some(code.as_str()).filter(|code| !code.is_empty()),
            Self::NoToken { .. } => Some("token-missing"),
            Self::MalformedToken { .. } => Some("token-unknown"),
            Self::LongQuestion { .. } => Some("bad-request"),
            _ => None,
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Refused { status, .. } => match *status {
                StatusCode::NOT_FOUND | StatusCode::CONFLICT => Exit::No,
                StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => Exit::Usage,
                _ => Exit::Unknown,
            },
            Self::LongQuestion { .. } => Exit::Usage,
            _ => Exit::Unknown,
        }
    }
}
