//! The owners of the changes that are written together.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use jiff::Timestamp;

use super::super::change::{OwnerRef, What};
use super::derivations::Derivations;
use crate::database::{Rows, Session, from_row, sql_of_parts};
use crate::error::Error;
use crate::rows::unreadable;
use crate::topic::Topic;
use crate::writer::Transaction;

const INSERT: Rows = Rows {
    before: "insert into owner (uid, kind, namespace, name, lineage, known, changed) values ",
    columns: 7,
    after: " returning id, uid, lineage, known, gone",
};

const UPDATE: Rows = Rows {
    before: "update owner set lineage = new.column2, known = new.column3, changed = new.column4, \
             gone = new.column5 from (values ",
    columns: 5,
    after: ") new where owner.id = new.column1",
};

/// The owners that this transaction is about, as they are and as they will be.
#[derive(Default)]
pub(super) struct Owners {
    by_uid: HashMap<String, Owner>,
}

/// An owner; its lineage is empty before its first change.
pub(super) struct Owner {
    pub(super) row: Row,
    pub(super) derivations: Derivations,
    /// The sequence of the last of its changes in this transaction.
    pub(super) changed: Option<i64>,
}

from_row! {
    /// An owner in the tables.
    pub(super) struct Row {
        pub(super) id: i64,
        uid: String,
        pub(super) lineage: String,
        pub(super) known: i64,
        pub(super) gone: Option<i64>,
    }
}

impl Owner {
    /// Records that this owner has changed.
    pub(super) async fn record_change(
        &mut self,
        transaction: &mut Transaction<'_>,
        time: Timestamp,
        what: &What,
    ) -> Result<(), Error> {
        let subject = (Topic::Lineage, self.row.uid.as_str());
        let sequence = transaction.record_change(subject, time, what).await?;
        self.changed = Some(sequence);
        Ok(())
    }
}

impl Owners {
    /// Reads what is known of owners, and begins with those that have a change and are not known.
    pub(super) async fn load(
        session: &mut Session,
        named: BTreeSet<String>,
        changing: BTreeSet<OwnerRef>,
    ) -> Result<Self, Error> {
        let uids: Vec<String> = named.into_iter().collect();
        let dialect = session.dialect();
        let asked = sql_of_parts(&[
            "select id, uid, lineage, known, gone from owner where uid ",
            dialect.is_in_first_words(),
        ]);
        let known: Vec<Row> = session.all(asked.bind(&dialect.words(&uids))).await?;
        let ids: Vec<i64> = known.iter().map(|row| row.id).collect();
        let mut current = Derivations::load(session, &ids).await?;
        let mut owners = Self::default();
        for row in known {
            let derivations = current.remove(&row.id);
            owners.add(row, derivations.unwrap_or_default());
        }
        owners.begin(session, changing).await?;
        Ok(owners)
    }

    /// Returns the owner of a uid, if it was loaded.
    pub(super) fn get(&mut self, uid: &str) -> Option<&mut Owner> {
        self.by_uid.get_mut(uid)
    }

    /// Returns the owner of a change.
    pub(super) fn of_change(
        &mut self,
        location: &Arc<str>,
        uid: &str,
    ) -> Result<&mut Owner, Error> {
        let owner = self.by_uid.get_mut(uid);
        owner.ok_or_else(|| unreadable(location, "uid"))
    }

    /// Writes those that have changed.
    pub(super) async fn write(self, session: &mut Session) -> Result<(), Error> {
        let owners = self.by_uid.into_values();
        let changed = owners.filter_map(|owner| Some((owner.row, owner.changed?)));
        let changed: Vec<(Row, i64)> = changed.collect();
        for (update, chunk) in UPDATE.chunks(&changed) {
            let update = chunk.iter().fold(update, |update, (row, sequence)| {
                update
                    .bind(row.id)
                    .bind(&row.lineage)
                    .bind(row.known)
                    .bind(*sequence)
                    .bind(row.gone)
            });
            session.run(update).await?;
        }
        Ok(())
    }

    async fn begin(
        &mut self,
        session: &mut Session,
        changing: BTreeSet<OwnerRef>,
    ) -> Result<(), Error> {
        let new = changing.into_iter();
        let new: Vec<OwnerRef> = new
            .filter(|owner| !self.by_uid.contains_key(&owner.uid))
            .collect();
        for (insert, chunk) in INSERT.chunks(&new) {
            let insert = chunk.iter().fold(insert, |insert, owner| {
                insert
                    .bind(&owner.uid)
                    .bind(&owner.kind)
                    .bind(&owner.namespace)
                    .bind(&owner.name)
                    .bind("")
                    .bind(i64::MIN)
                    .bind(0)
            });
            for row in session.all::<Row>(insert).await? {
                self.add(row, Derivations::default());
            }
        }
        Ok(())
    }

    fn add(&mut self, row: Row, derivations: Derivations) {
        let uid = row.uid.clone();
        let owner = Owner {
            row,
            derivations,
            changed: None,
        };
        self.by_uid.insert(uid, owner);
    }
}
