//! The clusters that tests run on, each with a Pathline that the binary under test runs.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use pathline_testkit::kube::{Binaries, Options, RealCluster};
use pathline_testkit::kuttl::install_definitions;
use pathline_testkit::{Leash, go_tool, skip};
use rustix::process::{Pid, Signal, kill_process};

/// A cluster on which Pathline runs.
pub(crate) struct Ground {
    pub(crate) client: Client,
    pub(crate) kubeconfig: PathBuf,
    pathline: Child,
    _leash: Leash,
    _cluster: Option<RealCluster>,
}

/// Starts Pathline with its own cluster.
pub(crate) async fn embedded() -> Result<Option<Ground>> {
    let leash = Leash::new("pathline-kuttl-")?;
    let data_dir = leash.directory().join("data");
    let mut arguments = vec![OsString::from("up")];
    arguments
        .extend(["--listen", "127.0.0.1:0", "--kube-listen", "127.0.0.1:0"].map(OsString::from));
    arguments.extend(["--data-dir".into(), data_dir.clone().into_os_string()]);
    let pathline = start(&leash, &arguments)?;
    Ground::new(data_dir.join("kubeconfig"), pathline, leash, None).await
}

/// Starts a real API server that lets everyone do everything, as the tests expect, and Pathline on it.
pub(crate) async fn real() -> Result<Option<Ground>> {
    let binaries = match Binaries::find() {
        Ok(binaries) => binaries,
        Err(missing) => {
            skip(
                "acceptance tests on a real API server",
                &missing.to_string(),
            );
            return Ok(None);
        }
    };
    let options = Options {
        allow_everything: true,
        ..Options::default()
    };
    let cluster = RealCluster::start(&binaries, options).await?;
    let kubeconfig = cluster.kubeconfig().to_path_buf();
    // The server runs on this machine, so it can ask the webhook too.
    on(
        kubeconfig,
        &["--webhook", "https://127.0.0.1:0"],
        Some(cluster),
    )
    .await
}

/// Starts Pathline on a cluster that is there.
pub(crate) async fn given(kubeconfig: &Path) -> Result<Option<Ground>> {
    on(kubeconfig.to_path_buf(), &[], None).await
}

async fn on(
    kubeconfig: PathBuf,
    more: &[&str],
    cluster: Option<RealCluster>,
) -> Result<Option<Ground>> {
    let leash = Leash::new("pathline-kuttl-")?;
    let mut arguments: Vec<OsString> = ["controller", "--install-crds"].map(OsString::from).into();
    arguments
        .extend(["--listen", "127.0.0.1:0", "--webhook-listen", "127.0.0.1:0"].map(OsString::from));
    arguments.extend(more.iter().map(OsString::from));
    arguments.extend(["--kubeconfig".into(), kubeconfig.clone().into_os_string()]);
    arguments.extend([
        "--data-dir".into(),
        leash.directory().join("data").into_os_string(),
    ]);
    let pathline = start(&leash, &arguments)?;
    Ground::new(kubeconfig, pathline, leash, cluster).await
}

/// Starts the binary, which may store what the rules refuse, and returns when it is ready.
fn start(leash: &Leash, arguments: &[OsString]) -> Result<Child> {
    let log = leash.directory().join("pathline.log");
    let mut command = Command::new(env!("CARGO_BIN_EXE_pathline"));
    command
        .args(arguments)
        .args(["--admission", "warn"])
        .env("PATH", search_path()?)
        .current_dir(leash.directory())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(File::create(&log)?);
    let mut child = leash
        .spawn(&mut command)
        .context("pathline cannot be started")?;
    let mut lines = BufReader::new(child.stdout.take().context("stdout is a pipe")?).lines();
    if !lines.any(|line| line.is_ok_and(|line| line.starts_with("ready"))) {
        let said = std::fs::read_to_string(&log).unwrap_or_default();
        bail!("pathline {arguments:?} did not get ready: {said}");
    }
    // Whatever else it has to say must not fill the pipe.
    std::thread::spawn(move || lines.for_each(drop));
    Ok(child)
}

/// Returns the PATH with the directory of ytt first.
fn search_path() -> Result<OsString> {
    let ytt = go_tool("templates with ytt", "ytt");
    let ytt = ytt.as_deref().and_then(Path::parent).map(Path::to_path_buf);
    let path = crate::setting("PATH").unwrap_or_default();
    let directories = ytt.into_iter().chain(std::env::split_paths(&path));
    Ok(std::env::join_paths(directories)?)
}

impl Ground {
    async fn new(
        kubeconfig: PathBuf,
        pathline: Child,
        leash: Leash,
        cluster: Option<RealCluster>,
    ) -> Result<Option<Self>> {
        let read = Kubeconfig::read_from(&kubeconfig)?;
        let config = Config::from_custom_kubeconfig(read, &KubeConfigOptions::default()).await?;
        Ok(Some(Self {
            client: Client::try_from(config)?,
            kubeconfig,
            pathline,
            _leash: leash,
            _cluster: cluster,
        }))
    }

    /// Installs the kinds of the tests.
    pub(crate) async fn install(&self, definitions: &Path) -> Result<()> {
        let installed = install_definitions(&self.client, definitions).await;
        installed.context("the kinds of the tests cannot be installed")
    }

    /// Stops Pathline, which must end well.
    pub(crate) fn end(mut self) -> Result<()> {
        let pid = i32::try_from(self.pathline.id())
            .ok()
            .and_then(Pid::from_raw);
        kill_process(pid.context("a process has an id")?, Signal::TERM)?;
        let status = self.pathline.wait()?;
        if !status.success() {
            bail!("pathline ended with {status}");
        }
        Ok(())
    }
}
