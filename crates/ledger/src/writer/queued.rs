//! Writes of any kind in one queue.

use tokio::sync::oneshot;

use super::group::Groups;
use super::{BoxFuture, Transaction, Write};
use crate::error::Error;

/// A write of any kind, with the caller who waits for its answer.
pub(crate) trait Job: Send {
    /// As [`Write::bytes`].
    fn bytes(&self) -> usize;

    /// As [`Write::join`], with the group of its kind.
    fn join(&self, groups: &mut Groups);

    /// As [`Write::execute`]; the answer is kept until the transaction is committed.
    fn execute<'a>(
        &'a mut self,
        groups: &'a mut Groups,
        transaction: &'a mut Transaction<'_>,
    ) -> BoxFuture<'a, Result<(), Error>>;

    /// Answers the caller with what became of the transaction.
    fn answer(self: Box<Self>, outcome: Result<(), Error>);
}

type Answered<W> = oneshot::Receiver<Result<<W as Write>::Answer, Error>>;

/// Returns a write as a job for the queue, and where its answer will come.
pub(crate) fn queue<W: Write>(write: W) -> (Box<dyn Job>, Answered<W>) {
    let (caller, answered) = oneshot::channel();
    let job = Queued {
        write,
        answer: None,
        caller,
    };
    (Box::new(job), answered)
}

struct Queued<W: Write> {
    write: W,
    answer: Option<W::Answer>,
    caller: oneshot::Sender<Result<W::Answer, Error>>,
}

impl<W: Write> Job for Queued<W> {
    fn bytes(&self) -> usize {
        self.write.bytes()
    }

    fn join(&self, groups: &mut Groups) {
        self.write.join(groups.of());
    }

    fn execute<'a>(
        &'a mut self,
        groups: &'a mut Groups,
        transaction: &'a mut Transaction<'_>,
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async {
            let answer = self.write.execute(groups.of(), transaction).await?;
            self.answer = Some(answer);
            Ok(())
        })
    }

    fn answer(self: Box<Self>, outcome: Result<(), Error>) {
        let Self { answer, caller, .. } = *self;
        let answer = outcome.map(|()| answer.expect("a committed write was executed"));
        // Nobody listens if the caller has gone away.
        let _ = caller.send(answer);
    }
}
