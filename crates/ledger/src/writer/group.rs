//! State that the writes of one kind share within a transaction.

use std::any::Any;
use std::future::Future;

use super::{BoxFuture, Transaction};
use crate::error::Error;

/// State that the writes of one kind share within a transaction, so that many of them cost few
/// statements: what they are about is read for all of them at once, and what can wait is written
/// for all of them at once.
pub(crate) trait Group: Default + Send + 'static {
    /// Reads what the writes have named; called after all have joined, before the first is executed.
    fn load(
        &mut self,
        _transaction: &mut Transaction<'_>,
    ) -> impl Future<Output = Result<(), Error>> + Send {
        async { Ok(()) }
    }

    /// Writes what the writes have left; called after the last was executed.
    fn flush(
        &mut self,
        _transaction: &mut Transaction<'_>,
    ) -> impl Future<Output = Result<(), Error>> + Send {
        async { Ok(()) }
    }
}

/// Nothing to share.
impl Group for () {}

/// The groups of a transaction, in the order in which they were joined.
#[derive(Default)]
pub(crate) struct Groups {
    joined: Vec<Box<dyn AnyGroup>>,
}

impl Groups {
    /// Returns the group of a kind, which is made when it is asked for first.
    pub(super) fn of<G: Group>(&mut self) -> &mut G {
        let mut joined = self.joined.iter().map(|group| -> &dyn Any { &**group });
        let known = joined.position(|group| group.is::<G>());
        let index = known.unwrap_or_else(|| {
            self.joined.push(Box::new(G::default()));
            self.joined.len() - 1
        });
        let group: &mut dyn Any = &mut *self.joined[index];
        group.downcast_mut().expect("it was found by its type")
    }

    pub(super) async fn load(&mut self, transaction: &mut Transaction<'_>) -> Result<(), Error> {
        for group in &mut self.joined {
            group.load(transaction).await?;
        }
        Ok(())
    }

    pub(super) async fn flush(&mut self, transaction: &mut Transaction<'_>) -> Result<(), Error> {
        for group in &mut self.joined {
            group.flush(transaction).await?;
        }
        Ok(())
    }
}

/// A group of any kind.
trait AnyGroup: Any + Send {
    fn load<'a>(
        &'a mut self,
        transaction: &'a mut Transaction<'_>,
    ) -> BoxFuture<'a, Result<(), Error>>;

    fn flush<'a>(
        &'a mut self,
        transaction: &'a mut Transaction<'_>,
    ) -> BoxFuture<'a, Result<(), Error>>;
}

impl<G: Group> AnyGroup for G {
    fn load<'a>(
        &'a mut self,
        transaction: &'a mut Transaction<'_>,
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(Group::load(self, transaction))
    }

    fn flush<'a>(
        &'a mut self,
        transaction: &'a mut Transaction<'_>,
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(Group::flush(self, transaction))
    }
}
