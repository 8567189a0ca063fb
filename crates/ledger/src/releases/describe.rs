//! Descriptions: what the images of releases say of themselves, which is read after a release is formed.

use pathline_release::{Image, Release};

use super::Releases;
use super::queues::number;
use crate::database::{from_row, sql};
use crate::error::Error;
use crate::rows::from_json;
use crate::writer::{Transaction, Write};

/// The origin of an image, as far as it says one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImageDescription {
    /// The commit that it was built from (`org.opencontainers.image.revision`).
    pub revision: Option<String>,
    /// The repository that it was built from (`org.opencontainers.image.source`).
    pub source: Option<String>,
}

/// A release whose image nobody has asked yet what it says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undescribed {
    /// The number of the release.
    pub number: u64,
    /// The image.
    pub image: Image,
}

from_row! {
    struct UndescribedRow {
        body: String,
    }
}

/// Records a description, unless there is one.
struct DescribeRelease {
    tracker_uid: String,
    number: u64,
    description: ImageDescription,
}

/// Descriptions
impl Releases<'_> {
    /// Returns releases of a tracker that nobody has described, the newest ones first.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn undescribed(
        self,
        tracker_uid: &str,
        limit: u32,
    ) -> Result<Vec<Undescribed>, Error> {
        let asked = sql(
            "select body from release where tracker_uid = $1 and not is_described \
             order by number desc limit $2",
        )
        .bind(tracker_uid)
        .bind(i64::from(limit));
        let database = self.ledger.database();
        let rows: Vec<UndescribedRow> = database.reader().await?.all(asked).await?;
        let read = |row: UndescribedRow| {
            let release: Release = from_json(database.location(), "release", &row.body)?;
            Ok(Undescribed {
                number: release.number,
                image: release.image,
            })
        };
        rows.into_iter().map(read).collect()
    }

    /// Records what the image of a release says of itself, also if that is nothing. It is recorded once: a release that
    /// is described stays as it is. The id of a release does not depend on it.
    ///
    /// # Errors
    /// If the ledger cannot be written to.
    pub async fn describe(
        self,
        tracker_uid: &str,
        number: u64,
        description: ImageDescription,
    ) -> Result<(), Error> {
        let describe = DescribeRelease {
            tracker_uid: tracker_uid.to_owned(),
            number,
            description,
        };
        self.ledger.write(describe).await
    }
}

impl Write for DescribeRelease {
    type Group = ();
    type Answer = ();

    async fn execute(&self, (): &mut (), transaction: &mut Transaction<'_>) -> Result<(), Error> {
        let number = number(transaction.location(), self.number)?;
        let update = sql(
            "update release set image_revision = $3, image_source = $4, is_described = true \
             where tracker_uid = $1 and number = $2 and not is_described",
        )
        .bind(&self.tracker_uid)
        .bind(number)
        .bind(self.description.revision.as_deref())
        .bind(self.description.source.as_deref());
        transaction.session().run(update).await.map(drop)
    }
}
