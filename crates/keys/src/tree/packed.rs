//! Sorted byte strings, each with a payload, in two allocations.
//!
//! `bytes` is the prefix common to all names, then for every record the rest of its name and its
//! payload. `words` has for every record the first eight bytes of the rest as a big-endian number
//! (its *head*), then for every record where its name and its payload end. A search compares the
//! prefix once and then numbers; only equal heads need the bytes.

use std::cmp::Ordering;

/// Sorted names with payloads.
#[derive(Debug, Clone)]
pub(super) struct Packed {
    words: Box<[u64]>,
    bytes: Box<[u8]>,
    prefix: u32,
}

/// One record to pack: a name in two pieces, and its payload.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'a> {
    pub(super) front: &'a [u8],
    pub(super) back: &'a [u8],
    pub(super) payload: &'a [u8],
}

impl<'a> Record<'a> {
    /// Returns a record with a name in one piece.
    pub(super) const fn new(name: &'a [u8], payload: &'a [u8]) -> Self {
        Self {
            front: &[],
            back: name,
            payload,
        }
    }

    fn name_len(&self) -> usize {
        self.front.len() + self.back.len()
    }

    /// Returns the pieces of the name after its first `skip` bytes.
    fn name_after(&self, skip: usize) -> (&'a [u8], &'a [u8]) {
        match skip.checked_sub(self.front.len()) {
            Some(into_back) => (&[], &self.back[into_back..]),
            None => (&self.front[skip..], self.back),
        }
    }
}

impl Packed {
    /// Packs records that are sorted by name.
    pub(super) fn new(records: &[Record<'_>]) -> Self {
        let prefix = match (records.first(), records.last()) {
            (Some(first), Some(last)) => common_prefix(first, last),
            _ => 0,
        };
        let size: usize = records
            .iter()
            .map(|r| r.name_len() - prefix + r.payload.len())
            .sum();
        let mut bytes = Vec::with_capacity(prefix + size);
        let mut words = vec![0; records.len() * 2];
        let (heads, ends) = words.split_at_mut(records.len());
        if let Some(first) = records.first() {
            let from_front = prefix.min(first.front.len());
            bytes.extend_from_slice(&first.front[..from_front]);
            bytes.extend_from_slice(&first.back[..prefix - from_front]);
        }
        for (record, (head, end)) in records.iter().zip(heads.iter_mut().zip(ends)) {
            let start = bytes.len();
            let (front, back) = record.name_after(prefix);
            bytes.extend_from_slice(front);
            bytes.extend_from_slice(back);
            *head = load_head(&bytes[start..]);
            let name_end = bytes.len();
            bytes.extend_from_slice(record.payload);
            *end = pack_ends(name_end, bytes.len());
        }
        let prefix = u32::try_from(prefix).expect("names are at most name::MAX_LEN long");
        Self {
            words: words.into(),
            bytes: bytes.into(),
            prefix,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.words.len() / 2
    }

    /// Returns what all names begin with.
    pub(super) fn prefix(&self) -> &[u8] {
        &self.bytes[..self.prefix as usize]
    }

    /// Returns a name after the prefix.
    pub(super) fn suffix(&self, index: usize) -> &[u8] {
        let (start, name_end, _) = self.bounds(index);
        &self.bytes[start..name_end]
    }

    pub(super) fn payload(&self, index: usize) -> &[u8] {
        let (_, name_end, end) = self.bounds(index);
        &self.bytes[name_end..end]
    }

    pub(super) fn heads(&self) -> &[u64] {
        &self.words[..self.len()]
    }

    /// Returns a record as it can be packed again.
    pub(super) fn record(&self, index: usize) -> Record<'_> {
        let (start, name_end, end) = self.bounds(index);
        Record {
            front: self.prefix(),
            back: &self.bytes[start..name_end],
            payload: &self.bytes[name_end..end],
        }
    }

    /// Returns a name in one piece.
    pub(super) fn name(&self, index: usize) -> Vec<u8> {
        [self.prefix(), self.suffix(index)].concat()
    }

    /// Tells whether two records have the same name and payload, if their prefixes are equal.
    pub(super) fn same_record(&self, index: usize, other: &Self, others: usize) -> bool {
        let (start, name_end, end) = self.bounds(index);
        let (other_start, other_name_end, other_end) = other.bounds(others);
        name_end - start == other_name_end - other_start
            && self.bytes[start..end] == other.bytes[other_start..other_end]
    }

    /// Compares two names of two packs.
    pub(super) fn cmp_names(&self, index: usize, other: &Self, others: usize) -> Ordering {
        let (own, theirs) = (self.prefix(), other.prefix());
        let (suffix, other_suffix) = (self.suffix(index), other.suffix(others));
        let shared = own.len().min(theirs.len());
        own[..shared].cmp(&theirs[..shared]).then_with(|| {
            if own.len() >= theirs.len() {
                cmp_pieces(&own[shared..], suffix, other_suffix)
            } else {
                cmp_pieces(&theirs[shared..], other_suffix, suffix).reverse()
            }
        })
    }

    /// Finds a name, or the place where it would be.
    pub(super) fn search(&self, name: &[u8]) -> Result<usize, usize> {
        let prefix = self.prefix();
        let shared = prefix.len().min(name.len());
        match name[..shared].cmp(&prefix[..shared]) {
            Ordering::Less => return Err(0),
            Ordering::Greater => return Err(self.len()),
            Ordering::Equal if name.len() < prefix.len() => return Err(0),
            Ordering::Equal => {}
        }
        let suffix = &name[prefix.len()..];
        let head = load_head(suffix);
        let heads = self.heads();
        let mut low = heads.partition_point(|known| *known < head);
        let mut high = low;
        while heads.get(high) == Some(&head) {
            high += 1;
        }
        while low < high {
            let middle = low.midpoint(high);
            match self.suffix(middle).cmp(suffix) {
                Ordering::Less => low = middle + 1,
                Ordering::Equal => return Ok(middle),
                Ordering::Greater => high = middle,
            }
        }
        Err(low)
    }

    /// Returns where a record starts, where its name ends, and where it ends.
    fn bounds(&self, index: usize) -> (usize, usize, usize) {
        let ends = &self.words[self.len()..];
        let start = match index.checked_sub(1) {
            Some(before) => unpack_ends(ends[before]).1,
            None => self.prefix as usize,
        };
        let (name_end, end) = unpack_ends(ends[index]);
        (start, name_end, end)
    }
}

fn common_prefix(first: &Record<'_>, last: &Record<'_>) -> usize {
    let bytes = first.front.iter().chain(first.back);
    bytes
        .zip(last.front.iter().chain(last.back))
        .take_while(|(a, b)| a == b)
        .count()
}

/// Compares a name in two pieces with one in a single piece.
fn cmp_pieces(front: &[u8], back: &[u8], whole: &[u8]) -> Ordering {
    let shared = front.len().min(whole.len());
    front[..shared].cmp(&whole[..shared]).then_with(|| {
        if whole.len() < front.len() {
            Ordering::Greater
        } else {
            back.cmp(&whole[shared..])
        }
    })
}

fn load_head(suffix: &[u8]) -> u64 {
    if let Some(head) = suffix.first_chunk() {
        return u64::from_be_bytes(*head);
    }
    let mut head = [0; 8];
    head[..suffix.len()].copy_from_slice(suffix);
    u64::from_be_bytes(head)
}

fn pack_ends(name_end: usize, end: usize) -> u64 {
    let limit = "64 names of name::MAX_LEN and small payloads stay below 4 GiB";
    let name_end = u32::try_from(name_end).expect(limit);
    u64::from(name_end) << 32 | u64::from(u32::try_from(end).expect(limit))
}

fn unpack_ends(word: u64) -> (usize, usize) {
    ((word >> 32) as usize, (word & u64::from(u32::MAX)) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pack(names: &[&str]) -> Packed {
        let records: Vec<_> = names
            .iter()
            .map(|n| Record::new(n.as_bytes(), b""))
            .collect();
        Packed::new(&records)
    }

    #[test]
    fn search_finds_every_name_and_every_gap() {
        let names = [
            "aaaaaaaaab",
            "aaaaaaaaabc",
            "aaaaaaaaabd",
            "aab",
            "ab\0",
            "ab\0\0",
            "b",
        ];
        for count in 0..=names.len() {
            let packed = pack(&names[..count]);
            for (at, name) in names[..count].iter().enumerate() {
                assert_eq!(packed.search(name.as_bytes()), Ok(at), "{name}");
                assert_eq!(packed.name(at), name.as_bytes());
            }
            for probe in [
                "",
                "a",
                "aaaaaaaa",
                "aaaaaaaaabb",
                "aaz",
                "ab",
                "ab\0a",
                "c",
            ] {
                let expected = names[..count].partition_point(|name| *name < probe);
                assert_eq!(
                    packed.search(probe.as_bytes()),
                    Err(expected),
                    "{probe} in {count}"
                );
            }
        }
    }

    #[test]
    fn names_compare_the_same_whatever_their_prefix() {
        let names = ["", "a", "ab", "abc", "abd", "b", "ba"];
        for (left, a) in names.iter().enumerate() {
            for (right, b) in names.iter().enumerate() {
                for (own, theirs) in [(pack(&[a]), pack(&[b, "z"])), (pack(&[a, "z"]), pack(&[b]))]
                {
                    assert_eq!(own.cmp_names(0, &theirs, 0), left.cmp(&right), "{a} {b}");
                }
            }
        }
    }
}
