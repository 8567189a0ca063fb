//! Releases: somebody writes the owner, at any step, and counts that as deployed when all of it runs.

use std::collections::BTreeMap;

use pathline_lineage::Artifact;
use pathline_lineage::wait::deployment::{Deployment, Outcome};
use pathline_lineage::wait::{Setting, Verdict, WaitFor};
use serde_json::json;

use super::check::Fault;
use super::clients::Client;
use super::world::World;
use super::{confirm, task, waits};

/// A write, and the wait for it.
#[derive(Debug)]
pub(super) struct Release {
    set: BTreeMap<&'static str, Artifact>,
    /// The generation of the owner, and the number of changes of its labels, that the write has made.
    generation: i64,
    labels: u64,
    deployment: Deployment,
}

/// Looks at the release that is being deployed, and checks what comes of it; perhaps there is another one. Returns how
/// many were deployed.
pub(super) fn look(world: &mut World) -> Result<u64, Fault> {
    if !waits::has_last_miles(world) {
        return Ok(0);
    }
    // A newer one takes the place of one that does not run yet.
    if world.release.is_none() || world.release_dice.chance(10) {
        world.release = Some(Release::written(world));
    }
    let Some(mut release) = world.release.take() else {
        return Ok(0);
    };
    let (verdict, outcome) = release.judge(world);
    match outcome {
        Outcome::Live => release.is_live(world, &verdict).map(|()| 1),
        Outcome::Never(_) => release.has_failed(world, &verdict).map(|()| 0),
        Outcome::NotYet { .. } | Outcome::Unconfirmed => {
            world.release = Some(release);
            Ok(0)
        }
    }
}

/// Checks that a release is deployed once well-behaved controllers have settled.
pub(super) fn ended(world: &mut World) -> Result<(), Fault> {
    if !waits::has_last_miles(world) {
        return Ok(());
    }
    match Release::written(world).judge(world) {
        (_, Outcome::Live) => Ok(()),
        (_, other) => Err(Fault::new(format!("a release that runs is {other:?}"))),
    }
}

impl Release {
    /// Writes what the owner has now.
    fn written(world: &World) -> Self {
        let set = world.owner.iter();
        let set = set.map(|(name, value)| Setting::new(name, &json!(value.shown())));
        let digest = waits::digest_of(world.labels);
        Self {
            set: world.owner.clone(),
            generation: world.generation,
            labels: world.labels,
            deployment: Deployment::new(world.generation, digest, set.collect()),
        }
    }

    /// Judges it as releases are; without a verdict if what is known is older than the labels.
    fn judge(&mut self, world: &mut World) -> (Option<Verdict>, Outcome) {
        let labels = waits::digest_of(world.labels);
        waits::on_lineage(world, |world, lineage| {
            let Some(verdict) = self.deployment.judge(lineage, Some(&labels)) else {
                return (None, Outcome::not_yet(true));
            };
            let confirmation = self.deployment.confirmation(lineage, &verdict);
            let is_confirmed = !confirm::differs(world, &confirmation);
            let outcome = Outcome::of(lineage, &verdict, is_confirmed);
            (Some(verdict), outcome)
        })
    }

    /// Checks that everything that was written runs, and nothing else.
    fn is_live(&self, world: &World, verdict: &Option<Verdict>) -> Result<(), Fault> {
        let holds = Verdict::Holds(Vec::new());
        for (name, value) in &self.set {
            let written = (self.generation, self.labels);
            Client::of_release((name, value), written).check(world, &holds)?;
        }
        task::has_run(world)?;
        let told = format!("and the release is deployed by {verdict:?}");
        match world.retiring.is_empty() {
            true => Ok(()),
            false => Err(Fault::new(format!("something else runs, {told}"))),
        }
    }

    /// Checks that it has failed if the owner still has what was written.
    fn has_failed(&self, world: &World, verdict: &Option<Verdict>) -> Result<(), Fault> {
        let is_now = self.set == world.owner && world.looked == world.generation;
        match verdict {
            Some(verdict) if is_now => {
                waits::answered(world, &[WaitFor::Current], verdict, true).map(drop)
            }
            _ => Ok(()),
        }
    }
}
