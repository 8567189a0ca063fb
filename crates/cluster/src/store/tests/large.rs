//! Objects that are larger than a store takes, and those that it took before it had a limit.

use super::failure::connect;
use super::*;
use crate::store::MAX_OBJECT_BYTES;

/// Returns a content that makes the text of a widget about so long.
fn mk_content(bytes: usize) -> String {
    "x".repeat(bytes)
}

#[tokio::test]
async fn hole_9_an_object_over_the_limit_is_refused_and_the_old_state_stays() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), Limits::default()).await;
    let key = mk_key("", "a");
    let small = mk_content(MAX_OBJECT_BYTES - 1000);
    let stored = store
        .write(put(&key, Expect::Absent, small))
        .await
        .expect("it is below the limit");
    assert!(stored.body.len() <= MAX_OBJECT_BYTES);

    let grown = put(
        &key,
        Expect::Revision(stored.revision),
        mk_content(MAX_OBJECT_BYTES),
    );
    let refused = store.write(grown).await.unwrap_err();
    assert!(matches!(refused, Refused::TooLarge), "{refused}");
    assert_eq!(store.get(&key).unwrap().revision, stored.revision);
    assert_eq!(store.revision(), stored.revision, "no revision was made");
    store.close().await;
}

/// Puts an object of an older store into the database: larger than it may be today.
async fn mk_old_giant(directory: &Path, key: &Key) {
    let store = open(directory, Limits::default()).await;
    store.write(put(key, Expect::Absent, 1)).await.unwrap();
    store.close().await;
    let mut giant = mk_widget(key, mk_content(2 * MAX_OBJECT_BYTES));
    giant["metadata"]["resourceVersion"] = "1".into();
    let mut other = connect(directory).await;
    sqlx::query("UPDATE log SET body = ?")
        .bind(giant.to_string().into_bytes())
        .execute(&mut other)
        .await
        .unwrap();
    sqlx::Connection::close(other).await.unwrap();
}

#[tokio::test]
async fn hole_9_an_object_of_an_older_store_loads_does_not_grow_and_can_be_deleted() {
    let directory = tempfile::tempdir().unwrap();
    let key = mk_key("", "giant");
    mk_old_giant(directory.path(), &key).await;
    let store = open(directory.path(), Limits::default()).await;
    let giant = store.get(&key).unwrap();
    assert!(giant.body.len() > MAX_OBJECT_BYTES, "it is loaded");

    let grown = put(
        &key,
        Expect::Revision(giant.revision),
        mk_content(2 * MAX_OBJECT_BYTES + 10),
    );
    let refused = store.write(grown).await.unwrap_err();
    assert!(matches!(refused, Refused::TooLarge), "{refused}");

    let mut leaving = giant.object().clone();
    leaving["metadata"]["deletionTimestamp"] = "2027-01-15T08:00:00Z".into();
    let marked = Write {
        change: Change::Put(leaving),
        ..put(&key, Expect::Revision(giant.revision), 1)
    };
    let marked = store.write(marked).await.expect("it may be deleted");
    let gone = remove(&key, Expect::Revision(marked.revision));
    store.write(gone).await.expect("and be gone");
    store.close().await;
}
