//! Pushing: gix can fetch, but not push, so the sender's side of the pack protocol is here.

use std::collections::BTreeSet;
use std::io::{self, Write};

use gix::progress::Discard;
use gix::protocol::handshake::Ref;
use gix::remote::Direction;
use gix::{ObjectId, hash, objs, zlib};
use gix_pack::data::{Version, output};
use gix_transport::client::blocking_io::{ExtendedBufRead, Transport, connect};
use gix_transport::client::{MessageKind, WriteMode};
use gix_transport::{Protocol, Service};

use super::Error;
use super::session::{Session, local};

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
        let mut transport = self.connect_for_push()?;
        let handshake = gix::protocol::handshake(
            &mut transport,
            Service::ReceivePack,
            |action| self.authenticate(action),
            Vec::new(),
            &mut Discard,
        )
        .map_err(|e| self.failed(&e))?;
        let advertised = handshake.refs.as_deref().unwrap_or_default();
        if tip(advertised, &update.reference) != update.old {
            return Ok(Pushed::Moved);
        }
        let side_band = handshake.capabilities.contains("side-band-64k");
        let pack = self.pack(&update.objects)?;
        let said = exchange(&mut transport, update, &pack, side_band)
            .map_err(|e| self.failed(&gix::Error::from_error(e)))?;
        Ok(said.verdict(&update.reference))
    }

    fn connect_for_push(&self) -> Result<Box<dyn Transport + Send>, Error> {
        let preparing = "prepare a push";
        let remote = self
            .repo
            .remote_at(self.remote.url().as_gix().clone())
            .map_err(local(preparing))?;
        let (url, _) = remote
            .sanitized_url_and_version(Direction::Push)
            .map_err(|e| self.failed(&e))?;
        let ssh = self.repo.ssh_connect_options().map_err(local(preparing))?;
        // Pushing has no version 2; servers answer it in version 0 or 1.
        let options = connect::Options {
            version: Protocol::V1,
            ssh,
            trace: false,
        };
        let mut transport = connect::connect(url, options).map_err(|e| self.failed(&e))?;
        let location = transport.to_url().into_owned();
        let configured = self
            .repo
            .transport_options(location.as_slice(), None)
            .map_err(local(preparing))?;
        if let Some(configuration) = configured {
            transport
                .configure(&*configuration)
                .map_err(local(preparing))?;
        }
        Ok(transport)
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

fn tip(refs: &[Ref], name: &str) -> Option<ObjectId> {
    refs.iter()
        .map(Ref::unpack)
        .find(|(found, ..)| *found == name)
        .and_then(|(_, target, _)| target.map(ToOwned::to_owned))
}

/// Sends command and pack, and reads what the remote says to it.
fn exchange(
    transport: &mut dyn Transport,
    update: &Update,
    pack: &[u8],
    side_band: bool,
) -> io::Result<Report> {
    let request = transport
        .request(WriteMode::Binary, MessageKind::Flush, false)
        .map_err(io::Error::other)?;
    let (mut writer, mut reader) = request.into_parts();
    let old = update.old.unwrap_or(ObjectId::null(hash::Kind::Sha1));
    let (new, reference) = (update.new, &update.reference);
    let band = if side_band { " side-band-64k" } else { "" };
    let command = format!(
        "{old} {new} {reference}\0 report-status{band} agent=pathline/{}\n",
        env!("CARGO_PKG_VERSION")
    );
    write!(writer, "{:04x}{command}0000", command.len() + 4)?;
    writer.write_all(pack)?;
    writer.flush()?;
    // The answer only comes once the request is complete.
    drop(writer);
    let mut report = Report::default();
    if side_band {
        report.read_side_band(&mut *reader)?;
    } else {
        report.read_lines(&mut *reader)?;
    }
    Ok(report)
}

/// What the remote said: its status lines, and messages for people.
#[derive(Default)]
struct Report {
    lines: Vec<String>,
    remarks: String,
}

/// Hooks may print a lot; this much of it helps.
const MOST_REMARKS: usize = 2000;

impl Report {
    fn read_lines<'a>(
        &mut self,
        reader: &mut (dyn ExtendedBufRead<'a> + Unpin + 'a),
    ) -> io::Result<()> {
        let mut line = String::new();
        while reader.readline_str(&mut line)? > 0 {
            self.lines.push(line.trim_end().to_owned());
            line.clear();
        }
        Ok(())
    }

    /// Takes apart the bands: 1 has the status as packet lines, 2 and 3 have words for people.
    fn read_side_band<'a>(
        &mut self,
        reader: &mut (dyn ExtendedBufRead<'a> + Unpin + 'a),
    ) -> io::Result<()> {
        let mut status = Vec::new();
        while let Some(line) = reader.readline() {
            let line = line?.map_err(io::Error::other)?;
            let Some((band, content)) = line.as_slice().and_then(<[u8]>::split_first) else {
                break;
            };
            if *band == 1 {
                status.extend_from_slice(content);
            } else if self.remarks.len() < MOST_REMARKS {
                self.remarks.push_str(&String::from_utf8_lossy(content));
            }
        }
        let mut rest = status.as_slice();
        while let Some((length, after)) = rest.split_at_checked(4) {
            let length = std::str::from_utf8(length)
                .ok()
                .and_then(|digits| usize::from_str_radix(digits, 16).ok())
                .ok_or_else(|| io::Error::other("the status of the push is malformed"))?;
            let content = length
                .checked_sub(4)
                .and_then(|size| after.split_at_checked(size));
            let Some((content, after)) = content else {
                break;
            };
            self.lines
                .push(String::from_utf8_lossy(content).trim_end().to_owned());
            rest = after;
        }
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
