//! Environments that were deleted just now.

use std::collections::BTreeMap;
use std::time::Duration;

use parking_lot::Mutex;
use pathline_clock::instant;
use pathline_release::environment::EnvironmentObject;
use tokio::time::Instant;

/// The time for which a deleted Environment keeps its place. `kubectl replace --force`, and tools that prune and
/// apply, delete one and make it anew within seconds; what waits for it must not slip past meanwhile.
const GRACE: Duration = Duration::from_secs(15);

/// The Environments that were deleted within the grace time, by name.
#[derive(Default)]
pub(super) struct Departed(Mutex<BTreeMap<String, (EnvironmentObject, Instant)>>);

impl Departed {
    /// Takes note of an Environment that is there no more.
    pub(super) fn leave(&self, object: EnvironmentObject) {
        let until = instant() + GRACE;
        self.0.lock().insert(object.name.clone(), (object, until));
    }

    /// Takes note of one that is there.
    pub(super) fn come(&self, name: &str) {
        self.0.lock().remove(name);
    }

    /// Returns those that keep their places, and forgets the others.
    pub(super) fn all(&self) -> Vec<EnvironmentObject> {
        let mut departed = self.0.lock();
        let now = instant();
        departed.retain(|_, (_, until)| *until > now);
        departed.values().map(|(it, _)| it.clone()).collect()
    }

    /// Returns the instant at which the next one loses its place.
    pub(super) fn next_end(&self) -> Option<Instant> {
        self.0.lock().values().map(|(_, until)| *until).min()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn environment_keeps_its_place_for_a_while_unless_it_comes_back() {
        let departed = Departed::default();
        for name in ["dev", "prod"] {
            departed.leave(EnvironmentObject {
                name: name.to_owned(),
                created: None,
                spec: json!({"type": name}),
                is_terminating: false,
            });
        }
        let names = || {
            departed
                .all()
                .into_iter()
                .map(|it| it.name)
                .collect::<Vec<_>>()
        };
        assert_eq!(names(), ["dev", "prod"]);
        departed.come("dev");
        assert_eq!(names(), ["prod"]);
        tokio::time::sleep_until(departed.next_end().expect("one is there")).await;
        assert_eq!(names(), [""; 0]);
        assert_eq!(departed.next_end(), None);
    }
}
