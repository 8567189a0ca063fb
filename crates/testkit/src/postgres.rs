//! A real PostgreSQL, on a socket in a scratch directory.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use parking_lot::{Mutex, const_mutex};

use crate::{Leash, skip};

const READY_WITHIN: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(50);
/// The user that PostgreSQL runs as where this one is root, which it refuses to be run by.
const USER: &str = "postgres";

static SHARED: Mutex<Option<&'static Server>> = const_mutex(None);

/// A PostgreSQL that ends with the process which started it.
#[derive(Debug)]
pub struct Server {
    programs: PathBuf,
    leash: Leash,
    as_root: bool,
    postmaster: Mutex<Option<Child>>,
    databases: AtomicU32,
}

impl Server {
    /// Returns the server of this test process, started by the first call.
    ///
    /// Skips `suite` and returns nothing where PostgreSQL is not installed.
    ///
    /// # Panics
    ///
    /// If it is installed but does not come up: that is a failure, not a reason to skip.
    pub fn shared(suite: &str) -> Option<&'static Self> {
        let mut shared = SHARED.lock();
        if shared.is_none() {
            *shared = Self::start(suite).map(|server| &*Box::leak(Box::new(server)));
        }
        *shared
    }

    /// Starts a server of the caller's own, which it may stop and start again.
    ///
    /// Skips `suite` and returns nothing where PostgreSQL is not installed.
    ///
    /// # Panics
    ///
    /// As [`Server::shared`].
    pub fn start(suite: &str) -> Option<Self> {
        let Some(programs) = find_programs() else {
            skip(suite, "PostgreSQL is not installed (Debian: postgresql)");
            return None;
        };
        let server = Self::create(programs).and_then(|server| {
            server.resume()?;
            Ok(server)
        });
        Some(server.unwrap_or_else(|error| panic!("PostgreSQL did not start: {error:#}")))
    }

    /// Makes an empty database and returns its URL.
    ///
    /// # Panics
    ///
    /// If the server refuses.
    pub fn database(&self) -> String {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        let name = format!("test_{number}");
        let created = self.psql("postgres", &format!("create database {name}"));
        created.unwrap_or_else(|error| panic!("cannot create a database: {error:#}"));
        let socket = self.leash.directory().display();
        format!("postgres://{USER}@localhost/{name}?host={socket}")
    }

    /// Runs SQL in a database of a URL and returns what psql prints.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub fn sql(&self, url: &str, text: &str) -> Result<String> {
        self.psql(name_in(url), text)
    }

    /// Returns all that is in a database of a URL, as text.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub fn dump(&self, url: &str) -> Result<String> {
        run(self
            .program("pg_dump")
            .args(["--username", USER, "--dbname", name_in(url), "--host"])
            .arg(self.leash.directory()))
    }

    /// Removes a database of a URL, for those that hold very much.
    ///
    /// # Panics
    ///
    /// If the server refuses.
    pub fn drop_database(&self, url: &str) {
        let text = format!("drop database {} with (force)", name_in(url));
        let dropped = self.psql("postgres", &text);
        dropped.unwrap_or_else(|error| panic!("cannot drop a database: {error:#}"));
    }

    /// Stops the server at once, as a crash would: nobody is waited for.
    ///
    /// # Panics
    ///
    /// If it cannot be stopped.
    pub fn stop(&self) {
        let Some(mut postmaster) = self.postmaster.lock().take() else {
            return;
        };
        let stopped = run(self
            .program("pg_ctl")
            .args(["stop", "--silent", "--mode=immediate", "--pgdata"])
            .arg(self.data()));
        stopped.unwrap_or_else(|error| panic!("cannot stop PostgreSQL: {error:#}"));
        // It is the parent of the server where that runs as another user.
        postmaster.wait().expect("the server was started here");
    }

    /// Starts the server again, with all its databases, and waits until it answers.
    ///
    /// # Errors
    /// If it does not come up.
    pub fn resume(&self) -> Result<()> {
        let mut running = self.postmaster.lock();
        if running.is_some() {
            return Ok(());
        }
        let log = File::create(self.log())?;
        let mut command = self.program("postgres");
        command
            .arg("-D")
            .arg(self.data())
            .arg("-k")
            .arg(self.leash.directory())
            .args(["-c", "listen_addresses=", "-c", "fsync=off"])
            .args(["-c", "full_page_writes=off", "-c", "max_connections=300"])
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log);
        let mut postmaster = self.leash.spawn(&mut command)?;
        self.until_ready(&mut postmaster)?;
        *running = Some(postmaster);
        Ok(())
    }

    fn create(programs: PathBuf) -> Result<Self> {
        let as_root = run(Command::new("id").arg("-u"))?.trim() == "0";
        let server = Self {
            programs,
            leash: Leash::new("pathline-postgres-")?,
            as_root,
            postmaster: Mutex::new(None),
            databases: AtomicU32::new(0),
        };
        if as_root {
            let directory = server.leash.directory();
            run(Command::new("chown").arg(USER).arg(directory))?;
        }
        run(server
            .program("initdb")
            .args([
                "--auth=trust",
                "--no-sync",
                "--encoding=UTF8",
                "--locale=C.UTF-8",
            ])
            .args(["--username", USER, "--pgdata"])
            .arg(server.data()))?;
        Ok(server)
    }

    fn until_ready(&self, postmaster: &mut Child) -> Result<()> {
        let deadline = Instant::now() + READY_WITHIN;
        while self.psql("postgres", "select 1").is_err() {
            let exited = postmaster.try_wait()?;
            if exited.is_some() || Instant::now() > deadline {
                bail!("it is not ready: {}", std::fs::read_to_string(self.log())?);
            }
            sleep(POLL);
        }
        Ok(())
    }

    fn psql(&self, database: &str, text: &str) -> Result<String> {
        run(self
            .program("psql")
            .args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align"])
            .args(["--set=ON_ERROR_STOP=1", "--username", USER])
            .args(["--dbname", database, "--command", text, "--host"])
            .arg(self.leash.directory()))
    }

    fn program(&self, name: &str) -> Command {
        let program = self.programs.join(name);
        let mut command = if self.as_root {
            let mut command = Command::new("runuser");
            command.args(["-u", USER, "--"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        // The directory this process works in may be closed to the other user.
        command.current_dir(self.leash.directory());
        command
    }

    fn data(&self) -> PathBuf {
        self.leash.directory().join("data")
    }

    fn log(&self) -> PathBuf {
        self.leash.directory().join("log")
    }
}

/// Returns the directory that holds the programs of the newest PostgreSQL.
fn find_programs() -> Option<PathBuf> {
    let is_complete = |directory: &PathBuf| {
        let mut programs = ["initdb", "postgres", "psql", "pg_ctl"].iter();
        programs.all(|program| directory.join(program).is_file())
    };
    let version = |directory: &PathBuf| -> Option<u32> {
        directory.parent()?.file_name()?.to_str()?.parse().ok()
    };
    let debian = Path::new("/usr/lib/postgresql").read_dir().ok();
    let mut debian: Vec<PathBuf> = debian
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("bin"))
        .collect();
    debian.sort_by_key(version);
    let path = crate::setting("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).collect::<Vec<_>>();
    debian.into_iter().rev().chain(on_path).find(is_complete)
}

/// Returns the name of the database in a URL that [`Server::database`] returned.
fn name_in(url: &str) -> &str {
    let after = url.find("/test_").map(|slash| &url[slash + 1..]);
    let after = after.expect("a URL of this server");
    after.split('?').next().unwrap_or(after)
}

fn run(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot run {command:?}"))?;
    ensure!(
        output.status.success(),
        "{command:?} failed: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8(output.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_keeps_its_databases_when_it_is_stopped_and_started() {
        let Some(server) = Server::start("PostgreSQL of the test kit") else {
            return;
        };
        let url = server.database();
        server.sql(&url, "create table it (holds text)").unwrap();
        server.sql(&url, "insert into it values ('this')").unwrap();
        server.stop();
        assert!(server.sql(&url, "select 1").is_err());
        server.resume().unwrap();
        assert_eq!(
            server.sql(&url, "select holds from it").unwrap().trim(),
            "this"
        );
        assert_ne!(server.database(), url);
    }
}
