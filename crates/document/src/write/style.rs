//! The spelling of scalars, keys and tags in each format.

use std::borrow::Cow;

use crate::document::Member;
use crate::error::WriteError;
use crate::scalar::Scalar;

/// The words of a format.
pub(crate) trait Style {
    /// Returns what stands between a key and its value.
    fn between(&self) -> &'static str;
    fn key(&self, member: &Member, out: &mut String) -> Result<(), WriteError>;
    fn scalar(&self, scalar: Scalar, text: &str, out: &mut String) -> Result<(), WriteError>;
    fn tag(&self, tag: &str, out: &mut String) -> Result<(), WriteError>;
}

fn unsupported(format: &'static str, what: &'static str) -> Result<(), WriteError> {
    Err(WriteError { format, what })
}

/// Returns the one spelling of a scalar.
fn canonical<'t>(
    format: &'static str,
    scalar: Scalar,
    text: &'t str,
) -> Result<Cow<'t, str>, WriteError> {
    scalar.canonical(text).ok_or(WriteError {
        format,
        what: "a number that is out of range",
    })
}

/// Writes a text in double quotes, with escapes that JSON, TOML and YAML have in common.
pub(crate) fn quoted(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\0'..' '
            | '\u{7f}'..='\u{9f}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{feff}'
            | '\u{fffe}'
            | '\u{ffff}' => out.push_str(&format!("\\u{:04x}", u32::from(character))),
            _ => out.push(character),
        }
    }
    out.push('"');
}

/// JSON.
#[cfg(feature = "json")]
pub(crate) struct Json;

#[cfg(feature = "json")]
impl Style for Json {
    fn between(&self) -> &'static str {
        ": "
    }

    fn key(&self, member: &Member, out: &mut String) -> Result<(), WriteError> {
        if member.key_type != Scalar::Text {
            return unsupported("JSON", "a key that is not a text");
        }
        quoted(&member.key, out);
        Ok(())
    }

    fn scalar(&self, scalar: Scalar, text: &str, out: &mut String) -> Result<(), WriteError> {
        let text = &*canonical("JSON", scalar, text)?;
        match scalar {
            Scalar::Text => quoted(text, out),
            Scalar::Null => out.push_str("null"),
            Scalar::Boolean | Scalar::Integer => out.push_str(text),
            Scalar::Float if matches!(text, "nan" | "inf" | "-inf") => {
                return unsupported("JSON", "infinity and what is not a number");
            }
            Scalar::Float => out.push_str(text),
            Scalar::Datetime => return unsupported("JSON", "a date or time"),
            Scalar::Binary => return unsupported("JSON", "bytes"),
        }
        Ok(())
    }

    fn tag(&self, _: &str, _: &mut String) -> Result<(), WriteError> {
        unsupported("JSON", "a tag")
    }
}

/// TOML.
#[cfg(feature = "toml")]
pub(crate) struct Toml;

#[cfg(feature = "toml")]
impl Style for Toml {
    fn between(&self) -> &'static str {
        " = "
    }

    fn key(&self, member: &Member, out: &mut String) -> Result<(), WriteError> {
        if member.key_type != Scalar::Text {
            return unsupported("TOML", "a key that is not a text");
        }
        let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        if !member.key.is_empty() && member.key.bytes().all(is_bare) {
            out.push_str(&member.key);
        } else {
            quoted(&member.key, out);
        }
        Ok(())
    }

    fn scalar(&self, scalar: Scalar, text: &str, out: &mut String) -> Result<(), WriteError> {
        let text = &*canonical("TOML", scalar, text)?;
        match scalar {
            Scalar::Text => quoted(text, out),
            Scalar::Null => return unsupported("TOML", "null"),
            Scalar::Binary => return unsupported("TOML", "bytes"),
            Scalar::Integer if text.parse::<i64>().is_err() => {
                return unsupported("TOML", "an integer of more than 64 bits");
            }
            Scalar::Datetime if text.parse::<toml_edit::Datetime>().is_err() => {
                return unsupported("TOML", "a date or time of another form");
            }
            Scalar::Boolean | Scalar::Integer | Scalar::Float | Scalar::Datetime => {
                out.push_str(text);
            }
        }
        Ok(())
    }

    fn tag(&self, _: &str, _: &mut String) -> Result<(), WriteError> {
        unsupported("TOML", "a tag")
    }
}

/// YAML.
#[cfg(feature = "yaml")]
pub(crate) struct Yaml;

/// Longer keys are only understood behind a `? `.
#[cfg(feature = "yaml")]
const SIMPLE_KEY_MAX: usize = 1000;

#[cfg(feature = "yaml")]
impl Style for Yaml {
    fn between(&self) -> &'static str {
        ": "
    }

    fn key(&self, member: &Member, out: &mut String) -> Result<(), WriteError> {
        let start = out.len();
        self.scalar(member.key_type, &member.key, out)?;
        if out.len() - start > SIMPLE_KEY_MAX {
            out.insert_str(start, "? ");
            out.push(' ');
        }
        Ok(())
    }

    fn scalar(&self, scalar: Scalar, text: &str, out: &mut String) -> Result<(), WriteError> {
        let text = &*canonical("YAML", scalar, text)?;
        match scalar {
            Scalar::Text if is_plain(text) => out.push_str(text),
            Scalar::Text => quoted(text, out),
            Scalar::Null => out.push_str("null"),
            Scalar::Binary => {
                out.push_str("!!binary \"");
                out.extend(text.split_whitespace());
                out.push('"');
            }
            Scalar::Boolean | Scalar::Integer => out.push_str(text),
            Scalar::Float => out.push_str(&float(text)),
            Scalar::Datetime => return unsupported("YAML", "a date or time"),
        }
        Ok(())
    }

    fn tag(&self, tag: &str, out: &mut String) -> Result<(), WriteError> {
        let is_local = tag.strip_prefix('!').is_some_and(|rest| {
            !rest.is_empty()
                && rest
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        });
        if is_local {
            out.push_str(tag);
            return Ok(());
        }
        let is_uri =
            |byte: u8| byte.is_ascii_alphanumeric() || b"#;/?:@&=+$,_.!~*'()[]-".contains(&byte);
        out.push_str("!<");
        for byte in tag.bytes() {
            match byte {
                byte if is_uri(byte) => out.push(char::from(byte)),
                byte => out.push_str(&format!("%{byte:02X}")),
            }
        }
        out.push('>');
        Ok(())
    }
}

/// Spells a float so that readers of YAML 1.1 take it for one too.
#[cfg(feature = "yaml")]
fn float(text: &str) -> String {
    match text {
        "nan" | "inf" => format!(".{text}"),
        "-inf" => "-.inf".to_owned(),
        _ => match text.split_once('e') {
            Some((mantissa, exponent)) => {
                let point = if mantissa.contains('.') { "" } else { ".0" };
                let sign = if exponent.starts_with('-') { "" } else { "+" };
                format!("{mantissa}{point}e{sign}{exponent}")
            }
            None => text.to_owned(),
        },
    }
}

/// Tells whether a text can do without quotes, for readers of YAML 1.1 too.
#[cfg(feature = "yaml")]
pub(crate) fn is_plain(text: &str) -> bool {
    const WORDS: [&str; 9] = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"];
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./ ".contains(&byte);
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(is_safe)
        && !text.ends_with(' ')
        && !WORDS.iter().any(|word| word.eq_ignore_ascii_case(text))
}
