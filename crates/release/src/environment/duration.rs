//! Durations as Go writes them, and so Kubernetes: `90s`, `1h30m`, `1.5h`, `500ms`.

use jiff::SignedDuration;

/// The longest duration, ten years; longer is never meant.
const LONGEST: SignedDuration = SignedDuration::from_hours(10 * 365 * 24);

/// The units, in nanoseconds.
const UNITS: [(&str, u64); 6] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// The most digits of a number before and behind its point.
const MAX_DIGITS: usize = 15;

/// Says why a text is no duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InvalidDuration {
    Malformed,
    Negative,
    TooLong,
}

/// Reads a duration.
pub(super) fn parse(text: &str) -> Result<SignedDuration, InvalidDuration> {
    let text = text.strip_prefix('+').unwrap_or(text);
    if text == "0" {
        return Ok(SignedDuration::ZERO);
    }
    let (is_negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    if rest.is_empty() {
        return Err(InvalidDuration::Malformed);
    }
    let mut nanoseconds: u128 = 0;
    while !rest.is_empty() {
        let (part, after) = part(rest)?;
        nanoseconds = nanoseconds.saturating_add(part);
        rest = after;
    }
    if is_negative && nanoseconds > 0 {
        return Err(InvalidDuration::Negative);
    }
    let total = i64::try_from(nanoseconds).map(SignedDuration::from_nanos);
    let total = total.ok().filter(|it| *it <= LONGEST);
    total.ok_or(InvalidDuration::TooLong)
}

/// Reads a number and its unit, in nanoseconds, and returns what follows them.
fn part(text: &str) -> Result<(u128, &str), InvalidDuration> {
    let is_number = |it: char| it.is_ascii_digit() || it == '.';
    let (number, rest) = text.split_at(text.find(|it| !is_number(it)).unwrap_or(text.len()));
    let is_end = |it: char| !it.is_ascii_alphabetic();
    let (unit, rest) = rest.split_at(rest.find(is_end).unwrap_or(rest.len()));
    let known = UNITS.iter().find(|(name, _)| *name == unit);
    let (_, unit) = known.ok_or(InvalidDuration::Malformed)?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_digits = |it: &str| it.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !is_digits(whole) || !is_digits(fraction) {
        return Err(InvalidDuration::Malformed);
    }
    if whole.len() > MAX_DIGITS {
        return Err(InvalidDuration::TooLong);
    }
    let fraction = &fraction[..fraction.len().min(MAX_DIGITS)];
    let digits = |it: &str| it.parse::<u128>().unwrap_or_default();
    let scale = 10_u128.pow(u32::try_from(fraction.len()).unwrap_or_default());
    let unit = u128::from(*unit);
    Ok((digits(whole) * unit + digits(fraction) * unit / scale, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_go_reads_them() {
        for (text, milliseconds) in [
            ("0", 0),
            ("0s", 0),
            ("-0s", 0),
            ("90s", 90_000),
            ("+1h30m", 5_400_000),
            ("1.5h", 5_400_000),
            (".5s", 500),
            ("250ms", 250),
            ("87600h", 87_600 * 3_600_000),
        ] {
            assert_eq!(
                parse(text),
                Ok(SignedDuration::from_millis(milliseconds)),
                "{text}"
            );
        }
        for text in [
            "", "1", "h", "1d", "1 h", "1h ", "one hour", "1..5h", ".h", "1h-5m", "PT1H",
        ] {
            assert_eq!(parse(text), Err(InvalidDuration::Malformed), "{text}");
        }
        assert_eq!(parse("-1h"), Err(InvalidDuration::Negative));
        for text in ["87600h1ns", "999999999999999h", &"9".repeat(1000)] {
            let text = format!("{}h", text.trim_end_matches('h'));
            assert!(parse(&text).is_err(), "{text}");
        }
    }
}
