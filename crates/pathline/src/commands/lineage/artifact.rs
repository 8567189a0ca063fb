//! The lineage of an artifact, up and down, over all owners and all time, in words.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use anstyle::Style;
use jiff::Timestamp;
use pathline_client::api::{ArtifactEntry, Edge, Making};
use pathline_client::words::{self, label, named};
use pathline_lineage::{ArtifactId, Evidence};
use serde::Serialize;

use super::style::{DOUBT, GOOD, HEADER, SOFT, proof};
use super::tree::Node;

/// The most that is drawn of what one artifact is made of.
const MAX_NODES: usize = 200;

/// Artifacts that were asked about, and what is known of what they are made of.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Explained {
    /// Those that were asked about.
    pub(super) artifacts: Vec<ArtifactEntry>,
    /// Everything below them that was made by some resource.
    pub(super) ingredients: Vec<ArtifactEntry>,
}

impl Explained {
    /// Writes all there is to say.
    pub(super) fn write(&self, columns: usize, out: &mut dyn Write) -> io::Result<()> {
        let known = self.artifacts.iter().chain(&self.ingredients);
        let known: BTreeMap<_, _> = known.map(|it| (it.artifact.id, it)).collect();
        for (index, entry) in self.artifacts.iter().enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            write_head(entry, out)?;
            write_made(entry, &known, columns, out)?;
            write_used(entry, columns, out)?;
        }
        Ok(())
    }
}

fn write_head(entry: &ArtifactEntry, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{HEADER}{}{HEADER:#}", named(&entry.artifact))?;
    if let Some(url) = &entry.artifact.url {
        writeln!(out, "  at {}", words::one_line(url))?;
    }
    writeln!(out, "  {SOFT}id {}{SOFT:#}", entry.artifact.id)?;
    let first_seen = words::time(entry.first_seen);
    writeln!(out, "  {SOFT}first seen {first_seen}{SOFT:#}")
}

type Known<'a> = BTreeMap<ArtifactId, &'a ArtifactEntry>;

fn write_made(
    entry: &ArtifactEntry,
    known: &Known<'_>,
    columns: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    if entry.made.is_empty() {
        return writeln!(out, "\nno resource made it: it was given by an owner");
    }
    writeln!(out, "\n{HEADER}made by{HEADER:#}")?;
    for making in &entry.made {
        let mut drawing = Drawing {
            known,
            above: BTreeSet::from([entry.artifact.id]),
            left: MAX_NODES,
        };
        drawing.making(making).draw(columns, out)?;
    }
    Ok(())
}

fn write_used(entry: &ArtifactEntry, columns: usize, out: &mut dyn Write) -> io::Result<()> {
    if entry.used.is_empty() {
        return writeln!(out, "\nnothing was made of it");
    }
    writeln!(out, "\n{HEADER}used by{HEADER:#}")?;
    for used in &entry.used {
        let output = used.output.as_ref();
        let output = output.map_or_else(|| "its object".to_owned(), named);
        let item = Node {
            label: words::owner(&used.owner),
            value: used.resource.clone(),
            notes: vec![
                (Style::new(), output),
                proof(used.evidence),
                when(used.current, used.since),
            ],
            below: Vec::new(),
        };
        item.draw(columns, out)?;
    }
    if entry.cut {
        writeln!(out, "{DOUBT}and more{DOUBT:#}: the latest are shown")?;
    }
    Ok(())
}

pub(super) fn when(current: bool, time: Timestamp) -> (Style, String) {
    let time = words::time(time);
    if current {
        (GOOD, format!("now, since {time}"))
    } else {
        (SOFT, format!("formerly, from {time}"))
    }
}

/// Draws what something is made of, as deep as is known.
struct Drawing<'a> {
    known: &'a Known<'a>,
    /// The artifacts that stand above, so that nothing is drawn below itself.
    above: BTreeSet<ArtifactId>,
    left: usize,
}

impl Drawing<'_> {
    fn making(&mut self, making: &Making) -> Node {
        let Making {
            owner,
            resource,
            template,
            ..
        } = making;
        let mut notes = vec![when(making.current, making.since)];
        if !template.name.is_empty() {
            notes.push((SOFT, format!("from {}", template.name)));
        }
        Node {
            label: words::owner(owner),
            value: resource.clone(),
            notes,
            below: self.edges(making),
        }
    }

    fn edges(&mut self, making: &Making) -> Vec<Node> {
        let edges = making.from.iter();
        edges.filter_map(|edge| self.edge(making, edge)).collect()
    }

    fn edge(&mut self, above: &Making, edge: &Edge) -> Option<Node> {
        self.left = self.left.checked_sub(1)?;
        let mut node = Node {
            label: label(&edge.artifact),
            value: edge.artifact.value.clone(),
            notes: vec![proof(edge.evidence)],
            below: Vec::new(),
        };
        if edge.evidence == Evidence::Git {
            let written = self.written_by(above, edge.artifact.id);
            return Some(self.below(node, edge.artifact.id, written, |it| {
                format!("made by {} of {}", it.resource, words::owner(&it.owner))
            }));
        }
        let Some(producer) = edge.origin.strip_prefix("resource ") else {
            let kind = above.owner.kind.to_ascii_lowercase();
            node.notes.push((SOFT, format!("given by the {kind}")));
            return Some(node);
        };
        node.notes.push((SOFT, format!("made by {producer}")));
        let made = self.made_by(above, producer, edge.artifact.id);
        Some(self.below(node, edge.artifact.id, made, |_| String::new()))
    }

    /// Draws below an artifact how it was made, unless it stands above already.
    fn below(
        &mut self,
        mut node: Node,
        id: ArtifactId,
        making: Option<&Making>,
        note: impl FnOnce(&Making) -> String,
    ) -> Node {
        let Some(making) = making else {
            return node;
        };
        let note = note(making);
        node.notes
            .extend((!note.is_empty()).then_some((SOFT, note)));
        if self.above.insert(id) {
            node.below = self.edges(making);
            self.above.remove(&id);
        }
        node
    }

    /// Returns how another owner wrote a commit last.
    fn written_by<'k>(&self, finder: &Making, id: ArtifactId) -> Option<&'k Making>
    where
        Self: 'k,
    {
        let made = &self.known.get(&id)?.made;
        made.iter().find(|it| it.owner.uid != finder.owner.uid)
    }

    /// Returns how the same owner's producer made the artifact last.
    fn made_by<'k>(&self, above: &Making, producer: &str, id: ArtifactId) -> Option<&'k Making>
    where
        Self: 'k,
    {
        let made = &self.known.get(&id)?.made;
        made.iter()
            .find(|it| it.owner.uid == above.owner.uid && it.resource == producer)
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::super::samples::{self, plain};

    #[test]
    fn artifact_shows_what_it_is_made_of_and_who_uses_it() {
        assert_snapshot!(plain(|out| samples::explained().write(120, out)), @"
image registry.example/app@sha256:1212121212121212121212121212121212121212121212121212121212121212
  id 5e7ad39bfd31d1bf48aff878f4c40f6eb92992f392301c9856c18a3e876f1a96
  first seen 2026-11-16 02:10:33Z

made by
workload default/hello build  now, since 2026-11-16 02:10:33Z  from ClusterImageTemplate/kpack
├─ source main@sha1:8f1c2e7d00000000000000000000000000000000  proven by generation  made by source
│  └─ field spec.source.git.url https://git.example/app  proven by generation  given by the workload
└─ param debug on  proven by generation  given by the workload

used by
workload default/hello manifest  its object  assumed  formerly, from 2026-11-16 02:10:40Z
");
    }
}
