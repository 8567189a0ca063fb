//! The entries of a pack: their headers, and what is known of them.

use std::io::{self, BufRead, Read};

use gix::ObjectId;
use gix::objs::Kind;

use super::corrupt;

/// The header of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::git) enum Header {
    Whole(Kind),
    /// A delta on the entry that begins so many bytes before.
    OffsetDelta(u64),
    /// A delta on an object that may be anywhere.
    RefDelta(ObjectId),
}

/// Reads the header of an entry, and how many bytes it inflates to.
pub(in crate::git) fn read_header(pack: &mut impl BufRead) -> io::Result<(Header, u64)> {
    let first = byte(pack)?;
    let mut size = u64::from(first & 0x0f);
    let (mut more, mut shift) = (first & 0x80 != 0, 4);
    while more {
        let next = byte(pack)?;
        if shift > 56 {
            return Err(corrupt("the size of an object is too long"));
        }
        size |= u64::from(next & 0x7f) << shift;
        shift += 7;
        more = next & 0x80 != 0;
    }
    let header = match (first >> 4) & 0x07 {
        1 => Header::Whole(Kind::Commit),
        2 => Header::Whole(Kind::Tree),
        3 => Header::Whole(Kind::Blob),
        4 => Header::Whole(Kind::Tag),
        6 => Header::OffsetDelta(read_offset(pack)?),
        7 => {
            let mut id = [0; 20];
            pack.read_exact(&mut id)?;
            Header::RefDelta(ObjectId::Sha1(id))
        }
        _ => return Err(corrupt("an object is of no kind")),
    };
    Ok((header, size))
}

/// Reads how far before an entry its base begins.
fn read_offset(pack: &mut impl BufRead) -> io::Result<u64> {
    let mut next = byte(pack)?;
    let mut offset = u64::from(next & 0x7f);
    while next & 0x80 != 0 {
        next = byte(pack)?;
        let shifted = offset.checked_add(1).filter(|it| *it < 1 << 56);
        let shifted = shifted.ok_or_else(|| corrupt("a delta is too far from its base"))?;
        offset = (shifted << 7) | u64::from(next & 0x7f);
    }
    Ok(offset)
}

pub(super) fn byte(reader: &mut impl Read) -> io::Result<u8> {
    let mut byte = [0];
    reader.read_exact(&mut byte)?;
    Ok(byte[0])
}

/// An entry, small because there may be a million of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// The id of the object, once it is known.
    id: [u8; 20],
    pub(super) offset: u32,
    pub(super) crc: u32,
    state: State,
    is_delta: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// A delta that was not resolved yet.
    Delta,
    /// An object that is read from the pack.
    Packed(Kind),
    /// An object that is kept outside of the pack.
    Loose(Kind),
}

impl Entry {
    pub(super) fn delta(offset: u32) -> Self {
        Self {
            id: [0; 20],
            offset,
            crc: 0,
            state: State::Delta,
            is_delta: true,
        }
    }

    /// Notes which object it is, as a whole.
    pub(super) fn set_whole(&mut self, kind: Kind, id: ObjectId, is_loose: bool) {
        self.resolve(kind, id, is_loose);
        self.is_delta = false;
    }

    /// Notes which object it is, and whether it is kept outside of the pack.
    pub(super) fn resolve(&mut self, kind: Kind, id: ObjectId, is_loose: bool) {
        self.id.copy_from_slice(id.as_slice());
        self.state = if is_loose {
            State::Loose(kind)
        } else {
            State::Packed(kind)
        };
    }

    pub(super) fn id(&self) -> &[u8; 20] {
        &self.id
    }

    pub(super) fn is_delta(&self) -> bool {
        self.is_delta
    }

    /// Returns the kind of object, if that is known.
    pub(super) fn kind(&self) -> Option<Kind> {
        match self.state {
            State::Delta => None,
            State::Packed(kind) | State::Loose(kind) => Some(kind),
        }
    }

    pub(super) fn is_loose(&self) -> bool {
        matches!(self.state, State::Loose(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_stay_small() {
        assert_eq!(size_of::<Entry>(), 32);
    }

    #[test]
    fn header_has_kind_and_size() -> io::Result<()> {
        let whole = read_header(&mut &[0xb5, 0x0a][..])?;
        assert_eq!(whole, (Header::Whole(Kind::Blob), 0xa5));
        let delta = read_header(&mut &[0x63, 0x80, 0x00][..])?;
        assert_eq!(delta, (Header::OffsetDelta(128), 3));
        Ok(())
    }

    #[test]
    fn numbers_that_do_not_end_are_refused() {
        for bytes in [&[0xb0][..], &[0xff; 40], &[0x60; 1], &[0x00], &[0x50]] {
            assert!(read_header(&mut &*bytes).is_err(), "{bytes:?}");
        }
        let mut far = vec![0x61];
        far.extend([0xff; 30]);
        assert!(read_header(&mut &far[..]).is_err());
    }
}
