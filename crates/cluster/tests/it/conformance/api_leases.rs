//! Leases: what leader election rests on.

use anyhow::{Context, Result};
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, ResourceExt};
use serde_json::json;

use super::expect::{refusal, refused};
use super::target::Target;

conformance!(api:
    lease_has_one_holder_at_a_time,
    lease_times_keep_their_microseconds,
    lease_with_a_nonsense_duration_is_refused,
);

fn mk_lease(holder: &str) -> Lease {
    Lease {
        metadata: ObjectMeta {
            name: Some("leader".to_owned()),
            ..ObjectMeta::default()
        },
        spec: Some(LeaseSpec {
            holder_identity: Some(holder.to_owned()),
            lease_duration_seconds: Some(15),
            lease_transitions: Some(0),
            ..LeaseSpec::default()
        }),
    }
}

async fn lease_has_one_holder_at_a_time(t: &Target) -> Result<()> {
    let leases: Api<Lease> = t.api();
    let create = PostParams::default();
    let [alice, bob] = ["alice", "bob"].map(mk_lease);
    let (alice, bob) = tokio::join!(leases.create(&create, &alice), leases.create(&create, &bob));
    let (won, lost) = if alice.is_ok() {
        (alice, bob)
    } else {
        (bob, alice)
    };
    let acquired = won?;
    assert_eq!(
        refused(lost).reason,
        "AlreadyExists",
        "only one could acquire it"
    );

    let renewals = ["carol", "dave"].map(|holder| {
        let mut lease = acquired.clone();
        let spec = lease.spec.as_mut().expect("a spec");
        spec.holder_identity = Some(holder.to_owned());
        spec.lease_transitions = Some(1);
        let leases = leases.clone();
        async move {
            leases
                .replace("leader", &PostParams::default(), &lease)
                .await
        }
    });
    let results = futures::future::join_all(renewals).await;
    let taken: Vec<_> = results
        .iter()
        .filter_map(|result| result.as_ref().ok())
        .collect();
    assert_eq!(taken.len(), 1, "only one could take it over");
    let stored = leases.get("leader").await?;
    assert_eq!(stored.spec, taken[0].spec);
    let lost = results
        .into_iter()
        .find(Result::is_err)
        .context("one lost")?;
    assert_eq!(refused(lost).reason, "Conflict");

    let renewed = leases
        .replace("leader", &PostParams::default(), &stored)
        .await?;
    assert_eq!(renewed.resource_version(), stored.resource_version());
    Ok(())
}

async fn lease_times_keep_their_microseconds(t: &Target) -> Result<()> {
    let leases: Api<Lease> = t.api();
    let mut lease = mk_lease("alice");
    let time = json!("2026-02-03T04:05:06.789012Z");
    lease.spec.as_mut().expect("a spec").renew_time = serde_json::from_value(time.clone())?;
    leases.create(&PostParams::default(), &lease).await?;
    let stored = serde_json::to_value(leases.get("leader").await?)?;
    assert_eq!(stored["spec"]["renewTime"], time);
    Ok(())
}

async fn lease_with_a_nonsense_duration_is_refused(t: &Target) -> Result<()> {
    let leases: Api<Lease> = t.api();
    let mut lease = mk_lease("alice");
    lease.spec.as_mut().expect("a spec").lease_duration_seconds = Some(0);
    assert_eq!(
        refusal(leases.create(&PostParams::default(), &lease).await),
        "422 Invalid: Lease.coordination.k8s.io \"leader\" is invalid: spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"
    );
    Ok(())
}
