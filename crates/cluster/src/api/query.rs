//! Query parameters, as a Go server reads them.

use percent_encoding::percent_decode;

use crate::status::Status;

/// More parameters than any client sends.
const MAX_PARAMETERS: usize = 100;

/// The decoded parameters of a query, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// Decodes the part of a URL after its `?`.
    pub(crate) fn parse(text: &str) -> Result<Self, Status> {
        let pairs: Vec<&str> = text.split('&').filter(|pair| !pair.is_empty()).collect();
        if pairs.len() > MAX_PARAMETERS {
            let message = format!("the URL has more than {MAX_PARAMETERS} query parameters");
            return Err(Status::bad_request(message));
        }
        let decoded = pairs.into_iter().map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((decode(key)?, decode(value)?))
        });
        decoded.collect::<Result<_, Status>>().map(Self)
    }

    /// Returns the first value of `key`.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value.as_str())
    }

    /// Returns every value of `key`.
    pub(crate) fn all<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        self.0
            .iter()
            .filter(move |(name, _)| name == key)
            .map(|(_, value)| value.as_str())
    }

    /// Returns the first value of `key` unless it is empty.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.get(key).filter(|value| !value.is_empty())
    }

    /// Returns whether `key` is there and not `false` or `0`.
    pub(crate) fn flag(&self, key: &str) -> bool {
        self.get(key)
            .is_some_and(|value| !matches!(value, "0" | "false" | "False" | "FALSE"))
    }

    /// Returns the whole number in `key`.
    pub(crate) fn number(&self, key: &str) -> Result<Option<i64>, Status> {
        let Some(text) = self.text(key) else {
            return Ok(None);
        };
        text.parse().map(Some).map_err(|_| {
            let message = format!("strconv.ParseInt: parsing {text:?}: invalid syntax");
            Status::bad_request(message)
        })
    }
}

fn decode(text: &str) -> Result<String, Status> {
    let spaced = text.replace('+', " ");
    let decoded = percent_decode(spaced.as_bytes()).decode_utf8();
    let decoded = decoded.map_err(|_| Status::bad_request("the query of the URL is not UTF-8"))?;
    Ok(decoded.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_decoded() {
        let query = Query::parse("a=b%20c&d=e+f&g&h=%3D=").unwrap();
        assert_eq!(query.get("a"), Some("b c"));
        assert_eq!(query.get("d"), Some("e f"));
        assert_eq!(query.get("g"), Some(""));
        assert_eq!(query.get("h"), Some("=="));
    }

    #[test]
    fn a_flag_is_set_by_anything_but_a_no() {
        let query = Query::parse("a=true&b=1&c=false&d=0&e").unwrap();
        let set: Vec<bool> = ["a", "b", "c", "d", "e", "f"]
            .map(|key| query.flag(key))
            .to_vec();
        assert_eq!(set, [true, true, false, false, true, false]);
    }

    #[test]
    fn numbers_must_be_numbers() {
        let query = Query::parse("limit=abc&n=-1").unwrap();
        assert_eq!(query.number("limit").unwrap_err().code(), 400);
        assert_eq!(query.number("n").unwrap(), Some(-1));
        assert_eq!(query.number("missing").unwrap(), None);
    }

    #[test]
    fn bytes_that_are_no_text_are_refused() {
        assert_eq!(Query::parse("a=%ff").unwrap_err().code(), 400);
        assert_eq!(Query::parse(&"a&".repeat(101)).unwrap_err().code(), 400);
    }
}
