//! Across git: below a source that a delivery found, the commit that it has, and all that is made of.
//!
//! An owner's own lineage ends with what it was given. Which commit of somebody else that is was
//! recorded when git said so; how that commit came to be is in the ledger.

mod growth;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use pathline_client::api::Made;
use pathline_ledger::{Error, Ledger, Making, Page};
use pathline_lineage::{Artifact, ArtifactId, Evidence, Kind, Origin};

use self::growth::Growth;

/// The most sources of one answer that are followed.
const MAX_SOURCES: usize = 32;
/// The most artifacts of others that are looked up for one answer.
const MAX_LOOKUPS: usize = 256;
/// The most ways in which one artifact came to be that are looked at.
const MAX_MAKINGS: u32 = 64;

/// The ways in which artifacts came to be, the newest first.
type Makings = HashMap<ArtifactId, Vec<Making>>;

/// Puts below every source in the trees of an owner what it has of commits that others wrote.
///
/// # Errors
/// If the ledger cannot be read.
pub(crate) async fn extend(ledger: &Ledger, uid: &str, trees: &mut [Made]) -> Result<(), Error> {
    let mut sources = BTreeSet::new();
    for tree in trees.iter() {
        collect_sources(tree, &mut sources);
    }
    let mut commits = BTreeMap::new();
    for source in sources.into_iter().take(MAX_SOURCES) {
        let found = ledger.lineage().commits_of(uid, source).await?;
        commits.insert(source, found);
    }
    let makings = gather(ledger, commits.values().flatten()).await?;
    let mut growth = Growth::new(&makings);
    for tree in trees {
        growth.attach(tree, uid, &commits);
    }
    Ok(())
}

fn collect_sources(made: &Made, sources: &mut BTreeSet<ArtifactId>) {
    if made.artifact.kind == Kind::Source {
        sources.insert(made.artifact.id);
    }
    for below in &made.from {
        collect_sources(below, sources);
    }
}

/// Looks up how artifacts came to be, and those that resources made them from.
async fn gather(ledger: &Ledger, first: impl Iterator<Item = &Artifact>) -> Result<Makings, Error> {
    let mut queue: VecDeque<ArtifactId> = first.map(Artifact::id).collect();
    let mut makings = Makings::new();
    while let Some(id) = queue.pop_front() {
        if makings.len() >= MAX_LOOKUPS {
            break;
        }
        if makings.contains_key(&id) {
            continue;
        }
        let page = Page::first(MAX_MAKINGS);
        let made = ledger.lineage().makings(id, &page).await?.items;
        let from = made.iter().flat_map(|it| &it.from);
        let followed = from
            .filter(|it| matches!(it.origin, Origin::Resource(_)) || it.evidence == Evidence::Git);
        queue.extend(followed.map(|it| it.artifact.id()));
        makings.insert(id, made);
    }
    Ok(makings)
}
