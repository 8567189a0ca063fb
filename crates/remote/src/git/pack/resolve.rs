//! The deltas of a pack, made into objects.
//!
//! From each whole object, everything that is made from it is made in turn, on a stack: the objects on
//! the way to the one at hand. Their content is kept as far as there is room, and made again otherwise.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use gix::ObjectId;
use gix::hash::hasher;
use gix::objs::Kind;

use super::content::ObjectHasher;
use super::delta::{Content, apply};
use super::entry::Entry;
use super::made::{FileAt, Made, Out, open_delta, open_entry};
use super::stream::Received;
use super::{Base, MAX_IN_MEMORY, MAX_PACK_BYTES, check_size, corrupt};
use crate::git::wire::guard::{Exceeded, Guard};

/// The longest chain of deltas; git makes none that is longer.
const MAX_CHAIN: usize = 4095;
/// The most bytes of all deltas of a chain, for they are in memory together when the object is read.
const MAX_CHAIN_BYTES: u64 = 4 << 20;
/// The most bytes of the objects on the stack that are kept.
const KEPT_BYTES: u64 = 8 << 20;

/// An object on the way to the one at hand.
struct Step {
    kind: Kind,
    /// Its place in the pack, unless it is large and was there before.
    place: Result<u32, ObjectId>,
    content: Option<Content>,
    /// The bytes of the deltas that make it; nothing if it is not read from the pack.
    chain_bytes: Option<u64>,
    deltas: Range<usize>,
    named: Range<usize>,
}

/// Makes the objects of one pack.
pub(super) struct Resolver<'a> {
    pack: &'a mut Received,
    base: &'a dyn Base,
    guard: &'a Guard,
    steps: Vec<Step>,
    /// The bytes that are kept in all steps, and the first step that may have some.
    kept: u64,
    first_kept: usize,
    /// True once bases were added to the pack.
    completed: bool,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(pack: &'a mut Received, base: &'a dyn Base, guard: &'a Guard) -> Self {
        pack.deltas.sort_unstable();
        pack.named.sort_unstable();
        Self {
            pack,
            base,
            guard,
            steps: Vec::new(),
            kept: 0,
            first_kept: 0,
            completed: false,
        }
    }

    /// Makes all objects, adds the bases that are not in the pack, and completes it with its digest.
    pub(super) fn run(mut self) -> io::Result<()> {
        for place in 0..u32::try_from(self.pack.entries.len()).map_err(io::Error::other)? {
            let entry = self.pack.entries[place as usize];
            if let Some(kind) = entry.kind().filter(|_| !entry.is_delta()) {
                let chain_bytes = (!entry.is_loose()).then_some(0);
                self.make_all(self.step(kind, Ok(place), *entry.id(), None, chain_bytes))?;
            }
        }
        let mut at = 0;
        while let Some((id, place)) = self.pack.named.get(at).copied() {
            if self.pack.entries[place as usize].kind().is_none() {
                let step = self.outside(ObjectId::Sha1(id))?;
                self.make_all(step)?;
            }
            at += 1;
        }
        if self.pack.entries.iter().any(|it| it.kind().is_none()) {
            return Err(corrupt("a delta has no base"));
        }
        self.complete()
    }

    fn step(
        &self,
        kind: Kind,
        place: Result<u32, ObjectId>,
        id: [u8; 20],
        content: Option<Content>,
        chain_bytes: Option<u64>,
    ) -> Step {
        let deltas = place.map_or(0..0, |place| {
            let deltas = &self.pack.deltas;
            let start = deltas.partition_point(|(base, _)| *base < place);
            start..start + deltas[start..].partition_point(|(base, _)| *base == place)
        });
        let named = &self.pack.named;
        let start = named.partition_point(|(base, _)| *base < id);
        let named = start..start + named[start..].partition_point(|(base, _)| *base == id);
        Step {
            kind,
            place,
            content,
            chain_bytes,
            deltas,
            named,
        }
    }

    /// Begins with an object that was there before the pack. A small one is added to it, for a pack is
    /// read on its own.
    fn outside(&mut self, id: ObjectId) -> io::Result<Step> {
        let header = self.base.header(id)?;
        let (kind, size) = header.ok_or_else(|| corrupt("a delta has no base"))?;
        check_size(kind, size)?;
        let mut raw = [0; 20];
        raw.copy_from_slice(id.as_slice());
        if size > MAX_IN_MEMORY {
            return Ok(self.step(kind, Err(id), raw, None, None));
        }
        let content = self.base.small(id)?;
        let place = u32::try_from(self.pack.entries.len()).map_err(io::Error::other)?;
        self.append(kind, id, &content)?;
        let content = Some(Content::Memory(content));
        Ok(self.step(kind, Ok(place), raw, content, Some(0)))
    }

    /// Makes everything that is made from an object.
    fn make_all(&mut self, from: Step) -> io::Result<()> {
        self.push(from);
        while let Some(step) = self.steps.last_mut() {
            let next = step.deltas.next().map(|at| self.pack.deltas[at].1);
            let next = next.or_else(|| step.named.next().map(|at| self.pack.named[at].1));
            let Some(place) = next else {
                self.pop();
                continue;
            };
            // An object may be in the pack twice, and what is made from it was made then.
            if self.pack.entries[place as usize].kind().is_some() {
                continue;
            }
            self.guard.remaining()?;
            self.need_content()?;
            let made = self.make(place)?;
            if made.deltas.is_empty() && made.named.is_empty() {
                continue;
            }
            if self.steps.len() >= MAX_CHAIN {
                return Err(Exceeded::more("a chain", MAX_CHAIN as u64, "deltas"));
            }
            self.push(made);
        }
        Ok(())
    }

    fn push(&mut self, step: Step) {
        self.kept += step.content.as_ref().map_or(0, weight);
        self.steps.push(step);
        self.make_room();
    }

    fn pop(&mut self) {
        let content = self.steps.pop().and_then(|it| it.content);
        self.kept -= content.as_ref().map_or(0, weight);
        self.first_kept = self.first_kept.min(self.steps.len());
    }

    /// Forgets content that can be made again, beginning with what is farthest.
    fn make_room(&mut self) {
        while self.kept > KEPT_BYTES && self.first_kept + 1 < self.steps.len() {
            let content = self.steps[self.first_kept].content.take();
            self.kept -= content.as_ref().map_or(0, weight);
            self.first_kept += 1;
        }
    }

    /// Makes sure that the content of the last step is there.
    fn need_content(&mut self) -> io::Result<()> {
        let last = self.steps.len() - 1;
        if self.steps[last].content.is_some() {
            return Ok(());
        }
        let near = (0..last).rev().find(|at| self.steps[*at].content.is_some());
        let mut content = match near {
            Some(_) => None,
            None => Some(self.load(&self.steps[0])?),
        };
        for at in near.unwrap_or(0) + 1..=last {
            self.guard.remaining()?;
            let before = content.as_ref().or(self.steps[at - 1].content.as_ref());
            let before = before.ok_or_else(|| corrupt("a delta has no base"))?;
            let place = self.steps[at]
                .place
                .map_err(|_| corrupt("a base is lost"))?;
            let offset = self.pack.entries[place as usize].offset;
            let (mut delta, sizes, _) = open_delta(&self.pack.file, offset)?;
            let mut out = Out::new(&self.pack.quarantine, sizes.result)?;
            apply(&mut delta, sizes, before, &mut out)?;
            content = Some(out.finish()?);
        }
        self.kept += content.as_ref().map_or(0, weight);
        self.steps[last].content = content;
        self.first_kept = self.first_kept.min(last);
        self.make_room();
        Ok(())
    }

    /// Reads a whole object.
    fn load(&self, step: &Step) -> io::Result<Content> {
        let place = match step.place {
            Ok(place) => place,
            Err(id) => return self.pack.quarantine.content(id),
        };
        let entry = &self.pack.entries[place as usize];
        if entry.is_loose() {
            return self.pack.quarantine.content(ObjectId::Sha1(*entry.id()));
        }
        let (mut content, size) = open_entry(&self.pack.file, entry.offset)?;
        let mut bytes = Vec::with_capacity(usize::try_from(size).map_err(io::Error::other)?);
        content.read_to_end(&mut bytes)?;
        Ok(Content::Memory(bytes))
    }

    /// Makes one object from the last step.
    fn make(&mut self, place: u32) -> io::Result<Step> {
        let step = self.steps.last().expect("it is made from one");
        let from = step.content.as_ref().expect("it was made sure of");
        let kind = step.kind;
        let offset = self.pack.entries[place as usize].offset;
        let (mut delta, sizes, delta_bytes) = open_delta(&self.pack.file, offset)?;
        check_size(kind, sizes.result)?;
        let chain_bytes = step.chain_bytes.and_then(|it| it.checked_add(delta_bytes));
        let chain_bytes = chain_bytes
            .filter(|it| *it <= MAX_CHAIN_BYTES)
            .filter(|_| sizes.result <= MAX_IN_MEMORY);
        let loose = match chain_bytes {
            Some(_) => None,
            None => Some(self.pack.quarantine.begin(kind, sizes.result)?),
        };
        let mut made = Made {
            hasher: ObjectHasher::new(kind, sizes.result),
            out: Out::new(&self.pack.quarantine, sizes.result)?,
            loose,
            guard: self.guard,
        };
        apply(&mut delta, sizes, from, &mut made)?;
        let id = made.hasher.finish()?;
        let content = made.out.finish()?;
        if let Some(loose) = made.loose {
            self.pack.quarantine.add(loose, id)?;
        }
        let entry = &mut self.pack.entries[place as usize];
        entry.resolve(kind, id, chain_bytes.is_none());
        let raw = *entry.id();
        Ok(self.step(kind, Ok(place), raw, Some(content), chain_bytes))
    }

    /// Adds a whole object to the end of the pack.
    fn append(&mut self, kind: Kind, id: ObjectId, content: &[u8]) -> io::Result<()> {
        let mut encoded = header_of(kind, content.len() as u64);
        let mut out = ZlibEncoder::new(&mut encoded, Compression::default());
        out.write_all(content)?;
        out.finish()?;
        let mut entry = Entry::delta(self.pack.end);
        entry.set_whole(kind, id, false);
        let mut crc = flate2::Crc::new();
        crc.update(&encoded);
        entry.crc = crc.sum();
        let end = u64::from(self.pack.end) + encoded.len() as u64;
        Exceeded::check(
            "the pack, with what it builds on,",
            end,
            MAX_PACK_BYTES,
            "bytes",
        )?;
        let at = u64::from(self.pack.end);
        self.pack.file.write_all_at(&encoded, at)?;
        self.pack.end = u32::try_from(end).map_err(io::Error::other)?;
        self.pack.entries.push(entry);
        self.completed = true;
        Ok(())
    }

    /// Writes the digest to the end of the pack; another one if it was added to.
    fn complete(self) -> io::Result<()> {
        let pack = self.pack;
        if self.completed {
            let count = u32::try_from(pack.entries.len()).map_err(io::Error::other)?;
            pack.file.write_all_at(&count.to_be_bytes(), 8)?;
            let mut hasher = hasher(gix::hash::Kind::Sha1);
            let mut content = BufReader::new(FileAt::new(&pack.file, 0)).take(pack.end.into());
            while let bytes @ [_, ..] = content.fill_buf()? {
                let count = bytes.len();
                hasher.update(bytes);
                content.consume(count);
                self.guard.remaining()?;
            }
            pack.digest = hasher.try_finalize().map_err(io::Error::other)?;
        }
        pack.file
            .write_all_at(pack.digest.as_slice(), pack.end.into())
    }
}

/// Returns the cost of keeping content. A file costs no memory, but there shall be few.
fn weight(content: &Content) -> u64 {
    match content {
        Content::Memory(bytes) => bytes.len() as u64,
        Content::File { .. } => KEPT_BYTES,
    }
}

/// The header of a whole object in a pack.
fn header_of(kind: Kind, size: u64) -> Vec<u8> {
    let number = match kind {
        Kind::Commit => 1,
        Kind::Tree => 2,
        Kind::Blob => 3,
        Kind::Tag => 4,
    };
    let mut header = Vec::new();
    let mut rest = size >> 4;
    let mut byte = number << 4 | (size & 0x0f) as u8;
    while rest > 0 {
        header.push(byte | 0x80);
        byte = (rest & 0x7f) as u8;
        rest >>= 7;
    }
    header.push(byte);
    header
}
