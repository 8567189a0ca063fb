//! The headers of a tar archive that stand before an entry and say more of it than fits in there.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use tar::{Entry, EntryType, PaxExtensions};

/// The longest header: names have at most 4095 bytes, and senders add times, owners and attributes.
const MAX_BYTES: u64 = 64 << 10;
/// The most headers before one entry: a sender has use for one of each kind.
const MAX_HEADERS: usize = 8;

/// The name of the entry that comes next, and what it links to, where headers say so.
#[derive(Debug, Default)]
pub(super) struct LongNames {
    path: Option<Vec<u8>>,
    target: Option<Vec<u8>>,
    headers: usize,
}

impl LongNames {
    /// Reads an entry if it only says something of the next one; tells whether it does.
    pub(super) fn take(&mut self, entry: &mut Entry<'_, impl Read>) -> io::Result<bool> {
        match entry.header().entry_type() {
            EntryType::GNULongName => self.path = Some(without_end(read(entry)?)),
            EntryType::GNULongLink => self.target = Some(without_end(read(entry)?)),
            EntryType::XHeader => self.extend(&read(entry)?)?,
            // What is said of all entries is none of what is kept.
            EntryType::XGlobalHeader => drop(read(entry)?),
            _ => return Ok(false),
        }
        self.headers += 1;
        if self.headers > MAX_HEADERS {
            return Err(io::Error::other("too many headers stand before one entry"));
        }
        Ok(true)
    }

    fn extend(&mut self, header: &[u8]) -> io::Result<()> {
        for extension in PaxExtensions::new(header) {
            let extension = extension?;
            let value = || Some(extension.value_bytes().to_vec());
            match extension.key_bytes() {
                b"path" => self.path = value(),
                b"linkpath" => self.target = value(),
                b"size" => return Err(io::Error::other("the sizes of its entries are elsewhere")),
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the name of the entry that came next.
    pub(super) fn path(&self, entry: &Entry<'_, impl Read>) -> PathBuf {
        let path = self.path.clone();
        let path = path.unwrap_or_else(|| entry.header().path_bytes().into_owned());
        PathBuf::from(OsString::from_vec(path))
    }

    /// Returns what that entry links to.
    pub(super) fn target(&self, entry: &Entry<'_, impl Read>) -> PathBuf {
        let header = || entry.header().link_name_bytes().map(|it| it.into_owned());
        let target = self.target.clone().or_else(header).unwrap_or_default();
        PathBuf::from(OsString::from_vec(target))
    }
}

fn read(entry: &mut Entry<'_, impl Read>) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    entry.take(MAX_BYTES + 1).read_to_end(&mut content)?;
    if content.len() as u64 > MAX_BYTES {
        return Err(io::Error::other(format!(
            "a header has more than {MAX_BYTES} bytes"
        )));
    }
    Ok(content)
}

/// Cuts the name off where it ends.
fn without_end(mut name: Vec<u8>) -> Vec<u8> {
    if let Some(end) = name.iter().position(|byte| *byte == 0) {
        name.truncate(end);
    }
    name
}
