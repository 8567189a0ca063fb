//! Configurations: what the application file said when a release was formed.

use pathline_release::application::Secrets;

use super::Releases;
use super::stored::StoredConfiguration;
use crate::database::{from_row, sql};
use crate::error::Error;
use crate::rows::{from_json, unreadable};
use crate::sealing::{FORGOTTEN, SECRETS};

from_row! {
    struct Row {
        document: String,
        secrets: Option<String>,
    }
}

/// Configurations
impl Releases<'_> {
    /// Returns the configuration of a tracker with a hash, its secrets opened.
    ///
    /// # Errors
    /// [`Error::NoSealKey`] or [`Error::WrongSealKey`] if it has secrets that cannot be opened.
    pub async fn configuration(
        self,
        tracker_uid: &str,
        config_hash: &str,
    ) -> Result<Option<StoredConfiguration>, Error> {
        let asked = sql("select document, secrets from configuration \
             where tracker_uid = $1 and config_hash = $2")
        .bind(tracker_uid)
        .bind(config_hash);
        let row: Option<Row> = self.ledger.database().reader().await?.first(asked).await?;
        let Some(row) = row else {
            return Ok(None);
        };
        let location = self.ledger.database().location();
        let has_lost_secrets = row.secrets.as_deref() == Some(FORGOTTEN);
        let secrets = match &row.secrets {
            None => Secrets::default(),
            Some(_) if has_lost_secrets => Secrets::default(),
            Some(sealed) => {
                let cell = SECRETS.of(tracker_uid, config_hash);
                let opened = self.ledger.sealing().open(sealed, &cell)?;
                let secrets = Secrets::from_json(opened.reveal());
                secrets.map_err(|_| unreadable(location, "configuration"))?
            }
        };
        Ok(Some(StoredConfiguration {
            document: from_json(location, "configuration", &row.document)?,
            secrets,
            has_lost_secrets,
        }))
    }
}
