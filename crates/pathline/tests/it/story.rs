//! The story of RFC 0014, told with the binary on both clusters: a developer changes the source and
//! the debug flag in one apply, and wants to know when exactly that runs.
//!
//! Her chain forks and joins, and the test decides how fast each step is:
//!
//! ```text
//! source ─► source ─┬─► test ──┬─► run
//!                   └─► build ─┤
//! debug ──► settings ──────────┘
//! ```

mod config;
mod embedded;
pub(crate) mod objects;
mod real;
mod version;

use std::collections::BTreeSet;

use serde_json::Value;

use crate::program::{Ended, Running};

pub(crate) use self::version::Version;

/// A cluster with the chain, a Pathline that serves it, and a hand on the speed of each step.
trait World {
    /// The message about a version that crashes before it is given up.
    const FIRST_TROUBLE: &str;

    /// Returns four commits, of which the last one crashes.
    fn commits(&self) -> [String; 4];

    /// Applies the workload in a version, with more arguments for `pathline apply`.
    fn apply(&self, version: &Version, arguments: &[&str]) -> Running;

    /// Begins to wait for the workload.
    fn wait(&self, arguments: &[&str]) -> Running;

    /// Begins to wait for a generation of the workload with kubectl, where there is one.
    fn kubectl_wait(&self, _generation: i64) -> Option<Running> {
        None
    }

    /// Lets a step end that was given an input, and returns when it has.
    async fn finish(&self, step: &str, input: &str);

    /// Keeps a version that does not run yet from becoming ready.
    fn hold(&self, version: &Version);

    /// Lets a version become ready that was held.
    fn release(&self, version: &Version);

    /// Lets what crashes do so often enough.
    fn crash_again(&self);

    /// Returns the versions that run.
    async fn running(&self) -> BTreeSet<Version>;

    /// Asserts that these are the things that run now, as somebody who waited was told.
    async fn assert_named(&self, running: &Value, version: &Version);

    /// Takes the cluster down and brings it up again.
    async fn restart_cluster(&mut self);

    /// Stops Pathline and starts it again at the same address.
    async fn restart_pathline(&mut self);
}

async fn tell(world: &mut impl World) {
    let [first, second, third, broken] = world.commits();
    begin(world, &Version::new(&first, "off")).await;
    debug_is_faster(world, &Version::new(&second, "on"), &first).await;
    source_is_faster(world, &Version::new(&third, "off")).await;
    crash_fails(world, &Version::new(&broken, "off")).await;
    rollback_is_waited_for(world, &Version::new(&first, "off")).await;
}

/// The first version, applied and awaited in one.
async fn begin(world: &impl World, version: &Version) {
    world.hold(version);
    let mut applying = world.apply(version, &["--wait"]);
    world.finish("settings", version.debug).await;
    finish_source(world, version).await;
    applying.wait_for_stderr("`run` rolls out");
    release(world, version, applying).await;
}

/// Debug runs while the image is still the old one; then one half of the fork arrives, then the other.
async fn debug_is_faster(world: &impl World, version: &Version, old_commit: &str) {
    let Version { commit, debug } = version;
    world.hold(version);
    let mut waiting = change(world, version);
    world.finish("settings", debug).await;
    waiting.wait_for_stderr(&format!(
        "param:debug={debug}  in settings, run, where it is wanted"
    ));
    assert_runs(world, &Version::new(old_commit, debug)).await;

    world.finish("source", commit).await;
    world.finish("test", commit).await;
    waiting.wait_for_stderr(&format!("source={commit}  in source, test; "));
    world.finish("build", commit).await;
    waiting.wait_for_stderr(&format!(
        "source={commit}  in source, test, build, run; `run` rolls out"
    ));
    release(world, version, waiting).await;
}

/// The source runs while debug is still the old one; the cluster is away in between.
async fn source_is_faster(world: &mut impl World, version: &Version) {
    let Version { commit, debug } = version;
    let mut waiting = change(world, version);
    finish_source(world, version).await;
    waiting.wait_for_stderr(&format!(
        "source={commit}  in source, test, build, run, where it is wanted"
    ));
    assert_runs(world, &Version::new(commit, "on")).await;

    world.restart_cluster().await;
    world.hold(version);
    world.finish("settings", debug).await;
    waiting.wait_for_stderr(&format!(
        "param:debug={debug}  in settings, run; `run` rolls out"
    ));
    release(world, version, waiting).await;
}

/// A version that crashes again and again fails the wait, with what it said.
async fn crash_fails<W: World>(world: &W, version: &Version) {
    let mut waiting = change(world, version);
    finish_source(world, version).await;
    waiting.wait_for_stderr(W::FIRST_TROUBLE);
    world.crash_again();

    let Ended { code, stderr, .. } = waiting.wait();
    assert_eq!(code, Some(1), "{stderr}");
    let told = stderr.lines().last().unwrap_or_default();
    for part in [
        "error: resource `run` failed: ",
        "there is no config",
        "; mend that and wait again",
    ] {
        assert!(told.contains(part), "no {part:?} in\n{stderr}");
    }
}

/// The first version again: all of its content existed before, and counts when it runs anew.
async fn rollback_is_waited_for(world: &mut impl World, version: &Version) {
    let commit = &version.commit;
    world.hold(version);
    let mut waiting = change(world, version);
    let mut kubectl = world.kubectl_wait(5);
    waiting.wait_for_stderr(&format!("source={commit}  "));
    world.restart_pathline().await;
    finish_source(world, version).await;
    waiting.wait_for_stderr(&format!(
        "source={commit}  in source, test, build, run; `run` rolls out"
    ));
    if let Some(kubectl) = &mut kubectl {
        kubectl.assert_running();
    }
    release(world, version, waiting).await;
    if let Some(Ended { code, stderr, .. }) = kubectl.map(Running::wait) {
        assert_eq!(code, Some(0), "{stderr}");
    }
}

/// Applies a version, and begins to wait for exactly that.
fn change(world: &impl World, version: &Version) -> Running {
    let Version { commit, debug } = version;
    let applied = world.apply(version, &[]).wait();
    assert_eq!(applied.code, Some(0), "{}", applied.stderr);
    let (source, debug) = (format!("source={commit}"), format!("param:debug={debug}"));
    let awaited = ["--for", &source, "--for", &debug, "--live"];
    world.wait(&[&awaited[..], &["-o", "json"]].concat())
}

async fn finish_source(world: &impl World, version: &Version) {
    for step in ["source", "test", "build"] {
        world.finish(step, &version.commit).await;
    }
}

/// Lets a version become ready: who waited has not been told before, and is told now.
async fn release(world: &impl World, version: &Version, mut waiting: Running) {
    waiting.assert_running();
    world.release(version);
    let told = waiting.rest();
    let Ended { code, stderr, .. } = waiting.wait();
    assert_eq!(code, Some(0), "{stderr}");
    assert_runs(world, version).await;
    match serde_json::from_str::<Value>(&told) {
        Ok(told) => world.assert_named(&told["running"], version).await,
        Err(_) => assert!(told.contains(" default/app"), "what runs is named: {told}"),
    }
}

/// Asserts that this runs, and nothing else.
async fn assert_runs(world: &impl World, version: &Version) {
    let running = world.running().await;
    assert_eq!(running, BTreeSet::from([version.clone()]));
}
