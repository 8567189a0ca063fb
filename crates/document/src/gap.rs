//! The space between values: blanks, line ends and comments.

/// Returns where the next thing begins that is neither space nor, if there are any, a comment.
pub(crate) fn skip(text: &str, from: usize, has_comments: bool) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    loop {
        match bytes.get(at) {
            Some(b' ' | b'\t' | b'\n' | b'\r') => at += 1,
            Some(b'#') if has_comments => at = line_end(text, at),
            _ => return at,
        }
    }
}

/// Returns where the line ends that an offset is in, before the line break.
pub(crate) fn line_end(text: &str, from: usize) -> usize {
    let rest = &text.as_bytes()[from..];
    let end = rest.iter().position(|byte| *byte == b'\n');
    let end = end.map_or(text.len(), |length| from + length);
    if end > from && text.as_bytes()[end - 1] == b'\r' {
        end - 1
    } else {
        end
    }
}

/// Returns where the line begins that an offset is in.
pub(crate) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// Returns where the line after the one that an offset is in begins.
pub(crate) fn next_line(text: &str, at: usize) -> usize {
    text[at..]
        .find('\n')
        .map_or(text.len(), |newline| at + newline + 1)
}

/// Returns the space before an offset, if there is nothing else before it in its line.
pub(crate) fn indent(text: &str, at: usize) -> Option<&str> {
    let before = &text[line_start(text, at)..at];
    let is_space = before.bytes().all(|byte| matches!(byte, b' ' | b'\t'));
    is_space.then_some(before)
}
