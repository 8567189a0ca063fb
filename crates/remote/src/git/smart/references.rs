//! The one reference that is looked for, in answers that arrive in pieces.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

use gix::ObjectId;

use super::Capabilities;
use super::splitter::Splitter;
use crate::git::wire::advertisement::{Advertisement, Tip, tip_of_line};
use crate::git::wire::packet::{Packet, malformed};

/// The most bytes that are read after the reference was found: to the end of an answer, so that the connection can be used
/// again, but not through a long list.
const MAX_REST: usize = 64 << 10;

/// The first answer of a server, while it arrives.
#[derive(Debug)]
pub(crate) struct Discovery {
    splitter: Splitter,
    name: String,
    phase: Phase,
    found: Advertisement,
    rest: Rest,
}

/// The part of the first answer that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The name of the service, or the first line.
    Beginning,
    /// The end of what comes with the name of the service.
    Service,
    /// The first line after the name of the service.
    First,
    /// The abilities, in version 2.
    Capabilities,
    /// The references, in versions 0 and 1.
    References,
    /// Nothing.
    Done,
}

impl Discovery {
    /// Looks for a reference by its full name, where all are listed.
    pub(crate) fn new(name: &str) -> Self {
        Self {
            splitter: Splitter::default(),
            name: name.to_owned(),
            phase: Phase::Beginning,
            found: Advertisement::default(),
            rest: Rest::default(),
        }
    }

    /// Takes a piece; breaks when the rest does not matter.
    pub(crate) fn push(&mut self, piece: &[u8]) -> io::Result<ControlFlow<()>> {
        let (found, phase, name) = (&mut self.found, &mut self.phase, &self.name);
        // A tag's target comes in the line after it: only one more line tells that there is none.
        let mut is_settled = false;
        self.splitter.push(piece, |packet| {
            let had = found.tip().is_some();
            *phase = advance(found, *phase, &packet, name)?;
            is_settled = had && *phase == Phase::References;
            Ok(())
        })?;
        Ok(self.rest.spend(is_settled, piece.len()))
    }

    /// Returns what the server can do, and the commit where all references are listed.
    pub(crate) fn finish(self) -> io::Result<(Capabilities, Option<ObjectId>)> {
        let is_whole = self.phase == Phase::Done || self.rest.is_over();
        if !is_whole {
            return Err(malformed("the list of references does not end"));
        }
        let commit = self.found.tip().map(|it| it.commit());
        Ok((Capabilities(Arc::new(self.found.check()?)), commit))
    }
}

fn advance(
    found: &mut Advertisement,
    phase: Phase,
    packet: &Packet<'_>,
    name: &str,
) -> io::Result<Phase> {
    let text = match packet {
        Packet::Data(line) => Some(String::from_utf8_lossy(line)),
        Packet::Flush | Packet::Delimiter | Packet::ResponseEnd => None,
    };
    Ok(match (phase, text.as_deref()) {
        (Phase::Beginning, Some(line)) if line.starts_with("# service=") => Phase::Service,
        (Phase::Service, None) => Phase::First,
        (Phase::Beginning | Phase::First, Some("version 1")) => Phase::First,
        (Phase::Beginning | Phase::First, Some("version 2")) => {
            found.is_v2 = true;
            Phase::Capabilities
        }
        (Phase::Beginning | Phase::First, Some(line)) => {
            found.take_first(line, name)?;
            Phase::References
        }
        (Phase::Capabilities, Some(line)) => {
            found.take_capability(line)?;
            phase
        }
        (Phase::References, Some(line)) => {
            found.take_line(line, name)?;
            phase
        }
        (Phase::Service, Some(_)) => phase,
        (_, None) | (Phase::Done, _) => Phase::Done,
    })
}

/// The answer to `ls-refs`, while it arrives.
#[derive(Debug)]
pub(crate) struct Listing {
    splitter: Splitter,
    name: String,
    tip: Option<Tip>,
    is_done: bool,
    rest: Rest,
}

impl Listing {
    /// Looks for a reference by its full name: servers may list more than that.
    pub(crate) fn new(name: &str) -> Self {
        Self {
            splitter: Splitter::default(),
            name: name.to_owned(),
            tip: None,
            is_done: false,
            rest: Rest::default(),
        }
    }

    /// Takes a piece; breaks when the rest does not matter.
    pub(crate) fn push(&mut self, piece: &[u8]) -> io::Result<ControlFlow<()>> {
        let (tip, is_done, name) = (&mut self.tip, &mut self.is_done, &self.name);
        self.splitter.push(piece, |packet| {
            match packet {
                Packet::Data(line) => {
                    let line = String::from_utf8_lossy(line);
                    *tip = tip_of_line(&line, name)?.or(*tip);
                }
                Packet::Flush | Packet::Delimiter | Packet::ResponseEnd => *is_done = true,
            }
            Ok(())
        })?;
        Ok(self.rest.spend(self.tip.is_some(), piece.len()))
    }

    /// Returns the commit, if there is such a reference.
    pub(crate) fn finish(self) -> io::Result<Option<ObjectId>> {
        if !self.is_done && !self.rest.is_over() {
            return Err(malformed("the list of references does not end"));
        }
        Ok(self.tip.map(|it| it.commit()))
    }
}

/// Counts the bytes after the reference was found.
#[derive(Debug, Default)]
struct Rest(usize);

impl Rest {
    fn spend(&mut self, is_found: bool, bytes: usize) -> ControlFlow<()> {
        if is_found {
            self.0 += bytes;
        }
        match self.is_over() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn is_over(&self) -> bool {
        self.0 > MAX_REST
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::wire::packet::answer_of;

    const ONE: &str = "1111111111111111111111111111111111111111";
    const TWO: &str = "2222222222222222222222222222222222222222";

    fn discover(lines: &[&str], name: &str) -> io::Result<(Capabilities, Option<String>)> {
        let mut discovery = Discovery::new(name);
        for piece in answer_of(lines).chunks(7) {
            let _ = discovery.push(piece)?;
        }
        let (capabilities, commit) = discovery.finish()?;
        Ok((capabilities, commit.map(|it| it.to_string())))
    }

    fn list(lines: &[&str], name: &str) -> io::Result<Option<String>> {
        let mut listing = Listing::new(name);
        for piece in answer_of(lines).chunks(5) {
            let _ = listing.push(piece)?;
        }
        Ok(listing.finish()?.map(|it| it.to_string()))
    }

    #[test]
    fn abilities_of_version_2_are_found() -> io::Result<()> {
        let lines = [
            "# service=git-upload-pack",
            "",
            "version 2",
            "ls-refs=unborn",
            "fetch=shallow wait-for-done filter",
            "object-format=sha1",
            "",
        ];
        let (capabilities, commit) = discover(&lines, "HEAD")?;
        assert!(capabilities.is_v2() && capabilities.can_filter());
        assert_eq!(commit, None, "they are asked for");
        let (capabilities, _) = discover(&["version 2", "ls-refs", "fetch=shallow", ""], "HEAD")?;
        assert!(capabilities.is_v2() && !capabilities.can_filter());
        Ok(())
    }

    #[test]
    fn reference_is_found_where_all_are_listed() -> io::Result<()> {
        let head = format!("{ONE} HEAD\0side-band-64k agent=x");
        let (main, tag) = (
            format!("{ONE} refs/heads/main"),
            format!("{ONE} refs/tags/v1"),
        );
        let peeled = format!("{TWO} refs/tags/v1^{{}}");
        for start in [&["# service=git-upload-pack", ""][..], &["version 1"], &[]] {
            let lines = [start, &[&head, &main, &tag, &peeled, ""]].concat();
            for (name, expected) in [
                ("HEAD", Some(ONE)),
                ("refs/heads/main", Some(ONE)),
                ("refs/tags/v1", Some(TWO)),
                ("refs/heads/mai", None),
            ] {
                let (capabilities, commit) = discover(&lines, name)?;
                assert!(!capabilities.is_v2());
                assert_eq!(commit.as_deref(), expected, "{name}");
            }
        }
        Ok(())
    }

    #[test]
    fn listed_reference_is_told_from_longer_names_and_peeled() -> io::Result<()> {
        let other = format!("{TWO} refs/tags/v1.0");
        let tag = format!("{ONE} refs/tags/v1 peeled:{TWO}");
        let main = format!("{ONE} refs/heads/main symref-target:refs/heads/x");
        let lines = [&*other, &tag, &main, ""];
        assert_eq!(list(&lines, "refs/tags/v1")?.as_deref(), Some(TWO));
        assert_eq!(list(&lines, "refs/heads/main")?.as_deref(), Some(ONE));
        assert_eq!(list(&lines, "refs/heads/x")?, None);
        assert!(list(&[&tag], "refs/tags/v1").is_err(), "it breaks off");
        Ok(())
    }

    #[test]
    fn long_list_is_not_read_to_its_end() -> io::Result<()> {
        let first = format!("{ONE} HEAD\0side-band-64k");
        let mut discovery = Discovery::new("HEAD");
        assert!(discovery.push(&answer_of(&[&first]))?.is_continue());
        let mut pieces = 0;
        let more = answer_of(&[&format!("{TWO} refs/heads/another")]);
        while discovery.push(&more)?.is_continue() {
            pieces += 1;
        }
        assert!((500..5000).contains(&pieces), "{pieces}");
        let (_, commit) = discovery.finish()?;
        assert_eq!(commit.map(|it| it.to_string()).as_deref(), Some(ONE));
        Ok(())
    }

    #[test]
    fn nonsense_is_an_error() {
        for lines in [
            &["version 2", "ls-refs"][..],
            &["version 2", "object-format=sha256", ""],
            &["nonsense", ""],
            &["ERR denied", ""],
            &[],
        ] {
            assert!(discover(lines, "HEAD").is_err(), "{lines:?}");
        }
    }
}
