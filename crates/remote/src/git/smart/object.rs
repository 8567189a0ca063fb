//! One object out of the answer to `fetch`.

use std::io::{self, BufRead, Read};

use flate2::bufread::ZlibDecoder;
use gix::ObjectId;
use gix::objs::Kind;

use crate::git::pack::{Header, MAX_COMMIT_BYTES, MAX_TREE_BYTES, corrupt, read_header};
use crate::git::wire::fetch::read_head;
use crate::git::wire::guard::Exceeded;
use crate::git::wire::packet::Packets;

/// The most objects in an answer: servers may send a few more than the one that was asked for.
const MAX_OBJECTS: u32 = 16;

/// Reads a commit.
pub(crate) fn read_commit(answer: &[u8], id: ObjectId) -> io::Result<Vec<u8>> {
    read(answer, id, Kind::Commit, MAX_COMMIT_BYTES)
}

/// Reads a tree.
pub(crate) fn read_tree(answer: &[u8], id: ObjectId) -> io::Result<Vec<u8>> {
    read(answer, id, Kind::Tree, MAX_TREE_BYTES)
}

/// Reads a file; nothing if it is larger than `limit`.
pub(crate) fn read_file(answer: &[u8], id: ObjectId, limit: u64) -> io::Result<Option<Vec<u8>>> {
    match read(answer, id, Kind::Blob, limit) {
        Ok(content) => Ok(Some(content)),
        Err(e) if e.get_ref().is_some_and(|it| it.is::<Exceeded>()) => Ok(None),
        Err(e) => Err(e),
    }
}

fn read(answer: &[u8], id: ObjectId, kind: Kind, limit: u64) -> io::Result<Vec<u8>> {
    let mut packets = Packets::new(Box::new(answer) as Box<dyn Read + '_>);
    read_head(&mut packets)?;
    let mut pack = packets.band();
    let mut start = [0; 12];
    pack.read_exact(&mut start)?;
    let [b'P', b'A', b'C', b'K', 0, 0, 0, 2 | 3, count @ ..] = start else {
        return Err(corrupt("it does not begin as one"));
    };
    for _ in 0..u32::from_be_bytes(count).min(MAX_OBJECTS) {
        let (header, size) = read_header(&mut pack)?;
        // A single object has nothing that it could be a delta of.
        let Header::Whole(found) = header else {
            return Err(corrupt("the object is a delta"));
        };
        Exceeded::check("the object", size, limit, "bytes")?;
        let content = inflate(&mut pack, size)?;
        let computed = gix::objs::compute_hash(gix::hash::Kind::Sha1, found, &content);
        if found == kind && computed.is_ok_and(|it| it == id) {
            return Ok(content);
        }
    }
    Err(corrupt("it does not have the object"))
}

/// Inflates as many bytes as the header of an object says.
fn inflate(pack: &mut impl BufRead, size: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    let mut decoder = ZlibDecoder::new(pack);
    let read = decoder.by_ref().take(size + 1).read_to_end(&mut content)?;
    if read as u64 != size {
        return Err(corrupt("an object has not the size that it says"));
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;

    use super::*;
    use crate::git::wire::packet::write_line;

    /// Returns an answer with a pack of files, each with the size that its header says.
    fn answer(files: &[(&[u8], usize)]) -> Vec<u8> {
        let mut pack = b"PACK\0\0\0\x02".to_vec();
        pack.extend_from_slice(&u32::try_from(files.len()).unwrap().to_be_bytes());
        for (content, size) in files {
            let low = u8::try_from(size & 0x0f).unwrap();
            pack.push(0x80 | 0x30 | low);
            let mut rest = size >> 4;
            while rest >= 0x80 {
                pack.push(0x80 | u8::try_from(rest & 0x7f).unwrap());
                rest >>= 7;
            }
            pack.push(u8::try_from(rest).unwrap());
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(content).unwrap();
            pack.extend_from_slice(&encoder.finish().unwrap());
        }
        let mut answer = Vec::new();
        write_line(&mut answer, "packfile");
        for piece in pack.chunks(1000) {
            answer.extend_from_slice(format!("{:04x}\x01", piece.len() + 5).as_bytes());
            answer.extend_from_slice(piece);
        }
        answer.extend_from_slice(b"0000");
        answer
    }

    fn id(content: &[u8]) -> ObjectId {
        crate::git::smart::blob_id(content).unwrap()
    }

    #[test]
    fn file_is_found_by_its_id_among_others() -> io::Result<()> {
        let answer = answer(&[(b"one", 3), (b"two", 3)]);
        assert_eq!(read_file(&answer, id(b"two"), 10)?.unwrap(), b"two");
        assert!(read_file(&answer, id(b"three"), 10).is_err());
        assert!(read_tree(&answer, id(b"two")).is_err(), "it is no tree");
        Ok(())
    }

    #[test]
    fn file_that_is_too_large_is_not_inflated() -> io::Result<()> {
        let zeros = vec![0; 100_000];
        let bomb = answer(&[(&zeros, 100_000)]);
        assert_eq!(read_file(&bomb, id(&zeros), 99_999)?, None);
        assert_eq!(read_file(&bomb, id(&zeros), 100_000)?.unwrap(), zeros);
        let liar = answer(&[(&zeros, 10)]);
        assert!(read_file(&liar, id(&zeros), 99_999).is_err());
        Ok(())
    }

    #[test]
    fn answer_that_breaks_off_or_is_changed_is_an_error() {
        let whole = answer(&[(b"the content of a file", 21)]);
        let id = id(b"the content of a file");
        for end in 0..whole.len() - 10 {
            assert!(read_file(&whole[..end], id, 1000).is_err(), "at {end}");
        }
        for place in 0..whole.len() {
            let mut changed = whole.clone();
            changed[place] ^= 0x10;
            if let Ok(Some(content)) = read_file(&changed, id, 1000) {
                assert_eq!(content, b"the content of a file", "at {place}");
            }
        }
    }
}
