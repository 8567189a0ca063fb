use std::cell::RefCell;
use std::io;

use jiff::Timestamp;
use pathline_ledger::{Ledger, Permissions};
use pathline_server::{FirstToken, Secret, first_admin};

use crate::world::World;

/// Keeps secrets as the data directory does.
#[derive(Default)]
struct Keeper(RefCell<Option<Secret>>);

impl Keeper {
    async fn make_sure(&self, ledger: &Ledger, shared: bool) -> FirstToken {
        let kept = self.0.borrow().clone();
        let keep = |secret: &Secret| {
            self.0.replace(Some(secret.clone()));
            Ok(())
        };
        let first = first_admin(ledger, shared, kept.as_ref(), Timestamp::now(), keep);
        first.await.expect("the ledger answers")
    }
}

#[tokio::test]
async fn first_start_makes_an_admin_and_later_ones_keep_it() {
    let world = World::without_cluster().await;
    let keeper = Keeper::default();
    let FirstToken::Made(token) = keeper.make_sure(&world.ledger, false).await else {
        panic!("a token is made");
    };
    assert_eq!(
        (token.name.as_str(), token.permissions),
        ("admin", Permissions::ADMIN)
    );
    let secret = keeper.0.borrow().clone().expect("it is kept");
    let known = world
        .ledger
        .access()
        .token_by_hash(&secret.hash())
        .await
        .unwrap();
    assert_eq!(known.unwrap().name, "admin");

    let again = keeper.make_sure(&world.ledger, false).await;

    assert!(matches!(again, FirstToken::Kept), "{again:?}");
    assert_eq!(world.ledger.access().tokens().await.unwrap().len(), 1);
}

#[tokio::test]
async fn secret_that_is_lost_or_revoked_is_replaced_where_the_ledger_is_our_own() {
    let world = World::without_cluster().await;
    Keeper::default().make_sure(&world.ledger, false).await;

    let lost = Keeper::default();
    let made = lost.make_sure(&world.ledger, false).await;
    assert!(
        matches!(&made, FirstToken::Made(token) if token.name == "admin-2"),
        "{made:?}"
    );

    world
        .ledger
        .access()
        .revoke_token("admin-2", Timestamp::now())
        .await
        .unwrap();
    let made = lost.make_sure(&world.ledger, false).await;
    assert!(
        matches!(&made, FirstToken::Made(token) if token.name == "admin-3"),
        "{made:?}"
    );
}

#[tokio::test]
async fn in_a_shared_ledger_one_admin_is_enough() {
    let world = World::without_cluster().await;
    Keeper::default().make_sure(&world.ledger, true).await;

    let second = Keeper::default();
    let made = second.make_sure(&world.ledger, true).await;

    assert!(matches!(made, FirstToken::Elsewhere), "{made:?}");
    assert!(second.0.borrow().is_none());
    world
        .ledger
        .access()
        .revoke_token("admin", Timestamp::now())
        .await
        .unwrap();
    let made = second.make_sure(&world.ledger, true).await;
    assert!(
        matches!(made, FirstToken::Made(_)),
        "no admin was left: {made:?}"
    );
}

#[tokio::test]
async fn token_whose_secret_cannot_be_kept_is_not_made() {
    let world = World::without_cluster().await;
    let full = |_: &Secret| Err(io::Error::from(io::ErrorKind::StorageFull));
    let failed = first_admin(&world.ledger, false, None, Timestamp::now(), full).await;
    assert!(failed.is_err());
    assert!(world.ledger.access().tokens().await.unwrap().is_empty());
}
