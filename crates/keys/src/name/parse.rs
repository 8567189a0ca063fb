//! From written names to canonical, unescaped ones.

use std::sync::Arc;

use super::escape::loose_index;
use super::{Error, MAX_LEN, Name, Namespace};

/// Reads a name with its namespace.
pub(super) fn complete(escaped: &[u8]) -> Result<Name, Error> {
    if escaped.is_empty() {
        return Err(Error::Empty);
    }
    let (namespace, path) = Namespace::ALL
        .into_iter()
        .find_map(|namespace| {
            let path = escaped.strip_prefix(namespace.prefix().as_bytes())?;
            path.starts_with(b"/").then_some((namespace, path))
        })
        .ok_or(Error::Namespace)?;
    below(vec![namespace.byte(), 0], path)
}

/// Reads escaped parts on top of `base`, an unescaped form in which a root has two bytes.
pub(super) fn below(mut base: Vec<u8>, escaped: &[u8]) -> Result<Name, Error> {
    if escaped.contains(&0) {
        return Err(Error::Nul);
    }
    let mut rest = escaped;
    while !rest.is_empty() {
        let (part, after) = split(rest)?;
        step(&mut base, part)?;
        rest = after;
    }
    finish(base)
}

/// Adds one raw part to `base`.
pub(super) fn push_raw(mut base: Vec<u8>, raw: &[u8]) -> Result<Name, Error> {
    if raw.contains(&0) {
        return Err(Error::Nul);
    }
    push(&mut base, raw);
    finish(base)
}

fn finish(mut bytes: Vec<u8>) -> Result<Name, Error> {
    match bytes.len() {
        2 => bytes.push(0),
        3 => return Err(Error::EmptyBelowRoot),
        length if length > MAX_LEN => return Err(Error::TooLong),
        _ => {}
    }
    Ok(Name(Arc::from(bytes)))
}

/// Splits the first part, still escaped, from what follows its slash.
fn split(escaped: &[u8]) -> Result<(&[u8], &[u8]), Error> {
    let mut at = 0;
    while let Some(byte) = escaped.get(at) {
        match byte {
            b'/' => return Ok((&escaped[..at], &escaped[at + 1..])),
            b'\\' if at + 1 == escaped.len() => return Err(Error::Dangling),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    Ok((escaped, &[]))
}

/// Takes one escaped part as a step down, up, or nowhere.
fn step(base: &mut Vec<u8>, part: &[u8]) -> Result<(), Error> {
    match part {
        b"" | b"." => {}
        b".." => climb(base),
        b"%" => push(base, b""),
        br"\." | br"\.." | br"\%" => push(base, &part[1..]),
        [b'\\', index @ ..] if loose_index(index).is_some_and(|digits| digits.len() > 1) => {
            push(base, index);
        }
        _ => match loose_index(part) {
            Some(digits) => push_index(base, digits),
            None => push(base, &unescape(part)?),
        },
    }
    Ok(())
}

/// Resolves `\\` and `\/`, the escapes that are allowed anywhere.
fn unescape(part: &[u8]) -> Result<Vec<u8>, Error> {
    let mut raw = Vec::with_capacity(part.len());
    let mut bytes = part.iter();
    while let Some(byte) = bytes.next() {
        let literal = if *byte == b'\\' {
            bytes.next()
        } else {
            Some(byte)
        };
        match literal {
            Some(literal) if *byte != b'\\' || matches!(literal, b'\\' | b'/') => {
                raw.push(*literal);
            }
            _ => {
                return Err(Error::Escape {
                    part: String::from_utf8_lossy(part).into_owned(),
                });
            }
        }
    }
    Ok(raw)
}

fn push(base: &mut Vec<u8>, raw: &[u8]) {
    base.extend_from_slice(raw);
    base.push(0);
}

fn push_index(base: &mut Vec<u8>, digits: &[u8]) {
    base.push(b'#');
    base.resize(base.len() + digits.len() - 1, b'_');
    push(base, digits);
}

fn climb(base: &mut Vec<u8>) {
    if base.len() > 2 {
        base.pop();
        let parent = base
            .iter()
            .rposition(|byte| *byte == 0)
            .expect("the namespace ends with NUL");
        base.truncate(parent + 1);
    }
}
