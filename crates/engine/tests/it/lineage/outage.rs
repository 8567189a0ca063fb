//! The ledger is away for a while.

use pathline_ledger::{Ledger, Location};
use pathline_testkit::postgres::Server;
use serde_json::json;

use super::image_of;
use crate::world::World;

#[tokio::test]
async fn a_ledger_that_is_away_holds_nothing_up_and_misses_nothing() {
    let Some(postgres) = Server::start("lineage while PostgreSQL is away") else {
        return;
    };
    let world = World::remembering_in(&postgres).await;
    world.flow_as_in_the_seed().await;

    postgres.stop();
    world.apply_commit("0123abc").await;
    // Stamping goes on. What cannot be written down is not reported.
    world.clone_and_test("0123abc").await;
    world.build("0123abc", "cafe99").await;
    let resources = |owner: &serde_json::Value| owner["status"]["resources"].to_string();
    let is_known = |owner: &serde_json::Value| resources(owner).contains("cafe99");
    let owner = world
        .wait_for("Workload", "app", "with the image", is_known)
        .await;
    assert_eq!(owner["status"]["outputs"], image_of("abc123", "def567"));

    postgres.resume().unwrap();
    world
        .wait_outputs("Workload", image_of("cafe99", "0123abc"))
        .await;
    world
        .wait_input("source", json!({"value": "0123abc", "arrived": true}))
        .await;
    world.end().await;
}

impl World {
    /// Starts an embedded cluster with an engine that writes down in PostgreSQL.
    pub(super) async fn remembering_in(postgres: &Server) -> Self {
        let mut world = Self::embedded().await;
        world.stop_engine().await;
        let ledger = Ledger::open(&Location::Postgres(postgres.database())).await;
        let local = std::mem::replace(&mut world.ledger, ledger.unwrap());
        local.close().await;
        world.start_engine();
        world
    }
}
