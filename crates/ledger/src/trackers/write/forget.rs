//! The end of secrets whose key is lost. Everything else stays.

use jiff::Timestamp;
use pathline_release::TrackerName;

use super::configuration::PreparedConfiguration;
use super::record;
use crate::database::{Session, from_row, sql};
use crate::error::Error;
use crate::ledger::Ledger;
use crate::rows::from_word;
use crate::sealing::{FORGOTTEN, Sealing};
use crate::trackers::change::WhatHappened;
use crate::trackers::outcome::SealedSecrets;
use crate::trackers::stored::NewConfiguration;
use crate::writer::{Transaction, Write};

/// The one who did it, in what is told of trackers.
const BY: &str = "seal reset";

/// Forgets all secrets, and the key that they were sealed with.
pub(in crate::trackers) struct ForgetSecrets {
    pub(in crate::trackers) at: Timestamp,
}

from_row! {
    struct WithToken {
        uid: String,
        name: String,
    }
}

impl Write for ForgetSecrets {
    type Group = ();
    type Answer = SealedSecrets;

    async fn execute(
        &self,
        (): &mut (),
        transaction: &mut Transaction<'_>,
    ) -> Result<SealedSecrets, Error> {
        let asked = sql("select uid, name from tracker \
             where token <> 'forgotten' and deleted is null order by name_key");
        let trackers: Vec<WithToken> = transaction.session().all(asked).await?;
        let forgotten = sealed_secrets(transaction.session()).await?;
        // Another version of the token, so that nobody replaces the tracker by what was read before.
        let tokens = sql(
            "update tracker set token = $1, token_version = token_version + 1, \
             updated = $2, updated_by = $3 where token <> 'forgotten'",
        )
        .bind(FORGOTTEN)
        .bind(self.at)
        .bind(BY);
        transaction.session().run(tokens).await?;
        // Files are read again, with the secrets that they bring.
        let sources = sql("update tracker set known_source = null where uid in \
             (select tracker_uid from configuration where secrets is not null)");
        transaction.session().run(sources).await?;
        let secrets = sql("update configuration set secrets = $1 where secrets <> 'forgotten'");
        transaction.session().run(secrets.bind(FORGOTTEN)).await?;
        transaction.session().run(sql("delete from seal")).await?;
        for WithToken { uid, name } in trackers {
            let name: TrackerName = from_word(transaction.location(), "name of a tracker", &name)?;
            let what = WhatHappened::Replaced {
                by: BY.to_owned(),
                has_new_source: false,
                has_new_token: true,
            };
            record(transaction, (&uid, &name), self.at, what).await?;
        }
        Ok(forgotten)
    }
}

/// Stores secrets that were forgotten, and have been read again.
pub(in crate::trackers) struct RestoreSecrets {
    uid: String,
    configuration: PreparedConfiguration,
    sealing: Sealing,
}

impl RestoreSecrets {
    pub(in crate::trackers) fn new(ledger: &Ledger, uid: &str, new: NewConfiguration) -> Self {
        Self {
            uid: uid.to_owned(),
            configuration: PreparedConfiguration::new(new),
            sealing: ledger.sealing().clone(),
        }
    }
}

impl Write for RestoreSecrets {
    type Group = ();
    type Answer = ();

    async fn execute(&self, (): &mut (), transaction: &mut Transaction<'_>) -> Result<(), Error> {
        let (uid, configuration) = (&self.uid, &self.configuration);
        if configuration.is_forgotten(transaction, uid).await? {
            configuration.store(transaction, &self.sealing, uid).await?;
        }
        Ok(())
    }
}

/// Counts what is sealed.
pub(in crate::trackers) async fn sealed_secrets(
    session: &mut Session,
) -> Result<SealedSecrets, Error> {
    let names = sql("select name from tracker \
         where token <> 'forgotten' and deleted is null order by name_key");
    let names: Vec<(String,)> = session.all(names).await?;
    let count = sql("select count(*) from configuration where secrets <> 'forgotten'");
    let (configurations,) = session.only::<(i64,)>(count).await?;
    Ok(SealedSecrets {
        tokens: names.into_iter().map(|(name,)| name).collect(),
        configurations: u64::try_from(configurations).unwrap_or_default(),
    })
}
