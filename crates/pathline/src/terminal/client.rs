//! The client of the REST API, on the command line: hints and exit codes of its errors.

use std::path::Path;

use pathline_client::api::{FieldProblem, ServerFile};
pub(crate) use pathline_client::{Client, Error as ClientError};
use reqwest::StatusCode;

use crate::terminal::report::{Exit, Hint};

/// Says how a Pathline on this data directory is started.
pub(crate) fn start_hint(data_dir: &Path) -> String {
    format!(
        "is Pathline running? start it with `pathline up --data-dir {}`",
        data_dir.display()
    )
}

impl Hint for ClientError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::NotThere { data_dir } => Some(format!(
                "{}, or say which one to ask: --data-dir DIR, or --server URL with --token-file FILE",
                start_hint(data_dir)
            )),
            Self::NoAddress { .. } => {
                Some("start Pathline again, or name its address with --server URL".to_owned())
            }
            Self::NoToken { .. } => {
                Some("give one with --token-file FILE or the variable PATHLINE_TOKEN".to_owned())
            }
            Self::Unreachable { data_dir, .. } => Some(match data_dir {
                Some(data_dir) => start_hint(data_dir),
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
            Self::File { path, .. } if path.file_name() == ServerFile::token_path(Path::new("")).file_name() => Some(
                "give a token with --token-file FILE or the variable PATHLINE_TOKEN; Pathline makes one at its start, unless \
                 its ledger has an admin token already"
                    .to_owned(),
            ),
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

    fn details(&self) -> &[FieldProblem] {
        match self {
            Self::Refused { details, .. } => details,
            _ => &[],
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

#[cfg(test)]
mod tests;
