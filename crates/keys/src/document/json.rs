//! Reading JSON, without recursion, and with the place of every key.

use super::error::{Failure, ReadErrorKind};
use super::number;
use super::tree::{Data, Id, Member, Scalar, Tree};

/// Parses a text that is one JSON value.
pub(super) fn parse(text: &str) -> Result<Tree, Failure> {
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let mut parser = Parser {
        text,
        at: start,
        tree: Tree::default(),
        open: Vec::new(),
    };
    parser.document()?;
    Ok(parser.tree)
}

/// A list or map that is still open; a map waits for the value of a member.
struct Open {
    id: Id,
    member: Option<Member>,
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    tree: Tree,
    open: Vec<Open>,
}

impl Parser<'_> {
    fn document(&mut self) -> Result<(), Failure> {
        loop {
            let Some(mut finished) = self.value()? else {
                continue;
            };
            while let Some(open) = self.open.last_mut() {
                self.tree.attach(open.id, open.member.take(), finished);
                match self.after_value()? {
                    Some(closed) => finished = closed,
                    None => break,
                }
            }
            if self.open.is_empty() {
                self.tree.root = finished;
                self.skip_space();
                return match self.peek() {
                    None => Ok(()),
                    Some(_) => Err(Failure::syntax(
                        self.at,
                        "text after the end of the document",
                    )),
                };
            }
        }
    }

    /// Reads a scalar or an empty list or map; opens any other one and returns nothing.
    fn value(&mut self) -> Result<Option<Id>, Failure> {
        self.skip_space();
        let start = self.at;
        let data = match self.peek() {
            Some(b'"') => Data::Scalar(Scalar::Text, self.string()?),
            Some(b'{') => return self.begin(Data::Map(Vec::new()), b'}'),
            Some(b'[') => return self.begin(Data::List(Vec::new()), b']'),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b'a'..=b'z') => self.word()?,
            Some(_) => return Err(Failure::syntax(start, "a value was expected")),
            None => {
                return Err(Failure::syntax(
                    start,
                    "the document ends where a value should be",
                ));
            }
        };
        Ok(Some(self.tree.add(data, start)))
    }

    fn begin(&mut self, data: Data, end: u8) -> Result<Option<Id>, Failure> {
        let is_map = matches!(data, Data::Map(_));
        let id = self.tree.add(data, self.at);
        self.at += 1;
        self.skip_space();
        if self.peek() == Some(end) {
            self.at += 1;
            return Ok(Some(id));
        }
        let member = if is_map { Some(self.member()?) } else { None };
        self.open.push(Open { id, member });
        Ok(None)
    }

    /// Reads what follows a value of the innermost list or map, and returns that if it ends.
    fn after_value(&mut self) -> Result<Option<Id>, Failure> {
        let open = self
            .open
            .last()
            .expect("asked only inside of a list or map");
        let is_map = matches!(self.tree.node(open.id).data, Data::Map(_));
        self.skip_space();
        let at = self.at;
        self.at += 1;
        match (self.text.as_bytes().get(at), is_map) {
            (Some(b','), true) => {
                self.skip_space();
                let member = self.member()?;
                self.open.last_mut().expect("still open").member = Some(member);
                Ok(None)
            }
            (Some(b','), false) => Ok(None),
            (Some(b'}'), true) | (Some(b']'), false) => Ok(self.open.pop().map(|open| open.id)),
            (_, true) => Err(Failure::syntax(at, "`,` or `}` was expected")),
            (_, false) => Err(Failure::syntax(at, "`,` or `]` was expected")),
        }
    }

    fn member(&mut self) -> Result<Member, Failure> {
        let start = self.at;
        if self.peek() != Some(b'"') {
            return Err(Failure::syntax(start, "a key in quotes was expected"));
        }
        let key = self.string()?;
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(Failure::syntax(self.at, "`:` was expected"));
        }
        self.at += 1;
        Member::new(key, Scalar::Text, start)
    }

    fn string(&mut self) -> Result<String, Failure> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            let rest = &self.text.as_bytes()[self.at..];
            let plain = rest
                .iter()
                .position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20));
            let Some(plain) = plain else {
                return Err(Failure::syntax(start, "the text has no closing quote"));
            };
            text.push_str(&self.text[self.at..self.at + plain]);
            self.at += plain;
            match rest[plain] {
                b'"' => {
                    self.at += 1;
                    return Ok(text);
                }
                b'\\' => text.push(self.escape()?),
                _ => return Err(Failure::syntax(self.at, "a control character in a text")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Failure> {
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
            _ => return Err(Failure::syntax(start, "an unknown escape")),
        })
    }

    /// Reads the digits of `\u`, and of a second one where it is half of a pair.
    fn unicode(&mut self, start: usize) -> Result<char, Failure> {
        let lone = || Failure::syntax(start, "half of a surrogate pair");
        let unit = self
            .hex()
            .ok_or_else(|| Failure::syntax(start, "`\\u` needs four digits"))?;
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

    fn number(&mut self) -> Result<Data, Failure> {
        let start = self.at;
        let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
        let length = self.text.as_bytes()[start..]
            .iter()
            .take_while(|byte| is_part(byte))
            .count();
        let text = &self.text[start..start + length];
        self.at += length;
        let malformed = || Failure::syntax(start, format!("`{text}` is not a number"));
        let is_integer = check_number(text).ok_or_else(malformed)?;
        if is_integer {
            let canonical = number::integer(text).ok_or_else(malformed)?;
            return Ok(Data::Scalar(Scalar::Integer, canonical));
        }
        let value: f64 = text.parse().map_err(|_| malformed())?;
        if value.is_infinite() {
            return Err(Failure::new(
                start,
                ReadErrorKind::OutOfRange(text.to_owned()),
            ));
        }
        Ok(Data::Scalar(Scalar::Float, number::float(value)))
    }

    fn word(&mut self) -> Result<Data, Failure> {
        let rest = &self.text[self.at..];
        let length = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let word = &rest[..length];
        let scalar = match word {
            "null" => Data::Scalar(Scalar::Null, String::new()),
            "true" | "false" => Data::Scalar(Scalar::Boolean, word.to_owned()),
            _ => return Err(Failure::syntax(self.at, format!("`{word}` is not a value"))),
        };
        self.at += length;
        Ok(scalar)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
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
