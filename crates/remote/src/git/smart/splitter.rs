//! Packets of an answer that arrives in pieces.

use std::io;

use crate::git::wire::packet::{Packet, Packets, malformed};

/// The bytes that give the length of a packet.
const LENGTH: usize = 4;

/// Joins the pieces of an answer, and splits it into packets.
#[derive(Debug, Default)]
pub(super) struct Splitter {
    /// The beginning of a packet that is not whole yet.
    rest: Vec<u8>,
}

impl Splitter {
    /// Takes a piece, and gives each packet away that is whole, as a line without its end.
    pub(super) fn push(
        &mut self,
        piece: &[u8],
        mut take: impl FnMut(Packet<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        self.rest.extend_from_slice(piece);
        let mut at = 0;
        while let Some(length) = first_packet(&self.rest[at..])? {
            let packet = &self.rest[at..at + length];
            take(Packets::new(packet).line()?)?;
            at += length;
        }
        self.rest.drain(..at);
        Ok(())
    }
}

/// Returns the size of the first packet, if all of it is there.
fn first_packet(bytes: &[u8]) -> io::Result<Option<usize>> {
    let Some(digits) = bytes.get(..LENGTH) else {
        return Ok(None);
    };
    let digits = std::str::from_utf8(digits).ok();
    let length = digits.and_then(|it| u16::from_str_radix(it, 16).ok());
    let length = length.ok_or_else(|| malformed("a packet has no length"))?;
    let length = usize::from(length).max(LENGTH);
    Ok((bytes.len() >= length).then_some(length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::wire::packet::answer_of;

    #[test]
    fn packets_are_the_same_however_they_arrive() -> io::Result<()> {
        let answer = answer_of(&["one", "", "|", "two", ""]);
        for size in 1..=answer.len() {
            let mut splitter = Splitter::default();
            let mut found = Vec::new();
            for piece in answer.chunks(size) {
                splitter.push(piece, |packet| {
                    found.push(match packet {
                        Packet::Data(line) => String::from_utf8_lossy(line).into_owned(),
                        other => format!("{other:?}"),
                    });
                    Ok(())
                })?;
            }
            assert_eq!(found, ["one", "Flush", "Delimiter", "two", "Flush"]);
        }
        Ok(())
    }

    #[test]
    fn nonsense_and_errors_of_the_remote_are_errors() {
        for answer in ["<htm", "+006a\n", "000eERR denied"] {
            let pushed = Splitter::default().push(answer.as_bytes(), |_| Ok(()));
            assert!(pushed.is_err(), "{answer}");
        }
    }
}
