//! The types that a reader of YAML takes a plain text for.

use super::timestamp;

/// Tells whether a plain text would be read as null, a bool, a number or a time.
pub(super) fn is_something_else(text: &str) -> bool {
    is_word(text) || is_number(text) || is_sexagesimal(text) || timestamp::is_timestamp(text)
}

fn is_word(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    match lower.as_str() {
        "" | "~" => true,
        "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n" => {
            text == lower || text == text.to_ascii_uppercase() || is_capitalized(text)
        }
        ".inf" | "+.inf" | "-.inf" => {
            let unsigned = text.trim_start_matches(['+', '-']);
            matches!(unsigned, ".inf" | ".Inf" | ".INF")
        }
        ".nan" => matches!(text, ".nan" | ".NaN" | ".NAN"),
        _ => false,
    }
}

fn is_capitalized(text: &str) -> bool {
    let mut characters = text.chars();
    characters
        .next()
        .is_some_and(|first| first.is_ascii_uppercase())
        && characters.all(|c| c.is_ascii_lowercase())
}

fn is_number(text: &str) -> bool {
    if text.starts_with('.') {
        return is_float(text);
    }
    if !text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-')) {
        return false;
    }
    let digits = text.replace('_', "");
    is_integer(&digits) || is_float(&digits) || is_signed_after_prefix(&digits)
}

/// Tells whether Go reads an integer in whatever base its prefix says.
fn is_integer(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let limit = match text.chars().next() {
        Some('-') => 1u128 << 63,
        Some('+') => (1 << 63) - 1,
        _ => u128::from(u64::MAX),
    };
    let (digits, radix) = match unsigned.get(..2) {
        Some("0x" | "0X") => (&unsigned[2..], 16),
        Some("0o" | "0O") => (&unsigned[2..], 8),
        Some("0b" | "0B") => (&unsigned[2..], 2),
        _ if unsigned.len() > 1 && unsigned.starts_with('0') => (&unsigned[1..], 8),
        _ => (unsigned, 10),
    };
    is_below(digits, radix, limit)
}

/// Binary and octal numbers may also have their sign after the prefix, or twice the prefix's.
fn is_signed_after_prefix(text: &str) -> bool {
    [("0b", 2), ("0o", 8)].into_iter().any(|(prefix, radix)| {
        let Some(digits) = text.strip_prefix(prefix) else {
            return false;
        };
        match digits.strip_prefix('-') {
            Some(digits) => is_below(digits, radix, 1 << 63),
            None => {
                let digits = digits.strip_prefix('+').unwrap_or(digits);
                is_below(digits, radix, (1 << 63) - 1)
            }
        }
    })
}

fn is_below(digits: &str, radix: u32, limit: u128) -> bool {
    let is_digits = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    is_digits && u128::from_str_radix(digits, radix).is_ok_and(|number| number <= limit)
}

fn is_float(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = unsigned
        .split_once(['e', 'E'])
        .map_or((unsigned, None), |(mantissa, exponent)| {
            (mantissa, Some(exponent))
        });
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let has_digits = !whole.is_empty() || !fraction.is_empty();
    let exponent_fits = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !digits.is_empty() && is_digits(digits)
    });
    let is_written_well = has_digits && is_digits(whole) && is_digits(fraction) && exponent_fits;
    // A number too large for a float stays a text.
    is_written_well && text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// `1:30` was once a number in base sixty.
fn is_sexagesimal(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (parts, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let mut parts = parts.split(':');
    let is_digit = |byte: u8| byte.is_ascii_digit() || byte == b'_';
    let is_digits = |text: &str| text.bytes().all(is_digit);
    let first = parts.next().unwrap_or_default();
    let starts = first.starts_with(|c: char| c.is_ascii_digit()) && is_digits(first);
    let mut minutes = parts.peekable();
    let has_minutes = minutes.peek().is_some();
    let is_minute = |part: &str| match part.as_bytes() {
        [ones] => ones.is_ascii_digit(),
        [b'0'..=b'5', ones] => ones.is_ascii_digit(),
        _ => false,
    };
    starts && has_minutes && minutes.all(is_minute) && is_digits(fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_what_go_reads_as_numbers() {
        for text in [
            "0",
            "-1",
            "+1",
            "08",
            "0b1",
            "0b-1",
            "0o-7",
            "-0x1F",
            "1.",
            ".5",
            "1e5",
            "18446744073709551615",
        ] {
            assert!(is_number(text), "{text}");
        }
        for text in [
            "", "+", "-", "0x", "0x-1", "1e999", ".1_0", "._1", "e1", "1e", "--1", "1.2.3",
        ] {
            assert!(!is_number(text), "{text}");
        }
    }
}
