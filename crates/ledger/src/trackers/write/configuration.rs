//! The write of a configuration, with its secrets sealed.

use pathline_release::application::Secrets;
use pathline_release::tracker::Tracker;

use super::super::stored::NewConfiguration;
use super::json;
use crate::database::sql;
use crate::error::Error;
use crate::sealed::SecretText;
use crate::sealing::{SECRETS, Sealing};
use crate::writer::Transaction;

/// A configuration, made ready to be stored.
pub(super) struct PreparedConfiguration {
    config_hash: String,
    document: String,
    secrets: Secrets,
}

impl PreparedConfiguration {
    pub(super) fn new(new: NewConfiguration) -> Self {
        Self {
            document: json(&new.document),
            config_hash: new.config_hash,
            secrets: new.secrets,
        }
    }

    pub(super) fn has_secrets(&self) -> bool {
        !self.secrets.is_empty()
    }

    pub(super) fn bytes(&self) -> usize {
        self.document.len()
    }

    /// Tells whether it is there, without the secrets that it had.
    pub(super) async fn is_forgotten(
        &self,
        transaction: &mut Transaction<'_>,
        uid: &str,
    ) -> Result<bool, Error> {
        let asked = sql("select count(*) from configuration \
             where tracker_uid = $1 and config_hash = $2 and secrets = 'forgotten'");
        let asked = asked.bind(uid).bind(&self.config_hash);
        Ok(transaction.session().only::<(i64,)>(asked).await?.0 > 0)
    }

    /// Stores the configuration of a tracker, unless it is there, with its secrets.
    pub(super) async fn store(
        &self,
        transaction: &mut Transaction<'_>,
        sealing: &Sealing,
        uid: &str,
    ) -> Result<(), Error> {
        let is_there = sql("select count(*) from configuration \
             where tracker_uid = $1 and config_hash = $2 \
             and (secrets is null or secrets <> 'forgotten')");
        let is_there = is_there.bind(uid).bind(&self.config_hash);
        if transaction.session().only::<(i64,)>(is_there).await?.0 > 0 {
            return Ok(());
        }
        let sealed = match self.has_secrets() {
            false => None,
            true => {
                let secrets = SecretText::new(self.secrets.to_json().as_str());
                let cell = SECRETS.of(uid, &self.config_hash);
                Some(sealing.seal(transaction, &secrets, &cell).await?)
            }
        };
        let insert = sql(
            "insert into configuration (tracker_uid, config_hash, document, secrets) \
             values ($1, $2, $3, $4) \
             on conflict (tracker_uid, config_hash) do update set secrets = excluded.secrets",
        )
        .bind(uid)
        .bind(&self.config_hash)
        .bind(&self.document)
        .bind(sealed.as_deref());
        transaction.session().run(insert).await.map(drop)
    }

    /// Forgets the configurations of a tracker that were never released, and that nothing waits with any more.
    pub(super) async fn forget_unused(
        transaction: &mut Transaction<'_>,
        uid: &str,
        state: &Tracker,
    ) -> Result<(), Error> {
        let source = state.source().map(|it| it.config_hash.as_str());
        let pending = state.pending();
        let pending = pending.map(|it| it.configuration.config_hash.as_str());
        let delete = sql("delete from configuration where tracker_uid = $1 \
             and config_hash <> $2 and config_hash <> $3 \
             and config_hash not in (select config_hash from release where tracker_uid = $1)")
        .bind(uid)
        .bind(source.unwrap_or_default())
        .bind(pending.unwrap_or_default());
        transaction.session().run(delete).await.map(drop)
    }
}
