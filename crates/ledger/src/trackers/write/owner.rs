//! Names of the objects that trackers have in clusters: two trackers must not write the same ones.

use pathline_release::{TrackerName, owner_name};

use crate::database::{from_row, sql};
use crate::error::Error;
use crate::rows::from_word;
use crate::writer::Transaction;

from_row! {
    struct Row {
        uid: String,
        name: String,
    }
}

/// Returns the tracker whose objects have a name, if there is one.
pub(super) async fn find(
    transaction: &mut Transaction<'_>,
    owner_name: &str,
) -> Result<Option<TrackerName>, Error> {
    fill_in(transaction).await?;
    // Earlier versions have let two of them be made; the one that was first is named.
    let asked = sql(
        "select uid, name from tracker where owner_name = $1 and deleted is null \
         order by created, uid limit 1",
    );
    let row: Option<Row> = transaction.session().first(asked.bind(owner_name)).await?;
    let read = |row: Row| from_word(transaction.location(), "name of a tracker", &row.name);
    row.map(read).transpose()
}

/// Names the objects of trackers that an earlier version has made: SQL cannot.
async fn fill_in(transaction: &mut Transaction<'_>) -> Result<(), Error> {
    let asked = sql("select uid, name from tracker where owner_name is null and deleted is null");
    for row in transaction.session().all::<Row>(asked).await? {
        let name = from_word(transaction.location(), "name of a tracker", &row.name)?;
        let update = sql("update tracker set owner_name = $2 where uid = $1");
        let update = update.bind(&row.uid).bind(&owner_name(&name));
        transaction.session().run(update).await?;
    }
    Ok(())
}
