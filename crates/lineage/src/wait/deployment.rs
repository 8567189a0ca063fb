//! Whether an owner runs with all that somebody has written to it: the question of those who deploy.
//!
//! It is a wait for everything that the owner has now and for what was written, which has to be live, and nothing else
//! decides. Like every wait it is told by lineages, and confirmed before it is believed; nothing here reads anything.

use std::collections::BTreeSet;

use super::applied::{Applied, Setting};
use super::confirmation::Confirmation;
use super::observed::AwaitedMetadata;
use super::verdict::{Impossible, Progress, Verdict};
use super::wait_for::WaitFor;
use super::{Options, Waiter};
use crate::owner_lineage::OwnerLineage;

/// The longest text about what is missing, in characters.
const MAX_MISSING: usize = 500;

/// A wait of whoever has written an owner, and counts that as deployed when it runs.
#[derive(Clone, Debug)]
pub struct Deployment {
    waiter: Waiter,
    metadata: AwaitedMetadata,
}

/// The outcome of a deployment so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It runs, and nothing else does.
    Live,
    /// It does not yet.
    NotYet {
        /// Whether a blueprint has chosen a path for it.
        has_path: bool,
        /// The things that are missing, in words.
        missing: Option<String>,
    },
    /// Something has changed that is about to be reconciled; until then nothing is said.
    Unconfirmed,
    /// It never will, or nobody can know, for this reason.
    Never(String),
}

impl Deployment {
    /// Begins to wait for an owner of which a write has made a generation, with the
    /// [digest](crate::owner_lineage::metadata_digest) of its labels and annotations by then; `set` is what was written.
    pub fn new(generation: i64, metadata_digest: String, set: Vec<Setting>) -> Self {
        let options = Options {
            live: true,
            accept_assumed: false,
            since_generation: Some(generation),
        };
        let waiter = Waiter::new(vec![WaitFor::Current], options);
        Self {
            waiter: waiter.with_applied(Applied::new(set, Vec::new())),
            metadata: AwaitedMetadata::new(generation, metadata_digest),
        }
    }

    /// Tells whether the labels and annotations of the owner have to be read before it is judged.
    pub fn needs_metadata(&self, lineage: &OwnerLineage) -> bool {
        self.metadata.may_be_unobserved(lineage)
    }

    /// Judges what is known now; nothing if that is older than the labels and annotations of the owner, of which
    /// `metadata_now` is the digest where it is [needed](Self::needs_metadata).
    pub fn judge(&mut self, lineage: &OwnerLineage, metadata_now: Option<&str>) -> Option<Verdict> {
        let is_early = self.metadata.is_unobserved(lineage, metadata_now);
        (!is_early).then(|| self.waiter.judge(lineage))
    }

    /// Returns what has to be read before a verdict is believed.
    pub fn confirmation<'l>(
        &self,
        lineage: &'l OwnerLineage,
        verdict: &Verdict,
    ) -> Confirmation<'l> {
        self.waiter.confirmation(lineage, verdict)
    }
}

impl Outcome {
    /// Decides by a verdict, and by whether it was confirmed.
    pub fn of(lineage: &OwnerLineage, verdict: &Verdict, is_confirmed: bool) -> Self {
        let has_path = !lineage.state.chain().resources().is_empty();
        match verdict {
            _ if !is_confirmed => Self::Unconfirmed,
            Verdict::Holds(_) => Self::Live,
            Verdict::Waiting(progress) => Self::NotYet {
                has_path,
                missing: missing(progress),
            },
            // The words to those who wait are not for those who read what has failed.
            Verdict::Impossible(Impossible::Failed { resource, message }) => {
                Self::Never(format!("resource `{resource}` failed: {message}"))
            }
            Verdict::Impossible(impossible) => Self::Never(impossible.to_string()),
            Verdict::Unproven(missing) => {
                let missing: Vec<_> = missing.iter().map(ToString::to_string).collect();
                Self::Never(format!(
                    "nothing proves that it runs: mend the template of {}",
                    missing.join("; ")
                ))
            }
        }
    }

    /// Says that it is not known yet what is missing.
    pub fn not_yet(has_path: bool) -> Self {
        Self::NotYet {
            has_path,
            missing: None,
        }
    }
}

/// Returns what is missing, each thing once, if that is not too much.
fn missing(progress: &[Progress]) -> Option<String> {
    let missing: BTreeSet<&str> = progress
        .iter()
        .flat_map(|it| it.missing.iter().map(String::as_str))
        .collect();
    let missing: Vec<_> = missing.into_iter().collect();
    let text = missing.join("; ");
    let cut = text.char_indices().nth(MAX_MISSING);
    match cut {
        _ if text.is_empty() => None,
        None => Some(text),
        Some((end, _)) => Some(format!("{}…", &text[..end])),
    }
}
