//! The lines of git's protocol, each behind its length.

/// The most bytes of one packet.
const MAX_PACKET: usize = 65_520;
/// The bytes of a length.
const LENGTH: usize = 4;
/// The band of the pack.
const PACK_BAND: u8 = 1;

pub(super) fn write_line(body: &mut Vec<u8>, line: &str) {
    body.extend_from_slice(format!("{:04x}{line}\n", line.len() + LENGTH + 1).as_bytes());
}

pub(super) fn flush(body: &mut Vec<u8>) {
    body.extend_from_slice(b"0000");
}

/// Writes a pack beside what is told while it is sent.
pub(super) fn write_band(body: &mut Vec<u8>, pack: &[u8]) {
    for piece in pack.chunks(MAX_PACKET - LENGTH - 1) {
        body.extend_from_slice(format!("{:04x}", piece.len() + LENGTH + 1).as_bytes());
        body.push(PACK_BAND);
        body.extend_from_slice(piece);
    }
}

/// Returns all lines of a request, without their ends; nothing if it has none.
pub(super) fn lines(body: &[u8]) -> Option<Vec<&str>> {
    let text = std::str::from_utf8(body).ok()?;
    let (mut rest, mut lines) = (text, Vec::new());
    while !rest.is_empty() {
        let length = usize::from_str_radix(rest.get(..LENGTH)?, 16).ok()?;
        // The lengths below that of themselves separate lines.
        let end = length.max(LENGTH);
        if length > LENGTH {
            lines.push(rest.get(LENGTH..end)?.trim_end_matches('\n'));
        }
        rest = rest.get(end..)?;
    }
    Some(lines)
}
