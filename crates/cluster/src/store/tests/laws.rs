//! The store against a model that remembers everything.

use pathline_testkit::cases;
use proptest::prelude::*;
use tokio::runtime::Runtime;

use super::*;

const LIMITS: Limits = Limits {
    events: 16,
    bytes: 1 << 20,
};

/// One thing to do to a store.
#[derive(Clone, Debug)]
enum Step {
    Put {
        key: usize,
        guess: Guess,
        content: u8,
    },
    Remove {
        key: usize,
        guess: Guess,
    },
    Reopen,
}

/// The expectation of a write about what it finds.
#[derive(Clone, Copy, Debug)]
enum Guess {
    Truth,
    Absent,
    Stale,
}

/// Everything that ever was.
#[derive(Default)]
struct Model {
    now: Contents,
    past: Vec<Contents>,
}

fn keys() -> Vec<Key> {
    let names = ["a", "a-b", "b"];
    let namespaces = ["", "left", "right"];
    namespaces
        .iter()
        .flat_map(|namespace| names.map(|name| mk_key(namespace, name)))
        .collect()
}

fn any_step() -> impl Strategy<Value = Step> {
    let key = 0..keys().len();
    let guess =
        prop_oneof![8 => Just(Guess::Truth), 1 => Just(Guess::Absent), 1 => Just(Guess::Stale)];
    prop_oneof![
        8 => (key.clone(), guess.clone(), 0..3_u8)
            .prop_map(|(key, guess, content)| Step::Put { key, guess, content }),
        3 => (key, guess).prop_map(|(key, guess)| Step::Remove { key, guess }),
        1 => Just(Step::Reopen),
    ]
}

impl Model {
    fn revision(&self) -> u64 {
        self.past.len() as u64
    }

    fn truth(&self, key: &Key) -> Expect {
        self.now
            .get(key)
            .map_or(Expect::Absent, |(revision, _)| Expect::Revision(*revision))
    }

    fn expect(&self, key: &Key, guess: Guess) -> Expect {
        match (guess, self.truth(key)) {
            (Guess::Truth, truth) => truth,
            (Guess::Absent, _) => Expect::Absent,
            (Guess::Stale, Expect::Revision(revision)) => Expect::Revision(revision - 1),
            (Guess::Stale, Expect::Absent) => Expect::Revision(1),
        }
    }

    /// Does what the store is to do. `None` as content removes. Returns the revision of the
    /// answer, or `None` for a conflict.
    fn write(&mut self, key: &Key, expect: Expect, content: Option<u8>) -> Option<u64> {
        let truth = self.truth(key);
        if truth != expect || (truth == Expect::Absent && content.is_none()) {
            return None;
        }
        let unchanged = match (self.now.get(key), content) {
            (Some((revision, old)), Some(new)) => (*old == new).then_some(*revision),
            _ => None,
        };
        if unchanged.is_some() {
            return unchanged;
        }
        self.past.push(self.now.clone());
        let revision = self.revision();
        match content {
            Some(content) => self.now.insert(key.clone(), (revision, content.into())),
            None => self.now.remove(key),
        };
        Some(revision)
    }

    fn at(&self, revision: u64) -> &Contents {
        let index = usize::try_from(revision).unwrap();
        self.past.get(index).unwrap_or(&self.now)
    }
}

async fn take(store: &Store, model: &mut Model, key: &Key, guess: Guess, content: Option<u8>) {
    let expect = model.expect(key, guess);
    let write = match content {
        Some(content) => put(key, expect, content),
        None => remove(key, expect),
    };
    let truth = model.truth(key);
    match (store.write(write).await, model.write(key, expect, content)) {
        (Ok(stored), Some(revision)) => {
            assert_eq!(stored.revision, revision);
            assert_eq!(
                stored.object()["metadata"]["resourceVersion"],
                revision.to_string()
            );
        }
        (Err(Refused::Conflict { current }), None) => {
            let found = current.map_or(Expect::Absent, |found| Expect::Revision(found.revision));
            assert_eq!(found, truth, "a conflict tells the current state");
        }
        (got, wanted) => panic!("{key}: {got:?} instead of {wanted:?}"),
    }
}

/// Compares what every kind of reader sees with the model.
fn compare(store: &Store, model: &Model) {
    assert_eq!(store.revision(), model.revision());
    let everything = store.list(&widgets(), None);
    assert_eq!(everything.revision, model.revision());
    assert_eq!(contents(&everything.items), model.now);
    assert!(
        everything.items.is_sorted_by_key(|item| item.key.clone()),
        "lists are in order"
    );
    for key in keys() {
        let found = store.get(&key).map(|stored| stored.revision);
        assert_eq!(found, model.now.get(&key).map(|(revision, _)| *revision));
    }
    let oldest_promised = model
        .revision()
        .saturating_sub(LIMITS.events as u64 * 15 / 16);
    for revision in 0..=model.revision() {
        match store.list_at(&widgets(), None, revision) {
            Ok(page) => assert_eq!(&contents(&page.items), model.at(revision), "at {revision}"),
            Err(_) => assert!(
                revision < oldest_promised,
                "{revision} was forgotten too early"
            ),
        }
        compare_watch(store, model, revision);
        compare_namespace(store, model, revision);
    }
}

fn compare_watch(store: &Store, model: &Model, after: u64) {
    let Ok(mut watch) = store.watch(&widgets(), None, after) else {
        assert!(
            store.list_at(&widgets(), None, after).is_err(),
            "lists and watches agree"
        );
        return;
    };
    let mut known = model.at(after).clone();
    let mut position = after;
    for event in drain(&mut watch).unwrap() {
        assert_eq!(
            event.revision(),
            position + 1,
            "no revision is left out or comes twice"
        );
        position = event.revision();
        follow(&mut known, &event);
    }
    assert_eq!(known, model.now, "replayed after {after}");
    assert_eq!(watch.position(), model.revision());
}

fn compare_namespace(store: &Store, model: &Model, revision: u64) {
    let of = |all: &Contents| -> Contents {
        let left = all.iter().filter(|(key, _)| &*key.namespace == "left");
        left.map(|(key, state)| (key.clone(), state.clone()))
            .collect()
    };
    assert_eq!(
        contents(&store.list(&widgets(), Some("left")).items),
        of(&model.now)
    );
    let Ok(page) = store.list_at(&widgets(), Some("left"), revision) else {
        return;
    };
    assert_eq!(contents(&page.items), of(model.at(revision)));
    let mut known = contents(&page.items);
    let mut watch = store.watch(&widgets(), Some("left"), revision).unwrap();
    for event in drain(&mut watch).unwrap() {
        follow(&mut known, &event);
    }
    assert_eq!(known, of(&model.now));
}

async fn run(steps: Vec<Step>) {
    let directory = tempfile::tempdir().unwrap();
    let mut store = open(directory.path(), LIMITS).await;
    let mut model = Model::default();
    let keys = keys();
    for step in steps {
        match step {
            Step::Put {
                key,
                guess,
                content,
            } => {
                take(&store, &mut model, &keys[key], guess, Some(content)).await;
            }
            Step::Remove { key, guess } => {
                take(&store, &mut model, &keys[key], guess, None).await;
            }
            Step::Reopen => {
                store.close().await;
                store = open(directory.path(), LIMITS).await;
            }
        }
        compare(&store, &model);
    }
    store.close().await;
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn the_store_does_what_the_model_does(steps in prop::collection::vec(any_step(), 1..60)) {
        Runtime::new().unwrap().block_on(run(steps));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_update_is_lost_when_many_write_the_same_object() {
    const TASKS: u64 = 8;
    const EACH: u64 = 40;
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), Limits::default()).await;
    let key = mk_key("", "counter");
    store.write(put(&key, Expect::Absent, 0)).await.unwrap();
    let tasks = (0..TASKS).map(|_| {
        let (store, key) = (store.clone(), key.clone());
        tokio::spawn(async move {
            let mut done = 0;
            while done < EACH {
                let current = store.get(&key).unwrap();
                let next = current.object()["content"].as_u64().unwrap() + 1;
                match store
                    .write(put(&key, Expect::Revision(current.revision), next))
                    .await
                {
                    Ok(_) => done += 1,
                    Err(Refused::Conflict { .. }) => {}
                    Err(refused) => panic!("{refused}"),
                }
            }
        })
    });
    futures::future::try_join_all(tasks).await.unwrap();
    let counter = store.get(&key).unwrap();
    assert_eq!(counter.object()["content"], TASKS * EACH);
    assert_eq!(counter.revision, TASKS * EACH + 1, "one revision a write");
    store.close().await;
}

#[tokio::test]
async fn history_is_bounded_by_bytes_too() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(
        directory.path(),
        Limits {
            events: 1000,
            bytes: 20_000,
        },
    )
    .await;
    let key = mk_key("", "large");
    let mut expect = Expect::Absent;
    for round in 0..50 {
        let content = format!("{round}{}", "x".repeat(1000));
        let stored = store.write(put(&key, expect, content)).await.unwrap();
        expect = Expect::Revision(stored.revision);
        let (_, bytes) = store.shared.state.read().kept();
        assert!(
            bytes <= 20_000 + 3_000,
            "{bytes} bytes after {round} writes"
        );
    }
    assert!(
        store.watch(&widgets(), None, 1).is_err(),
        "old events are forgotten"
    );
    assert!(
        store.watch(&widgets(), None, 48).is_ok(),
        "new ones are not"
    );
    store.close().await;
}

#[tokio::test]
async fn nothing_enters_a_namespace_that_is_missing_or_going_away() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), Limits::default()).await;
    let namespace = Key::new(&Collection::new("", "namespaces"), "", "shop");
    let key = mk_key("shop", "a");
    let enter = || Write {
        needs_namespace: true,
        ..put(&key, Expect::Absent, 1)
    };
    assert!(matches!(
        store.write(enter()).await,
        Err(Refused::NamespaceMissing)
    ));
    let made = store
        .write(put(&namespace, Expect::Absent, 1))
        .await
        .unwrap();
    let mut terminating = made.object().clone();
    terminating["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
    let terminate = Write {
        key: namespace.clone(),
        expect: Expect::Revision(made.revision),
        change: Change::Put(terminating),
        needs_namespace: false,
    };
    // Queued together, so that the second is checked against a state that is not on disk yet.
    let (terminated, entered) = tokio::join!(store.write(terminate), store.write(enter()));
    assert!(terminated.is_ok());
    assert!(matches!(entered, Err(Refused::NamespaceTerminating)));
    store.close().await;
}
