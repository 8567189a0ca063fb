//! Environments say whether they can be used.

use serde_json::{Value, json};

use crate::world::{World, embedded_stories};

embedded_stories![
    stories::environment_says_whether_it_is_valid_and_all_that_is_wrong,
    stories::namespace_belongs_to_the_oldest_environment_until_that_is_gone,
    stories::status_that_is_true_is_not_written_again,
];

mod stories {
    use super::*;

    pub(super) async fn environment_says_whether_it_is_valid_and_all_that_is_wrong(
        world: &mut World,
    ) {
        world
            .apply_spec("Environment", "prod", json!({"type": "prod"}))
            .await;
        let prod = ready(world, "prod", ["Ready", "True", "Valid"]).await;
        assert_eq!(prod["status"]["observedGeneration"], 1);
        let since = prod["status"]["conditions"][0]["lastTransitionTime"].clone();
        let spec = json!({"type": "prod", "soak": "soon", "timeZone": "Mars/Phobos"});
        world.apply_spec("Environment", "prod", spec).await;
        let prod = ready(world, "prod", ["Ready", "False", "Invalid"]).await;
        let condition = &prod["status"]["conditions"][0];
        let message = condition["message"].as_str().unwrap_or_default();
        assert!(
            message.contains("spec.soak: ") && message.contains("spec.timeZone: "),
            "{message}"
        );
        assert_eq!(condition["observedGeneration"], 2);
        assert!(!since.is_null());
        world
            .apply_spec("Environment", "prod", json!({"type": "prod", "soak": "1h"}))
            .await;
        let prod = ready(world, "prod", ["Ready", "True", "Valid"]).await;
        assert_eq!(prod["status"]["observedGeneration"], 3);
    }

    pub(super) async fn namespace_belongs_to_the_oldest_environment_until_that_is_gone(
        world: &mut World,
    ) {
        // Two that are made in one second are told apart by their names.
        let spec = |kind| json!({"type": kind, "namespace": "shop"});
        world.apply_spec("Environment", "a-dev", spec("dev")).await;
        ready(world, "a-dev", ["Ready", "True", "Valid"]).await;
        world
            .apply_spec("Environment", "b-prod", spec("prod"))
            .await;
        let refused = ready(world, "b-prod", ["Ready", "False", "NamespaceTaken"]).await;
        let message = &refused["status"]["conditions"][0]["message"];
        assert!(
            message.as_str().is_some_and(|it| it.contains("`a-dev`")),
            "{message}"
        );
        world.delete("Environment", "a-dev").await;
        ready(world, "b-prod", ["Ready", "True", "Valid"]).await;
    }

    pub(super) async fn status_that_is_true_is_not_written_again(world: &mut World) {
        world
            .apply_spec("Environment", "dev", json!({"type": "dev"}))
            .await;
        let before = ready(world, "dev", ["Ready", "True", "Valid"]).await;
        world.stop_engine().await;
        world.start_engine();
        world
            .apply_spec("Environment", "later", json!({"type": "prod"}))
            .await;
        ready(world, "later", ["Ready", "True", "Valid"]).await;
        let after = world.get("Environment", "dev").await.unwrap_or_default();
        let version = |it: &Value| it["metadata"]["resourceVersion"].clone();
        assert_eq!(version(&after), version(&before));
    }

    async fn ready(world: &World, name: &str, condition: [&str; 3]) -> Value {
        world.wait_condition("Environment", name, condition).await
    }
}
