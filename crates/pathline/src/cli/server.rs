//! Which Pathline a command asks, and how it gets in.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueHint};
use url::Url;

/// How to reach a Pathline that runs; for every command that asks one.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Which Pathline")]
pub(crate) struct ServerArgs {
    /// The address of Pathline, such as http://127.0.0.1:7700 [default: the one that runs on the data directory]
    #[arg(
        long,
        env = "PATHLINE_SERVER",
        hide_env_values = true,
        value_name = "URL"
    )]
    pub(crate) server: Option<ServerUrl>,

    /// Read the token from this file [default: the variable PATHLINE_TOKEN, or the data directory]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) token_file: Option<PathBuf>,

    // Hidden, for other users of the machine can read the arguments of a process, but not its
    // variables.
    #[arg(long, env = "PATHLINE_TOKEN", hide_env_values = true, hide = true)]
    pub(crate) token: Option<Secret>,

    /// The data directory of a Pathline on this machine [default: .pathline]
    #[arg(long, env = "PATHLINE_DATA_DIR", hide_env_values = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) data_dir: Option<PathBuf>,
}

/// The address of a Pathline: `http` or `https`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerUrl(Url);

impl ServerUrl {
    pub(crate) fn as_url(&self) -> &Url {
        &self.0
    }
}

/// Why a text is no address of a Pathline.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("write a URL, such as http://127.0.0.1:7700")]
pub(crate) struct NotAServer;

impl FromStr for ServerUrl {
    type Err = NotAServer;

    fn from_str(text: &str) -> Result<Self, NotAServer> {
        let url = Url::parse(text).map_err(|_| NotAServer)?;
        let usable = matches!(url.scheme(), "http" | "https") && url.has_host();
        usable.then_some(Self(url)).ok_or(NotAServer)
    }
}

/// A text that is never printed.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(String);

impl Secret {
    /// Returns a secret; blanks around it, such as the newline of a file, are no part of it.
    pub(crate) fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self::new(&text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_is_a_url_that_http_knows() {
        for good in ["http://127.0.0.1:7700", "https://pathline.example/base/"] {
            assert!(good.parse::<ServerUrl>().is_ok(), "{good}");
        }
        for bad in ["127.0.0.1:7700", "localhost:7700", "file:///x", ""] {
            assert_eq!(bad.parse::<ServerUrl>(), Err(NotAServer), "{bad}");
        }
    }

    #[test]
    fn secret_is_not_shown() {
        let args = ServerArgs {
            token: Some(Secret::new("s3cret\n")),
            ..ServerArgs::default()
        };
        assert!(!format!("{args:?}").contains("s3cret"));
        assert_eq!(args.token.unwrap().reveal(), "s3cret");
    }
}
