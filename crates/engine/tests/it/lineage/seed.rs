//! The example of RFC 0014, literally.

use serde_json::json;

use super::{image_of, input};
use crate::world::World;

pub(crate) async fn an_image_shows_the_source_it_is_made_of(world: &mut World) {
    world.apply_seed_chain().await;
    world.apply_commit("def567").await;
    world.clone_and_test("def567").await;
    world.build("def567", "abc123").await;
    let owner = world
        .wait_outputs(
            "Workload",
            json!([{
                "type": "image",
                "value": "abc123",
                "passed": ["image-builder"],
                "from": [{
                    "type": "source",
                    "value": "def567",
                    "url": "https://git.example/app",
                    "evidence": "generation",
                    "passed": ["workload", "source-cloner", "unit-tester"],
                }],
            }]),
        )
        .await;
    assert_eq!(owner["status"]["outputs"], image_of("abc123", "def567"));
    let arrived = |value: &str| json!({"value": value, "arrived": true, "live": "Unknown"});
    for (name, value) in [
        ("source", "def567"),
        ("field:spec.source.git.ref.commit", "def567"),
        ("field:spec.source.git.url", "https://git.example/app"),
    ] {
        let mut expected = arrived(value);
        expected["name"] = json!(name);
        assert_eq!(input(&owner, name), expected);
    }
}
