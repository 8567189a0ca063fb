//! The reference advertisement: capabilities and references of a remote.

use std::io;

use gix::ObjectId;

use super::packet::{Packet, malformed, write_delimiter, write_flush, write_line};
use super::{Answer, Connection, Guard};

/// The largest list of references: a million of them. None is kept but the one that is asked for.
pub(in crate::git) const MAX_LIST_BYTES: u64 = 64 << 20;
/// The most bytes in which a remote says what it can do.
const MAX_CAPABILITY_BYTES: usize = 64 << 10;

/// The target of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::git) struct Tip {
    pub(in crate::git) id: ObjectId,
    /// The peeled target of an annotated tag.
    pub(in crate::git) peeled: Option<ObjectId>,
}

impl Tip {
    /// The commit a reference stands for: that of the tag, when it names an annotated one.
    pub(in crate::git) fn commit(&self) -> ObjectId {
        self.peeled.unwrap_or(self.id)
    }
}

/// The first answer of a remote.
#[derive(Debug, Default)]
pub(in crate::git) struct Advertisement {
    /// True for version 2, in which references are listed on demand.
    pub(in crate::git) is_v2: bool,
    capabilities: Vec<String>,
    /// The bytes of the capabilities of version 2.
    size: usize,
    /// The reference that was looked for, where all are listed.
    tip: Option<Tip>,
}

impl Advertisement {
    /// Reads it, and keeps one reference only.
    pub(in crate::git) fn read(answer: &mut Answer<'_>, name: &str) -> io::Result<Self> {
        let mut first = text(answer)?;
        // Over http, the service is named before anything else.
        if first
            .as_deref()
            .is_some_and(|it| it.starts_with("# service="))
        {
            while text(answer)?.is_some() {}
            first = text(answer)?;
        }
        if first.as_deref() == Some("version 1") {
            first = text(answer)?;
        }
        if first.as_deref() == Some("version 2") {
            return Self::read_v2(answer);
        }
        let mut found = Self::default();
        if let Some(line) = first {
            found.take_first(&line, name)?;
            while let Some(line) = text(answer)? {
                found.take_line(&line, name)?;
            }
        }
        found.check()
    }

    fn read_v2(answer: &mut Answer<'_>) -> io::Result<Self> {
        let mut found = Self {
            is_v2: true,
            ..Self::default()
        };
        while let Some(line) = text(answer)? {
            found.take_capability(&line)?;
        }
        found.check()
    }

    /// Takes a line of what a server of version 2 can do.
    pub(in crate::git) fn take_capability(&mut self, line: &str) -> io::Result<()> {
        self.size += line.len();
        if self.size > MAX_CAPABILITY_BYTES {
            return Err(malformed("the capabilities do not end"));
        }
        self.capabilities.push(line.to_owned());
        Ok(())
    }

    /// Takes the first line of the list, which has what the server can do.
    pub(in crate::git) fn take_first(&mut self, line: &str, name: &str) -> io::Result<()> {
        let (line, capabilities) = line.split_once('\0').unwrap_or((line, ""));
        let capabilities = capabilities.split_whitespace().map(str::to_owned);
        self.capabilities = capabilities.collect();
        self.take_line(line, name)
    }

    /// Takes a line of the list, if it is about the reference.
    pub(in crate::git) fn take_line(&mut self, line: &str, name: &str) -> io::Result<()> {
        let Some((id, found)) = line.split_once(' ') else {
            return Err(malformed("a reference has no name"));
        };
        match (found.strip_suffix("^{}"), &mut self.tip) {
            (Some(tag), Some(tip)) if tag == name => tip.peeled = Some(object_id(id)?),
            (None, tip) if found == name => {
                let id = object_id(id)?;
                *tip = (!id.is_null()).then_some(Tip { id, peeled: None });
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the reference that was looked for, where all are listed.
    pub(in crate::git) fn tip(&self) -> Option<Tip> {
        self.tip
    }

    /// Refuses objects that are named in another way.
    pub(in crate::git) fn check(self) -> io::Result<Self> {
        match self.value("object-format") {
            None | Some("sha1") => Ok(self),
            Some(other) => Err(io::Error::other(format!(
                "its objects are named by `{other}`, and only `sha1` is supported"
            ))),
        }
    }

    /// Returns the value of a capability.
    pub(in crate::git) fn value(&self, name: &str) -> Option<&str> {
        let pair = self.capabilities.iter().map(|it| it.split_once('='));
        pair.flatten()
            .find_map(|(known, value)| (known == name).then_some(value))
    }

    pub(in crate::git) fn has(&self, name: &str) -> bool {
        let mut names = self.capabilities.iter();
        names.any(|it| it.split('=').next() == Some(name))
    }

    /// Begins a command of version 2.
    pub(in crate::git) fn command(&self, name: &str) -> Vec<u8> {
        let mut request = Vec::new();
        write_line(&mut request, &format!("command={name}"));
        if self.has("agent") {
            let agent = concat!("agent=pathline/", env!("CARGO_PKG_VERSION"));
            write_line(&mut request, agent);
        }
        if self.has("object-format") {
            write_line(&mut request, "object-format=sha1");
        }
        write_delimiter(&mut request);
        request
    }

    /// Returns where a reference is; it must be the one that was looked for when this was read.
    pub(in crate::git) fn find(
        &self,
        connection: &mut Connection,
        guard: &Guard,
        name: &str,
    ) -> io::Result<Option<Tip>> {
        if !self.is_v2 {
            return Ok(self.tip);
        }
        let mut request = self.command("ls-refs");
        write_line(&mut request, "peel");
        write_line(&mut request, &format!("ref-prefix {name}"));
        write_flush(&mut request);
        guard.expect("the list of references", MAX_LIST_BYTES);
        let mut answer = connection.request(request)?;
        read_list(&mut answer, name)
    }
}

/// Reads the answer to `ls-refs`.
pub(in crate::git) fn read_list(answer: &mut Answer<'_>, name: &str) -> io::Result<Option<Tip>> {
    let mut tip = None;
    while let Some(line) = text(answer)? {
        tip = tip_of_line(&line, name)?.or(tip);
    }
    Ok(tip)
}

/// Reads a line of the answer to `ls-refs`, if it is about the reference.
pub(in crate::git) fn tip_of_line(line: &str, name: &str) -> io::Result<Option<Tip>> {
    let mut words = line.split(' ');
    let (Some(id), Some(found)) = (words.next(), words.next()) else {
        return Err(malformed("a reference has no name"));
    };
    if found != name {
        return Ok(None);
    }
    let peeled = words.find_map(|it| it.strip_prefix("peeled:"));
    let peeled = peeled.map(object_id).transpose()?;
    let id = object_id(id)?;
    Ok(Some(Tip { id, peeled }))
}

/// Connects, and reads what the remote says first.
pub(in crate::git) fn handshake(
    connection: &mut Connection,
    guard: &Guard,
    name: &str,
) -> io::Result<Advertisement> {
    guard.expect("the list of references", MAX_LIST_BYTES);
    let mut answer = connection.handshake()?;
    Advertisement::read(&mut answer, name)
}

/// Returns a line, or nothing at the end of a section. Names of references need not be Unicode, but those
/// that are looked for are.
fn text(answer: &mut Answer<'_>) -> io::Result<Option<String>> {
    Ok(match answer.line()? {
        Packet::Data(line) => Some(String::from_utf8_lossy(line).into_owned()),
        Packet::Flush | Packet::Delimiter | Packet::ResponseEnd => None,
    })
}

pub(in crate::git) fn object_id(hex: &str) -> io::Result<ObjectId> {
    let id = ObjectId::from_hex(hex.as_bytes()).ok();
    let id = id.filter(|it| it.kind() == gix::hash::Kind::Sha1);
    id.ok_or_else(|| malformed("an object has no id"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::wire::packet::{Packets, answer_of};

    const ONE: &str = "1111111111111111111111111111111111111111";
    const TWO: &str = "2222222222222222222222222222222222222222";
    const NULL: &str = "0000000000000000000000000000000000000000";

    fn read(lines: &[&str], name: &str) -> io::Result<Advertisement> {
        let bytes = answer_of(lines);
        Advertisement::read(&mut Packets::new(Box::new(&*bytes)), name)
    }

    fn list(lines: &[&str], name: &str) -> io::Result<Option<Tip>> {
        let bytes = answer_of(lines);
        read_list(&mut Packets::new(Box::new(&*bytes)), name)
    }

    fn tip(id: &str, peeled: Option<&str>) -> Option<Tip> {
        let id = object_id(id).unwrap();
        let peeled = peeled.map(|it| object_id(it).unwrap());
        Some(Tip { id, peeled })
    }

    #[test]
    fn reference_is_found_among_those_that_begin_alike() -> io::Result<()> {
        let head = format!("{TWO} HEAD\0shallow agent=git/2 symref=HEAD:refs/heads/main");
        let longer = format!("{TWO} refs/heads/main2");
        let below = format!("{TWO} refs/heads/main/x");
        let tag = format!("{TWO} refs/tags/main");
        let main = format!("{ONE} refs/heads/main");
        let lines = [&*head, &longer, &below, &main, &tag];
        let http = [&["# service=git-upload-pack", ""][..], &lines, &[""]].concat();
        let version_1 = [&["version 1"][..], &lines, &[""]].concat();
        for lines in [[&lines[..], &[""]].concat(), http, version_1] {
            let found = read(&lines, "refs/heads/main")?;
            assert_eq!(found.tip, tip(ONE, None));
            assert!(!found.is_v2 && found.has("shallow") && !found.has("shall"));
            assert_eq!(found.value("agent"), Some("git/2"));
            assert_eq!(read(&lines, "refs/heads/mai")?.tip, None);
        }
        Ok(())
    }

    #[test]
    fn annotated_tag_stands_for_its_commit() -> io::Result<()> {
        let tag = format!("{ONE} refs/tags/v1\0shallow");
        let peeled = format!("{TWO} refs/tags/v1^{{}}");
        let found = read(&[&tag, &peeled, ""], "refs/tags/v1")?.tip;
        assert_eq!(found, tip(ONE, Some(TWO)));
        assert_eq!(found.map(|it| it.commit()), object_id(TWO).ok());
        let listed = format!("{ONE} refs/tags/v1 symref-target:x peeled:{TWO}");
        let found = list(&["unborn HEAD", &listed, ""], "refs/tags/v1")?;
        assert_eq!(found, tip(ONE, Some(TWO)));
        Ok(())
    }

    #[test]
    fn empty_repository_has_capabilities_alone() -> io::Result<()> {
        let none = format!("{NULL} capabilities^{{}}\0report-status");
        for name in ["refs/heads/main", "capabilities"] {
            let found = read(&[&none, ""], name)?;
            assert!(found.tip.is_none() && found.has("report-status"), "{name}");
        }
        assert!(read(&[""], "refs/heads/main")?.tip.is_none());
        Ok(())
    }

    #[test]
    fn version_2_lists_references_on_demand() -> io::Result<()> {
        let lines = ["version 2", "agent=x", "fetch=shallow filter", ""];
        let found = read(&lines, "refs/heads/main")?;
        assert!(found.is_v2 && found.has("fetch") && found.tip.is_none());
        assert_eq!(found.value("fetch"), Some("shallow filter"));
        assert_eq!(list(&[""], "refs/heads/main")?, None);
        Ok(())
    }

    #[test]
    fn malformed_advertisement_is_refused() {
        let sha256 = format!("{ONE} HEAD\0object-format=sha256");
        let long = format!("{ONE}{ONE} refs/heads/main");
        for (lines, told) in [
            (&["nonsense", ""][..], "a reference has no name"),
            (&["xyz refs/heads/main", ""], "an object has no id"),
            (&["11 refs/heads/main", ""], "an object has no id"),
            (&[&long, ""], "an object has no id"),
            (&[&sha256, ""], "only `sha1` is supported"),
            (&["version 2", "object-format=sha256", ""], "only `sha1`"),
            (&["ERR access denied", ""], "the remote says: access denied"),
        ] {
            let error = read(lines, "refs/heads/main").unwrap_err().to_string();
            assert!(error.contains(told), "{lines:?}: {error}");
        }
        assert!(read(&[], "refs/heads/main").is_err(), "it says nothing");
        for lines in [
            &["refs/heads/main", ""][..],
            &["x refs/heads/main", ""],
            &[],
        ] {
            assert!(list(lines, "refs/heads/main").is_err(), "{lines:?}");
        }
    }
}
