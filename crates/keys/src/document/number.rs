//! One spelling for each number, so that equal numbers are equal values.

/// Returns the canonical spelling of decimal digits with an optional sign.
pub(super) fn integer(text: &str) -> Option<String> {
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

/// Returns the canonical spelling of a number: the shortest that reads back the same.
pub(super) fn float(value: f64) -> String {
    match value {
        _ if value.is_nan() => "nan".to_owned(),
        _ if value.is_infinite() => if value > 0.0 { "inf" } else { "-inf" }.to_owned(),
        0.0 => "0.0".to_owned(),
        _ => format!("{value:?}"),
    }
}

/// Tells whether a text is a canonical spelling of a float.
pub(super) fn is_float(text: &str) -> bool {
    text.parse().is_ok_and(|value| float(value) == text)
}
