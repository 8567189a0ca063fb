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
const MAX_STATUS_LINES: usize = 100;

/// Moves one reference, from what it was when the commit was built.
pub(super) struct Update {
    pub(super) reference: String,
    /// Nothing when the reference shall be created.
    pub(super) old: Option<ObjectId>,
    pub(super) new: ObjectId,
    /// The objects the remote may not have.
    pub(super) objects: BTreeSet<ObjectId>,
}

/// The outcome of an [`Update`].
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
        let report = connection.request(request).and_then(|mut answer| {
            if side_band {
                Report::read_side_band(&mut answer)
            } else {
                Report::read_lines(&mut answer)
            }
        });
        let report = report.map_err(|e| self.failed(&e))?;
        connection.close();
        Ok(report.outcome(name))
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

/// The answer of the remote: its status lines, and messages for people.
#[derive(Default)]
pub(super) struct Report {
    lines: Vec<String>,
    messages: String,
}

/// The most bytes of messages that are kept: hooks may print a lot.
const MAX_MESSAGE_BYTES: usize = 2000;

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
                Some((_, content)) if report.messages.len() < MAX_MESSAGE_BYTES => {
                    let room = content.len().min(MAX_MESSAGE_BYTES);
                    let words = String::from_utf8_lossy(&content[..room]);
                    report.messages.push_str(&words);
                    // Each packet is a line or more, without its end.
                    if !words.ends_with('\n') {
                        report.messages.push('\n');
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
        if self.lines.len() >= MAX_STATUS_LINES {
            return Err(malformed("the status of the push has too many lines"));
        }
        let line = String::from_utf8_lossy(line);
        self.lines.push(line.trim_end().to_owned());
        Ok(())
    }

    fn outcome(self, reference: &str) -> Pushed {
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
        let messages = self.messages.trim();
        if messages.is_empty() {
            Pushed::Rejected(refusal.to_owned())
        } else {
            Pushed::Rejected(format!("{refusal} ({})", messages.replace('\n', "; ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::wire::packet::answer_of;

    fn outcome_of(lines: &[&str]) -> Pushed {
        let lines = lines.iter().map(|line| (*line).to_owned()).collect();
        Report {
            lines,
            messages: "remote: no\n".into(),
        }
        .outcome("refs/heads/main")
    }

    #[test]
    fn only_an_ok_for_the_reference_counts_as_done() {
        assert!(matches!(
            outcome_of(&["unpack ok", "ok refs/heads/main"]),
            Pushed::Done
        ));
        for lines in [
            &["unpack ok", "ok refs/heads/other"][..],
            &[],
            &["unpack disk full"],
        ] {
            assert!(
                matches!(outcome_of(lines), Pushed::Rejected(_)),
                "{lines:?}"
            );
        }
        let refused = outcome_of(&["unpack ok", "ng refs/heads/main hook declined"]);
        assert!(matches!(refused, Pushed::Rejected(why) if why == "hook declined (remote: no)"));
    }

    /// Returns packets of a side band, up to a flush.
    fn bands(packets: &[(u8, &[u8])]) -> Vec<u8> {
        let mut answer = Vec::new();
        for (band, content) in packets {
            answer.extend_from_slice(format!("{:04x}", content.len() + 5).as_bytes());
            answer.push(*band);
            answer.extend_from_slice(content);
        }
        write_flush(&mut answer);
        answer
    }

    fn read_bands(packets: &[(u8, &[u8])]) -> io::Result<Report> {
        Report::read_side_band(&mut Packets::new(bands(packets).as_slice()))
    }

    #[test]
    fn status_and_messages_are_read_from_their_bands() -> io::Result<()> {
        let status = answer_of(&["unpack ok", "ng refs/heads/main no", ""]);
        let (begin, end) = status.split_at(7);
        let packets = [(2, &b"one\ntwo"[..]), (1, begin), (3, b"three\n"), (1, end)];
        let report = read_bands(&packets)?;
        assert_eq!(report.lines, ["unpack ok", "ng refs/heads/main no"]);
        assert_eq!(report.messages, "one\ntwo\nthree\n");
        let outcome = report.outcome("refs/heads/main");
        assert!(matches!(outcome, Pushed::Rejected(why) if why == "no (one; two; three)"));
        let report = Report::read_lines(&mut Packets::new(status.as_slice()))?;
        assert_eq!(report.lines.len(), 2);
        Ok(())
    }

    #[test]
    fn report_that_does_not_end_is_cut() -> io::Result<()> {
        let talk = [b'x'; 1500];
        let mut packets: Vec<(u8, &[u8])> = (0..10).map(|_| (2, &talk[..])).collect();
        packets.push((1, b"0000"));
        let talkative = read_bands(&packets)?;
        assert!(
            talkative.messages.len() < 4000,
            "{}",
            talkative.messages.len()
        );
        let piece = [b'x'; 30_000];
        let packets: Vec<(u8, &[u8])> = (0..10).map(|_| (1, &piece[..])).collect();
        let error = read_bands(&packets).err().expect("it is too long");
        assert!(
            error
                .to_string()
                .contains("the status of the push does not end")
        );
        let lines = answer_of(&["ok refs/heads/x"; 101]);
        let error = Report::read_lines(&mut Packets::new(lines.as_slice())).err();
        let error = error.expect("there are too many").to_string();
        assert!(error.contains("too many lines"), "{error}");
        assert!(read_bands(&[(1, b"zzzz")]).is_err(), "no packet line");
        assert!(Report::read_lines(&mut Packets::new(&b""[..])).is_err());
        Ok(())
    }

    #[test]
    fn reason_of_a_rejection_is_the_most_precise_one() {
        for (lines, expected) in [
            (
                &["unpack disk full", "ng refs/heads/main unpacker error"][..],
                "unpacker error",
            ),
            (&["unpack disk full"], "disk full"),
            (&["unpack ok", "ng refs/heads/main"], "ok"),
            (&["unpack ok", "ng refs/heads/mainly no"], "ok"),
            (
                &["ok refs/heads/main2"],
                "it did not say whether the push succeeded",
            ),
        ] {
            let Pushed::Rejected(why) = outcome_of(lines) else {
                panic!("{lines:?} is no success");
            };
            assert_eq!(why, format!("{expected} (remote: no)"), "{lines:?}");
        }
    }
}
