//! A pack, read while it arrives.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufWriter, Read, Write};
use std::path::Path;

use flate2::{Crc, Decompress, FlushDecompress, Status};
use gix::ObjectId;
use gix::hash::{Hasher, hasher};
use gix::objs::Kind;

use super::content::{ObjectHasher, Quarantine};
use super::delta::{Sink, Sizes};
use super::entry::{Entry, Header, read_header};
use super::{MAX_BLOB_BYTES, MAX_IN_MEMORY, MAX_OBJECTS, MAX_PACK_BYTES, check_size, corrupt};
use crate::git::wire::guard::{Exceeded, Guard};

/// The most deltas whose base is only known by its id. Those in the same pack are known by their place.
const MAX_NAMED_DELTAS: usize = 250_000;
/// The number of entries that memory is reserved for at once.
const ROOM: usize = 1 << 16;
/// The longest that both sizes at the beginning of a delta can be.
const MAX_SIZES: usize = 20;

/// A pack that is on disk, without the digest at its end.
pub(super) struct Received {
    pub(super) file: File,
    /// In the order of the pack.
    pub(super) entries: Vec<Entry>,
    /// Pairs of a base and a delta, as places in `entries`.
    pub(super) deltas: Vec<(u32, u32)>,
    /// Deltas, and the ids of their bases.
    pub(super) named: Vec<([u8; 20], u32)>,
    pub(super) quarantine: Quarantine,
    /// The offset at which the entries end.
    pub(super) end: u32,
    pub(super) digest: ObjectId,
}

/// Reads a pack to its end, into the file `path`.
pub(super) fn read(
    pack: &mut dyn BufRead,
    path: &Path,
    quarantine: Quarantine,
    guard: &Guard,
) -> io::Result<Received> {
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create_new(true).open(path)?;
    let mut pack = Copied::new(pack, file.try_clone()?);
    let mut start = [0; 12];
    pack.read_exact(&mut start)?;
    let [b'P', b'A', b'C', b'K', 0, 0, 0, 2 | 3, count @ ..] = start else {
        return Err(corrupt("it does not begin as one"));
    };
    let count = u64::from(u32::from_be_bytes(count));
    Exceeded::check("the pack", count, MAX_OBJECTS, "objects")?;
    let mut reader = Reader {
        entries: Vec::new(),
        deltas: Vec::new(),
        named: Vec::new(),
        quarantine,
        inflater: Inflater::new(),
    };
    for _ in 0..count {
        guard.remaining()?;
        reader.entry(&mut pack)?;
    }
    let (end, digest) = pack.finish()?;
    Ok(Received {
        file,
        entries: reader.entries,
        deltas: reader.deltas,
        named: reader.named,
        quarantine: reader.quarantine,
        end,
        digest,
    })
}

struct Reader {
    entries: Vec<Entry>,
    deltas: Vec<(u32, u32)>,
    named: Vec<([u8; 20], u32)>,
    quarantine: Quarantine,
    inflater: Inflater,
}

impl Reader {
    fn entry(&mut self, pack: &mut Copied<'_>) -> io::Result<()> {
        let mut entry = Entry::delta(pack.begin()?);
        let place = u32::try_from(self.entries.len()).map_err(io::Error::other)?;
        let (header, size) = read_header(pack)?;
        match header {
            Header::Whole(kind) => self.whole(pack, &mut entry, kind, size)?,
            Header::OffsetDelta(distance) => {
                self.delta(pack, size)?;
                let base = u64::from(entry.offset).checked_sub(distance);
                let base = base.and_then(|it| u32::try_from(it).ok());
                let base = base.and_then(|it| self.at(it));
                let base = base.ok_or_else(|| corrupt("a delta is on what is no object"))?;
                self.deltas.push((base, place));
            }
            Header::RefDelta(base) => {
                self.delta(pack, size)?;
                let mut id = [0; 20];
                id.copy_from_slice(base.as_slice());
                self.named.push((id, place));
                if self.named.len() > MAX_NAMED_DELTAS {
                    let (what, limit) = ("the pack", MAX_NAMED_DELTAS as u64);
                    return Err(Exceeded::more(what, limit, "deltas on objects elsewhere"));
                }
            }
        }
        entry.crc = pack.crc.sum();
        // Not twice as much as before: that would be as much again for nothing.
        if self.entries.len() == self.entries.capacity() {
            self.entries.reserve_exact(ROOM);
        }
        self.entries.push(entry);
        Ok(())
    }

    /// Returns the place of the entry that begins there.
    fn at(&self, offset: u32) -> Option<u32> {
        let found = self.entries.binary_search_by_key(&offset, |it| it.offset);
        found.ok().and_then(|it| u32::try_from(it).ok())
    }

    fn whole(
        &mut self,
        pack: &mut Copied<'_>,
        entry: &mut Entry,
        kind: Kind,
        size: u64,
    ) -> io::Result<()> {
        check_size(kind, size)?;
        let mut hasher = ObjectHasher::new(kind, size);
        if size <= MAX_IN_MEMORY {
            self.inflater.inflate(pack, size, &mut |piece| {
                hasher.update(piece);
                Ok(())
            })?;
            entry.set_whole(kind, hasher.finish()?, false);
            return Ok(());
        }
        let mut loose = self.quarantine.begin(kind, size)?;
        self.inflater.inflate(pack, size, &mut |piece| {
            hasher.update(piece);
            loose.take(piece)
        })?;
        let id = hasher.finish()?;
        self.quarantine.add(loose, id)?;
        entry.set_whole(kind, id, true);
        Ok(())
    }

    /// Passes over a delta, and refuses one that makes too much.
    fn delta(&mut self, pack: &mut Copied<'_>, size: u64) -> io::Result<()> {
        Exceeded::check("a delta", size, MAX_BLOB_BYTES, "bytes")?;
        let mut first = Vec::with_capacity(MAX_SIZES);
        self.inflater.inflate(pack, size, &mut |piece| {
            let room = MAX_SIZES - first.len();
            first.extend_from_slice(&piece[..piece.len().min(room)]);
            Ok(())
        })?;
        let sizes = Sizes::read(&mut first.as_slice())?;
        check_size(Kind::Blob, sizes.result)?;
        Ok(())
    }
}

/// A pack that is copied to a file as far as it is read.
struct Copied<'a> {
    pack: &'a mut dyn BufRead,
    file: BufWriter<File>,
    hasher: Hasher,
    crc: Crc,
    offset: u64,
    /// The error of a failed copy, returned by the next read.
    failed: Option<io::Error>,
}

impl<'a> Copied<'a> {
    fn new(pack: &'a mut dyn BufRead, file: File) -> Self {
        Self {
            pack,
            file: BufWriter::with_capacity(64 << 10, file),
            hasher: hasher(gix::hash::Kind::Sha1),
            crc: Crc::new(),
            offset: 0,
            failed: None,
        }
    }

    /// Begins an entry and returns its place.
    fn begin(&mut self) -> io::Result<u32> {
        self.crc.reset();
        let offset = u32::try_from(self.offset).ok();
        let offset = offset.filter(|it| u64::from(*it) <= MAX_PACK_BYTES);
        offset.ok_or_else(|| Exceeded::more("the pack", MAX_PACK_BYTES, "bytes"))
    }

    /// Checks the digest at the end of the pack, which is not copied.
    fn finish(mut self) -> io::Result<(u32, ObjectId)> {
        let end = self.begin()?;
        if let Some(failed) = self.failed.take() {
            return Err(failed);
        }
        self.file.flush()?;
        let mut told = [0; 20];
        self.pack.read_exact(&mut told)?;
        let digest = self.hasher.try_finalize().map_err(io::Error::other)?;
        if digest.as_slice() != told {
            return Err(corrupt("its digest is another one"));
        }
        Ok((end, digest))
    }
}

impl BufRead for Copied<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self.failed.take() {
            Some(failed) => Err(failed),
            None => self.pack.fill_buf(),
        }
    }

    fn consume(&mut self, count: usize) {
        // What is consumed is in the buffer already, so that nothing is waited for.
        match self.pack.fill_buf() {
            Ok(bytes) => {
                let bytes = &bytes[..count];
                self.hasher.update(bytes);
                self.crc.update(bytes);
                self.failed = self.file.write_all(bytes).err();
            }
            Err(failed) => self.failed = Some(failed),
        }
        self.pack.consume(count);
        self.offset += count as u64;
    }
}

impl Read for Copied<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

/// Inflates one object after another, with the same memory.
struct Inflater {
    inflate: Decompress,
    buffer: Vec<u8>,
}

impl Inflater {
    fn new() -> Self {
        Self {
            inflate: Decompress::new(true),
            buffer: vec![0; 64 << 10],
        }
    }

    /// Passes on exactly `size` bytes, in pieces.
    fn inflate(
        &mut self,
        pack: &mut impl BufRead,
        size: u64,
        out: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        self.inflate.reset(true);
        loop {
            let input = pack.fill_buf()?;
            let is_end = input.is_empty();
            let before = (self.inflate.total_in(), self.inflate.total_out());
            let status = self
                .inflate
                .decompress(input, &mut self.buffer, FlushDecompress::None)
                .map_err(|_| corrupt("an object cannot be inflated"))?;
            let read = self.inflate.total_in() - before.0;
            let made = self.inflate.total_out() - before.1;
            let [read, made] = [read, made].map(|it| usize::try_from(it).unwrap_or(usize::MAX));
            pack.consume(read);
            if self.inflate.total_out() > size {
                return Err(corrupt("an object is larger than it says"));
            }
            out(&self.buffer[..made])?;
            match status {
                Status::StreamEnd if self.inflate.total_out() == size => return Ok(()),
                Status::StreamEnd => return Err(corrupt("an object is smaller than it says")),
                _ if read > 0 || made > 0 => {}
                _ if is_end => return Err(io::ErrorKind::UnexpectedEof.into()),
                _ => return Err(corrupt("an object cannot be inflated")),
            }
        }
    }
}
