//! Deltas: how to make an object from another one.

use std::fs::File;
use std::io::{self, BufRead};
use std::os::unix::fs::FileExt;

use super::corrupt;
use super::entry::byte;

/// The size of the copy buffer.
const PIECE: usize = 64 << 10;

/// The content of an object that others are made from.
pub(super) enum Content {
    Memory(Vec<u8>),
    File { file: File, size: u64 },
}

impl Content {
    pub(super) fn size(&self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.len() as u64,
            Self::File { size, .. } => *size,
        }
    }

    /// Passes on a part of it, in pieces.
    fn copy(&self, at: u64, count: u64, out: &mut dyn Sink) -> io::Result<()> {
        let end = at.checked_add(count).filter(|end| *end <= self.size());
        let end = end.ok_or_else(|| corrupt("a delta copies what is not there"))?;
        match self {
            Self::Memory(bytes) => {
                let range = usize::try_from(at).ok().zip(usize::try_from(end).ok());
                let (at, end) = range.expect("it is in memory");
                out.take(&bytes[at..end])
            }
            Self::File { file, .. } => {
                let mut buffer = vec![0; PIECE];
                let mut at = at;
                while at < end {
                    let count = usize::try_from(end - at).unwrap_or(PIECE).min(PIECE);
                    file.read_exact_at(&mut buffer[..count], at)?;
                    out.take(&buffer[..count])?;
                    at += count as u64;
                }
                Ok(())
            }
        }
    }
}

/// Takes the content of an object, piece by piece.
pub(super) trait Sink {
    fn take(&mut self, piece: &[u8]) -> io::Result<()>;
}

/// The sizes that a delta begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) base: u64,
    pub(super) result: u64,
}

impl Sizes {
    pub(super) fn read(delta: &mut impl BufRead) -> io::Result<Self> {
        let base = read_size(delta)?;
        let result = read_size(delta)?;
        Ok(Self { base, result })
    }
}

fn read_size(delta: &mut impl BufRead) -> io::Result<u64> {
    let (mut size, mut shift) = (0, 0);
    loop {
        let next = byte(delta)?;
        if shift > 56 {
            return Err(corrupt("the size in a delta is too long"));
        }
        size |= u64::from(next & 0x7f) << shift;
        shift += 7;
        if next & 0x80 == 0 {
            return Ok(size);
        }
    }
}

/// Makes the object that the instructions after the sizes of a delta describe.
pub(super) fn apply(
    delta: &mut impl BufRead,
    sizes: Sizes,
    base: &Content,
    out: &mut dyn Sink,
) -> io::Result<()> {
    if base.size() != sizes.base {
        return Err(corrupt("a delta is on another base"));
    }
    let mut left = sizes.result;
    let mut literal = [0; 127];
    while !delta.fill_buf()?.is_empty() {
        let instruction = byte(delta)?;
        let count = if instruction & 0x80 != 0 {
            let (at, count) = read_copy(delta, instruction)?;
            left = within(left, count)?;
            base.copy(at, count, out)?;
            continue;
        } else {
            usize::from(instruction)
        };
        if count == 0 {
            return Err(corrupt("a delta has an unknown instruction"));
        }
        left = within(left, count as u64)?;
        delta.read_exact(&mut literal[..count])?;
        out.take(&literal[..count])?;
    }
    if left > 0 {
        return Err(corrupt("a delta makes less than it says"));
    }
    Ok(())
}

fn within(left: u64, count: u64) -> io::Result<u64> {
    let left = left.checked_sub(count);
    left.ok_or_else(|| corrupt("a delta makes more than it says"))
}

/// Reads what an instruction copies: where, and how much.
fn read_copy(delta: &mut impl BufRead, instruction: u8) -> io::Result<(u64, u64)> {
    let mut numbers = [0; 2];
    for bit in 0..7 {
        if instruction & (1 << bit) != 0 {
            let (number, shift) = if bit < 4 { (0, bit) } else { (1, bit - 4) };
            numbers[number] |= u64::from(byte(delta)?) << (8 * shift);
        }
    }
    let [at, count] = numbers;
    Ok((at, if count == 0 { 0x10000 } else { count }))
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Sink for Vec<u8> {
        fn take(&mut self, piece: &[u8]) -> io::Result<()> {
            self.extend_from_slice(piece);
            Ok(())
        }
    }

    fn made(base: &[u8], delta: &[u8]) -> io::Result<Vec<u8>> {
        let mut delta = delta;
        let sizes = Sizes::read(&mut delta)?;
        let mut out = Vec::new();
        apply(&mut delta, sizes, &Content::Memory(base.to_vec()), &mut out)?;
        Ok(out)
    }

    #[test]
    fn delta_copies_and_inserts() -> io::Result<()> {
        let delta = [5, 7, 0x91, 1, 3, 2, b'x', b'y', 0x90, 2];
        assert_eq!(made(b"abcde", &delta)?, b"bcdxyab");
        Ok(())
    }

    #[test]
    fn copy_from_a_file_is_the_same() -> io::Result<()> {
        let bytes: Vec<u8> = (0..200_000_u32).map(|it| it as u8).collect();
        let mut file = tempfile::tempfile()?;
        io::Write::write_all(&mut file, &bytes)?;
        let size = bytes.len() as u64;
        let mut out = Vec::new();
        Content::File { file, size }.copy(1000, 150_000, &mut out)?;
        assert_eq!(out, bytes[1000..151_000]);
        Ok(())
    }

    #[test]
    fn delta_that_lies_is_refused() {
        for (what, delta) in [
            ("another base", &[4, 1, 1, b'x'][..]),
            ("too much", &[5, 1, 2, b'x', b'y']),
            ("too little", &[5, 2, 1, b'x']),
            ("outside", &[5, 9, 0x90, 9]),
            ("unknown", &[5, 1, 0]),
            ("cut", &[5, 2, 2, b'x']),
            ("no size", &[0xff; 12]),
        ] {
            assert!(made(b"abcde", delta).is_err(), "{what}");
        }
    }
}
