//! Addresses as users write them: `127.0.0.1:7700`, `localhost:0`, `[::1]:80`.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

/// A `HOST:PORT` to listen on. The host is looked up only when it is used.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Address(String);

impl Address {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A text that is no address.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum ParseError {
    #[error("write HOST:PORT, such as 127.0.0.1:7700")]
    NoPort,
    #[error("`{0}` is no port; a port is a number from 0 to 65535")]
    BadPort(String),
    #[error("an IPv6 host goes in brackets, such as [::1]:7700")]
    BareIpv6,
}

impl FromStr for Address {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let (host, port) = text.rsplit_once(':').ok_or(ParseError::NoPort)?;
        if host.is_empty() {
            return Err(ParseError::NoPort);
        }
        if host.contains(':') && !(host.starts_with('[') && host.ends_with(']')) {
            return Err(ParseError::BareIpv6);
        }
        port.parse::<u16>()
            .map_err(|_| ParseError::BadPort(port.to_owned()))?;
        Ok(Self(text.to_owned()))
    }
}

impl TryFrom<String> for Address {
    type Error = ParseError;

    fn try_from(text: String) -> Result<Self, ParseError> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_ports_are_addresses() {
        for text in ["127.0.0.1:7700", "localhost:0", "[::1]:80"] {
            assert_eq!(text.parse::<Address>().unwrap().as_str(), text);
        }
    }

    #[test]
    fn malformed_addresses_say_what_is_wrong() {
        let error = |text: &str| text.parse::<Address>().unwrap_err();
        assert_eq!(error("7700"), ParseError::NoPort);
        assert_eq!(error(":7700"), ParseError::NoPort);
        assert_eq!(
            error("localhost:http"),
            ParseError::BadPort("http".to_owned())
        );
        assert_eq!(
            error("localhost:70000"),
            ParseError::BadPort("70000".to_owned())
        );
        assert_eq!(error("::1:80"), ParseError::BareIpv6);
    }
}
