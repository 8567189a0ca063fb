//! Descriptions: what the image of a release says it was made from. A release does not wait for that.

use jiff::Timestamp;
use pathline_ledger::Ledger;
use pathline_ledger::releases::{ImageDescription, Undescribed};
use pathline_release::poll::{Ending, Failure};
use pathline_release::tracker::RegistryProblem;
use pathline_remote::registry::Description;

use super::followed::FollowedTracker;
use super::images::Images;
use super::outcome::Trouble;

/// The most releases of a tracker that are described in a round; the others follow in the next one.
const MAX_AT_ONCE: u32 = 16;

/// The next try to describe the releases of a tracker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Retry {
    /// The number of tries that failed.
    failures: u32,
    /// The time before which there is none; nothing if there may be one at once.
    not_before: Option<Timestamp>,
    /// The last failure, in words.
    pub(super) why: Option<String>,
}

impl Retry {
    /// Tells whether there may be a try.
    pub(super) fn is_due(&self, now: Timestamp) -> bool {
        self.not_before.is_none_or(|it| it <= now)
    }

    /// Returns the ending of a round of a tracker that would rest, were all its releases described.
    pub(super) fn ending(&self, now: Timestamp) -> Ending {
        Ending::Again(self.not_before.unwrap_or(now))
    }

    /// Notes that a try has failed; the wait doubles as that of polls does.
    fn fail(&mut self, ending: Ending, now: Timestamp) {
        let (failure, not_before) = match ending {
            Ending::Failed {
                failure,
                not_before,
            } => (failure, not_before),
            // The registry was not asked.
            Ending::Again(at) => {
                self.not_before = Some(at);
                return;
            }
            _ => (Failure::Passing, None),
        };
        let (_, wait) = failure.back_off(self.failures);
        let next = now.checked_add(wait).unwrap_or(Timestamp::MAX);
        self.failures = self.failures.saturating_add(1);
        self.not_before = Some(next.max(not_before.unwrap_or(next)));
    }
}

/// Reads what the images of a tracker's releases say, of those that nobody has read yet, and records it.
pub(super) async fn describe(
    ledger: &Ledger,
    images: &Images,
    tracker: &mut FollowedTracker,
    now: Timestamp,
) {
    let uid = tracker.stored.uid.clone();
    let mut failed: Option<Trouble<RegistryProblem>> = None;
    let undescribed = ledger.releases().undescribed(&uid, MAX_AT_ONCE).await;
    let undescribed = undescribed.unwrap_or_else(|error| {
        failed = Some(broken(&error));
        Vec::new()
    });
    let is_last = undescribed.len() < MAX_AT_ONCE as usize;
    for Undescribed { number, image } in undescribed {
        let recorded = match images.describe(tracker, &image).await {
            Ok(Description { revision, source }) => {
                let description = ImageDescription { revision, source };
                let described = ledger.releases().describe(&uid, number, description);
                described.await.map_err(|error| broken(&error))
            }
            Err(trouble) => Err(trouble),
        };
        if let Err(trouble) = recorded {
            let (name, why) = (&tracker.stored.name, &trouble.message);
            tracing::warn!("cannot read what release {number} of `{name}` was made from: {why}");
            // That one image is gone says nothing of the others.
            let is_gone = trouble.problem == RegistryProblem::NotFound;
            failed.get_or_insert(trouble);
            if !is_gone {
                break;
            }
        }
    }
    match failed {
        Some(trouble) => {
            tracker.description.fail(trouble.ending(), now);
            let why = &trouble.message;
            let told = format!("cannot read what the image was made from: {why}");
            tracker.description.why = Some(told);
        }
        None => {
            tracker.description = Retry::default();
            tracker.stored.is_undescribed = !is_last;
        }
    }
}

fn broken(error: &pathline_ledger::Error) -> Trouble<RegistryProblem> {
    Trouble {
        problem: RegistryProblem::Failed,
        message: error.to_string(),
        not_before: None,
        is_held: false,
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;

    #[test]
    fn wait_for_a_description_doubles_and_heeds_what_the_registry_wants() {
        let now = Timestamp::UNIX_EPOCH;
        let mut retry = Retry::default();
        assert!(retry.is_due(now));
        let failed = |not_before| Ending::Failed {
            failure: Failure::Passing,
            not_before,
        };
        for seconds in [5, 10, 20] {
            retry.fail(failed(None), now);
            let next = now + SignedDuration::from_secs(seconds);
            assert_eq!(retry.ending(now), Ending::Again(next));
            assert!(!retry.is_due(now) && retry.is_due(next));
        }
        let wanted = now + SignedDuration::from_hours(2);
        retry.fail(failed(Some(wanted)), now);
        assert_eq!(retry.ending(now), Ending::Again(wanted));
    }
}
