//! The texts, numbers and words of JSON.

use super::Parser;
use crate::error::ErrorAt;
use crate::scalar::Scalar;

impl Parser<'_> {
    pub(super) fn string(&mut self) -> Result<String, ErrorAt> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            let rest = &self.text.as_bytes()[self.at..];
            let plain = rest
                .iter()
                .position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20));
            let Some(plain) = plain else {
                return Err(ErrorAt::syntax(start, "the text has no closing quote"));
            };
            text.push_str(&self.text[self.at..self.at + plain]);
            self.at += plain;
            match rest[plain] {
                b'"' => {
                    self.at += 1;
                    return Ok(text);
                }
                b'\\' => text.push(self.escape()?),
                _ => return Err(ErrorAt::syntax(self.at, "a control character in a text")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, ErrorAt> {
        let start = self.at;
        let escaped = self.text.as_bytes().get(start + 1).copied();
        self.at += 2;
        Ok(match escaped {
            Some(literal @ (b'"' | b'\\' | b'/')) => char::from(literal),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(start),
            _ => return Err(ErrorAt::syntax(start, "an unknown escape")),
        })
    }

    /// Reads the digits of `\u`, and of a second one where it is half of a pair.
    fn unicode(&mut self, start: usize) -> Result<char, ErrorAt> {
        let lone = || ErrorAt::syntax(start, "half of a surrogate pair");
        let unit = self
            .hex()
            .ok_or_else(|| ErrorAt::syntax(start, "`\\u` needs four digits"))?;
        let code = match unit {
            0xD800..0xDC00 => {
                if !self.text[self.at..].starts_with("\\u") {
                    return Err(lone());
                }
                self.at += 2;
                let low = self
                    .hex()
                    .filter(|low| (0xDC00..0xE000).contains(low))
                    .ok_or_else(lone)?;
                0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)
            }
            unit => unit,
        };
        char::from_u32(code).ok_or_else(lone)
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        self.at += 4;
        let all_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        all_hex
            .then(|| u32::from_str_radix(digits, 16).ok())
            .flatten()
    }

    pub(super) fn number(&mut self) -> Result<(Scalar, String), ErrorAt> {
        let start = self.at;
        let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
        let length = self.text.as_bytes()[start..]
            .iter()
            .take_while(|byte| is_part(byte))
            .count();
        let text = &self.text[start..start + length];
        self.at += length;
        let scalar = match check_number(text) {
            Some(true) => Scalar::Integer,
            Some(false) => Scalar::Float,
            None => return Err(ErrorAt::syntax(start, format!("`{text}` is not a number"))),
        };
        Ok((scalar, text.to_owned()))
    }

    pub(super) fn word(&mut self) -> Result<(Scalar, String), ErrorAt> {
        let rest = &self.text[self.at..];
        let length = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let word = &rest[..length];
        let scalar = match word {
            "null" => Scalar::Null,
            "true" | "false" => Scalar::Boolean,
            _ => return Err(ErrorAt::syntax(self.at, format!("`{word}` is not a value"))),
        };
        self.at += length;
        Ok((scalar, word.to_owned()))
    }
}

/// Checks the grammar of a number and tells whether it is an integer.
fn check_number(text: &str) -> Option<bool> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let whole = digits(unsigned);
    if whole == 0 || (whole > 1 && unsigned.starts_with('0')) {
        return None;
    }
    let mut rest = &unsigned[whole..];
    let is_integer = rest.is_empty();
    if let Some(fraction) = rest.strip_prefix('.') {
        rest = &fraction[digits(fraction)..];
        if rest.len() == fraction.len() {
            return None;
        }
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let unsigned = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        rest = &unsigned[digits(unsigned)..];
        if rest.len() == unsigned.len() {
            return None;
        }
    }
    rest.is_empty().then_some(is_integer)
}
