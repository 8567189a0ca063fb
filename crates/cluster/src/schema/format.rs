//! Formats of strings and numbers.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use jiff::civil::Date;
use regex::Regex;
use serde_json::Number;

/// Returns whether a string has a format; formats that Kubernetes does not know hold always.
pub(super) fn admits(format: &str, text: &str) -> bool {
    match format {
        "byte" => STANDARD.decode(text).is_ok(),
        "cidr" => is_cidr(text),
        "date" => text.len() == 10 && text.parse::<Date>().is_ok(),
        "date-time" | "datetime" => is_date_time(text),
        "duration" => matches(&DURATION, text),
        "email" => matches(&EMAIL, text),
        "hostname" => text.len() <= 255 && matches(&HOSTNAME, text),
        "ipv4" => text.parse::<Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<Ipv6Addr>().is_ok(),
        "mac" => matches(&MAC, text),
        "uri" => matches(&URI, text),
        "uuid" | "uuid3" | "uuid4" | "uuid5" => is_uuid(format, text),
        _ => true,
    }
}

/// Returns whether a number fits an integer format.
pub(super) fn admits_integer(format: &str, number: &Number) -> bool {
    let whole = number.as_i64().is_some()
        || number
            .as_f64()
            .is_some_and(|float| float.abs() < 9_007_199_254_740_992.0);
    match format {
        "int32" => number
            .as_f64()
            .is_some_and(|n| (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&n)),
        "int64" => whole,
        _ => true,
    }
}

fn is_date_time(text: &str) -> bool {
    // jiff reads more of ISO 8601 than RFC 3339 allows.
    matches(&DATE_TIME, text) && text.parse::<Timestamp>().is_ok()
}

fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else {
        return false;
    };
    let Ok(length) = length.parse::<u8>() else {
        return false;
    };
    (address.parse::<Ipv4Addr>().is_ok() && length <= 32)
        || (address.parse::<Ipv6Addr>().is_ok() && length <= 128)
}

fn is_uuid(format: &str, text: &str) -> bool {
    let version = format.strip_prefix("uuid").unwrap_or_default();
    let digits: String = text.chars().filter(|&character| character != '-').collect();
    matches(&UUID, text) && (version.is_empty() || digits.get(12..13) == Some(version))
}

static DATE_TIME: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$")
});
static DURATION: LazyLock<Regex> = LazyLock::new(|| {
    let number = r"(\d+(\.\d*)?|\.\d+)";
    let unit = "(ns|us|µs|μs|ms|s|m|h|nanoseconds?|microseconds?|milliseconds?|secs?|seconds?\
        |mins?|minutes?|hrs?|hours?|d|days?|w|wks?|weeks?)";
    regex(&format!(r"^([-+]?0|[-+]?({number}\s*{unit}\s*)+)$"))
});
static EMAIL: LazyLock<Regex> = LazyLock::new(|| regex(r"^[^@\s]+@[^@\s]+$"));
static HOSTNAME: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^[A-Za-z0-9]([-_A-Za-z0-9]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([-_A-Za-z0-9]{0,61}[A-Za-z0-9])?)*\.?$",
    )
});
static MAC: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^[0-9A-Fa-f]{2}([:-][0-9A-Fa-f]{2}){5}([:-][0-9A-Fa-f]{2}){0,2}$"));
static URI: LazyLock<Regex> = LazyLock::new(|| regex(r"^([A-Za-z][A-Za-z0-9+.-]*:\S*|/\S*)$"));
static UUID: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^[0-9A-Fa-f]{8}-?[0-9A-Fa-f]{4}-?[0-9A-Fa-f]{4}-?[0-9A-Fa-f]{4}-?[0-9A-Fa-f]{12}$")
});

fn regex(source: &str) -> Regex {
    Regex::new(source).expect("the expressions in this file are well formed")
}

fn matches(regex: &Regex, text: &str) -> bool {
    regex.is_match(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_admit_what_the_api_server_admits() {
        let cases = [
            ("date-time", "2020-01-01T00:00:00Z", true),
            ("date-time", "2020-01-01T00:00:00.5+02:00", true),
            ("date-time", "2020-01-01 00:00:00Z", false),
            ("date-time", "2020-13-01T00:00:00Z", false),
            ("date", "2020-02-30", false),
            ("date", "2020-02-28", true),
            ("byte", "aGk=", true),
            ("byte", "!!", false),
            ("duration", "1h30m", true),
            ("duration", "3 days", true),
            ("duration", "1x", false),
            ("uuid", "9d3a9b3c-1b2c-4d5e-8f90-0123456789ab", true),
            ("uuid3", "9d3a9b3c-1b2c-4d5e-8f90-0123456789ab", false),
            ("ipv4", "1.2.3", false),
            ("ipv6", "::1", true),
            ("cidr", "10.0.0.0/33", false),
            ("cidr", "10.0.0.0/8", true),
            ("uri", ":", false),
            ("uri", "https://example.com/x", true),
            ("hostname", "-a", false),
            ("hostname", "a.b", true),
            ("email", "x", false),
            ("mac", "01:23:45:67:89:ab", true),
            ("something else", "anything", true),
        ];
        for (format, text, expected) in cases {
            assert_eq!(admits(format, text), expected, "{format}: {text}");
        }
    }

    #[test]
    fn integers_stay_in_their_range() {
        let number = |text: &str| serde_json::from_str::<Number>(text).unwrap();
        assert!(admits_integer("int32", &number("2147483647")));
        assert!(!admits_integer("int32", &number("2147483648")));
        assert!(admits_integer("int64", &number("9223372036854775807")));
        assert!(!admits_integer("int64", &number("9223372036854775808")));
    }
}
