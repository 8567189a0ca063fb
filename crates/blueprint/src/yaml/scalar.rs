//! Strings: plain where that is safe, else quoted; several lines as a block.

use super::INDENT;

/// Writes a string and the line break after it; the lines of a block are indented.
pub(super) fn write(text: &str, indent: usize) -> String {
    if text.contains('\n') && Analysis::of(text).may_be_block {
        block(text, indent)
    } else {
        key(text) + "\n"
    }
}

/// Writes a string within one line.
pub(super) fn key(text: &str) -> String {
    let analysis = Analysis::of(text);
    if text.contains('\n') || resolves_to_other_type(text) {
        double_quoted(text)
    } else if analysis.may_be_plain {
        text.to_owned()
    } else if analysis.may_be_single_quoted {
        format!("'{}'", text.replace('\'', "''"))
    } else {
        double_quoted(text)
    }
}

fn block(text: &str, indent: usize) -> String {
    let hint = if text.starts_with([' ', '\n']) {
        INDENT.to_string()
    } else {
        String::new()
    };
    let chomp = match text.strip_suffix('\n') {
        None => "-",
        Some("") => "+",
        Some(rest) if rest.ends_with('\n') => "+",
        Some(_) => "",
    };
    let mut written = format!("|{hint}{chomp}\n");
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        if !line.is_empty() {
            written.extend(std::iter::repeat_n(' ', indent));
            written.push_str(line);
        }
        written.push('\n');
    }
    written
}

/// Which styles a string may be written in, by its characters alone.
struct Analysis {
    may_be_plain: bool,
    may_be_single_quoted: bool,
    may_be_block: bool,
}

impl Analysis {
    fn of(text: &str) -> Self {
        let special = text.chars().any(|c| c != '\t' && !is_printable(c));
        let tab = text.contains('\t');
        let space_before_break = text.contains(" \n");
        let space_after_break = text.contains("\n ");
        let edges = text.starts_with([' ', '\n']) || text.ends_with([' ', '\n']);
        Self {
            may_be_plain: !(special || tab || edges || has_indicator(text)),
            may_be_single_quoted: !(special || tab || space_before_break || space_after_break),
            may_be_block: !(special || space_before_break || text.ends_with(' ')),
        }
    }
}

fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
        && c != '\u{feff}'
}

/// Tells whether some character means something to YAML in the place where it stands.
fn has_indicator(text: &str) -> bool {
    if text.starts_with("---") || text.starts_with("...") {
        return true;
    }
    let mut previous = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let blank_follows = chars
            .peek()
            .is_none_or(|next| matches!(next, ' ' | '\t' | '\n' | '\r'));
        let indicates = match (previous, c) {
            (None, '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>') => true,
            (None, '\'' | '"' | '%' | '@' | '`') => true,
            (None, '?' | '-') | (_, ':') => blank_follows,
            (Some(' ' | '\t' | '\n'), '#') => true,
            _ => false,
        };
        if indicates {
            return true;
        }
        previous = Some(c);
    }
    false
}

fn double_quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            c if is_printable(c) => quoted.push(c),
            c => quoted.push_str(&escape(c)),
        }
    }
    quoted + "\""
}

fn escape(c: char) -> String {
    let letter = match c {
        '\0' => '0',
        '\x07' => 'a',
        '\x08' => 'b',
        '\t' => 't',
        '\x0b' => 'v',
        '\x0c' => 'f',
        '\r' => 'r',
        '\x1b' => 'e',
        '\u{85}' => 'N',
        '\u{feff}' => return "\\uFEFF".to_owned(),
        c if u32::from(c) <= 0xff => return format!("\\x{:02X}", u32::from(c)),
        c if u32::from(c) <= 0xffff => return format!("\\u{:04X}", u32::from(c)),
        c => return format!("\\U{:08X}", u32::from(c)),
    };
    format!("\\{letter}")
}

/// Tells whether a reader would take the plain text for null, a bool, a number or a time.
fn resolves_to_other_type(text: &str) -> bool {
    is_word(text) || is_number(text) || is_sexagesimal(text) || is_timestamp(text)
}

fn is_word(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let spelled_as_word = text == lower
        || text == text.to_ascii_uppercase()
        || text[1..] == lower[1..] && text.starts_with(|c: char| c.is_ascii_uppercase());
    match lower.as_str() {
        "" | "~" | "<<" => true,
        "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n" => spelled_as_word,
        ".inf" | "+.inf" | "-.inf" => {
            matches!(
                text.trim_start_matches(['+', '-']),
                ".inf" | ".Inf" | ".INF"
            )
        }
        ".nan" => matches!(text, ".nan" | ".NaN" | ".NAN"),
        _ => false,
    }
}

fn is_number(text: &str) -> bool {
    if !text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.')) {
        return false;
    }
    let digits = if text.starts_with('.') {
        text.to_owned()
    } else {
        text.replace('_', "")
    };
    let unsigned = digits.strip_prefix(['+', '-']).unwrap_or(&digits);
    is_float(unsigned) || is_radix(unsigned)
}

fn is_float(text: &str) -> bool {
    let (mantissa, exponent) = text
        .split_once(['e', 'E'])
        .map_or((text, None), |(m, e)| (m, Some(e)));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let has_digits = !whole.is_empty() || !fraction.is_empty();
    let exponent_fits = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !digits.is_empty() && is_digits(digits)
    });
    has_digits && is_digits(whole) && is_digits(fraction) && exponent_fits
}

fn is_radix(text: &str) -> bool {
    let radix = match text.get(..2) {
        Some("0x" | "0X") => 16,
        Some("0o" | "0O") => 8,
        Some("0b" | "0B") => 2,
        _ => return false,
    };
    u64::from_str_radix(&text[2..], radix).is_ok() && !text[2..].starts_with('+')
}

/// `1:30` was once a number in base sixty.
fn is_sexagesimal(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (parts, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let mut parts = parts.split(':');
    let is_digits = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'_')
    };
    let starts = parts
        .next()
        .is_some_and(|first| is_digits(first) && first.starts_with(|c: char| c.is_ascii_digit()));
    let mut minutes = parts.peekable();
    let has_minutes = minutes.peek().is_some();
    let is_minute =
        |part: &str| part.len() <= 2 && part.parse::<u8>().is_ok_and(|minute| minute < 60);
    starts && has_minutes && minutes.all(is_minute) && is_digits(fraction)
}

fn is_timestamp(text: &str) -> bool {
    let (date, time) = text
        .find(['T', 't', ' '])
        .map_or((text, None), |at| (&text[..at], Some(&text[at + 1..])));
    let mut parts = date.split('-');
    let mut next = |lengths: std::ops::RangeInclusive<usize>| {
        parts
            .next()
            .filter(|part| lengths.contains(&part.len()))?
            .parse::<i16>()
            .ok()
    };
    let (Some(year), Some(month), Some(day)) = (next(4..=4), next(1..=2), next(1..=2)) else {
        return false;
    };
    let (Ok(month), Ok(day)) = (i8::try_from(month), i8::try_from(day)) else {
        return false;
    };
    let is_date = parts.next().is_none() && jiff::civil::Date::new(year, month, day).is_ok();
    is_date && time.is_none_or(is_time_of_day)
}

fn is_time_of_day(text: &str) -> bool {
    let clock = text
        .find(['Z', '+', '-', '.'])
        .map_or(text, |at| &text[..at]);
    let parts: Vec<Option<u8>> = clock.split(':').map(|part| part.parse().ok()).collect();
    matches!(parts[..], [Some(hour), Some(minute), Some(second)] if hour < 24 && minute < 60 && second < 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_that_read_as_something_else_are_double_quoted() {
        for text in [
            "",
            "~",
            "null",
            "NULL",
            "true",
            "False",
            "yes",
            "Off",
            "y",
            "5",
            "-1.5",
            "1e3",
            ".5",
            "0x1F",
            "0o17",
            "1_000",
            "017",
            "1:30",
            "2026-11-15",
            "2026-11-15T20:00:00Z",
            ".inf",
            ".NaN",
            "<<",
        ] {
            assert_eq!(key(text), format!("\"{text}\""));
        }
    }

    #[test]
    fn ordinary_strings_are_plain() {
        for text in [
            "knitting",
            "main@sha1:0123",
            "https://host/path?x=1#y",
            "a: b".trim_end_matches(" b"),
            "nULL",
            "1.2.3",
            "v1",
            "-",
            "a-b",
            "2026-13-01",
            "e3",
            "0x",
            "12:99x",
            "file:///a/b.tar.gz",
            "-.",
            "é",
        ]
        .iter()
        .filter(|text| !matches!(**text, "a:" | "-"))
        {
            assert_eq!(&key(text), text);
        }
    }

    #[test]
    fn strings_that_mean_something_to_yaml_are_single_quoted() {
        for text in [
            "a: b", "a:", "- a", "-", "# x", "a #b", "@x", "*x", "[x", "{x}", " x", "x ", "%x",
            "---",
        ] {
            assert_eq!(key(text), format!("'{text}'"));
        }
        assert_eq!(key("'x"), "'''x'");
    }

    #[test]
    fn what_cannot_be_shown_is_escaped() {
        assert_eq!(key("a\tb"), r#""a\tb""#);
        assert_eq!(key("a\u{1}\"\\"), r#""a\x01\"\\""#);
        assert_eq!(write("a \nb", 4), "\"a \\nb\"\n");
    }

    #[test]
    fn block_headers_keep_leading_and_trailing_blanks() {
        assert_eq!(write(" a\nb\n", 4), "|4\n     a\n    b\n");
        assert_eq!(write("\n", 4), "|4+\n\n");
    }
}
