//! Running the steps of a test.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use ::kube::Client;
use anyhow::{Context, Error, Result, anyhow, bail};
use futures::FutureExt;
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout};

use super::case::{Case, Step};
use super::cluster::{Cluster, Place};
use super::subset;
use crate::kube::with_temp_ns;

/// The interval at which a step asks whether its assertions hold; it is kuttl's own.
const POLL: Duration = Duration::from_secs(1);

/// Runs test cases on one cluster.
pub struct Runner {
    cluster: Cluster,
    step_timeout: Duration,
}

impl Runner {
    /// Returns a runner whose steps may take `step_timeout` each, once for every object they apply and
    /// once for their assertions.
    pub fn new(client: Client, step_timeout: Duration) -> Self {
        Self {
            cluster: Cluster::new(client),
            step_timeout,
        }
    }

    /// Runs a test in a namespace of its own, and deletes what it applied.
    ///
    /// # Errors
    /// With the step that failed, and what was different from what it expects.
    pub async fn run(&self, case: &Case) -> Result<()> {
        let client = self.cluster.client().clone();
        with_temp_ns(client, |_, namespace| async move {
            let steps = AssertUnwindSafe(self.run_steps(case, &namespace))
                .catch_unwind()
                .await;
            let cleaned = self.clean(case, &namespace).await;
            match steps {
                Ok(ran) => ran.and(cleaned),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
        .await
    }

    async fn run_steps(&self, case: &Case, namespace: &str) -> Result<()> {
        for step in &case.steps {
            self.run_step(step, namespace)
                .await
                .with_context(|| format!("step {:02} in namespace {namespace}", step.number))?;
        }
        Ok(())
    }

    async fn run_step(&self, step: &Step, namespace: &str) -> Result<()> {
        for object in &step.apply {
            let place = self.cluster.place(object, namespace).await?;
            timeout(self.step_timeout, place.apply())
                .await
                .map_err(|_| anyhow!("{} could not be applied in time", place.describe()))??;
        }
        let deadline = Instant::now() + self.step_timeout;
        loop {
            let failures = self.check(step, namespace).await;
            if failures.is_empty() {
                return Ok(());
            }
            if Instant::now() >= deadline {
                let failures: Vec<_> = failures.iter().map(|error| format!("{error:#}")).collect();
                bail!("{}", failures.join("\n"));
            }
            sleep(POLL).await;
        }
    }

    /// Returns what does not hold at this moment.
    async fn check(&self, step: &Step, namespace: &str) -> Vec<Error> {
        let mut failures = Vec::new();
        for expected in &step.asserts {
            failures.extend(self.check_present(expected, namespace).await.err());
        }
        for unwanted in &step.errors {
            failures.extend(self.check_absent(unwanted, namespace).await.err());
        }
        failures
    }

    async fn check_present(&self, expected: &Value, namespace: &str) -> Result<()> {
        let place = self.cluster.place(expected, namespace).await?;
        let candidates = place.candidates().await?;
        let mut mismatches = Vec::new();
        for candidate in &candidates {
            match subset::check(&place.object, candidate) {
                Ok(()) => return Ok(()),
                Err(mismatch) => mismatches.push(format!("{mismatch}, in {candidate:#}")),
            }
        }
        let what = place.describe();
        if mismatches.is_empty() {
            bail!("{what} does not exist");
        }
        bail!("{what} is not as expected: {}", mismatches.join("\n"))
    }

    async fn check_absent(&self, unwanted: &Value, namespace: &str) -> Result<()> {
        let place = self.cluster.place(unwanted, namespace).await?;
        let candidates = place.candidates().await?;
        match candidates
            .iter()
            .find(|it| subset::check(&place.object, it).is_ok())
        {
            Some(found) => bail!("there must not be {}: {found:#}", place.describe()),
            None => Ok(()),
        }
    }

    /// Deletes what the test applied, last things first; goes on when something cannot be deleted.
    async fn clean(&self, case: &Case, namespace: &str) -> Result<()> {
        let mut cleaned = Ok(());
        let applied = case.steps.iter().flat_map(|step| &step.apply);
        for object in applied.rev() {
            let deleted = self.delete(object, namespace).await;
            cleaned = cleaned.and(deleted);
        }
        cleaned
    }

    async fn delete(&self, object: &Value, namespace: &str) -> Result<()> {
        let place: Place = self.cluster.place(object, namespace).await?;
        place.delete().await
    }
}
