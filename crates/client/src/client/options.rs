//! Options: which Pathline to ask, and with which token.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use url::Url;

/// The data directory of a Pathline that was not told another one.
pub const DEFAULT_DATA_DIR: &str = ".pathline";

/// Says which Pathline to ask, and with which token.
///
/// By default that is the one which runs on the data directory [`DEFAULT_DATA_DIR`] of this machine,
/// with the token that it keeps there.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The address; without, the data directory says it.
    pub server: Option<ServerUrl>,
    /// The file with the token; wins over `token`.
    pub token_file: Option<PathBuf>,
    /// The token, from the variable `PATHLINE_TOKEN`.
    pub token: Option<Secret>,
    /// The data directory of a Pathline on this machine.
    pub data_dir: Option<PathBuf>,
}

/// The address of a Pathline: `http` or `https`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerUrl(Url);

impl ServerUrl {
    /// Returns the address.
    pub fn as_url(&self) -> &Url {
        &self.0
    }
}

/// A text that is no address of a Pathline.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("write a URL, such as http://127.0.0.1:7700")]
pub struct ParseServerUrlError;

impl FromStr for ServerUrl {
    type Err = ParseServerUrlError;

    fn from_str(text: &str) -> Result<Self, ParseServerUrlError> {
        let url = Url::parse(text).map_err(|_| ParseServerUrlError)?;
        let usable = matches!(url.scheme(), "http" | "https") && url.has_host();
        usable.then_some(Self(url)).ok_or(ParseServerUrlError)
    }
}

/// A text that is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Returns a secret; blanks around it, such as the newline of a file, are no part of it.
    pub fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    /// Returns the text.
    pub fn reveal(&self) -> &str {
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
            assert_eq!(bad.parse::<ServerUrl>(), Err(ParseServerUrlError), "{bad}");
        }
    }

    #[test]
    fn secret_is_not_shown() {
        let options = Options {
            token: Some(Secret::new("s3cret\n")),
            ..Options::default()
        };
        assert!(!format!("{options:?}").contains("s3cret"));
        assert_eq!(options.token.unwrap().reveal(), "s3cret");
    }
}
