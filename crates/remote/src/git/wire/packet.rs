//! Packet lines (gitprotocol-common), and the side bands that a pack travels in.

use std::io::{self, BufRead, Read};
use std::ops::Range;

/// The longest packet, without its length.
const MAX_BYTES: usize = 65516;
/// The most bytes of an error of the remote that are shown: as many as help.
const MAX_ERROR_BYTES: usize = 500;

/// One packet.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::git) enum Packet<'a> {
    Data(&'a [u8]),
    Flush,
    Delimiter,
    ResponseEnd,
}

/// Reads packets one by one, each into the same buffer.
pub(in crate::git) struct Packets<R> {
    reader: R,
    buffer: Vec<u8>,
}

impl<R: Read> Packets<R> {
    pub(in crate::git) fn new(reader: R) -> Self {
        Self {
            reader,
            buffer: Vec::new(),
        }
    }

    /// Returns the next packet.
    pub(in crate::git) fn next(&mut self) -> io::Result<Packet<'_>> {
        let mut length = [0; 4];
        self.reader.read_exact(&mut length)?;
        let digits = length.iter().all(u8::is_ascii_hexdigit);
        let length = std::str::from_utf8(&length).ok().filter(|_| digits);
        let length = length.and_then(|it| usize::from_str_radix(it, 16).ok());
        let length = match length {
            Some(0) => return Ok(Packet::Flush),
            Some(1) => return Ok(Packet::Delimiter),
            Some(2) => return Ok(Packet::ResponseEnd),
            Some(length @ 4..) if length - 4 <= MAX_BYTES => length - 4,
            _ => return Err(malformed("a packet has no length")),
        };
        self.buffer.resize(length, 0);
        self.reader.read_exact(&mut self.buffer)?;
        Ok(Packet::Data(&self.buffer))
    }

    /// Returns the next packet as a line, without its end. An error that the remote reports is one.
    pub(in crate::git) fn line(&mut self) -> io::Result<Packet<'_>> {
        match self.next()? {
            Packet::Data(line) => match line.strip_prefix(b"ERR ") {
                Some(said) => Err(reported(said)),
                None => Ok(Packet::Data(line.strip_suffix(b"\n").unwrap_or(line))),
            },
            other => Ok(other),
        }
    }

    /// Returns what comes in the first side band, up to the end of the answer.
    pub(in crate::git) fn band(&mut self) -> Band<'_, R> {
        Band {
            packets: self,
            content: 0..0,
            begun: false,
            ended: false,
        }
    }
}

/// The content of the first side band. Progress is left out, an error in the third one is one.
pub(in crate::git) struct Band<'a, R> {
    packets: &'a mut Packets<R>,
    /// The place of what was not read yet in the last packet.
    content: Range<usize>,
    /// Before it begins, versions 0 and 1 of the protocol have acknowledgements.
    begun: bool,
    ended: bool,
}

impl<R: Read> BufRead for Band<'_, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.content.is_empty() && !self.ended {
            self.content = 0..0;
            match self.packets.next()? {
                Packet::Data([1, content @ ..]) => {
                    self.begun = true;
                    self.content = 1..1 + content.len();
                }
                Packet::Data([2, ..] | []) => {}
                Packet::Data([3, said @ ..]) => return Err(reported(said)),
                Packet::Data(line) => match line.strip_prefix(b"ERR ") {
                    Some(said) => return Err(reported(said)),
                    None if !self.begun && is_acknowledgement(line) => {}
                    None => return Err(malformed("a packet is in no side band")),
                },
                Packet::Flush => self.ended = true,
                Packet::Delimiter | Packet::ResponseEnd => {
                    return Err(malformed("the pack has several sections"));
                }
            }
        }
        Ok(&self.packets.buffer[self.content.clone()])
    }

    fn consume(&mut self, count: usize) {
        self.content.start = self.content.end.min(self.content.start + count);
    }
}

impl<R: Read> Read for Band<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

fn is_acknowledgement(line: &[u8]) -> bool {
    line.starts_with(b"ACK ") || line.starts_with(b"NAK")
}

/// Adds a line to a request.
pub(in crate::git) fn write_line(request: &mut Vec<u8>, line: &str) {
    request.extend_from_slice(format!("{:04x}{line}\n", line.len() + 5).as_bytes());
}

/// Ends a request, or a part of one.
pub(in crate::git) fn write_flush(request: &mut Vec<u8>) {
    request.extend_from_slice(b"0000");
}

/// Separates what is asked from how.
pub(in crate::git) fn write_delimiter(request: &mut Vec<u8>) {
    request.extend_from_slice(b"0001");
}

pub(in crate::git) fn malformed(what: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("the answer is malformed: {what}"),
    )
}

fn reported(said: &[u8]) -> io::Error {
    let said = &said[..said.len().min(MAX_ERROR_BYTES)];
    let said = String::from_utf8_lossy(said);
    io::Error::other(format!("the remote says: {}", said.trim()))
}

/// Returns an answer of these lines, in which `""` is a flush packet and `"|"` a delimiter.
#[cfg(test)]
pub(in crate::git) fn answer_of(lines: &[&str]) -> Vec<u8> {
    let mut answer = Vec::new();
    for line in lines {
        match *line {
            "" => write_flush(&mut answer),
            "|" => write_delimiter(&mut answer),
            line => write_line(&mut answer, line),
        }
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut packets = Packets::new(bytes);
        let mut content = Vec::new();
        packets.band().read_to_end(&mut content)?;
        Ok(content)
    }

    #[test]
    fn packet_has_what_its_length_says() -> io::Result<()> {
        let mut packets = Packets::new(&b"0006a\n0000000100020004"[..]);
        assert_eq!(packets.line()?, Packet::Data(b"a"));
        assert_eq!(packets.next()?, Packet::Flush);
        assert_eq!(packets.next()?, Packet::Delimiter);
        assert_eq!(packets.next()?, Packet::ResponseEnd);
        assert_eq!(packets.next()?, Packet::Data(b""));
        assert!(packets.next().is_err(), "nothing comes after the end");
        for malformed in ["0003", "+006a\n", "fffe", "zzzz", "0006a"] {
            assert!(
                Packets::new(malformed.as_bytes()).next().is_err(),
                "{malformed}"
            );
        }
        Ok(())
    }

    #[test]
    fn side_band_has_the_pack_alone() -> io::Result<()> {
        let answer = b"0008NAK\n0007\x01PA0009\x02busy0005\x010007\x01CK0000";
        assert_eq!(all(answer)?, b"PACK");
        Ok(())
    }

    #[test]
    fn error_of_the_remote_is_told() {
        for answer in [&b"0009\x03full"[..], b"000cERR full"] {
            let told = all(answer).unwrap_err().to_string();
            assert_eq!(told, "the remote says: full");
        }
        assert!(all(b"0007\x01PA0008NAK\n0000").is_err());
        assert!(all(b"0007\x01PA").is_err(), "it breaks off");
    }
}
