//! The types of scalars: the core schema of YAML 1.2, or what their tags say.

use granit_parser::{ScalarStyle, Tag};

use crate::error::ErrorAt;
use crate::scalar::{Scalar, with_radix};

/// Returns the type of a scalar.
pub(super) fn resolve(
    text: &str,
    style: ScalarStyle,
    tag: Option<&Tag>,
    at: usize,
) -> Result<Scalar, ErrorAt> {
    match tag {
        None if style == ScalarStyle::Plain => Ok(plain(text)),
        None => Ok(Scalar::Text),
        Some(tag) => match tag.core_suffix() {
            Some("str") => Ok(Scalar::Text),
            Some(wanted) => typed(text, wanted, at),
            None if is_binary(tag) => Ok(Scalar::Binary),
            None => Ok(Scalar::Text),
        },
    }
}

/// Returns a tag that is neither a type of the core schema nor `!!binary` nor the non-specific `!`.
pub(super) fn foreign_tag(tag: &Tag) -> Option<Box<str>> {
    let known = tag.core_suffix().is_some() || is_binary(tag);
    let full = format!("{}{}", tag.handle(), tag.suffix());
    (!known && full != "!").then(|| full.into())
}

fn is_binary(tag: &Tag) -> bool {
    tag.handle() == "tag:yaml.org,2002:" && tag.suffix() == "binary"
}

/// Returns the type that a tag demands, if the scalar is of that.
fn typed(text: &str, wanted: &str, at: usize) -> Result<Scalar, ErrorAt> {
    match (wanted, plain(text)) {
        ("null", Scalar::Null) => Ok(Scalar::Null),
        ("bool", Scalar::Boolean) => Ok(Scalar::Boolean),
        ("int", Scalar::Integer) => Ok(Scalar::Integer),
        ("float", Scalar::Float | Scalar::Integer) if with_radix(text).is_none() => {
            Ok(Scalar::Float)
        }
        _ => Err(ErrorAt::syntax(
            at,
            format!("`{text}` is not of type `!!{wanted}`"),
        )),
    }
}

/// Returns the type of a plain scalar.
fn plain(text: &str) -> Scalar {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Scalar::Null,
        "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => Scalar::Boolean,
        ".nan" | ".NaN" | ".NAN" => Scalar::Float,
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Scalar::Float,
        "-.inf" | "-.Inf" | "-.INF" => Scalar::Float,
        _ if with_radix(text).is_some() || is_integer(text) => Scalar::Integer,
        _ if is_float(text) => Scalar::Float,
        _ => Scalar::Text,
    }
}

/// Tells whether a plain scalar is a text.
pub(crate) fn is_plain_text(text: &str) -> bool {
    plain(text) == Scalar::Text
}

fn is_integer(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    !unsigned.is_empty() && unsigned.bytes().all(|byte| byte.is_ascii_digit())
}

/// Checks `[-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`.
fn is_float(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent_fits = exponent.is_none_or(|exponent| {
        let unsigned = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !unsigned.is_empty() && digits(unsigned)
    });
    digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty()) && exponent_fits
}
