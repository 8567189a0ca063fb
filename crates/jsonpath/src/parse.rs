//! The parser: text to steps.

use serde_json::Value;

use crate::go;

/// Part of a template: plain text, or the steps between two braces.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Block {
    Text(String),
    Steps(Vec<Step>),
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    Field(String),
    Wildcard,
    Descend,
    Slice(Slice),
    Union(Vec<Vec<Self>>),
    Exists(Vec<Self>),
    Compare {
        left: Vec<Self>,
        operator: String,
        right: Vec<Self>,
    },
    Literal(Value),
    Identifier(String),
}

/// `[start:end:step]`; `[start]` has an end that was derived from the start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Slice {
    pub(crate) start: i64,
    pub(crate) end: Option<i64>,
    pub(crate) end_is_derived: bool,
    pub(crate) step: Option<i64>,
}

/// The reason why a text is not a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// A `{` has no `}`.
    #[error("unclosed action")]
    UnclosedAction,
    /// A `[` has no `]`.
    #[error("unterminated array")]
    UnterminatedArray,
    /// A `[?(` has no `)`.
    #[error("unterminated filter")]
    UnterminatedFilter,
    /// The `)` of a filter is not followed by `]`.
    #[error("unclosed array expect ]")]
    UnclosedFilter,
    /// A quote has no partner.
    #[error("unterminated quoted string")]
    UnterminatedQuote,
    /// A quoted text has an escape that does not exist.
    #[error("unquote string {0} error invalid syntax")]
    BadEscape(String),
    /// The text in brackets is neither an index, a slice nor a key.
    #[error("invalid array index {0}")]
    InvalidIndex(String),
    /// An index is too large, or is a sign alone.
    #[error("array index {0} is not a number")]
    IndexNotANumber(String),
    /// A number is neither an integer nor a float.
    #[error("cannot parse number {0}")]
    BadNumber(String),
    /// `..` follows `..`.
    #[error("invalid multiple recursive descent")]
    RepeatedDescent,
    /// A character that starts nothing.
    #[error("unrecognized character in action: {}", go::describe(*.0))]
    UnrecognizedCharacter(char),
    /// Filters nest deeper than anybody writes by hand.
    #[error("filters are nested too deep")]
    TooDeep,
}

const MAX_NESTING: usize = 16;

/// Parses a whole template.
pub(crate) fn blocks(template: &str) -> Result<Vec<Block>, ParseError> {
    blocks_at(template, 0)
}

fn blocks_at(template: &str, nesting: usize) -> Result<Vec<Block>, ParseError> {
    if nesting > MAX_NESTING {
        return Err(ParseError::TooDeep);
    }
    let mut scanner = Scanner {
        rest: template,
        nesting,
    };
    let mut blocks = Vec::new();
    while !scanner.rest.is_empty() {
        let (text, opened) = scanner
            .rest
            .split_once('{')
            .map_or((scanner.rest, None), |(text, rest)| (text, Some(rest)));
        if !text.is_empty() {
            blocks.push(Block::Text(text.to_owned()));
        }
        let Some(inside) = opened else { break };
        scanner.rest = inside;
        blocks.push(Block::Steps(scanner.steps()?));
    }
    Ok(blocks)
}

/// Walks over the text between braces; `rest` is what has not been read.
struct Scanner<'t> {
    rest: &'t str,
    nesting: usize,
}

impl<'t> Scanner<'t> {
    fn steps(&mut self) -> Result<Vec<Step>, ParseError> {
        let mut steps = Vec::new();
        loop {
            if self.eat("}") {
                return Ok(steps);
            } else if self.eat("[?(") {
                steps.push(self.filter()?);
            } else if self.eat("..") {
                if steps.last() == Some(&Step::Descend) {
                    return Err(ParseError::RepeatedDescent);
                }
                steps.push(Step::Descend);
                if self.rest.starts_with(is_alphanumeric) {
                    steps.push(self.field());
                }
            } else {
                self.simple_step(&mut steps)?;
            }
        }
    }

    fn simple_step(&mut self, steps: &mut Vec<Step>) -> Result<(), ParseError> {
        let first = self
            .rest
            .chars()
            .next()
            .filter(|c| !matches!(c, '\r' | '\n'));
        let first = first.ok_or(ParseError::UnclosedAction)?;
        match first {
            '+' | '-' => steps.push(self.number()?),
            c if c.is_numeric() => steps.push(self.number()?),
            c if is_alphanumeric(c) => steps.push(self.identifier()),
            _ => {
                self.skip(first);
                match first {
                    ' ' | '@' | '$' => {}
                    '[' => self.brackets(steps)?,
                    '"' | '\'' => steps.push(self.quoted(first)?),
                    '.' => steps.push(self.field()),
                    other => return Err(ParseError::UnrecognizedCharacter(other)),
                }
            }
        }
        Ok(())
    }

    fn field(&mut self) -> Step {
        let mut escaped = false;
        let end = self.rest.find(|c| {
            let ends = !escaped && is_terminator(c);
            escaped = c == '\\' && !escaped;
            ends
        });
        let name = self.take(end.unwrap_or(self.rest.len()));
        if name == "*" {
            Step::Wildcard
        } else {
            Step::Field(name.replace('\\', ""))
        }
    }

    fn identifier(&mut self) -> Step {
        let end = self.rest.find(is_terminator).unwrap_or(self.rest.len());
        match self.take(end) {
            "true" => Step::Literal(Value::Bool(true)),
            "false" => Step::Literal(Value::Bool(false)),
            name => Step::Identifier(name.to_owned()),
        }
    }

    fn number(&mut self) -> Result<Step, ParseError> {
        let digits = self.rest.strip_prefix(['+', '-']).unwrap_or(self.rest);
        let sign = self.rest.len() - digits.len();
        let end = digits
            .find(|c: char| c != '.' && !c.is_numeric())
            .unwrap_or(digits.len());
        let text = self.take(sign + end);
        if let Ok(integer) = text.parse::<i64>() {
            return Ok(Step::Literal(Value::from(integer)));
        }
        let float = text.parse::<f64>().ok().filter(|float| float.is_finite());
        let float = float.ok_or_else(|| ParseError::BadNumber(text.to_owned()))?;
        Ok(Step::Literal(Value::from(float)))
    }

    fn quoted(&mut self, quote: char) -> Result<Step, ParseError> {
        let end = closing_quote(self.rest, quote).ok_or(ParseError::UnterminatedQuote)?;
        let inner = self.take(end);
        self.skip(quote);
        let text = unescape(inner, quote)
            .ok_or_else(|| ParseError::BadEscape(format!("{quote}{inner}{quote}")))?;
        Ok(Step::Literal(Value::String(text)))
    }

    fn brackets(&mut self, steps: &mut Vec<Step>) -> Result<(), ParseError> {
        let end = self
            .rest
            .find([']', '\n'])
            .filter(|end| self.rest[*end..].starts_with(']'));
        let inner = self.take(end.ok_or(ParseError::UnterminatedArray)?);
        self.skip(']');
        if inner.contains(',') {
            let alternatives = inner
                .split(',')
                .map(|part| self.nested(&format!("[{}]", part.trim_matches(' '))));
            steps.push(Step::Union(alternatives.collect::<Result<_, _>>()?));
        } else if let Some(key) = quoted_key(inner) {
            // Dots in a quoted key are steps unless they are escaped.
            steps.extend(self.nested(&format!(".{key}"))?);
        } else {
            steps.push(Step::Slice(slice(if inner == "*" { ":" } else { inner })?));
        }
        Ok(())
    }

    fn filter(&mut self) -> Result<Step, ParseError> {
        let end = filter_end(self.rest)?;
        let condition = self.take(end);
        self.skip(')');
        if !self.eat("]") {
            return Err(ParseError::UnclosedFilter);
        }
        let Some((left, operator, right)) = comparison(condition) else {
            return Ok(Step::Exists(self.nested(condition)?));
        };
        Ok(Step::Compare {
            left: self.nested(left)?,
            operator: operator.to_owned(),
            right: self.nested(right)?,
        })
    }

    /// Parses an expression that stands inside another; what follows a stray `}` is dropped.
    fn nested(&self, expression: &str) -> Result<Vec<Step>, ParseError> {
        let mut blocks = blocks_at(&format!("{{{expression}}}"), self.nesting + 1)?;
        match blocks.swap_remove(0) {
            Block::Steps(steps) => Ok(steps),
            Block::Text(_) => unreachable!("the text starts with a brace"),
        }
    }

    fn eat(&mut self, prefix: &str) -> bool {
        let rest = self.rest.strip_prefix(prefix);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn skip(&mut self, c: char) {
        self.rest = &self.rest[c.len_utf8()..];
    }

    fn take(&mut self, length: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }
}

fn is_alphanumeric(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

fn is_terminator(c: char) -> bool {
    matches!(
        c,
        ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}'
    )
}

fn quoted_key(text: &str) -> Option<&str> {
    let key = text.strip_prefix('\'')?.strip_suffix('\'')?;
    (!key.contains('\'')).then_some(key)
}

fn slice(text: &str) -> Result<Slice, ParseError> {
    let parts: Vec<&str> = text.split(':').collect();
    let number = |part: &str| {
        let digits = part.strip_prefix('-').unwrap_or(part);
        digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    if parts.len() > 3 || !parts.iter().all(|part| number(part)) {
        return Err(ParseError::InvalidIndex(text.to_owned()));
    }
    let parse = |part: Option<&&str>| match part {
        None | Some(&"") => Ok(None),
        Some(part) => part
            .parse::<i64>()
            .map(Some)
            .map_err(|_| ParseError::IndexNotANumber((*part).to_owned())),
    };
    let start = parse(parts.first())?.unwrap_or(0);
    let end_is_derived = parts.len() == 1;
    let end = if end_is_derived {
        start.checked_add(1)
    } else {
        parse(parts.get(1))?
    };
    Ok(Slice {
        start,
        end,
        end_is_derived,
        step: parse(parts.get(2))?,
    })
}

/// Returns where the `)` of a filter stands. Only the first quoted text may hold a `)`.
fn filter_end(text: &str) -> Result<usize, ParseError> {
    let mut opened = None;
    let mut closed = false;
    let mut previous = ' ';
    for (at, c) in text.char_indices() {
        match (c, opened) {
            ('\n', _) => break,
            ('"' | '\'', None) => opened = Some(c),
            ('"' | '\'', Some(quote)) if c == quote && previous != '\\' => closed = true,
            (')', _) if opened.is_some() == closed => return Ok(at),
            _ => {}
        }
        previous = c;
    }
    Err(ParseError::UnterminatedFilter)
}

/// Splits `left OPERATOR right`; without an operator the filter asks for existence.
fn comparison(condition: &str) -> Option<(&str, &str, &str)> {
    let is_operator = |c: char| matches!(c, '!' | '<' | '>' | '=');
    let start = condition.find(is_operator).filter(|start| *start > 0)?;
    let operators = &condition[start..];
    // The right side has at least one character, be it taken from the operator.
    let length = match operators.find(|c| !is_operator(c)) {
        Some(length) => length,
        None => operators
            .len()
            .checked_sub(1)
            .filter(|length| *length > 0)?,
    };
    let (left, rest) = condition.split_at(start);
    let (operator, right) = rest.split_at(length);
    Some((left, operator, right))
}

fn closing_quote(text: &str, quote: char) -> Option<usize> {
    let mut previous = quote;
    for (at, c) in text.char_indices() {
        if c == '\n' {
            return None;
        }
        if c == quote && previous != '\\' {
            return Some(at);
        }
        previous = c;
    }
    None
}

/// Resolves the escapes of a Go string literal. The quote may stand in it only behind a backslash of
/// its own: the one that `\\'` ends with belongs to the other.
fn unescape(text: &str, quote: char) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => escape(&mut chars, quote, &mut bytes)?,
            c if c == quote => return None,
            c => bytes.extend(c.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn escape(chars: &mut std::str::Chars<'_>, quote: char, bytes: &mut Vec<u8>) -> Option<()> {
    let simple = match chars.next()? {
        'a' => 7,
        'b' => 8,
        'f' => 12,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => 11,
        '\\' => b'\\',
        c if c == quote => u8::try_from(c).ok()?,
        'x' => u8::try_from(digits(chars, 2, 16, 0)?).ok()?,
        'u' => return push(digits(chars, 4, 16, 0)?, bytes),
        'U' => return push(digits(chars, 8, 16, 0)?, bytes),
        c => u8::try_from(digits(chars, 2, 8, c.to_digit(8)?)?).ok()?,
    };
    bytes.push(simple);
    Some(())
}

fn digits(chars: &mut std::str::Chars<'_>, count: usize, radix: u32, first: u32) -> Option<u32> {
    (0..count).try_fold(first, |value, _| {
        let digit = chars.next()?.to_digit(radix)?;
        value.checked_mul(radix)?.checked_add(digit)
    })
}

fn push(code: u32, bytes: &mut Vec<u8>) -> Option<()> {
    bytes.extend(char::from_u32(code)?.encode_utf8(&mut [0; 4]).bytes());
    Some(())
}
