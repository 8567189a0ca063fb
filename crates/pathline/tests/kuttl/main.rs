//! Cartographer's own acceptance tests, and any others in kuttl's format, as tests of Pathline.
//!
//! `KUTTL_DIR=DIR cargo test --test kuttl` runs every test directory at or below DIR: on an embedded
//! cluster or, with `KUBECONFIG`, on that one. It installs Pathline's kinds and those of the `_crds`
//! beside the tests, and runs `pathline up` or `pathline controller` itself, with `--admission warn`.
//!
//! Without `KUTTL_DIR` it runs the shared cases, twice in a row, on an embedded cluster and on a real
//! API server; and the real kubectl-kuttl runs them too, so that our runner cannot be lenient.

mod ground;
mod judge;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use libtest_mimic::{Arguments, Failed, Trial};
use pathline_testkit::kuttl::{Case, Runner, find};
use pathline_testkit::{repository_root, shared_dir, skip};
use tokio::runtime::Runtime;

use crate::ground::Ground;

/// The number of tests at once, as with kuttl.
const WIDTH: usize = 8;

/// The time-out of a step; kuttl's own default.
const STEP_TIMEOUT: Duration = Duration::from_secs(30);

fn main() -> Result<ExitCode> {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(WIDTH);
    let runtime = Runtime::new()?;
    let directory = setting("KUTTL_DIR").map(|path| place(&path));
    let kubeconfig = setting("KUBECONFIG").map(|path| place(&path));
    let suite = |directory: &Path| Suite::read(&runtime, &arguments, directory);

    let passed = match (directory, kubeconfig) {
        (directory, Some(kubeconfig)) => {
            let Some(directory) = directory.or_else(shared_cases) else {
                return Ok(ExitCode::SUCCESS);
            };
            suite(&directory)?.run("given", || ground::given(&kubeconfig), 1)?
        }
        (Some(directory), None) => suite(&directory)?.run("embedded", ground::embedded, 1)?,
        (None, None) => {
            let Some(directory) = shared_cases() else {
                return Ok(ExitCode::SUCCESS);
            };
            let suite = suite(&directory)?;
            let embedded = suite.run("embedded", ground::embedded, 2)?;
            suite.run("real", ground::real, 2)? && embedded
        }
    };
    Ok(if passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Test cases, and how to run them.
struct Suite<'a> {
    runtime: &'a Runtime,
    arguments: &'a Arguments,
    directory: PathBuf,
    cases: Vec<Arc<Case>>,
}

impl<'a> Suite<'a> {
    fn read(runtime: &'a Runtime, arguments: &'a Arguments, directory: &Path) -> Result<Self> {
        let directory = directory
            .canonicalize()
            .with_context(|| format!("KUTTL_DIR={} cannot be read", directory.display()))?;
        let cases = find(&directory)?.into_iter().map(Arc::new).collect();
        Ok(Self {
            runtime,
            arguments,
            directory,
            cases,
        })
    }

    /// Runs all cases on a ground, several times in a row; with more than one round kubectl-kuttl
    /// comes last. Returns whether everything passed.
    fn run<Start: Future<Output = Result<Option<Ground>>>>(
        &self,
        name: &str,
        start: impl FnOnce() -> Start,
        rounds: usize,
    ) -> Result<bool> {
        if self.arguments.list {
            return Ok(self.conclude(self.listed(name)));
        }
        let Some(ground) = self.runtime.block_on(start())? else {
            return Ok(true);
        };
        self.runtime
            .block_on(ground.install(&self.definitions()?))?;
        let runner = Arc::new(Runner::new(ground.client.clone(), STEP_TIMEOUT));
        let mut passed = true;
        for round in 1..=rounds {
            let trials = self.cases.iter().map(|case| {
                let (handle, runner, case) =
                    (self.runtime.handle().clone(), runner.clone(), case.clone());
                let name = format!("{name}::round_{round}::{}", case.name);
                Trial::test(name, move || outcome(handle.block_on(runner.run(&case))))
            });
            passed &= self.conclude(trials.collect());
        }
        if rounds > 1 {
            let (directory, kubeconfig) = (self.directory.clone(), ground.kubeconfig.clone());
            let (names, cases) = (format!("{name}::kubectl_kuttl"), self.cases.len());
            let judge = move || outcome(judge::run(&directory, &kubeconfig, cases));
            passed &= self.conclude(vec![Trial::test(names, judge)]);
        }
        ground.end()?;
        Ok(passed)
    }

    fn listed(&self, name: &str) -> Vec<Trial> {
        let names = self
            .cases
            .iter()
            .map(|case| format!("{name}::{}", case.name));
        names.map(|name| Trial::test(name, || Ok(()))).collect()
    }

    fn conclude(&self, trials: Vec<Trial>) -> bool {
        !libtest_mimic::run(self.arguments, trials).has_failed()
    }

    /// Finds the kinds of the tests: in `_crds` here, further up, or beside the shared cases.
    fn definitions(&self) -> Result<PathBuf> {
        let above = self.directory.ancestors().map(Path::to_path_buf);
        let mut places = above.chain(shared_cases()).map(|place| place.join("_crds"));
        let found = places.find(|place| place.is_dir());
        found.with_context(|| format!("no _crds in {} or above it", self.directory.display()))
    }
}

fn outcome(result: Result<()>) -> Result<(), Failed> {
    result.map_err(|error| Failed::from(format!("{error:#}")))
}

fn shared_cases() -> Option<PathBuf> {
    let cases = shared_dir().map(|shared| shared.join("cases/cartographer-kuttl"));
    let cases = cases.filter(|cases| cases.is_dir());
    if cases.is_none() {
        skip(
            "Cartographer's acceptance tests",
            "../shared/cases/cartographer-kuttl is not there",
        );
    }
    cases
}

/// Finds what a person means by a path: cargo runs tests elsewhere than where they typed it.
fn place(path: &str) -> PathBuf {
    let typed_at = setting("PWD").map_or_else(repository_root, PathBuf::from);
    typed_at.join(path)
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test run has no command line of its own"
)]
fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
