//! One who waits for all whom something concerns.

use pathline_blueprint::owner::OwnerKind;
use pathline_client::api::{Concerned, ConcernedOwner, WaitState};
use pathline_ledger::{Ledger, Topic};
use pathline_lineage::OwnerLineage;
use tokio::sync::{OwnedSemaphorePermit, watch};

use kube::ResourceExt;
use kube::api::DynamicObject;

use super::catalogue::{Catalogue, all};
use super::object_version::ObjectVersion;
use crate::AppState;
use crate::auth::{Caller, StreamSession};
use crate::error::ApiError;
use crate::views::answers::{Answer, Answers};
use crate::views::names::OwnerName;
use crate::views::owners;

/// One who waits, and those who have not been looked at yet.
pub(crate) struct ConcernedWait {
    session: StreamSession,
    state: AppState,
    ledger: Ledger,
    /// The newest change of lineage.
    changes: watch::Receiver<i64>,
    named: Vec<ObjectVersion>,
    /// Everybody whom it concerns.
    owners: Vec<(OwnerKind, ConcernedOwner)>,
    last: Option<Concerned>,
    _room: OwnedSemaphorePermit,
}

impl ConcernedWait {
    pub(crate) async fn start(
        state: &AppState,
        caller: Caller,
        named: Vec<ObjectVersion>,
    ) -> Result<Self, ApiError> {
        let room = state.waiters().clone().try_acquire_owned();
        let room = room.map_err(|_| ApiError::too_many("too many clients wait at once"))?;
        let ledger = state.ledger()?.clone();
        let mut wait = Self {
            session: StreamSession::begin(state, caller).await?,
            state: state.clone(),
            changes: ledger.subscribe(Topic::Lineage),
            ledger,
            named,
            owners: Vec::new(),
            last: None,
            _room: room,
        };
        // Before the first answer: a stream can't say any more that it is about nothing.
        let catalogue = Catalogue::load(wait.state.cluster()?).await?;
        wait.owners = wait.concerned(&catalogue).await?;
        Ok(wait)
    }

    /// Looks at those who have not seen it yet.
    async fn evaluate(&mut self) -> Result<Concerned, ApiError> {
        let catalogue = Catalogue::load(self.state.cluster()?).await?;
        let mut owners = self.owners.clone();
        for (kind, owner) in &mut owners {
            if owner.is_pending() {
                self.evaluate_owner(&catalogue, *kind, owner).await?;
            }
        }
        self.owners = owners;
        let owners = self.owners.iter().map(|(_, owner)| owner.clone());
        Ok(Concerned::of(owners.collect()))
    }

    /// Finds everybody whom it concerns. What is not there, and nobody has used, is about nobody.
    async fn concerned(
        &self,
        catalogue: &Catalogue,
    ) -> Result<Vec<(OwnerKind, ConcernedOwner)>, ApiError> {
        let mut concerned = Vec::new();
        let mut unknown: Vec<_> = self.named.iter().filter(|it| !catalogue.has(it)).collect();
        for kind in OwnerKind::ALL {
            let api = owners::everywhere(self.state.cluster()?, kind);
            for object in all(&api).await? {
                let lineage = self.lineage(&object).await?;
                let used = lineage.as_ref().map(|it| &it.used);
                unknown.retain(|it| used.is_none_or(|used| !used.contains_key(&it.key)));
                if catalogue.concerns(kind, &object, &self.named, lineage.as_ref()) {
                    let (namespace, name) = (object.namespace(), object.name_any());
                    let namespace = namespace.unwrap_or_default();
                    concerned.push((kind, ConcernedOwner::new(kind.noun(), namespace, name)));
                }
            }
        }
        match unknown.first() {
            Some(unknown) => Err(not_there(unknown)),
            None => Ok(concerned),
        }
    }

    /// Notes how far one is. One that is deleted is no concern any more.
    async fn evaluate_owner(
        &self,
        catalogue: &Catalogue,
        kind: OwnerKind,
        owner: &mut ConcernedOwner,
    ) -> Result<(), ApiError> {
        let name = OwnerName {
            namespace: owner.namespace.clone(),
            name: owner.name.clone(),
        };
        let Some(object) = owners::get_if_there(&self.state, kind, &name).await? else {
            owner.missing.clear();
            return Ok(());
        };
        let lineage = self.lineage(&object).await?;
        let unseen = catalogue.unseen(kind, &object, &self.named, lineage.as_ref());
        let lineage = lineage.unwrap_or_default();
        let stuck = lineage.unstamped.iter();
        let tried = stuck.clone().filter(|(_, it)| it.retried);
        let tried = tried.map(|(name, it)| format!("`{name}` can't be stamped: {}", it.why));
        let failed = stuck.filter(|(_, it)| !it.retried);
        let failed = failed.map(|(name, it)| format!("`{name}` can't be stamped: {}", it.why));
        let failed = failed.chain(lineage.failure.clone());
        owner.missing = unseen;
        if owner.missing.is_empty() {
            owner.failed = failed.collect();
            owner.missing.extend(tried);
        }
        Ok(())
    }

    async fn lineage(&self, object: &DynamicObject) -> Result<Option<OwnerLineage>, ApiError> {
        let uid = object.uid().unwrap_or_default();
        Ok(self.ledger.lineage().get(&uid).await?)
    }
}

fn not_there(named: &ObjectVersion) -> ApiError {
    let key = named.key.replacen('/', " `", 1);
    ApiError::not_found(format!("there is no {key}`"))
        .with_hint("apply it first, or look at its spelling")
}

impl Answers for ConcernedWait {
    type Answer = Concerned;

    /// Returns what can be said as soon as it is something new; an error ends the waiting.
    async fn next(&mut self) -> Result<Concerned, ApiError> {
        loop {
            self.session.check().await?;
            self.changes.mark_unchanged();
            let answer = Box::pin(self.evaluate()).await?;
            if self.last.as_ref() != Some(&answer) {
                self.last = Some(answer.clone());
                return Ok(answer);
            }
            let goes_on = tokio::select! {
                changed = self.changes.changed() => changed.is_ok(),
                goes_on = self.session.disturbed() => goes_on,
            };
            if !goes_on {
                return Err(ApiError::unavailable("the ledger is closed"));
            }
        }
    }
}

impl Answer for Concerned {
    fn is_decided(&self) -> bool {
        self.state != WaitState::Waiting
    }

    /// It is asked anew after a break: nothing has to be remembered.
    fn id(&self) -> &str {
        ""
    }
}
