//! A Pathline that runs, with a directory for files and the commands that ask it.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use pathline_testkit::Leash;
use rustix::process::Signal;
use serde_json::Value;

use crate::program::{Ended, Running};
use crate::up::UP;

/// `pathline up` on free ports.
pub(crate) struct Instance {
    up: Option<Running>,
    pub(crate) ready: Value,
    home: PathBuf,
    pub(crate) data_dir: String,
}

impl Instance {
    pub(crate) fn start() -> Result<Self> {
        let leash = Leash::new("pathline-instance-")?;
        let home = leash.directory().canonicalize()?;
        let mut up = Running::start_in(leash, &UP);
        let ready = up.json();
        let data_dir = home.join(".pathline");
        Ok(Self {
            up: Some(up),
            ready,
            data_dir: data_dir.to_str().context("a path")?.to_owned(),
            home,
        })
    }

    /// Stops it; its directory stays.
    pub(crate) fn stop(&mut self) -> Result<Leash> {
        let up = self.up.take().context("it runs")?;
        up.signal(Signal::TERM);
        let Ended {
            code,
            stderr,
            leash,
        } = up.wait();
        ensure!(code == Some(0), "{stderr}");
        Ok(leash)
    }

    /// Kills it; what it has started may live on.
    pub(crate) fn kill(&mut self) -> Result<Leash> {
        let up = self.up.take().context("it runs")?;
        up.signal(Signal::KILL);
        Ok(up.wait().leash)
    }

    /// Starts it again on other free ports.
    pub(crate) fn start_again(&mut self, leash: Leash) {
        let mut up = Running::start_in(leash, &UP);
        self.ready = up.json();
        self.up = Some(up);
    }

    /// Starts a command that asks it.
    pub(crate) fn ask(&self, arguments: &[&str]) -> Running {
        Running::start(&[arguments, &["--data-dir", &self.data_dir]].concat())
    }

    /// Writes a file, and returns where it is.
    pub(crate) fn file(&self, name: &str, text: &str) -> Result<String> {
        let path = self.home.join(name);
        fs::write(&path, text)?;
        Ok(path.to_str().context("a path")?.to_owned())
    }

    /// Applies objects.
    pub(crate) fn apply(&self, text: &str) -> Result<()> {
        let file = self.file("applied.yaml", text)?;
        let applied = self.ask(&["apply", "-f", &file]).wait();
        ensure!(applied.code == Some(0), "{}", applied.stderr);
        Ok(())
    }

    /// Runs kubectl's part with the kubeconfig of the data directory.
    pub(crate) async fn client(&self) -> kube::Client {
        crate::up::client(&self.ready).await
    }
}

/// Runs a command to its end; returns its exit code and both outputs.
pub(crate) fn end(mut running: Running) -> (Option<i32>, String, String) {
    let out = running.rest();
    let Ended { code, stderr, .. } = running.wait();
    (code, out, stderr)
}

/// Reads the one JSON document of an output.
pub(crate) fn document(text: &str) -> Value {
    let mut documents = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let first = documents.next();
    let first = first.unwrap_or_else(|| panic!("there is no document in {text:?}"));
    let first = first.unwrap_or_else(|error| panic!("{error} in {text:?}"));
    assert!(documents.next().is_none(), "more than one document: {text}");
    first
}
