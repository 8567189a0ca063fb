//! Content of a pack that is inflated, and content that is made from deltas.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::FileExt;

use flate2::bufread::ZlibDecoder;

use super::MAX_IN_MEMORY;
use super::content::{Loose, ObjectHasher, Quarantine};
use super::delta::{Content, Sink, Sizes};
use super::entry::read_header;
use crate::git::wire::guard::Guard;

/// Opens what an entry inflates to.
pub(super) fn open_entry(pack: &File, offset: u32) -> io::Result<(impl Read + '_, u64)> {
    let mut reader = BufReader::with_capacity(4096, FileAt::new(pack, offset.into()));
    let (_, size) = read_header(&mut reader)?;
    Ok((ZlibDecoder::new(reader).take(size), size))
}

/// Opens the instructions of a delta; returns its sizes, too, and how many bytes it has.
pub(super) fn open_delta(pack: &File, offset: u32) -> io::Result<(impl BufRead + '_, Sizes, u64)> {
    let (delta, bytes) = open_entry(pack, offset)?;
    let mut delta = BufReader::with_capacity(4096, delta);
    let sizes = Sizes::read(&mut delta)?;
    Ok((delta, sizes, bytes))
}

/// A file from some place on.
pub(super) struct FileAt<'a> {
    file: &'a File,
    at: u64,
}

impl<'a> FileAt<'a> {
    pub(super) fn new(file: &'a File, at: u64) -> Self {
        Self { file, at }
    }
}

impl Read for FileAt<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

/// Content that is being made, in memory or in a file.
pub(super) enum Out {
    Memory(Vec<u8>),
    File(BufWriter<File>, u64),
}

impl Out {
    pub(super) fn new(quarantine: &Quarantine, size: u64) -> io::Result<Self> {
        if size <= MAX_IN_MEMORY {
            let size = usize::try_from(size).map_err(io::Error::other)?;
            return Ok(Self::Memory(Vec::with_capacity(size)));
        }
        Ok(Self::File(BufWriter::new(quarantine.scratch()?), 0))
    }

    pub(super) fn finish(self) -> io::Result<Content> {
        Ok(match self {
            Self::Memory(bytes) => Content::Memory(bytes),
            Self::File(file, size) => {
                let file = file.into_inner()?;
                Content::File { file, size }
            }
        })
    }
}

impl Sink for Out {
    fn take(&mut self, piece: &[u8]) -> io::Result<()> {
        match self {
            Self::Memory(bytes) => bytes.extend_from_slice(piece),
            Self::File(file, size) => {
                *size += piece.len() as u64;
                file.write_all(piece)?;
            }
        }
        Ok(())
    }
}

/// An object that is being made for the first time.
pub(super) struct Made<'a> {
    pub(super) hasher: ObjectHasher,
    pub(super) out: Out,
    pub(super) loose: Option<Loose>,
    pub(super) guard: &'a Guard,
}

impl Sink for Made<'_> {
    fn take(&mut self, piece: &[u8]) -> io::Result<()> {
        self.hasher.update(piece);
        if let Some(loose) = &mut self.loose {
            self.guard.remaining()?;
            loose.take(piece)?;
        }
        self.out.take(piece)
    }
}
