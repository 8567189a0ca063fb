//! A kube-apiserver with etcd and kube-controller-manager, on free ports of loopback.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ::kube::api::PostParams;
use ::kube::config::{KubeConfigOptions, Kubeconfig};
use ::kube::runtime::wait::{await_condition, conditions::is_crd_established};
use ::kube::{Api, Client, Config};
use anyhow::{Context, Result, bail};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use parking_lot::Mutex;
use tokio::sync::OnceCell;
use tokio::time::{sleep, timeout};

use super::pki::Pki;
use super::{Binaries, Kubectl};
use crate::{Leash, free_port, setting, skip};

const READY_WITHIN: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(100);
const NOT_OURS: &str = "the cluster was there before, its API server is not ours to stop";

static SHARED: OnceCell<RealCluster> = OnceCell::const_new();

/// The settings that a [`RealCluster`] starts with.
#[derive(Debug, Clone)]
pub struct Options {
    /// Definitions to install before the controllers start: the garbage collector looks for new
    /// kinds only every 30 s, so owners of a kind defined later are not followed for a while.
    pub definitions: Vec<CustomResourceDefinition>,
    /// Controllers to run, as kube-controller-manager names them. The default is those whose work
    /// the embedded cluster does too, so that a Deployment, say, is only stored by either.
    pub controllers: &'static [&'static str],
    /// Whether everyone may do everything, instead of what RBAC grants.
    pub allow_everything: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            definitions: Vec::new(),
            controllers: &[
                "garbage-collector-controller",
                "namespace-controller",
                "root-ca-certificate-publisher-controller",
                "serviceaccount-controller",
            ],
            allow_everything: false,
        }
    }
}

impl Options {
    /// Also runs the controllers of Deployments, StatefulSets, DaemonSets and Jobs, whose pods run
    /// with the stand-in for kubelets, and the one that puts cluster roles together.
    pub fn with_pods() -> Self {
        Self {
            controllers: &[
                "clusterrole-aggregation-controller",
                "daemonset-controller",
                "deployment-controller",
                "garbage-collector-controller",
                "job-controller",
                "namespace-controller",
                "replicaset-controller",
                "root-ca-certificate-publisher-controller",
                "serviceaccount-controller",
                "statefulset-controller",
            ],
            ..Self::default()
        }
    }
}

/// A running control plane that ends with the process which started it.
#[derive(Debug)]
pub struct RealCluster {
    kubeconfig: PathBuf,
    kubectl: PathBuf,
    cache: PathBuf,
    /// Nothing if the cluster was there already.
    api_server: Option<Started>,
    leash: Leash,
}

impl RealCluster {
    /// Returns the cluster of this test process, started by the first call, whose options count.
    ///
    /// Skips `suite` and returns nothing where the binaries are missing. With
    /// `PATHLINE_TEST_KUBECONFIG` set, that cluster is used and none is started.
    ///
    /// # Panics
    ///
    /// If the binaries are there but do not come up: that is a failure, not a reason to skip.
    pub async fn shared(suite: &str, options: Options) -> Option<&'static Self> {
        let binaries = match Binaries::find() {
            Ok(binaries) => binaries,
            Err(missing) => {
                skip(suite, &missing.to_string());
                return None;
            }
        };
        let started = SHARED
            .get_or_try_init(|| Self::start(&binaries, options))
            .await;
        Some(started.unwrap_or_else(|error| panic!("the real cluster did not start: {error:#}")))
    }

    /// Starts a cluster of the caller's own.
    pub async fn start(binaries: &Binaries, options: Options) -> Result<Self> {
        if let Some(kubeconfig) = setting("PATHLINE_TEST_KUBECONFIG") {
            return Self::existing(binaries, PathBuf::from(kubeconfig), &options).await;
        }
        // Ports that were free a moment ago can be taken by the time a server binds them.
        let mut attempts = 3;
        loop {
            attempts -= 1;
            match Self::start_once(binaries, &options).await {
                Err(error) if attempts > 0 => tracing::warn!("starting once more: {error:#}"),
                result => return result,
            }
        }
    }

    /// Returns the path of the administrator's kubeconfig.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Connects as the administrator. Every test needs a client of its own: connections belong to
    /// the runtime that opened them.
    pub async fn client(&self) -> Result<Client> {
        connect(&self.kubeconfig).await
    }

    /// Returns where kubectl may keep what it discovers about this server.
    pub fn kubectl_cache(&self) -> &Path {
        &self.cache
    }

    /// Returns kubectl, as the administrator.
    pub fn kubectl(&self) -> Kubectl {
        Kubectl::new(
            self.kubectl.clone(),
            self.kubeconfig.clone(),
            self.cache.clone(),
        )
    }

    /// Says whether the API server was started here, so that it can be stopped.
    pub fn can_stop(&self) -> bool {
        self.api_server.is_some()
    }

    /// Kills the API server, as a crash would, and waits until it is gone.
    ///
    /// # Errors
    /// If it was not started here.
    pub fn stop_api_server(&self) -> Result<()> {
        let api_server = self.api_server.as_ref();
        api_server.context(NOT_OURS)?.kill()
    }

    /// Starts the API server again, at the same address, and waits until it is ready.
    ///
    /// # Errors
    /// If it was not started here, or does not come up.
    pub async fn start_api_server(&self) -> Result<()> {
        let api_server = self.api_server.as_ref().context(NOT_OURS)?;
        let client = self.client().await?;
        // Its port may have been given to a connection of somebody else for a moment.
        let mut attempts = 3;
        loop {
            attempts -= 1;
            api_server.start_again(&self.leash)?;
            match until_ready(&client, &[api_server]).await {
                Err(error) if attempts > 0 => tracing::warn!("starting once more: {error:#}"),
                result => return result,
            }
        }
    }

    async fn existing(binaries: &Binaries, kubeconfig: PathBuf, options: &Options) -> Result<Self> {
        let leash = Leash::new("pathline-kube-")?;
        let cluster = Self::describe(binaries, kubeconfig, None, leash);
        install(&cluster.client().await?, &options.definitions).await?;
        Ok(cluster)
    }

    fn describe(
        binaries: &Binaries,
        kubeconfig: PathBuf,
        api_server: Option<Started>,
        leash: Leash,
    ) -> Self {
        Self {
            kubeconfig,
            kubectl: binaries.program("kubectl"),
            cache: leash.directory().join("kubectl-cache"),
            api_server,
            leash,
        }
    }

    async fn start_once(binaries: &Binaries, options: &Options) -> Result<Self> {
        let leash = Leash::new("pathline-kube-")?;
        let [client_port, peer_port, api_port, kcm_port] = std::array::from_fn(|_| free_port());
        let pki = Pki::create(&leash.directory().join("pki"))?;
        let kubeconfig = leash.directory().join("kubeconfig");
        std::fs::write(&kubeconfig, pki.kubeconfig(api_port))?;
        let plane = ControlPlane {
            binaries,
            leash: &leash,
            pki: &pki,
        };

        let etcd = plane.etcd(client_port, peer_port)?;
        let api_server = plane.api_server(api_port, client_port, options.allow_everything)?;
        let client = connect(&kubeconfig).await?;
        until_ready(&client, &[&etcd, &api_server]).await?;
        install(&client, &options.definitions).await?;
        plane.controller_manager(&kubeconfig, kcm_port, options.controllers)?;

        Ok(Self::describe(
            binaries,
            kubeconfig,
            Some(api_server),
            leash,
        ))
    }
}

/// The programs and what they share.
struct ControlPlane<'a> {
    binaries: &'a Binaries,
    leash: &'a Leash,
    pki: &'a Pki,
}

/// A started program, how it is started, and where it writes its log.
#[derive(Debug)]
struct Started {
    name: &'static str,
    log: PathBuf,
    command: Mutex<Command>,
    process: Mutex<Child>,
}

impl ControlPlane<'_> {
    fn etcd(&self, client_port: u16, peer_port: u16) -> Result<Started> {
        let [client, peer] =
            [client_port, peer_port].map(|port| format!("http://127.0.0.1:{port}"));
        let mut etcd = Command::new(self.binaries.program("etcd"));
        etcd.args([
            "--name",
            "test",
            "--unsafe-no-fsync",
            "--log-level",
            "warn",
            "--data-dir",
        ])
        .arg(self.leash.directory().join("etcd"))
        .args([
            "--listen-client-urls",
            &client,
            "--advertise-client-urls",
            &client,
        ])
        .args([
            "--listen-peer-urls",
            &peer,
            "--initial-advertise-peer-urls",
            &peer,
        ])
        .args(["--initial-cluster", &format!("test={peer}")]);
        self.spawn("etcd", etcd)
    }

    fn api_server(&self, port: u16, etcd_port: u16, allow_everything: bool) -> Result<Started> {
        let authorization = if allow_everything {
            "AlwaysAllow"
        } else {
            "RBAC"
        };
        let mut server = Command::new(self.binaries.program("kube-apiserver"));
        server
            .arg(format!("--etcd-servers=http://127.0.0.1:{etcd_port}"))
            .arg(format!("--secure-port={port}"))
            .args(["--bind-address=127.0.0.1", "--advertise-address=127.0.0.1"])
            .args([
                "--endpoint-reconciler-type=none",
                "--service-cluster-ip-range=10.0.0.0/24",
            ])
            .arg(format!("--authorization-mode={authorization}"))
            .arg("--disable-admission-plugins=ServiceAccount")
            .arg("--service-account-issuer=https://kubernetes.default.svc")
            .arg(flag("tls-cert-file", &self.pki.server_certificate()))
            .arg(flag("tls-private-key-file", &self.pki.server_key()))
            .arg(flag("token-auth-file", &self.pki.tokens()))
            .arg(flag(
                "service-account-key-file",
                &self.pki.account_public_key(),
            ))
            .arg(flag(
                "service-account-signing-key-file",
                &self.pki.account_private_key(),
            ))
            .arg(flag("cert-dir", self.leash.directory()));
        self.spawn("kube-apiserver", server)
    }

    fn controller_manager(
        &self,
        kubeconfig: &Path,
        port: u16,
        controllers: &[&str],
    ) -> Result<Started> {
        let mut manager = Command::new(self.binaries.program("kube-controller-manager"));
        manager
            .args(
                [
                    "kubeconfig",
                    "authentication-kubeconfig",
                    "authorization-kubeconfig",
                ]
                .map(|name| flag(name, kubeconfig)),
            )
            .args(["--bind-address=127.0.0.1", "--leader-elect=false"])
            .arg(format!("--secure-port={port}"))
            .arg(format!("--controllers={}", controllers.join(",")))
            .arg(flag(
                "service-account-private-key-file",
                &self.pki.account_private_key(),
            ))
            .arg(flag("root-ca-file", &self.pki.ca()))
            .arg(flag("cert-dir", self.leash.directory()));
        self.spawn("kube-controller-manager", manager)
    }

    fn spawn(&self, name: &'static str, mut command: Command) -> Result<Started> {
        let log = self.leash.directory().join(format!("{name}.log"));
        let output = File::create(&log)?;
        command
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output);
        let process = self
            .leash
            .spawn(&mut command)
            .with_context(|| format!("{name} cannot be started"))?;
        Ok(Started {
            name,
            log,
            command: Mutex::new(command),
            process: Mutex::new(process),
        })
    }
}

impl Started {
    fn kill(&self) -> Result<()> {
        let mut process = self.process.lock();
        process.kill()?;
        process.wait()?;
        Ok(())
    }

    fn start_again(&self, leash: &Leash) -> Result<()> {
        *self.process.lock() = leash.spawn(&mut self.command.lock())?;
        Ok(())
    }

    fn fail_if_ended(&self) -> Result<()> {
        let Some(status) = self.process.lock().try_wait()? else {
            return Ok(());
        };
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<_> = log.lines().rev().take(15).collect();
        let tail: Vec<_> = lines.into_iter().rev().collect();
        bail!("{} ended with {status}:\n{}", self.name, tail.join("\n"))
    }
}

fn flag(name: &str, path: &Path) -> String {
    format!("--{name}={}", path.display())
}

async fn connect(kubeconfig: &Path) -> Result<Client> {
    let kubeconfig = Kubeconfig::read_from(kubeconfig)?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    Ok(Client::try_from(config)?)
}

async fn until_ready(client: &Client, programs: &[&Started]) -> Result<()> {
    let poll = async {
        loop {
            for program in programs {
                program.fail_if_ended()?;
            }
            let request = http::Request::get("/readyz").body(Vec::new())?;
            if client
                .request_text(request)
                .await
                .is_ok_and(|answer| answer == "ok")
            {
                return Ok(());
            }
            sleep(POLL).await;
        }
    };
    timeout(READY_WITHIN, poll)
        .await
        .context("kube-apiserver was not ready in time")?
}

/// Installs definitions that are not there yet and returns when all are served.
pub(crate) async fn install(
    client: &Client,
    definitions: &[CustomResourceDefinition],
) -> Result<()> {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    for definition in definitions {
        match api.create(&PostParams::default(), definition).await {
            Err(::kube::Error::Api(status)) if status.is_already_exists() => {}
            created => drop(created?),
        }
        let name = definition
            .metadata
            .name
            .as_deref()
            .context("a definition needs a name")?;
        timeout(
            READY_WITHIN,
            await_condition(api.clone(), name, is_crd_established()),
        )
        .await
        .with_context(|| format!("{name} was not established in time"))??;
    }
    Ok(())
}
