//! The ledger of a running Pathline, and the files by which the user of this machine gets access to it.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::Context;
use jiff::Timestamp;
use kube::api::{ApiResource, DynamicObject, ListParams};
use kube::{Api, Client};
use pathline_client::api::ServerFile;
use pathline_clock::Clock;
use pathline_ledger::{Claim, ClusterRef, Ledger, Location};
use pathline_server::{FirstToken, Secret};

use crate::terminal::output::say;
use crate::terminal::report::CommandError;
use crate::wiring::private;
use crate::wiring::seal_key::{self, KeySource};
use crate::wiring::tasks::Tasks;

/// The file name of the ledger in the data directory.
pub(crate) const FILE: &str = "ledger.db";

/// The cluster for which a ledger is opened.
pub(crate) struct LedgerClaim {
    pub(crate) cluster: ClusterRef,
    /// True if a ledger of another cluster is taken over, with `--adopt`.
    pub(crate) adopt: bool,
    /// True if the cluster is in the data directory, and so the ledger there is its own in any case: it was
    /// copied, moved or restored together with the cluster.
    pub(crate) is_embedded: bool,
    /// The key that seals secrets, if one is given.
    pub(crate) seal_key: Option<KeySource>,
}

/// The open ledger, and the data directory with the files that say how to reach it.
pub(crate) struct LedgerHome {
    ledger: Ledger,
    data_dir: PathBuf,
    former: Option<ClusterRef>,
}

impl LedgerHome {
    /// Opens the ledger, by default the one in the data directory, for a cluster, and makes sure that
    /// there is an admin token.
    pub(crate) async fn open(
        location: Option<&Location>,
        data_dir: &Path,
        claim: &LedgerClaim,
        clock: &Clock,
    ) -> Result<Self, CommandError> {
        let own = Location::File(data_dir.join(FILE));
        let location = location.unwrap_or(&own);
        let ledger = Ledger::open(location).await.map_err(|error| {
            CommandError::from(anyhow::Error::new(error)).with_hint(
                "`--ledger` (or PATHLINE_LEDGER) names another: a file, or \
                 postgres://USER:PASSWORD@HOST:PORT/DATABASE",
            )
        })?;
        let follows = claim.is_embedded && is_same_file(location, &own);
        let former = claim.make(&ledger, follows, clock.now()).await?;
        let former = former.filter(|_| !follows);
        if let Some(former) = &former {
            say(&format!(
                "took the ledger {location} over from the cluster {}",
                former.name
            ));
        }
        let shared = matches!(location, Location::Postgres(_));
        let usual = match shared {
            // Who else shares the ledger could not open what is sealed here.
            true => KeySource::None,
            false => KeySource::DataDir(data_dir.to_owned()),
        };
        let ledger = seal_key::give(ledger, claim.seal_key.as_ref().unwrap_or(&usual)).await?;
        ensure_admin_token(&ledger, shared, data_dir, clock.now()).await?;
        Ok(Self {
            ledger,
            data_dir: data_dir.to_owned(),
            former,
        })
    }

    /// Forgets what is known of the owners if the cluster is older than the ledger, as after it was restored from a
    /// backup: that is of a future which will not come, and nobody who waits must believe it.
    ///
    /// `revision` reads the newest revision of the cluster, after that of the ledger: replicas may go on recording.
    pub(crate) async fn check_revision(
        &self,
        revision: impl Future<Output = kube::Result<Option<i64>>>,
        clock: &Clock,
    ) -> Result<(), CommandError> {
        let known = self.ledger.revision().await.map_err(anyhow::Error::new)?;
        let now = revision.await;
        let now = now.context("cannot find out whether the cluster was restored")?;
        let (Some(known), Some(now)) = (known, now) else {
            return Ok(());
        };
        if now < known {
            let rewound = self.ledger.rewind(known, now, clock.now()).await;
            rewound.map_err(anyhow::Error::new)?;
            say(&format!(
                "the cluster is older (revision {now}) than the ledger (revision {known}): it was restored\n\
                 \x20 what the ledger knows of its owners is looked at anew; history stays"
            ));
        }
        Ok(())
    }

    /// Returns the cluster from which the ledger was taken over just now.
    pub(crate) fn taken_over_from(&self) -> Option<&ClusterRef> {
        self.former.as_ref()
    }

    /// Ends with an error when another cluster has taken the ledger over.
    pub(crate) fn guard(&self, tasks: &mut Tasks) {
        let (ledger, shutdown) = (self.ledger.clone(), tasks.shutdown.clone());
        tasks.run(async move {
            match shutdown.run_until_cancelled(ledger.lost()).await {
                Some(lost) => Err(anyhow::Error::new(lost).context("the ledger was taken over")),
                None => Ok(()),
            }
        });
    }

    /// Returns the ledger.
    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Writes down where Pathline listens, for programs on this machine.
    pub(crate) fn announce(&self, listen: SocketAddr) -> anyhow::Result<()> {
        let file = ServerFile {
            url: format!("http://{listen}"),
        };
        let text = serde_json::to_string(&file)?;
        private::write(&ServerFile::path(&self.data_dir), &format!("{text}\n"))
            .context("cannot write down the address of Pathline")?;
        Ok(())
    }

    /// Closes the ledger, and takes back the address.
    pub(crate) async fn close(self) {
        // Whoever still finds it is told that nobody answers there.
        let _ = fs::remove_file(ServerFile::path(&self.data_dir));
        self.ledger.close().await;
    }
}

impl LedgerClaim {
    async fn make(
        &self,
        ledger: &Ledger,
        follows: bool,
        now: Timestamp,
    ) -> Result<Option<ClusterRef>, CommandError> {
        let claim = match (follows, self.adopt) {
            (true, _) => Claim::Follow,
            (false, true) => Claim::TakeOver,
            (false, false) => Claim::IfFree,
        };
        let claimed = ledger.claim(&self.cluster, claim, now).await;
        claimed.map_err(|error| {
            let hint = hint(&error);
            let error = CommandError::from(anyhow::Error::new(error));
            match hint {
                Some(hint) => error.with_hint(hint),
                None => error,
            }
        })
    }
}

/// Reads the newest revision of a cluster, as lists of a kind tell it; none where the cluster does not have the kind.
pub(crate) async fn revision(client: &Client, kind: &ApiResource) -> kube::Result<Option<i64>> {
    let api = Api::<DynamicObject>::all_with(client.clone(), kind);
    let listed = match api.list_metadata(&ListParams::default().limit(1)).await {
        Err(kube::Error::Api(status)) if status.code == 404 => return Ok(None),
        listed => listed?,
    };
    let revision = listed.metadata.resource_version;
    Ok(revision.and_then(|it| it.parse().ok()))
}

fn hint(error: &pathline_ledger::Error) -> Option<String> {
    let pathline_ledger::Error::OfAnother { cluster, .. } = error else {
        return None;
    };
    Some(format!(
        "give this Pathline a ledger of its own with `--ledger`: another file, or another database; if it takes \
         the place of {}, which must not run any more, start it with `--adopt`",
        cluster.name
    ))
}

/// Tells whether both are the same file, however they are written.
fn is_same_file(one: &Location, other: &Location) -> bool {
    let (Location::File(one), Location::File(other)) = (one, other) else {
        return false;
    };
    let absolute = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    absolute(one) == absolute(other)
}

/// Makes the first admin token if there is none, and keeps its secret in the data directory.
async fn ensure_admin_token(
    ledger: &Ledger,
    shared: bool,
    data_dir: &Path,
    now: Timestamp,
) -> Result<(), CommandError> {
    let path = ServerFile::token_path(data_dir);
    let kept = read_secret(&path)
        .with_context(|| format!("cannot read the admin token {}", path.display()))?;
    let keep = |secret: &Secret| private::write(&path, &format!("{}\n", secret.reveal()));
    let first = pathline_server::first_admin(ledger, shared, kept.as_ref(), now, keep);
    match first.await.map_err(anyhow::Error::new)? {
        FirstToken::Kept => {}
        FirstToken::Made(token) => tracing::info!(
            "made the admin token `{}`; its secret is in {}",
            token.name,
            path.display()
        ),
        FirstToken::Elsewhere => {
            tracing::info!("the ledger has an admin token already, whose secret is not kept here");
            // A secret that opens nothing would only mislead.
            let _ = fs::remove_file(&path);
        }
    }
    Ok(())
}

fn read_secret(path: &Path) -> io::Result<Option<Secret>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Secret::read(text.trim())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
