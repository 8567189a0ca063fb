//! A fetch in a child process, whose memory and threads are counted.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use pathline_remote::archive::Limits;
use pathline_remote::git::{Git, Reference, Remote};
use pathline_testkit::child_of;

use crate::repository::Repository;

const URL: &str = "PATHLINE_REMOTE_TEST_URL";
const DIRECTORY: &str = "PATHLINE_REMOTE_TEST_DIRECTORY";
const SECONDS: &str = "PATHLINE_REMOTE_TEST_SECONDS";

/// The test that is the child.
const TEST: &str = "measured_fetch::hole_4_small_repository_takes_little_memory";

/// The largest pack that the child takes.
pub(crate) const MAX_PACK_BYTES: u64 = 256 << 20;
/// The memory that no fetch may take beside the pack.
pub(crate) const MAX_MEMORY: u64 = 64 << 20;

/// The report of the child process.
#[derive(Debug)]
pub(crate) struct Report {
    /// The archive it made, or why it did not.
    pub(crate) outcome: Result<String, String>,
    /// The most memory that it took, beyond what it had at first.
    pub(crate) memory: u64,
    /// True if all threads and programs of the fetch ended.
    pub(crate) ended: bool,
}

impl Report {
    /// Returns why it failed, and asserts that it did so in good order.
    pub(crate) fn refusal(self) -> String {
        assert!(
            self.memory < MAX_MEMORY,
            "it took {} bytes: {self:?}",
            self.memory
        );
        assert!(self.ended, "something goes on: {self:?}");
        self.outcome.expect_err("it must be refused")
    }

    /// Returns the archive, and asserts that it did not take much to make it.
    pub(crate) fn archive(self) -> String {
        assert!(
            self.memory < MAX_MEMORY,
            "it took {} bytes: {self:?}",
            self.memory
        );
        assert!(self.ended, "something goes on: {self:?}");
        self.outcome.expect("it must be packed")
    }
}

/// Fetches and packs the branch `main` of a repository in a child process.
pub(crate) fn fetch(url: &str, directory: &Path, seconds: u64) -> Result<Report> {
    fetch_with(url, directory, seconds, Programs::Usual)
}

/// The programs that the child finds.
#[derive(Clone, Copy)]
pub(crate) enum Programs<'a> {
    /// Those of this machine.
    Usual,
    /// Those in a directory, and then those of this machine.
    Before(&'a Path),
    /// Those in a directory alone.
    Only(&'a Path),
}

/// As [`fetch`], with other programs to be found.
pub(crate) fn fetch_with(
    url: &str,
    directory: &Path,
    seconds: u64,
    programs: Programs<'_>,
) -> Result<Report> {
    let mut command = child_of(TEST).context("the child fetches once")?;
    command
        .env(URL, url)
        .env(DIRECTORY, directory)
        .env(SECONDS, seconds.to_string())
        .stderr(Stdio::inherit());
    match programs {
        Programs::Usual => {}
        Programs::Before(programs) => {
            let found = std::env::var_os("PATH").unwrap_or_default();
            let all = [programs.to_owned()].into_iter();
            let all = all.chain(std::env::split_paths(&found));
            command.env("PATH", std::env::join_paths(all)?);
        }
        Programs::Only(programs) => {
            command.env("PATH", programs);
        }
    }
    let output = command.output()?;
    let said = String::from_utf8(output.stdout)?;
    let find = |name: &str| {
        let line = said.lines().find_map(|line| line.strip_prefix(name));
        line.map(str::to_owned)
    };
    let memory = find("memory: ").context("it is always said")?.parse()?;
    let outcome = match find("archive: ") {
        Some(archive) => Ok(archive),
        None => Err(find("error: ").with_context(|| said.clone())?),
    };
    Ok(Report {
        outcome,
        memory,
        ended: find("ended: ").as_deref() == Some("true"),
    })
}

fn setting(name: &str) -> String {
    let value = std::env::var_os(name).expect("the parent sets it");
    value.into_string().expect("it is text")
}

/// As the child of other tests, fetches what these say.
#[test]
fn hole_4_small_repository_takes_little_memory() -> Result<()> {
    if child_of(TEST).is_none() {
        return fetch_here();
    }
    let repository = Repository::with_a_commit();
    let url = format!("file://{}", repository.bare().display());
    let directory = tempfile::tempdir()?;
    let archive = fetch(&url, directory.path(), 300)?.archive();
    assert!(Path::new(&archive).is_file(), "{archive}");
    Ok(())
}

/// Fetches as the environment says, and prints what it took.
#[expect(clippy::print_stdout, reason = "the parent reads it from stdout")]
fn fetch_here() -> Result<()> {
    let directory = setting(DIRECTORY);
    let directory = Path::new(&directory);
    let seconds = Duration::from_secs(setting(SECONDS).parse()?);
    let remote = Remote::new(&setting(URL))?.with_timeout(seconds);
    let git = Git::new(directory.join("cache")).with_max_pack_bytes(MAX_PACK_BYTES);
    let runtime = tokio::runtime::Runtime::new()?;
    let before = peak_memory()?;
    let made = runtime.block_on(async {
        let revision = git.fetch(&remote, &Reference::branch("main")).await?;
        let into = directory.join("archives");
        git.archive(&remote, &revision, &into, Limits::default())
            .await
    });
    // The name of this test stands in the line that was begun.
    println!();
    match made {
        Ok(archive) => println!("archive: {}", archive.path.display()),
        Err(error) => println!("error: {:#}", anyhow::Error::from(error)),
    }
    println!("memory: {}", peak_memory()? - before);
    println!("ended: {}", ends());
    Ok(())
}

/// Returns the most memory that this process ever had.
fn peak_memory() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
    let number = line.and_then(|it| it.trim().strip_suffix(" kB"));
    Ok(number.context("Linux tells it")?.parse::<u64>()? << 10)
}

/// Waits until no thread of a fetch is left, nor a program that one has started.
fn ends() -> bool {
    let end = Instant::now() + Duration::from_secs(30);
    while Instant::now() < end {
        if !goes_on() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

fn goes_on() -> bool {
    let tasks = std::fs::read_dir("/proc/self/task").expect("Linux has it");
    tasks.flatten().any(|task| {
        let read = |name| std::fs::read_to_string(task.path().join(name)).unwrap_or_default();
        read("comm").trim() == "git" || !read("children").trim().is_empty()
    })
}
