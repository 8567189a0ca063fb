//! Objects that are kept outside of a pack, because they are large or hard to make.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::bufread::ZlibDecoder;
use flate2::write::ZlibEncoder;
use gix::ObjectId;
use gix::hash::{Hasher, hasher};
use gix::objs::Kind;
use gix::objs::encode::loose_header;

use super::delta::{Content, Sink};
use super::{MAX_LARGE_BYTES, corrupt};
use crate::git::wire::guard::Exceeded;

/// The most objects of a pack that are kept outside of it: each is a file.
const MAX_LOOSE: u64 = 10_000;
/// The longest header of a loose object: `commit`, a number, and the end.
const MAX_HEADER: usize = 32;

/// Finds the id of an object while its content goes by.
pub(super) struct ObjectHasher(Hasher);

impl ObjectHasher {
    pub(super) fn new(kind: Kind, size: u64) -> Self {
        let mut hasher = hasher(gix::hash::Kind::Sha1);
        hasher.update(&loose_header(kind, size));
        Self(hasher)
    }

    pub(super) fn update(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    pub(super) fn finish(self) -> io::Result<ObjectId> {
        self.0.try_finalize().map_err(io::Error::other)
    }
}

/// An object that is being written.
pub(super) struct Loose {
    out: ZlibEncoder<BufWriter<File>>,
    path: PathBuf,
}

impl Sink for Loose {
    fn take(&mut self, piece: &[u8]) -> io::Result<()> {
        self.out.write_all(piece)
    }
}

/// The loose objects of a pack, set aside until all of it is known to be sound.
pub(super) struct Quarantine {
    incoming: PathBuf,
    objects: PathBuf,
    found: HashMap<ObjectId, PathBuf>,
    begun: u64,
    bytes: u64,
}

impl Quarantine {
    /// Works in the directory `incoming`, for the object database `objects`.
    pub(super) fn new(incoming: &Path, objects: &Path) -> Self {
        Self {
            incoming: incoming.to_owned(),
            objects: objects.to_owned(),
            found: HashMap::new(),
            begun: 0,
            bytes: 0,
        }
    }

    /// Begins to write an object.
    pub(super) fn begin(&mut self, kind: Kind, size: u64) -> io::Result<Loose> {
        self.begun += 1;
        self.bytes = self.bytes.saturating_add(size);
        let what = "what is large in the pack";
        Exceeded::check(what, self.bytes, MAX_LARGE_BYTES, "bytes")?;
        Exceeded::check(what, self.begun, MAX_LOOSE, "objects")?;
        let path = self.incoming.join(format!("object-{}", self.begun));
        let file = BufWriter::new(File::create_new(&path)?);
        let mut out = ZlibEncoder::new(file, Compression::fast());
        out.write_all(&loose_header(kind, size))?;
        Ok(Loose { out, path })
    }

    /// Completes an object that was begun, now that its id is known.
    pub(super) fn add(&mut self, loose: Loose, id: ObjectId) -> io::Result<()> {
        loose.out.finish()?.into_inner()?.sync_all()?;
        if let Some(same) = self.found.insert(id, loose.path) {
            fs::remove_file(same)?;
        }
        Ok(())
    }

    /// Returns a file without a name.
    pub(super) fn scratch(&self) -> io::Result<File> {
        tempfile::tempfile_in(&self.incoming)
    }

    /// Returns the content of an object that is here, or was before the pack.
    pub(super) fn content(&self, id: ObjectId) -> io::Result<Content> {
        let path = match self.found.get(&id) {
            Some(path) => path.clone(),
            None => loose_path(&self.objects, id),
        };
        let (size, mut content) = open(&path)?;
        let mut file = self.scratch()?;
        io::copy(&mut content, &mut file)?;
        Ok(Content::File { file, size })
    }

    /// Moves everything to its place.
    pub(super) fn keep(self) -> io::Result<()> {
        for (id, path) in self.found {
            let place = loose_path(&self.objects, id);
            if let Some(directory) = place.parent() {
                fs::create_dir_all(directory)?;
            }
            fs::rename(path, place)?;
        }
        Ok(())
    }
}

/// Opens a loose object of the database `objects`; returns its size and its content, as a stream.
pub(in crate::git) fn open_loose(
    objects: &Path,
    id: ObjectId,
) -> io::Result<(u64, impl Read + use<>)> {
    open(&loose_path(objects, id))
}

fn open(path: &Path) -> io::Result<(u64, impl Read + use<>)> {
    let mut content = ZlibDecoder::new(BufReader::new(File::open(path)?));
    let mut header = Vec::new();
    loop {
        match super::entry::byte(&mut content)? {
            0 => break,
            _ if header.len() == MAX_HEADER => return Err(corrupt("a loose object has no header")),
            byte => header.push(byte),
        }
    }
    let header = std::str::from_utf8(&header).unwrap_or_default();
    let size = header.split_once(' ').and_then(|(_, it)| it.parse().ok());
    let size = size.ok_or_else(|| corrupt("a loose object has no size"))?;
    Ok((size, content.take(size)))
}

fn loose_path(objects: &Path, id: ObjectId) -> PathBuf {
    let name = id.to_string();
    let (directory, file) = name.split_at(2);
    objects.join(directory).join(file)
}
