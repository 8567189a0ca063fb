//! The index of a pack (gitformat-pack, version 2).

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use gix::ObjectId;
use gix::hash::{Hasher, Kind, hasher};

use super::entry::Entry;

/// Writes the index of the pack with that digest; an object that is in it twice is in the index once.
pub(super) fn write(path: &Path, entries: &mut Vec<Entry>, pack: ObjectId) -> io::Result<()> {
    entries.sort_unstable_by(|one, two| one.id().cmp(two.id()));
    entries.dedup_by(|one, two| one.id() == two.id());
    let mut out = Hashed {
        file: BufWriter::new(File::create_new(path)?),
        hasher: hasher(Kind::Sha1),
    };
    out.write(b"\xfftOc\x00\x00\x00\x02")?;
    let mut before = 0;
    for first in 0..=u8::MAX {
        before += entries[before..].partition_point(|it| it.id()[0] <= first);
        out.number(before)?;
    }
    for entry in &*entries {
        out.write(entry.id())?;
    }
    for entry in &*entries {
        out.write(&entry.crc.to_be_bytes())?;
    }
    for entry in &*entries {
        out.write(&entry.offset.to_be_bytes())?;
    }
    out.write(pack.as_slice())?;
    let Hashed { mut file, hasher } = out;
    let digest = hasher.try_finalize().map_err(io::Error::other)?;
    file.write_all(digest.as_slice())?;
    file.into_inner()?.sync_all()
}

struct Hashed {
    file: BufWriter<File>,
    hasher: Hasher,
}

impl Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.update(bytes);
        self.file.write_all(bytes)
    }

    fn number(&mut self, number: usize) -> io::Result<()> {
        let number = u32::try_from(number).map_err(io::Error::other)?;
        self.write(&number.to_be_bytes())
    }
}
