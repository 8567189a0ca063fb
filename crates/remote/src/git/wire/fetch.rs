//! Asking for objects.

use std::collections::HashSet;
use std::io::{self, BufRead};

use gix::ObjectId;

use super::advertisement::{Advertisement, object_id};
use super::packet::{Packet, malformed, write_flush, write_line};
use super::{Answer, Connection, Guard};

/// The most bytes before a pack: which commits now have no parents. Much of the pack may come with them.
const MAX_HEAD_BYTES: u64 = 1 << 20;

/// A fetch request: what is wanted, and what is there already.
#[derive(Debug)]
pub(in crate::git) struct Want<'a> {
    pub(in crate::git) id: ObjectId,
    pub(in crate::git) haves: &'a [ObjectId],
    /// The commits in the cache whose parents are not.
    pub(in crate::git) shallow: &'a [ObjectId],
    /// True if the commit shall come without its history.
    pub(in crate::git) without_history: bool,
}

/// The changes of the shallow boundary.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::git) struct Shallow {
    pub(in crate::git) added: Vec<ObjectId>,
    pub(in crate::git) removed: HashSet<ObjectId>,
}

impl Want<'_> {
    /// Asks, and has the pack consumed. There is only one round: what is there is told at once.
    pub(in crate::git) fn fetch(
        &self,
        connection: &mut Connection,
        known: &Advertisement,
        guard: &Guard,
        pack_limit: u64,
        consume: impl FnOnce(&mut dyn BufRead) -> io::Result<()>,
    ) -> io::Result<Shallow> {
        let request = self.request(known)?;
        guard.expect("the answer before the pack", MAX_HEAD_BYTES);
        let mut answer = connection.request(request)?;
        let shallow = if known.is_v2 {
            read_head(&mut answer)?
        } else if self.without_history {
            read_head_v0(&mut answer)?
        } else {
            Shallow::default()
        };
        guard.expect("the pack", pack_limit);
        let mut pack = answer.band();
        consume(&mut pack)?;
        // What comes after the pack is counted as a part of it.
        io::copy(&mut pack, &mut io::sink())?;
        Ok(shallow)
    }

    fn request(&self, known: &Advertisement) -> io::Result<Vec<u8>> {
        let can_be_shallow = if known.is_v2 {
            let features = known.value("fetch").unwrap_or_default();
            features.split(' ').any(|it| it == "shallow")
        } else {
            known.has("shallow")
        };
        if self.without_history && !can_be_shallow {
            let told = "it cannot send a commit without its history";
            return Err(io::Error::other(told));
        }
        let mut request = if known.is_v2 {
            self.begin_v2(known)
        } else {
            self.begin_v0(known)?
        };
        for have in self.haves {
            write_line(&mut request, &format!("have {have}"));
        }
        write_line(&mut request, "done");
        if known.is_v2 {
            write_flush(&mut request);
        }
        Ok(request)
    }

    fn begin_v2(&self, known: &Advertisement) -> Vec<u8> {
        let mut request = known.command("fetch");
        for line in ["thin-pack", "no-progress", "ofs-delta"] {
            write_line(&mut request, line);
        }
        write_line(&mut request, &format!("want {}", self.id));
        self.write_depth(&mut request);
        request
    }

    fn begin_v0(&self, known: &Advertisement) -> io::Result<Vec<u8>> {
        if !known.has("side-band-64k") {
            let told = "it is too old: it does not know `side-band-64k`";
            return Err(io::Error::other(told));
        }
        let optional = ["thin-pack", "no-progress", "ofs-delta", "shallow"];
        let mut line = format!("want {} side-band-64k", self.id);
        for capability in optional {
            if known.has(capability) {
                line = format!("{line} {capability}");
            }
        }
        if known.has("agent") {
            line = format!("{line} agent=pathline/{}", env!("CARGO_PKG_VERSION"));
        }
        let mut request = Vec::new();
        write_line(&mut request, &line);
        self.write_depth(&mut request);
        write_flush(&mut request);
        Ok(request)
    }

    fn write_depth(&self, request: &mut Vec<u8>) {
        for commit in self.shallow {
            write_line(request, &format!("shallow {commit}"));
        }
        if self.without_history {
            write_line(request, "deepen 1");
        }
    }
}

/// Reads the sections before a pack.
pub(in crate::git) fn read_head(answer: &mut Answer<'_>) -> io::Result<Shallow> {
    let mut shallow = Shallow::default();
    let mut is_shallow_info = false;
    loop {
        match answer.line()? {
            Packet::Data(b"packfile") => return Ok(shallow),
            Packet::Data(b"shallow-info") => is_shallow_info = true,
            Packet::Data(line) if is_shallow_info => shallow.take(line)?,
            Packet::Data(_) => {}
            Packet::Delimiter => is_shallow_info = false,
            Packet::Flush | Packet::ResponseEnd => {
                return Err(malformed("there is no pack"));
            }
        }
    }
}

/// Reads the commits that now have no parents, in version 0. They come only if such are asked for.
pub(in crate::git) fn read_head_v0(answer: &mut Answer<'_>) -> io::Result<Shallow> {
    let mut shallow = Shallow::default();
    loop {
        match answer.line()? {
            Packet::Data(line) => shallow.take(line)?,
            Packet::Flush => return Ok(shallow),
            Packet::Delimiter | Packet::ResponseEnd => {
                return Err(malformed("the shallow commits do not end"));
            }
        }
    }
}

impl Shallow {
    fn take(&mut self, line: &[u8]) -> io::Result<()> {
        let line = std::str::from_utf8(line).unwrap_or_default();
        if let Some(id) = line.strip_prefix("shallow ") {
            self.added.push(object_id(id)?);
        } else if let Some(id) = line.strip_prefix("unshallow ") {
            self.removed.insert(object_id(id)?);
        } else {
            return Err(malformed("a shallow commit has no id"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::wire::packet::{Packets, answer_of};

    const ONE: &str = "1111111111111111111111111111111111111111";
    const TWO: &str = "2222222222222222222222222222222222222222";

    fn known(lines: &[&str]) -> Advertisement {
        let bytes = answer_of(lines);
        Advertisement::read(&mut Packets::new(Box::new(&*bytes)), "HEAD").unwrap()
    }

    fn request(known: &Advertisement, without_history: bool) -> io::Result<String> {
        let [one, two] = [ONE, TWO].map(|it| object_id(it).unwrap());
        let want = Want {
            id: one,
            haves: &[two],
            shallow: &[two],
            without_history,
        };
        let request = want.request(known)?;
        Ok(String::from_utf8(request).expect("it is text"))
    }

    #[test]
    fn remote_is_asked_in_its_own_version() -> io::Result<()> {
        let version_2 = known(&["version 2", "agent=x", "fetch=shallow", ""]);
        let agent = concat!("agent=pathline/", env!("CARGO_PKG_VERSION"));
        let (want, shallow) = (format!("want {ONE}"), format!("shallow {TWO}"));
        let have = format!("have {TWO}");
        let begin = [
            "command=fetch",
            agent,
            "|",
            "thin-pack",
            "no-progress",
            "ofs-delta",
        ];
        let end = [&*want, &shallow, "deepen 1", &have, "done", ""];
        let expected = answer_of(&[&begin[..], &end].concat());
        assert_eq!(request(&version_2, true)?.as_bytes(), expected);

        let head = format!("{ONE} HEAD\0side-band-64k shallow ofs-delta");
        let version_0 = known(&[&head, ""]);
        let want = format!("want {ONE} side-band-64k ofs-delta shallow");
        let expected = answer_of(&[&want, &shallow, "", &have, "done"]);
        assert_eq!(request(&version_0, false)?.as_bytes(), expected);
        Ok(())
    }

    #[test]
    fn remote_that_cannot_do_what_is_needed_is_not_asked() {
        let without_shallow = known(&["version 2", "fetch=filter", ""]);
        let without_fetch = known(&["version 2", "ls-refs", ""]);
        let old = known(&[&format!("{ONE} HEAD\0side-band-64k"), ""]);
        for known in [without_shallow, without_fetch, old] {
            let error = request(&known, true).unwrap_err().to_string();
            assert_eq!(error, "it cannot send a commit without its history");
            assert!(request(&known, false).is_ok());
        }
        let older = known(&[&format!("{ONE} HEAD\0shallow"), ""]);
        let error = request(&older, true).unwrap_err().to_string();
        assert!(
            error.contains("it does not know `side-band-64k`"),
            "{error}"
        );
    }

    #[test]
    fn shallow_commits_are_read_before_the_pack() -> io::Result<()> {
        let (added, removed) = (format!("shallow {ONE}"), format!("unshallow {TWO}"));
        let expected = Shallow {
            added: vec![object_id(ONE)?],
            removed: HashSet::from([object_id(TWO)?]),
        };
        let lines = ["shallow-info", &added, &removed, "|", "packfile"];
        let with_acks = [
            "acknowledgments",
            "NAK",
            "|",
            "shallow-info",
            &added,
            &removed,
        ];
        let with_acks = [&with_acks[..], &["|", "other", "x", "|", "packfile"]].concat();
        for lines in [&lines[..], &with_acks] {
            let bytes = answer_of(lines);
            let found = read_head(&mut Packets::new(Box::new(&*bytes)))?;
            assert_eq!(found, expected, "{lines:?}");
        }
        let bytes = answer_of(&[&added, &removed, ""]);
        assert_eq!(
            read_head_v0(&mut Packets::new(Box::new(&*bytes)))?,
            expected
        );
        Ok(())
    }

    #[test]
    fn answer_without_a_pack_is_malformed() {
        for lines in [
            &["shallow-info", "shallow 12", "|", "packfile"][..],
            &["shallow-info", "deep 12", "|", "packfile"],
            &["shallow-info", ""],
            &[""],
            &[],
            &["ERR upload-pack: not our ref 1", ""],
        ] {
            let bytes = answer_of(lines);
            let read = read_head(&mut Packets::new(Box::new(&*bytes)));
            assert!(read.is_err(), "{lines:?}");
        }
        for lines in [&["|"][..], &["deepen 1", ""], &["shallow", ""], &[]] {
            let bytes = answer_of(lines);
            let read = read_head_v0(&mut Packets::new(Box::new(&*bytes)));
            assert!(read.is_err(), "{lines:?}");
        }
    }
}
