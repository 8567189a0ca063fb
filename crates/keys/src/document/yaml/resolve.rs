//! What a scalar of YAML is: the core schema of YAML 1.2, or what its tag says.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use granit_parser::{ScalarStyle, Tag};

use crate::document::error::{Failure, ReadErrorKind};
use crate::document::number;
use crate::document::tree::{Data, Member, Scalar};

/// A scalar with its type, and the tag if that is not a type.
pub(super) struct Resolved {
    pub(super) data: Data,
    pub(super) tag: Option<Box<str>>,
}

pub(super) fn resolve(
    text: &str,
    style: ScalarStyle,
    tag: Option<&Tag>,
    at: usize,
) -> Result<Resolved, Failure> {
    let written = || Data::Scalar(Scalar::Text, text.to_owned());
    let by_schema = || -> Result<Data, Failure> {
        let (scalar, text) = plain(text, at)?;
        Ok(Data::Scalar(scalar, text))
    };
    let data = match tag {
        None if style == ScalarStyle::Plain => by_schema()?,
        None => written(),
        Some(tag) => match tag.core_suffix() {
            Some("str") => written(),
            Some(wanted) => typed(text, wanted, at)?,
            None if is_binary(tag) => Data::Binary(decode(text, at)?),
            None => written(),
        },
    };
    Ok(Resolved {
        data,
        tag: tag.and_then(foreign_tag),
    })
}

/// Returns the member that a scalar begins as a key, or nothing for a merge key.
pub(super) fn key(
    data: Data,
    text: &str,
    style: ScalarStyle,
    at: usize,
) -> Result<Option<Member>, Failure> {
    match data {
        Data::Scalar(Scalar::Text, _) if text == "<<" && style == ScalarStyle::Plain => Ok(None),
        Data::Scalar(scalar, text) => Member::new(text, scalar, at).map(Some),
        _ => Err(Failure::new(at, ReadErrorKind::NonScalarKey)),
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

fn decode(text: &str, at: usize) -> Result<Vec<u8>, Failure> {
    let packed: String = text.split_whitespace().collect();
    STANDARD
        .decode(packed)
        .map_err(|error| Failure::syntax(at, format!("not base64: {error}")))
}

/// Reads a scalar as the type that its tag demands.
fn typed(text: &str, wanted: &str, at: usize) -> Result<Data, Failure> {
    let (scalar, canonical) = plain(text, at)?;
    let data = match (wanted, scalar) {
        ("null", Scalar::Null) | ("bool", Scalar::Boolean) | ("int", Scalar::Integer) => {
            Data::Scalar(scalar, canonical)
        }
        ("float", Scalar::Float) => Data::Scalar(Scalar::Float, canonical),
        ("float", Scalar::Integer) => {
            let value = canonical.parse().unwrap_or(f64::INFINITY);
            Data::Scalar(Scalar::Float, number::float(value))
        }
        _ => {
            return Err(Failure::syntax(
                at,
                format!("`{text}` is not of type `!!{wanted}`"),
            ));
        }
    };
    Ok(data)
}

/// Resolves a plain scalar.
fn plain(text: &str, at: usize) -> Result<(Scalar, String), Failure> {
    let resolved = match text {
        "" | "~" | "null" | "Null" | "NULL" => (Scalar::Null, String::new()),
        "true" | "True" | "TRUE" => (Scalar::Boolean, "true".to_owned()),
        "false" | "False" | "FALSE" => (Scalar::Boolean, "false".to_owned()),
        ".nan" | ".NaN" | ".NAN" => (Scalar::Float, "nan".to_owned()),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => (Scalar::Float, "inf".to_owned()),
        "-.inf" | "-.Inf" | "-.INF" => (Scalar::Float, "-inf".to_owned()),
        _ => return numeric(text, at),
    };
    Ok(resolved)
}

fn numeric(text: &str, at: usize) -> Result<(Scalar, String), Failure> {
    let out_of_range = || Failure::new(at, ReadErrorKind::OutOfRange(text.to_owned()));
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix)
            && !digits.is_empty()
            && digits.chars().all(|digit| digit.is_digit(radix))
        {
            let value = u128::from_str_radix(digits, radix).map_err(|_| out_of_range())?;
            return Ok((Scalar::Integer, value.to_string()));
        }
    }
    if let Some(canonical) = number::integer(text) {
        return Ok((Scalar::Integer, canonical));
    }
    if is_float(text) {
        let value: f64 = text.parse().map_err(|_| out_of_range())?;
        if value.is_infinite() {
            return Err(out_of_range());
        }
        return Ok((Scalar::Float, number::float(value)));
    }
    Ok((Scalar::Text, text.to_owned()))
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
