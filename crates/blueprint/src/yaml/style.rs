//! The style in which a text is written: plain where that is safe, else quoted; several lines as a
//! block.

use super::resolve;

/// The longest key, in bytes, that stands before its colon.
const LONGEST_SIMPLE_KEY: usize = 128;

/// The style of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    /// Line by line, after a bar.
    Literal,
}

/// Chooses the style of a text.
pub(super) fn of_value(text: &str) -> Style {
    let analysis = Analysis::of(text);
    if text.contains('\n') {
        if analysis.may_be_block {
            Style::Literal
        } else {
            Style::DoubleQuoted
        }
    } else if resolve::is_something_else(text) {
        Style::DoubleQuoted
    } else if analysis.may_be_plain {
        Style::Plain
    } else if analysis.may_be_single_quoted {
        Style::SingleQuoted
    } else {
        Style::DoubleQuoted
    }
}

/// Tells whether a key stands before its colon, or has to be marked as a key.
pub(super) fn fits_before_colon(key: &str) -> bool {
    key.len() <= LONGEST_SIMPLE_KEY && !key.contains(is_break)
}

/// Tells whether a character ends a line.
pub(super) fn is_break(c: char) -> bool {
    matches!(c, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Returns what the header of a block says about the breaks at its end.
pub(super) fn chomp(text: &str) -> Option<char> {
    let mut ends = text.chars().rev();
    match (ends.next(), ends.next()) {
        (Some(last), before) if is_break(last) => before.is_none_or(is_break).then_some('+'),
        _ => Some('-'),
    }
}

/// Tells whether double quotes alone do not protect a character.
pub(super) fn needs_escape(c: char) -> bool {
    matches!(c, '"' | '\\') || is_break(c) || !is_printable(c)
}

/// Returns the escape of a character within double quotes.
pub(super) fn escape(c: char) -> String {
    let letter = match c {
        '\0' => '0',
        '\x07' => 'a',
        '\x08' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\x0b' => 'v',
        '\x0c' => 'f',
        '\r' => 'r',
        '\x1b' => 'e',
        '"' | '\\' => c,
        '\u{85}' => 'N',
        '\u{a0}' => '_',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        c if u32::from(c) <= 0xff => return format!("\\x{:02X}", u32::from(c)),
        c if u32::from(c) <= 0xffff => return format!("\\u{:04X}", u32::from(c)),
        c => return format!("\\U{:08X}", u32::from(c)),
    };
    format!("\\{letter}")
}

/// The styles that a text may be written in, by its characters alone.
struct Analysis {
    may_be_plain: bool,
    may_be_single_quoted: bool,
    may_be_block: bool,
}

impl Analysis {
    fn of(text: &str) -> Self {
        let special = text.chars().any(|c| c != '\t' && !is_printable(c));
        let tab = text.contains('\t');
        let pairs = || text.chars().zip(text.chars().skip(1));
        let space_before_break = pairs().any(|(c, next)| c == ' ' && is_break(next));
        let space_after_break = pairs().any(|(c, next)| is_break(c) && next == ' ');
        let breaks = text.contains(is_break);
        let edges = text.starts_with(' ') || text.ends_with(' ');
        Self {
            may_be_plain: !(special || tab || edges || breaks || has_indicator(text)),
            may_be_single_quoted: !(special || tab || space_before_break || space_after_break),
            may_be_block: !(special || space_before_break || text.ends_with(' ')),
        }
    }
}

/// Tells whether a character can be shown; those beyond the basic plane cannot.
fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}')
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
        let blank_follows = chars.peek().is_none_or(|next| matches!(next, ' ' | '\t'));
        let indicates = match (previous, c) {
            (None, '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>') => true,
            (None, '\'' | '"' | '%' | '@' | '`') => true,
            (None, '?' | '-') | (_, ':') => blank_follows,
            (Some(' ' | '\t'), '#') => true,
            _ => false,
        };
        if indicates {
            return true;
        }
        previous = Some(c);
    }
    false
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
        ] {
            assert_eq!(of_value(text), Style::DoubleQuoted, "{text}");
        }
    }

    #[test]
    fn ordinary_strings_are_plain() {
        for text in [
            "knitting",
            "main@sha1:0123",
            "https://host/path?x=1#y",
            "nULL",
            "1.2.3",
            "v1",
            "a-b",
            "2026-13-01",
            "e3",
            "0x",
            "12:99x",
            "file:///a/b.tar.gz",
            "-.",
            "é",
            "1e999",
        ] {
            assert_eq!(of_value(text), Style::Plain, "{text}");
        }
    }

    #[test]
    fn strings_that_mean_something_to_yaml_are_single_quoted() {
        for text in [
            "a: b",
            "a:",
            "- a",
            "-",
            "# x",
            "a #b",
            "@x",
            "*x",
            "[x",
            "{x}",
            " x",
            "x ",
            "%x",
            "---",
            "'x",
            "a\u{2028}b",
        ] {
            assert_eq!(of_value(text), Style::SingleQuoted, "{text}");
        }
    }

    #[test]
    fn what_no_other_style_can_hold_is_double_quoted() {
        for text in [
            "a\tb",
            "a\u{1}\"\\",
            "a \nb",
            "a\nb ",
            "🎈",
            "\u{feff}",
            "a\rb",
        ] {
            assert_eq!(of_value(text), Style::DoubleQuoted, "{text}");
        }
        assert_eq!(escape('\u{1}'), r"\x01");
        assert_eq!(escape('🎈'), r"\U0001F388");
    }
}
