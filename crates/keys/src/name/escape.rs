//! From raw parts to escaped ones, and array indices.

/// Escapes one raw part, so that reading it gives the part back.
///
/// ```
/// use pathline_keys::name::escape_part;
///
/// assert_eq!(escape_part(b""), b"%");
/// assert_eq!(escape_part(b"has/slash"), br"has\/slash");
/// assert_eq!(escape_part(b"#12"), br"\#12");
/// ```
#[must_use]
pub fn escape_part(raw: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(raw.len() + 1);
    push(&mut out, raw);
    out
}

/// Returns the part that stands for an index of an array.
///
/// The underscores make byte order equal numeric order.
///
/// ```
/// use pathline_keys::name::array_part;
///
/// assert_eq!(array_part(7), "#7");
/// assert_eq!(array_part(10), "#_10");
/// ```
#[must_use]
pub fn array_part(index: u64) -> String {
    let digits = index.to_string();
    format!("#{:_<width$}{digits}", "", width = digits.len() - 1)
}

pub(super) fn push(out: &mut Vec<u8>, raw: &[u8]) {
    match raw {
        b"" => out.push(b'%'),
        b"%" | b"." | b".." => {
            out.push(b'\\');
            out.extend_from_slice(raw);
        }
        _ if loose_index(raw).is_some_and(|digits| digits.len() > 1) => {
            out.push(b'\\');
            out.extend_from_slice(raw);
        }
        _ => {
            for byte in raw {
                if matches!(byte, b'/' | b'\\') {
                    out.push(b'\\');
                }
                out.push(*byte);
            }
        }
    }
}

/// Returns the digits of `#` and an index written without underscores, if the part is that.
pub(super) fn loose_index(part: &[u8]) -> Option<&[u8]> {
    let digits = part.strip_prefix(b"#")?;
    let plain = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let canonical = digits.len() == 1 || digits.first() != Some(&b'0');
    let value: Option<u64> = std::str::from_utf8(digits)
        .ok()
        .and_then(|text| text.parse().ok());
    let in_range = value.is_some_and(|value| i64::try_from(value).is_ok());
    (plain && canonical && in_range).then_some(digits)
}
