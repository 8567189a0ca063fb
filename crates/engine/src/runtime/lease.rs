//! Leader election by a Lease: of several engines on one cluster, one acts.
//!
//! A leader renews its Lease often and stops acting well before the Lease could be taken by another:
//! both measure from their own clock, so it does not matter how far these are apart.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, Client};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::runtime::calls::{self, call};
use crate::runtime::clock::Clock;

/// The number of attempts to give a Lease up.
const MAX_RELEASES: usize = 5;

/// The Lease at which a leader is elected, and the times that apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Election {
    /// The namespace of the Lease.
    pub namespace: String,
    /// The name of the Lease.
    pub name: String,
    /// The identity of this engine; no two engines may have the same.
    pub identity: String,
    /// The time without a renewal after which another may take the Lease.
    pub duration: Duration,
    /// The time that a leader acts without having renewed. Must be shorter than `duration`.
    pub deadline: Duration,
    /// The interval at which a leader renews, and others read the Lease.
    pub interval: Duration,
}

impl Election {
    /// Elects at this Lease, with the times that Kubernetes uses for its own controllers.
    pub fn new(namespace: &str, name: &str, identity: &str) -> Self {
        Self {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            identity: identity.to_owned(),
            duration: Duration::from_secs(15),
            deadline: Duration::from_secs(10),
            interval: Duration::from_secs(2),
        }
    }
}

/// One who leads, or would like to.
pub(crate) struct Candidate {
    api: Api<Lease>,
    election: Election,
    /// The Lease as it was last seen to change, and when.
    observed: Option<(Lease, Instant)>,
    /// The time at which we last asked for the Lease and got it. The answer may be late, but
    /// another counts from when the Lease was written, which is after that.
    renewed: Instant,
    clock: Clock,
}

/// The next step about a Lease.
#[derive(Debug, PartialEq)]
enum Step {
    /// Nobody has ever led.
    Create,
    /// It is ours, or free, or its holder is silent.
    Take,
    /// Somebody leads.
    Wait,
}

impl Candidate {
    pub(crate) fn new(client: Client, election: Election, clock: Clock) -> Self {
        Self {
            api: Api::namespaced(client, &election.namespace),
            election,
            observed: None,
            renewed: clock.instant(),
            clock,
        }
    }

    /// Waits until we lead; false if told to stop before.
    pub(crate) async fn win(&mut self, stop: &CancellationToken) -> bool {
        while !stop.is_cancelled() {
            match self.try_take().await {
                Ok(true) => {
                    tracing::info!(lease = self.election.name, "leads");
                    return true;
                }
                Ok(false) => {}
                Err(error) => {
                    let error = error.message();
                    tracing::warn!(lease = self.election.name, error, "the lease was not taken");
                }
            }
            let pause = tokio::time::sleep(self.election.interval);
            stop.run_until_cancelled(pause).await;
        }
        false
    }

    /// Renews until we lead no longer.
    pub(crate) async fn hold(&mut self) {
        loop {
            let end = self.renewed + self.election.deadline;
            let renewing = async {
                tokio::time::sleep(self.election.interval).await;
                self.try_take().await
            };
            match tokio::time::timeout_at(end, renewing).await {
                Ok(Ok(true)) => {}
                Ok(Ok(false)) | Err(_) => break,
                Ok(Err(error)) => {
                    let error = error.message();
                    tracing::warn!(
                        lease = self.election.name,
                        error,
                        "the lease was not renewed"
                    );
                }
            }
        }
        tracing::warn!(lease = self.election.name, "leads no longer");
    }

    /// Gives the Lease up, so that the next one need not wait.
    pub(crate) async fn release(&mut self) {
        let mut attempts = MAX_RELEASES;
        loop {
            attempts -= 1;
            match self.try_release().await {
                Ok(()) => return,
                // A renewal was on its way when we stopped, and has just arrived.
                Err(error) if error.is_conflict() && attempts > 0 => {}
                Err(error) => {
                    let error = error.message();
                    let lease = &self.election.name;
                    tracing::info!(lease, error, "the lease was not given up");
                    return;
                }
            }
        }
    }

    /// Frees the Lease if it is ours.
    async fn try_release(&mut self) -> Result<(), calls::Error> {
        self.observed = None;
        let Some(mut lease) = call(self.api.get_opt(&self.election.name)).await? else {
            return Ok(());
        };
        let spec = lease.spec.get_or_insert_default();
        if spec.holder_identity.as_deref() != Some(&self.election.identity) {
            return Ok(());
        }
        spec.holder_identity = Some(String::new());
        let params = PostParams::default();
        call(self.api.replace(&self.election.name, &params, &lease))
            .await
            .map(drop)
    }

    /// Takes or renews the Lease if we may; tells whether it is ours now.
    async fn try_take(&mut self) -> Result<bool, calls::Error> {
        let asked = self.clock.instant();
        let found = call(self.api.get_opt(&self.election.name)).await?;
        self.note(found.as_ref());
        let now = MicroTime(self.clock.now());
        let written = match (self.step(self.clock.instant()), found) {
            (Step::Wait, _) => return Ok(false),
            (Step::Take, Some(found)) => {
                let lease = self.claim(found, now);
                call(
                    self.api
                        .replace(&self.election.name, &PostParams::default(), &lease),
                )
                .await
            }
            (Step::Create | Step::Take, _) => {
                let lease = self.claim(Lease::default(), now);
                call(self.api.create(&PostParams::default(), &lease)).await
            }
        };
        match written {
            Ok(lease) => {
                self.observed = Some((lease, self.clock.instant()));
                self.renewed = asked;
                Ok(true)
            }
            // Somebody was faster.
            Err(error) if error.is_conflict() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Remembers when the Lease changed last, by our own clock.
    fn note(&mut self, found: Option<&Lease>) {
        let version = |lease: &Lease| lease.metadata.resource_version.clone();
        let known = self.observed.as_ref().map(|(known, _)| version(known));
        if found.map(version) != known {
            self.observed = found.map(|found| (found.clone(), self.clock.instant()));
        }
    }

    fn step(&self, now: Instant) -> Step {
        let Some((lease, changed)) = &self.observed else {
            return Step::Create;
        };
        let spec = lease.spec.as_ref();
        let holder = spec.and_then(|spec| spec.holder_identity.as_deref());
        let is_free =
            holder.is_none_or(|holder| holder.is_empty() || holder == self.election.identity);
        let seconds = spec.and_then(|spec| spec.lease_duration_seconds);
        let promised = seconds.and_then(|seconds| u64::try_from(seconds).ok());
        let timeout = promised.map_or(self.election.duration, Duration::from_secs);
        if is_free || now.saturating_duration_since(*changed) > timeout {
            Step::Take
        } else {
            Step::Wait
        }
    }

    fn claim(&self, found: Lease, now: MicroTime) -> Lease {
        let before = found.spec.unwrap_or_default();
        let is_ours = before.holder_identity.as_deref() == Some(&self.election.identity);
        let metadata = ObjectMeta {
            name: Some(self.election.name.clone()),
            namespace: Some(self.election.namespace.clone()),
            ..found.metadata
        };
        // A Lease counts whole seconds; what is left of one is rounded up.
        let seconds = self.election.duration.as_millis().div_ceil(1_000);
        Lease {
            metadata,
            spec: Some(LeaseSpec {
                holder_identity: Some(self.election.identity.clone()),
                lease_duration_seconds: i32::try_from(seconds).ok(),
                acquire_time: before
                    .acquire_time
                    .filter(|_| is_ours)
                    .or(Some(now.clone())),
                renew_time: Some(now),
                lease_transitions: Some(
                    before.lease_transitions.unwrap_or(0) + i32::from(!is_ours),
                ),
                ..before
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kube::client::Body;
    use parking_lot::Mutex;
    use pathline_cluster::{Cluster, Options};

    use super::*;

    const DURATION: Duration = Duration::from_secs(15);

    fn lease(holder: &str) -> Lease {
        Lease {
            metadata: ObjectMeta::default(),
            spec: Some(LeaseSpec {
                holder_identity: Some(holder.to_owned()),
                lease_duration_seconds: Some(15),
                ..LeaseSpec::default()
            }),
        }
    }

    #[tokio::test]
    async fn a_lease_is_taken_when_it_is_free_or_its_holder_is_silent() {
        let directory = tempfile::tempdir().unwrap();
        let cluster = Cluster::open(Options::new(directory.path())).await.unwrap();
        let mut candidate = Candidate::new(
            cluster.client(),
            Election::new("default", "l", "me"),
            Clock::system(),
        );
        assert_eq!(candidate.step(Clock::system().instant()), Step::Create);
        let observed = Clock::system().instant();
        let rows = [
            ("me", observed, Step::Take),
            ("", observed, Step::Take),
            ("other", observed, Step::Wait),
            ("other", observed + DURATION, Step::Wait),
            (
                "other",
                observed + DURATION + Duration::from_millis(1),
                Step::Take,
            ),
        ];
        for (holder, now, expected) in rows {
            candidate.observed = Some((lease(holder), observed));
            assert_eq!(candidate.step(now), expected, "{holder}");
        }
        cluster.close().await;
    }

    #[tokio::test]
    async fn a_leader_whose_lease_is_taken_leads_no_longer() {
        let directory = tempfile::tempdir().unwrap();
        let cluster = Cluster::open(Options::new(directory.path())).await.unwrap();
        let election = |identity| Election {
            interval: Duration::from_millis(20),
            ..Election::new("default", "l", identity)
        };
        let mut leader = Candidate::new(cluster.client(), election("leader"), Clock::system());
        assert!(leader.win(&CancellationToken::new()).await);
        let mut usurper = Candidate::new(cluster.client(), election("usurper"), Clock::system());
        assert!(!usurper.try_take().await.unwrap(), "somebody leads");
        let taken = async {
            let mut lease = usurper.api.get("l").await.unwrap();
            lease.spec.as_mut().unwrap().holder_identity = Some("usurper".to_owned());
            // The leader renews meanwhile, so the first attempts may meet a conflict.
            while usurper
                .api
                .replace("l", &PostParams::default(), &lease)
                .await
                .is_err()
            {
                lease = usurper.api.get("l").await.unwrap();
                lease.spec.as_mut().unwrap().holder_identity = Some("usurper".to_owned());
            }
        };
        tokio::join!(leader.hold(), taken);
        assert!(
            !leader.try_take().await.unwrap(),
            "and it cannot take it back"
        );
        cluster.close().await;
    }

    #[tokio::test]
    async fn a_leader_counts_from_when_it_asked_not_from_a_late_answer() {
        let directory = tempfile::tempdir().unwrap();
        let cluster = Cluster::open(Options::new(directory.path())).await.unwrap();
        let (client, written) = (cluster.client(), Arc::new(Mutex::new(None)));
        let noted = written.clone();
        let service = tower::service_fn(move |request: http::Request<Body>| {
            let (client, noted) = (client.clone(), noted.clone());
            let is_write = request.method() != http::Method::GET;
            async move {
                if is_write {
                    *noted.lock() = Some(Clock::system().instant());
                }
                client.send(request).await
            }
        });
        let client = Client::new(service, "default");
        let mut candidate =
            Candidate::new(client, Election::new("default", "l", "me"), Clock::system());
        assert!(candidate.win(&CancellationToken::new()).await);
        let written = written.lock().expect("it was written");
        assert!(candidate.renewed <= written, "others count from then on");
        cluster.close().await;
    }

    #[tokio::test]
    async fn a_lease_is_given_up_although_a_renewal_arrives_late() {
        let directory = tempfile::tempdir().unwrap();
        let cluster = Cluster::open(Options::new(directory.path())).await.unwrap();
        let election = Election::new("default", "l", "me");
        let mut leader = Candidate::new(cluster.client(), election.clone(), Clock::system());
        assert!(leader.win(&CancellationToken::new()).await);
        // As if the answer had been dropped on its way to the leader.
        let mut lost = Candidate::new(cluster.client(), election, Clock::system());
        assert!(lost.try_take().await.unwrap());
        leader.release().await;
        let lease = leader.api.get("l").await.unwrap();
        let holder = lease.spec.unwrap().holder_identity;
        assert_eq!(holder.as_deref(), Some(""), "the next one need not wait");
        cluster.close().await;
    }
}
