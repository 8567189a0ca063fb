//! The confirmation of an answer: the objects that are read before it is given, and the meaning of a difference.
//!
//! A verdict that ends a wait must be about the present. The lineage that it was judged on is as old as the last
//! reconcile of its owner; a new generation of the owner wakes whoever waits, but a change of its blueprint, of a
//! template, of a final object or on the other side of git does not. So these are read, and compared with what the
//! lineage was made with. Whatever differs is about to be reconciled: the wait goes on until it was.
//!
//! Nothing here reads anything, so that the model can play all of it.

mod deliveries;
mod final_objects;
mod owner_generation;
mod processes;
mod used_objects;

pub use self::deliveries::{ConfirmedDelivery, DeliveryVersion};
pub use self::final_objects::{FinalObject, ObjectMetadata};
pub use self::owner_generation::OwnerGeneration;
pub use self::processes::ConfirmedProcess;
pub use self::used_objects::UsedObject;

use super::{Impossible, Verdict, Waiter};
use crate::clauses::Clause;
use crate::owner_lineage::OwnerLineage;

/// The objects that are read before a verdict is told, each with what the lineage knows of it.
///
/// Each says by its `difference` whether what was found keeps the verdict from being told.
#[derive(Clone, Debug, Default)]
pub struct Confirmation<'l> {
    /// The owner, if it may say again what was superseded. Nothing else is read then.
    pub owner: Option<OwnerGeneration>,
    /// The blueprint and the templates.
    pub used: Vec<UsedObject<'l>>,
    /// The processes that ran, if they have to.
    pub processes: Vec<ConfirmedProcess<'l>>,
    /// The deliveries of what the owner wrote, if it has to run.
    pub deliveries: Vec<ConfirmedDelivery<'l>>,
    /// The objects of final resources. They are read last, and only if nothing else differs.
    pub finals: Vec<FinalObject<'l>>,
}

impl Waiter {
    /// Returns the objects that have to be read before a verdict on a lineage is told: none for one that leaves it
    /// open.
    pub fn confirmation<'l>(
        &self,
        lineage: &'l OwnerLineage,
        verdict: &Verdict,
    ) -> Confirmation<'l> {
        let asks = |clause| !lineage.state.clauses().is_dropped(clause);
        match verdict {
            Verdict::Waiting(_) => Confirmation::default(),
            // Whatever the path is made of by now, only the owner can bring the value back.
            Verdict::Impossible(Impossible::Superseded { .. }) => Confirmation {
                owner: asks(Clause::NewerOwner).then(|| OwnerGeneration::of(lineage)),
                ..Confirmation::default()
            },
            Verdict::Impossible(_) | Verdict::Unproven(_) => self.of_reconcile(lineage),
            // What somebody did to a final object can only take back that it is there.
            Verdict::Holds(_) => {
                let finals = asks(Clause::FinalObjects).then(|| FinalObject::all(lineage));
                Confirmation {
                    finals: finals.unwrap_or_default(),
                    ..self.of_reconcile(lineage)
                }
            }
        }
    }

    /// Returns what the last reconcile was made with and, if it has to run, what it found running.
    fn of_reconcile<'l>(&self, lineage: &'l OwnerLineage) -> Confirmation<'l> {
        let asks = |clause| !lineage.state.clauses().is_dropped(clause);
        let asks_live = |clause| self.options.live && asks(clause);
        let used = asks(Clause::Confirmed).then(|| UsedObject::all(&lineage.used));
        let processes = asks_live(Clause::Processes).then(|| ConfirmedProcess::all(lineage));
        let deliveries = asks_live(Clause::Deliveries).then(|| ConfirmedDelivery::all(lineage));
        Confirmation {
            used: used.unwrap_or_default(),
            processes: processes.unwrap_or_default(),
            deliveries: deliveries.unwrap_or_default(),
            ..Confirmation::default()
        }
    }
}
