//! Writes that share a transaction.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::Timestamp;
use pathline_testkit::postgres::Server;
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::{Notify, oneshot};

use super::{Group, Transaction, Write};
use crate::database::sql;
use crate::error::Error;
use crate::ledger::Ledger;
use crate::location::Location;
use crate::topic::Topic;

/// A write that does what the test says.
struct Played {
    subject: String,
    act: Act,
    executed: Arc<AtomicUsize>,
}

enum Act {
    /// Records a change of its subject.
    Change,
    /// Records a change of its subject, and then fails.
    Fail,
    /// Says that it is executed, and waits until it may go on.
    Wait(parking_lot::Mutex<Option<oneshot::Sender<()>>>, Arc<Notify>),
}

/// Counts who has joined.
#[derive(Default)]
struct Counted {
    joined: usize,
    loaded: usize,
}

impl Group for Counted {
    async fn load(&mut self, _: &mut Transaction<'_>) -> Result<(), Error> {
        self.loaded = self.joined;
        Ok(())
    }
}

impl Write for Played {
    type Group = Counted;
    type Answer = (String, usize);

    fn join(&self, group: &mut Counted) {
        group.joined += 1;
    }

    async fn execute(
        &self,
        group: &mut Counted,
        transaction: &mut Transaction<'_>,
    ) -> Result<(String, usize), Error> {
        self.executed.fetch_add(1, Ordering::Relaxed);
        if let Act::Wait(begun, go_on) = &self.act {
            let begun = begun.lock().take();
            begun.expect("it is executed once").send(()).unwrap();
            go_on.notified().await;
        } else {
            let subject = (Topic::Access, self.subject.as_str());
            let time = Timestamp::UNIX_EPOCH;
            transaction.record_change(subject, time, &json!({})).await?;
        }
        if matches!(self.act, Act::Fail) {
            let refused = sql("insert into no_such_table values (1)");
            transaction.session().run(refused).await?;
        }
        Ok((self.subject.clone(), group.loaded))
    }
}

struct Stage {
    /// The directory of the ledger, if that is a file.
    #[expect(dead_code, reason = "it is removed at the end")]
    directory: Option<TempDir>,
    ledger: Ledger,
    executed: Arc<AtomicUsize>,
}

impl Stage {
    async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let location = Location::File(directory.path().join("ledger.db"));
        Self {
            directory: Some(directory),
            ..Self::on(&location).await
        }
    }

    async fn on(location: &Location) -> Self {
        Self {
            directory: None,
            ledger: Ledger::open(location).await.unwrap(),
            executed: Arc::default(),
        }
    }

    fn played(&self, subject: &str, act: Act) -> Played {
        Played {
            subject: subject.to_owned(),
            act,
            executed: Arc::clone(&self.executed),
        }
    }

    /// Writes these in one batch: they wait behind a write that is under way.
    async fn write_together(&self, acts: Vec<(&str, Act)>) -> Vec<Result<(String, usize), Error>> {
        let go_on = Arc::new(Notify::new());
        let (begun, begins) = oneshot::channel();
        let wait = Act::Wait(Some(begun).into(), Arc::clone(&go_on));
        let first = self.played("first", wait);
        let mut writing = vec![tokio::spawn({
            let ledger = self.ledger.clone();
            async move { ledger.write(first).await }
        })];
        begins.await.unwrap();
        for (subject, act) in acts {
            let (ledger, write) = (self.ledger.clone(), self.played(subject, act));
            writing.push(tokio::spawn(async move { ledger.write(write).await }));
            // In this order, for each task runs until its write is in the queue.
            tokio::task::yield_now().await;
        }
        go_on.notify_one();
        let mut answers = Vec::new();
        for written in writing {
            answers.push(written.await.unwrap());
        }
        answers.split_off(1)
    }

    async fn subjects(&self) -> Vec<String> {
        let mut session = self.ledger.database().reader().await.unwrap();
        let asked = sql("select subject from change order by sequence");
        let rows: Vec<(String,)> = session.all(asked).await.unwrap();
        rows.into_iter().map(|(subject,)| subject).collect()
    }
}

#[tokio::test]
async fn writes_that_wait_are_committed_together_and_each_has_its_answer() {
    let stage = Stage::new().await;
    let mut topic = stage.ledger.subscribe(Topic::Access);
    let answers = stage
        .write_together(vec![
            ("a", Act::Change),
            ("b", Act::Change),
            ("c", Act::Change),
        ])
        .await;
    for (answer, subject) in answers.into_iter().zip(["a", "b", "c"]) {
        assert_eq!(
            answer.unwrap(),
            (subject.to_owned(), 3),
            "all have joined one group"
        );
    }
    assert_eq!(stage.subjects().await, ["a", "b", "c"]);
    topic.wait_for(|newest| *newest == 3).await.unwrap();
}

#[tokio::test]
async fn write_that_fails_fails_alone() {
    let stage = Stage::new().await;
    let answers = stage
        .write_together(vec![
            ("a", Act::Change),
            ("bad", Act::Fail),
            ("c", Act::Change),
        ])
        .await;
    let [a, bad, c] = answers.try_into().unwrap();
    assert!(matches!(bad, Err(Error::Refused { .. })), "{bad:?}");
    // Each in a transaction of its own, after the one of all was rolled back.
    assert_eq!(a.unwrap(), ("a".to_owned(), 1));
    assert_eq!(c.unwrap(), ("c".to_owned(), 1));
    assert_eq!(
        stage.subjects().await,
        ["a", "c"],
        "nothing of the failed one is left"
    );
    let executed = stage.executed.load(Ordering::Relaxed);
    assert_eq!(
        executed,
        1 + 2 + 3,
        "the first, two of the batch, each by itself"
    );
}

#[tokio::test]
async fn write_whose_caller_has_gone_away_is_written() {
    let stage = Stage::new().await;
    let mut topic = stage.ledger.subscribe(Topic::Access);
    let write = stage.played("a", Act::Change);
    let ledger = stage.ledger.clone();
    let mut writing = Box::pin(ledger.write(write));
    // Polled once: it is in the queue.
    assert!(poll_once(writing.as_mut()).await.is_none());
    drop(writing);
    topic.wait_for(|newest| *newest == 1).await.unwrap();
    assert_eq!(stage.subjects().await, ["a"]);
}

#[tokio::test]
async fn closed_ledger_takes_no_writes_and_has_written_those_it_took() {
    let stage = Stage::new().await;
    let writes = ["a", "b"].map(|subject| stage.played(subject, Act::Change));
    let [a, b] = writes.map(|write| stage.ledger.write(write));
    let (a, b, ()) = tokio::join!(a, b, stage.ledger.close());
    assert!(a.is_ok() && b.is_ok(), "{a:?} {b:?}");
    let late = stage.played("late", Act::Change);
    let late = stage.ledger.write(late).await;
    assert!(matches!(late, Err(Error::Closed)), "{late:?}");
}

#[tokio::test]
async fn process_that_stands_still_in_a_write_does_not_keep_others_from_writing() {
    let Some(server) = Server::shared("a frozen writer on PostgreSQL") else {
        return;
    };
    let location = Location::Postgres(server.database());
    let [frozen, other] = [Stage::on(&location).await, Stage::on(&location).await];
    let go_on = Arc::new(Notify::new());
    let (begun, begins) = oneshot::channel();
    let wait = Act::Wait(Some(begun).into(), Arc::clone(&go_on));
    let (ledger, write) = (frozen.ledger.clone(), frozen.played("frozen", wait));
    let writing = tokio::spawn(async move { ledger.write(write).await });
    begins.await.unwrap();
    // Writers come one after the other; whoever does not go on has lost its turn.
    let write = other.played("other", Act::Change);
    assert_eq!(other.ledger.write(write).await.unwrap().0, "other");
    go_on.notify_one();
    let late = writing.await.unwrap().unwrap_err();
    assert!(late.is_temporary(), "{late:?}");
    let write = frozen.played("again", Act::Change);
    assert_eq!(frozen.ledger.write(write).await.unwrap().0, "again");
    assert_eq!(other.subjects().await, ["other", "again"]);
}

/// Polls a future once; returns what it gives, if it is ready.
async fn poll_once<F: Future>(mut future: std::pin::Pin<&mut F>) -> Option<F::Output> {
    std::future::poll_fn(|context| match future.as_mut().poll(context) {
        std::task::Poll::Ready(output) => std::task::Poll::Ready(Some(output)),
        std::task::Poll::Pending => std::task::Poll::Ready(None),
    })
    .await
}
