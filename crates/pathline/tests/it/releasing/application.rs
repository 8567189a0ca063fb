//! An application that is released: its repository, and the registry that its images are pushed to.

use pathline_testkit::registry::{Crane, RealRegistry};
use serde_json::{Value, json};

use crate::tracking::registry;
use crate::tracking::repository::Repository;
use crate::tracking::world::{Config, World};

/// A secret that every configuration has, and says twice.
pub(super) const PASSWORD: &str = "hunter2SENTINELhunter2";

/// An application, `web` of a group, its repository and its registry.
pub(super) struct Application {
    repository: Repository,
    registry: &'static RealRegistry,
    crane: Crane,
    group: &'static str,
    pub(super) id: String,
}

impl Application {
    /// Makes the application of a group, without a configuration and without an image.
    pub(super) fn of(suite: &str, group: &'static str) -> Option<Self> {
        let (registry, crane) = registry(suite)?;
        Some(Self {
            repository: Repository::with(""),
            registry,
            crane,
            group,
            id: format!("{group}.web"),
        })
    }

    /// Returns the configuration of a Pathline that follows it.
    pub(super) fn config(&self) -> Config {
        Config::of(&[&self.repository], &[self.registry.host()])
    }

    /// Lets a Pathline follow it.
    pub(super) fn follow(&self, world: &World) {
        world.follow(&self.id, &self.repository);
    }

    /// Returns the name of the Workload that it has in each environment.
    pub(super) fn owner(&self) -> String {
        format!("{}-web", self.group)
    }

    /// Returns an image of it by its digest.
    pub(super) fn image(&self, digest: &str) -> String {
        format!("{}@{digest}", self.images())
    }

    fn images(&self) -> String {
        format!("{}/{}/web", self.registry.host(), self.group)
    }

    /// Commits another configuration: a command, and a greeting that differs in prod.
    pub(super) fn configure(&self, command: &str, greeting: &str) -> String {
        self.commit(&json!({
            "group": {"repository": {"image": {"domain": self.registry.host()}}},
            "web": {
                "version": "latest",
                "environment": {
                    "variable": {"COMMAND": command, "GREETING": greeting, "DB_PASSWORD": PASSWORD, "COPY": PASSWORD},
                    "file": {"config": {"app": {"mountPath": "/app", "data": [{"name": "a.ini", "value": greeting}]}}},
                },
                "in": {"prod": {"environment": {
                    "variable": {"GREETING": format!("{greeting}-prod")},
                    "file": {"config": {"app": {"mountPath": "/app", "data": [{"name": "a.ini", "value": format!("{greeting}-prod")}]}}},
                }}},
            },
        }))
    }

    /// Commits a group with all that it has.
    pub(super) fn commit(&self, group: &Value) -> String {
        // JSON is YAML.
        self.repository
            .commit(&json!({ self.group: group }).to_string())
    }

    /// Returns the host of the registry.
    pub(super) fn host(&self) -> &str {
        self.registry.host()
    }

    /// Pushes an image, and returns its digest.
    pub(super) fn push(&self, content: &str) -> String {
        let image = |tag| format!("{}:{tag}", self.images());
        // Pushed in steps, and tagged in one: no poll sees half of it.
        let digest = self.crane.push(&image("build"), &[("content", content)]);
        self.crane.run(&["tag", &image("build"), "latest"]);
        digest
    }
}
