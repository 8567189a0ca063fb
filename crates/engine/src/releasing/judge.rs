//! Judges whether an owner runs with what a release has set, by the one rule of waits.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use kube::api::{Api, DynamicObject};
use pathline_blueprint::owner::{Owner, OwnerKind};
use pathline_lineage::OwnerLineage;
use pathline_lineage::wait::{
    Applied, AwaitedMetadata, Impossible, Options, Progress, Setting, Verdict, WaitFor, Waiter,
};
use serde_json::Value;
use tokio::sync::watch;

use super::tools::Tools;
use crate::observe::confirm::{ConfirmError, Confirmer, OwnerVersion, owner_resource};
use crate::runtime::calls::call;

/// The pause before an answer that was held back is asked for again: what differs is about to be reconciled.
const CONFIRM_INTERVAL: Duration = Duration::from_millis(500);
/// The params of an owner that have what the application file says, each with another one that has it too.
const CONTENT_PARAMS: [(&str, &str); 2] = [
    ("param:configMaps", "param:volumes"),
    ("param:image", "param:image"),
];
/// The longest text about what is missing, in characters.
const MAX_MISSING: usize = 500;
/// The pause after which an owner without a path is looked at again.
const PATH_INTERVAL: Duration = Duration::from_secs(2);

/// Looks at one owner until it is known whether it runs with what was applied.
pub(super) struct Judge {
    kind: OwnerKind,
    namespace: String,
    name: String,
    lineages: watch::Receiver<Option<Arc<OwnerLineage>>>,
    waiter: Waiter,
    metadata: AwaitedMetadata,
    was_known: bool,
    /// The pause before the next look, if nothing happens.
    pause: Option<Duration>,
}

/// The answer to whether an owner runs with what was applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Judged {
    /// It does, and this is to be known about it.
    Live(Option<String>),
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

impl Judge {
    /// Begins to look at an owner as it was written; `applied` is what was set.
    pub(super) async fn new(
        tools: &Tools,
        kind: OwnerKind,
        (written, applied): (&DynamicObject, &Value),
    ) -> Result<Self, pathline_ledger::Error> {
        let version = OwnerVersion::of(written);
        let options = Options {
            live: true,
            accept_assumed: false,
            since_generation: Some(version.generation),
        };
        let waiter = Waiter::new(vec![WaitFor::Current], options);
        let waiter = waiter.with_applied(Applied::new(settings(kind, applied), Vec::new()));
        Ok(Self {
            kind,
            namespace: written.metadata.namespace.clone().unwrap_or_default(),
            name: written.metadata.name.clone().unwrap_or_default(),
            lineages: tools.ledger.lineage().follow(&version.uid).await?,
            waiter,
            metadata: AwaitedMetadata::new(version.generation, version.metadata_digest),
            was_known: false,
            pause: None,
        })
    }

    /// Returns what can be said now.
    pub(super) async fn judge(&mut self, tools: &Tools) -> Result<Judged, ConfirmError> {
        self.pause = None;
        let lineage = self.lineages.borrow_and_update().clone();
        let Some(lineage) = lineage else {
            self.pause = Some(PATH_INTERVAL);
            return Ok(match self.was_known {
                true => Judged::Never(self.gone()),
                false => not_yet(false),
            });
        };
        self.was_known = true;
        if self.is_early(tools, &lineage).await? {
            return Ok(not_yet(true));
        }
        let verdict = self.waiter.judge(&lineage);
        let confirmation = self.waiter.confirmation(&lineage, &verdict);
        let owner = (self.namespace.as_str(), self.name.as_str());
        let confirmer = Confirmer::new(&tools.client, &tools.ledger);
        let differences = confirmer.differences(self.kind, owner, &confirmation);
        if !Box::pin(differences).await?.is_empty() {
            self.pause = Some(CONFIRM_INTERVAL);
            return Ok(Judged::Unconfirmed);
        }
        let has_path = !lineage.state.chain().resources().is_empty();
        if !has_path {
            self.pause = Some(PATH_INTERVAL);
        }
        Ok(match verdict {
            Verdict::Holds(_) => Judged::Live(unread(&lineage)),
            Verdict::Waiting(progress) => Judged::NotYet {
                has_path,
                missing: missing(&progress),
            },
            // The words to those who wait are not for those who read what has failed.
            Verdict::Impossible(Impossible::Failed { resource, message }) => {
                Judged::Never(format!("resource `{resource}` failed: {message}"))
            }
            Verdict::Impossible(impossible) => Judged::Never(impossible.to_string()),
            Verdict::Unproven(missing) => {
                let missing: Vec<_> = missing.iter().map(ToString::to_string).collect();
                Judged::Never(format!(
                    "nothing proves that it runs: mend the template of {}",
                    missing.join("; ")
                ))
            }
        })
    }

    /// Waits until there may be something new to say.
    pub(super) async fn changed(&mut self) {
        let pause = async {
            match self.pause {
                Some(pause) => tokio::time::sleep(pause).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            changed = self.lineages.changed() => if changed.is_err() {
                // The ledger is closed; whoever waits here is about to be stopped.
                std::future::pending().await
            },
            () = pause => {}
        }
    }

    /// Returns an owner as it is now, if it is there.
    pub(super) async fn owner(&self, tools: &Tools) -> Result<Option<DynamicObject>, ConfirmError> {
        let (client, resource) = (tools.client.clone(), owner_resource(self.kind));
        let api: Api<DynamicObject> = Api::namespaced_with(client, &self.namespace, &resource);
        Ok(call(api.get_opt(&self.name)).await?)
    }

    /// Tells whether the lineage does not know the labels and annotations yet that were written.
    async fn is_early(
        &mut self,
        tools: &Tools,
        lineage: &OwnerLineage,
    ) -> Result<bool, ConfirmError> {
        let now = match self.metadata.may_be_unobserved(lineage) {
            true => self.owner(tools).await?,
            false => None,
        };
        let now = now.as_ref().map(OwnerVersion::of);
        let now = now.filter(|it| it.uid == lineage.uid);
        let now = now.map(|it| it.metadata_digest);
        Ok(self.metadata.is_unobserved(lineage, now.as_deref()))
    }

    /// Tells whether the owner was there, and is no longer.
    pub(super) fn is_gone(&self) -> bool {
        self.was_known && self.lineages.borrow().is_none()
    }

    fn gone(&self) -> String {
        let Self {
            namespace, name, ..
        } = self;
        let kind = self.kind.name();
        format!("{kind} `{name}` in namespace `{namespace}` was deleted")
    }
}

/// Says which inputs of a release nothing on the path reads. That its number and its labels are not read means nothing, and
/// neither does `config`, which repeats what is in fields and files.
fn unread(lineage: &OwnerLineage) -> Option<String> {
    let inputs = lineage.inputs().into_iter().filter(|it| it.unused);
    let unused: BTreeSet<String> = inputs.map(|it| it.name).collect();
    let is_content = |name: &str| {
        let mut params = CONTENT_PARAMS.iter();
        name.starts_with("field:spec.")
            || params.any(|(param, other)| *param == name && unused.contains(*other))
    };
    let unread: Vec<_> = unused.iter().filter(|it| is_content(it)).cloned().collect();
    (!unread.is_empty()).then(|| format!("nothing on the path reads {}", unread.join(", ")))
}

fn not_yet(has_path: bool) -> Judged {
    Judged::NotYet {
        has_path,
        missing: None,
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

/// Returns what an apply sets, by the names of inputs.
fn settings(kind: OwnerKind, applied: &Value) -> Vec<Setting> {
    let owner = Owner::read(kind, applied.clone());
    let said = owner.map(|it| it.said()).unwrap_or_default();
    let settings = said.iter().map(|(name, value)| Setting::new(name, value));
    settings.collect()
}
