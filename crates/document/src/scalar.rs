//! The types of scalars, and one spelling for each of their values.

use std::borrow::Cow;

/// The type of a scalar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scalar {
    /// A text.
    Text,
    /// Null.
    Null,
    /// True or false.
    Boolean,
    /// A number without a fraction.
    Integer,
    /// Any other number, infinity and what is not a number included.
    Float,
    /// A date, a time or both (TOML).
    Datetime,
    /// Bytes in base64, possibly over several lines (`!!binary` of YAML).
    Binary,
}

impl Scalar {
    /// Returns the one spelling of what a scalar of this type says, or nothing if that is a number
    /// that is out of range.
    ///
    /// ```
    /// use pathline_document::Scalar;
    ///
    /// assert_eq!(Scalar::Float.canonical("1.10").as_deref(), Some("1.1"));
    /// assert_eq!(Scalar::Integer.canonical("0x1F").as_deref(), Some("31"));
    /// assert_eq!(Scalar::Float.canonical("1e400"), None);
    /// assert_eq!(Scalar::Text.canonical("1.10").as_deref(), Some("1.10"));
    /// ```
    #[must_use]
    pub fn canonical(self, text: &str) -> Option<Cow<'_, str>> {
        match self {
            Self::Text | Self::Datetime | Self::Binary => Some(Cow::Borrowed(text)),
            Self::Null => Some(Cow::Borrowed("")),
            Self::Boolean if text.eq_ignore_ascii_case("true") => Some(Cow::Borrowed("true")),
            Self::Boolean => Some(Cow::Borrowed("false")),
            Self::Integer => integer(text).map(Cow::Owned),
            Self::Float => float(text).map(Cow::Owned),
        }
    }
}

fn integer(text: &str) -> Option<String> {
    if let Some((radix, digits)) = with_radix(text) {
        let value = u128::from_str_radix(digits, radix).ok()?;
        return Some(value.to_string());
    }
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    match digits.trim_start_matches('0') {
        "" => Some("0".to_owned()),
        digits => Some(format!("{sign}{digits}")),
    }
}

/// Returns the radix and the digits of a number as `0x1f` or `0o17`.
pub(crate) fn with_radix(text: &str) -> Option<(u32, &str)> {
    let (radix, digits) = match (text.strip_prefix("0x"), text.strip_prefix("0o")) {
        (Some(digits), _) => (16, digits),
        (_, Some(digits)) => (8, digits),
        _ => return None,
    };
    let fits = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
    fits.then_some((radix, digits))
}

fn float(text: &str) -> Option<String> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let word = unsigned.strip_prefix('.').unwrap_or(unsigned);
    let value = if word.eq_ignore_ascii_case("nan") {
        f64::NAN
    } else if word.eq_ignore_ascii_case("inf") {
        f64::INFINITY.copysign(if text.starts_with('-') { -1.0 } else { 1.0 })
    } else {
        text.parse().ok().filter(|value: &f64| value.is_finite())?
    };
    Some(spelled(value))
}

/// Returns the shortest spelling of a number that reads back the same; zero has no sign.
pub(crate) fn spelled(value: f64) -> String {
    match value {
        _ if value.is_nan() => "nan".to_owned(),
        _ if value.is_infinite() => if value > 0.0 { "inf" } else { "-inf" }.to_owned(),
        0.0 => "0.0".to_owned(),
        _ => format!("{value:?}"),
    }
}
