//! Packs that git would not make: what is small in them would become large.

use std::io::Write;

use anyhow::Result;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use pathline_testkit::scripted_server::with_pack;
use tempfile::TempDir;

use crate::large_packs::noise;
use crate::measured_fetch;

/// A pack that is being forged.
struct Pack {
    bytes: Vec<u8>,
    count: u32,
}

impl Pack {
    fn new() -> Self {
        Self {
            bytes: b"PACK\0\0\0\x02\0\0\0\0".to_vec(),
            count: 0,
        }
    }

    /// Adds an entry and returns its place.
    fn add(&mut self, kind: u8, base: &[u8], content: &[u8]) -> usize {
        let place = self.bytes.len();
        let mut size = content.len();
        let mut byte = kind << 4 | (size & 0x0f) as u8;
        size >>= 4;
        while size > 0 {
            self.bytes.push(byte | 0x80);
            byte = (size & 0x7f) as u8;
            size >>= 7;
        }
        self.bytes.push(byte);
        self.bytes.extend_from_slice(base);
        let mut out = ZlibEncoder::new(&mut self.bytes, Compression::fast());
        out.write_all(content).expect("a Vec takes it");
        out.finish().expect("a Vec takes it");
        self.count += 1;
        place
    }

    /// Adds a delta on an entry.
    fn delta(&mut self, base: usize, content: &[u8]) -> usize {
        let mut distance = self.bytes.len() - base;
        let mut encoded = vec![(distance & 0x7f) as u8];
        distance >>= 7;
        while distance > 0 {
            distance -= 1;
            encoded.insert(0, (distance & 0x7f) as u8 | 0x80);
            distance >>= 7;
        }
        self.add(6, &encoded, content)
    }

    fn finish(mut self) -> Vec<u8> {
        self.bytes[8..12].copy_from_slice(&self.count.to_be_bytes());
        let mut hasher = gix::hash::hasher(gix::hash::Kind::Sha1);
        hasher.update(&self.bytes);
        let digest = hasher.try_finalize().expect("it is no collision");
        self.bytes.extend_from_slice(digest.as_slice());
        self.bytes
    }
}

/// Returns a delta that repeats the first `piece` bytes of its base, and then says so many more bytes.
fn repeated(base: u64, piece: u32, times: u64, more: &[u8]) -> Vec<u8> {
    let mut delta = Vec::new();
    for mut size in [base, u64::from(piece) * times + more.len() as u64] {
        while size > 0x7f {
            delta.push((size & 0x7f) as u8 | 0x80);
            size >>= 7;
        }
        delta.push(size as u8);
    }
    let [low, middle, high, _] = piece.to_le_bytes();
    for _ in 0..times {
        delta.extend_from_slice(&[0xf0, low, middle, high]);
    }
    if !more.is_empty() {
        delta.push(more.len() as u8);
        delta.extend_from_slice(more);
    }
    delta
}

/// Fetches a forged pack, and returns why it is refused.
fn refusal(pack: Pack, seconds: u64) -> Result<String> {
    let server = with_pack(pack.finish());
    let directory = TempDir::new()?;
    let report = measured_fetch::fetch(&server.url(), directory.path(), seconds)?;
    server.assert_left();
    Ok(report.refusal())
}

#[test]
fn hole_4_delta_that_expands_is_refused_or_takes_little_memory() -> Result<()> {
    // Each makes a thousand times as much as the one before.
    let mut pack = Pack::new();
    let base = pack.add(3, &[], &noise(4 << 10));
    let next = pack.delta(base, &repeated(4 << 10, 4 << 10, 1000, b""));
    pack.delta(next, &repeated(4_096_000, 4_096_000, 1000, b""));
    let told = refusal(pack, 300)?;
    let expected = "a file has 4096000000 bytes, and at most 1073741824 are taken";
    assert!(told.contains(expected), "{told}");

    // Many that are as large as may be held in memory, beside each other and on each other.
    let mut pack = Pack::new();
    let base = pack.add(3, &[], &noise(4 << 10));
    let mut last = pack.delta(base, &repeated(4 << 10, 4 << 10, 1000, b""));
    for number in 0..50_u8 {
        pack.delta(base, &repeated(4 << 10, 4 << 10, 1000, &[number]));
        last = pack.delta(last, &repeated(4_096_000, 4_096_000, 1, b""));
    }
    let told = refusal(pack, 300)?;
    assert!(told.contains("cannot read a fetched object"), "{told}");

    // One that is larger than that, and more on it.
    let mut pack = Pack::new();
    let base = pack.add(3, &[], &noise(64 << 10));
    let large = pack.delta(base, &repeated(64 << 10, 64 << 10, 1000, b""));
    for number in 0..4_u8 {
        pack.delta(large, &repeated(65_536_000, 1 << 20, 40, &[number]));
    }
    let told = refusal(pack, 300)?;
    assert!(told.contains("cannot read a fetched object"), "{told}");
    Ok(())
}

#[test]
fn hole_4_chain_of_deltas_has_an_end() -> Result<()> {
    let mut pack = Pack::new();
    let mut last = pack.add(3, &[], &noise(1000));
    for _ in 0..5000 {
        last = pack.delta(last, &repeated(1000, 1000, 1, b""));
    }
    let told = refusal(pack, 300)?;
    assert!(told.contains("a chain has more than 4095 deltas"), "{told}");
    Ok(())
}

#[test]
fn hole_4_pack_that_lies_about_its_objects_is_refused() -> Result<()> {
    let mut pack = Pack::new();
    pack.add(3, &[], b"one");
    pack.bytes.splice(8..12, 2_000_000_u32.to_be_bytes());
    pack.count = 2_000_000;
    let told = refusal(pack, 300)?;
    let expected = "the pack has 2000000 objects, and at most 1000000 are taken";
    assert!(told.contains(expected), "{told}");

    let mut pack = Pack::new();
    pack.add(7, &[9; 20], &[3, 1, 1, b'x']);
    let told = refusal(pack, 300)?;
    assert!(told.contains("a delta has no base"), "{told}");
    Ok(())
}
