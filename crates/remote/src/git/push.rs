//! Pushing: gix can fetch, but not push, so the sender's side of the pack protocol is here.

use std::collections::BTreeSet;
use std::io::{self, Read};

use gix::{ObjectId, hash, objs, zlib};
use gix_pack::data::{Version, output};

use super::Error;
use super::session::{Session, local};
use super::wire::Service;
use super::wire::packet::{Packet, Packets, malformed, write_flush, write_line};

/// The most bytes of the answer to a push, with what hooks print.
const MAX_ANSWER_BYTES: u64 = 16 << 20;
/// The most bytes, and lines, in which the remote says what became of a push of one reference.
const MAX_STATUS_BYTES: usize = 64 << 10;
const MOST_LINES: usize = 100;

/// Moves one reference, from what it was when the commit was built.
pub(super) struct Update {
    pub(super) reference: String,
    /// Nothing when the reference shall be created.
    pub(super) old: Option<ObjectId>,
    pub(super) new: ObjectId,
    /// The objects the remote may not have.
    pub(super) objects: BTreeSet<ObjectId>,
}

/// What the remote made of an [`Update`].
pub(super) enum Pushed {
    Done,
    /// The reference is not what it was: another writer was faster.
    Moved,
    /// The remote's own words.
    Rejected(String),
}

impl Session {
    /// Sends the objects and asks the remote to move the reference if it still is at `old`.
    pub(super) fn push(&self, update: &Update) -> Result<Pushed, Error> {
        let name = &update.reference;
        let (mut connection, known) = self.connect(Service::ReceivePack, name)?;
        let tip = known
            .find(&mut connection, &self.guard, name)
            .map_err(|e| self.failed(&e))?;
        if tip.map(|it| it.id) != update.old {
            connection.finish();
            return Ok(Pushed::Moved);
        }
        let side_band = known.has("side-band-64k");
        let mut request = update.command(side_band);
        request.extend(self.pack(&update.objects)?);
        self.guard
            .expect("the answer to the push", MAX_ANSWER_BYTES);
        let report = connection.ask(request).and_then(|mut answer| {
            if side_band {
                Report::read_side_band(&mut answer)
            } else {
                Report::read_lines(&mut answer)
            }
        });
        let report = report.map_err(|e| self.failed(&e))?;
        connection.close();
        Ok(report.verdict(name))
    }

    /// Packs whole objects; commits of a few files gain nothing from deltas.
    fn pack(&self, objects: &BTreeSet<ObjectId>) -> Result<Vec<u8>, Error> {
        let packing = "pack new objects";
        let entries = objects
            .iter()
            .map(|id| {
                let object = self.repo.find_object(*id)?;
                let data = objs::Data {
                    kind: object.kind,
                    object_hash: hash::Kind::Sha1,
                    data: &object.data,
                };
                let count = output::Count::from_data(*id, None);
                output::Entry::from_data(&count, &data, zlib::Compression::DEFAULT)
            })
            .collect::<Result<Vec<_>, gix::Error>>()
            .map_err(local(packing))?;
        let amount = u32::try_from(entries.len()).expect("a change has few files");
        let mut pack = Vec::new();
        let chunks = std::iter::once(Ok(entries));
        let writer = output::bytes::FromEntriesIter::new(
            chunks,
            &mut pack,
            amount,
            Version::V2,
            hash::Kind::Sha1,
        );
        for written in writer {
            written.map_err(local(packing))?;
        }
        Ok(pack)
    }
}

impl Update {
    /// Returns the command that comes before the pack.
    fn command(&self, side_band: bool) -> Vec<u8> {
        let old = self.old.unwrap_or(ObjectId::null(hash::Kind::Sha1));
        let (new, reference) = (self.new, &self.reference);
        let band = if side_band { " side-band-64k" } else { "" };
        let agent = concat!("agent=pathline/", env!("CARGO_PKG_VERSION"));
        let command = format!("{old} {new} {reference}\0 report-status{band} {agent}");
        let mut request = Vec::new();
        write_line(&mut request, &command);
        write_flush(&mut request);
        request
    }
}

/// What the remote said: its status lines, and messages for people.
#[derive(Default)]
pub(super) struct Report {
    lines: Vec<String>,
    remarks: String,
}

/// Hooks may print a lot; this much of it helps.
const MOST_REMARKS: usize = 2000;

impl Report {
    pub(super) fn read_lines(answer: &mut Packets<impl Read>) -> io::Result<Self> {
        let mut report = Self::default();
        while let Packet::Data(line) = answer.line()? {
            report.take(line)?;
        }
        Ok(report)
    }

    /// Takes apart the bands: 1 has the status as packet lines, 2 and 3 have words for people.
    pub(super) fn read_side_band(answer: &mut Packets<impl Read>) -> io::Result<Self> {
        let mut report = Self::default();
        let mut status = Vec::new();
        while let Packet::Data(packet) = answer.line()? {
            match packet.split_first() {
                Some((1, content)) if status.len() + content.len() <= MAX_STATUS_BYTES => {
                    status.extend_from_slice(content);
                }
                Some((1, _)) => return Err(malformed("the status of the push does not end")),
                Some((_, content)) if report.remarks.len() < MOST_REMARKS => {
                    let room = content.len().min(MOST_REMARKS);
                    let words = String::from_utf8_lossy(&content[..room]);
                    report.remarks.push_str(&words);
                    // Each packet is a line or more, without its end.
                    if !words.ends_with('\n') {
                        report.remarks.push('\n');
                    }
                }
                _ => {}
            }
        }
        let mut lines = Packets::new(status.as_slice());
        while let Packet::Data(line) = lines.line()? {
            report.take(line)?;
        }
        Ok(report)
    }

    fn take(&mut self, line: &[u8]) -> io::Result<()> {
        if self.lines.len() >= MOST_LINES {
            return Err(malformed("the status of the push has too many lines"));
        }
        let line = String::from_utf8_lossy(line);
        self.lines.push(line.trim_end().to_owned());
        Ok(())
    }

    fn verdict(self, reference: &str) -> Pushed {
        if self
            .lines
            .iter()
            .any(|line| *line == format!("ok {reference}"))
        {
            return Pushed::Done;
        }
        let refusal = self
            .lines
            .iter()
            .find_map(|line| line.strip_prefix(&format!("ng {reference} ")))
            .or_else(|| {
                self.lines
                    .iter()
                    .find_map(|line| line.strip_prefix("unpack "))
            })
            .unwrap_or("it did not say whether the push succeeded");
        let remarks = self.remarks.trim();
        if remarks.is_empty() {
            Pushed::Rejected(refusal.to_owned())
        } else {
            Pushed::Rejected(format!("{refusal} ({})", remarks.replace('\n', "; ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict_of(lines: &[&str]) -> Pushed {
        let lines = lines.iter().map(|line| (*line).to_owned()).collect();
        Report {
            lines,
            remarks: "remote: no\n".into(),
        }
        .verdict("refs/heads/main")
    }

    #[test]
    fn only_an_ok_for_the_reference_counts_as_done() {
        assert!(matches!(
            verdict_of(&["unpack ok", "ok refs/heads/main"]),
            Pushed::Done
        ));
        for lines in [
            &["unpack ok", "ok refs/heads/other"][..],
            &[],
            &["unpack disk full"],
        ] {
            assert!(
                matches!(verdict_of(lines), Pushed::Rejected(_)),
                "{lines:?}"
            );
        }
        let refused = verdict_of(&["unpack ok", "ng refs/heads/main hook declined"]);
        assert!(matches!(refused, Pushed::Rejected(why) if why == "hook declined (remote: no)"));
    }
}
