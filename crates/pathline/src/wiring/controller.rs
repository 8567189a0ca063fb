//! Pathline on a real cluster: the same engine and server as [`crate::wiring::instance`], and a webhook instead
//! of an API server of its own.

use std::net::SocketAddr;
use std::path::Path;

use anyhow::Context;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::ApiResource;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config, ResourceExt};
use pathline_clock::Clock;
use pathline_engine::{Connection, Election, crds};
use pathline_kinds::carto::Workload;
use pathline_ledger::ClusterRef;
use pathline_server::{Part, Readiness};
use pathline_workers::Kinds;

use crate::cli::ControllerArgs;
use crate::cli::settings::TrackerSettings;
use crate::terminal::report::{CommandError, Exit};
use crate::wiring::environments::{self, IDENTITY_NAMESPACE, Namespaces, Provisioning};
use crate::wiring::instance::{app_state, prepare, serve_api, start_engine, tracking};
use crate::wiring::ledger_home::{self, LedgerClaim, LedgerHome};
use crate::wiring::tasks::Tasks;
use crate::wiring::tracker_files::Beginnings;
use crate::wiring::webhook;

/// The Lease by which replicas agree on who acts.
const LEASE: &str = "pathline";

/// A controller that runs in this process.
pub(crate) struct Controller {
    home: LedgerHome,
    engine: Tasks,
    servers: Tasks,
    readiness: Readiness,
    cluster: String,
    listen: SocketAddr,
    webhook: Option<(SocketAddr, webhook::Registration)>,
}

impl Controller {
    /// Starts everything; returns when the kinds are there and the webhook is registered.
    pub(crate) async fn start(args: &ControllerArgs) -> Result<Self, CommandError> {
        let trackers = TrackerSettings::of_controller(args)?;
        let config = reach(args.kubeconfig.as_deref(), args.context.as_deref()).await?;
        let data_dir = prepare(&args.data_dir)?;
        let clock = Clock::system();
        let namespace = args
            .namespace
            .clone()
            .unwrap_or_else(|| config.default_namespace.clone());
        let cluster = config.cluster_url.to_string();
        let connection =
            Connection::to(config).context("cannot use the credentials of the cluster")?;
        let client = connection.client().clone();
        let location = args.ledger.location()?;
        client
            .apiserver_version()
            .await
            .with_context(|| format!("cannot reach the cluster at {cluster}"))?;
        let claim = LedgerClaim {
            cluster: ClusterRef {
                uid: cluster_uid(&client).await?,
                name: cluster.clone(),
            },
            adopt: args.adopt,
            is_embedded: false,
            seal_key: trackers.seal_key.clone(),
        };
        let tracking = tracking(&trackers);
        let home = LedgerHome::open(location.as_ref(), &data_dir, &claim, &clock).await?;
        // The kind whose revisions the ledger knows: kinds may be kept in stores that count by themselves.
        let kind = ApiResource::erase::<Workload>(&());
        let revision = ledger_home::revision(&client, &kind);
        home.check_revision(revision, &clock).await?;

        let listener = pathline_server::listen(args.listen.as_str(), "--listen").await?;
        let listen = pathline_server::reachable(listener.local_addr()?);
        let mut servers = Tasks::default();
        let state = app_state(&home, client.clone(), &servers, clock.clone())
            .with_tracking(tracking.clone())
            .with_ingest(trackers.config.ingest.clone());
        let has_had = Provisioning::of(&client).await?.is_complete();
        let mut beginnings = Beginnings::read(&trackers, home.ledger(), has_had).await?;
        beginnings
            .make_trackers(&trackers, home.ledger(), &clock)
            .await?;
        let readiness = state.readiness().clone();
        serve_api(&mut servers, state.clone(), listener);
        home.announce(listen)?;
        readiness.mark_ready(Part::Cluster);
        have_kinds(&client, args.install_crds).await?;
        readiness.mark_ready(Part::Crds);
        let webhook = start_webhook(args, &client, &namespace, &mut servers, &clock).await?;
        // The webhook answers by now, and is asked about them.
        if let Some(wanted) = &beginnings.environments {
            environments::make(&client, wanted, Namespaces::Leave).await?;
        }
        let options = pathline_engine::Options {
            workers: Some(Kinds::on_a_real_cluster()),
            // With several replicas only the one that leads acts.
            election: Some(Election::new(&namespace, LEASE, &identity(&clock))),
            ytt: args.programs.ytt.clone(),
            tracking,
            clock,
            ..pathline_engine::Options::new(&data_dir, home.ledger().clone())
        };
        let mut engine = start_engine(connection, options, &state);
        home.guard(&mut engine);
        Ok(Self {
            home,
            engine,
            servers,
            readiness,
            cluster,
            listen,
            webhook,
        })
    }

    /// Returns the address of the cluster.
    pub(crate) fn cluster(&self) -> &str {
        &self.cluster
    }

    /// Returns the address of Pathline itself, for programs on this machine.
    pub(crate) fn listen(&self) -> SocketAddr {
        self.listen
    }

    /// Returns the address the webhook listens on, if there is one.
    pub(crate) fn webhook(&self) -> Option<SocketAddr> {
        self.webhook.as_ref().map(|(address, _)| *address)
    }

    /// Waits until a part ends although nobody asked it to, and says why.
    pub(crate) async fn broken(&mut self) -> CommandError {
        let why = tokio::select! {
            why = self.engine.ended() => why,
            why = self.servers.ended() => why,
        };
        self.readiness.mark_down(Part::Engine);
        CommandError::from(why)
    }

    /// Stops in order: first what writes to the cluster, then what the cluster asks, then the ways in,
    /// then the ledger.
    pub(crate) async fn stop(self) {
        self.readiness.mark_down(Part::Engine);
        self.engine.stop().await;
        if let Some((_, registration)) = self.webhook {
            registration.end().await;
        }
        self.servers.stop().await;
        self.home.close().await;
    }
}

/// Names this process among all replicas. In pods every process id is 1, but no two start at once.
fn identity(clock: &Clock) -> String {
    let started = clock.now().as_nanosecond();
    format!("pathline-{}-{started}", std::process::id())
}

/// Finds out which cluster is meant, and how to reach it.
pub(crate) async fn reach(
    kubeconfig: Option<&Path>,
    context: Option<&str>,
) -> Result<Config, CommandError> {
    let hint = "name a kubeconfig with --kubeconfig, or run this in a pod with a service account";
    let Some(path) = kubeconfig else {
        let inferred = Config::infer()
            .await
            .context("cannot find out which cluster is meant");
        let unknown = |error| CommandError::from(error).with_exit(Exit::Unknown);
        return inferred.map_err(|error| unknown(error).with_hint(hint));
    };
    let kubeconfig = Kubeconfig::read_from(path)
        .with_context(|| format!("cannot read the kubeconfig {}", path.display()));
    let kubeconfig =
        kubeconfig.map_err(|error| CommandError::from(error).with_exit(Exit::Unknown))?;
    let options = KubeConfigOptions {
        context: context.map(str::to_owned),
        ..KubeConfigOptions::default()
    };
    let config = Config::from_custom_kubeconfig(kubeconfig, &options)
        .await
        .with_context(|| format!("cannot use the kubeconfig {}", path.display()))?;
    Ok(config)
}

/// Returns the identity of a cluster: the uid of its namespace `kube-system`, which is made with it and lives as long.
async fn cluster_uid(client: &Client) -> Result<String, CommandError> {
    let namespaces = Api::<Namespace>::all(client.clone());
    let found = namespaces.get(IDENTITY_NAMESPACE).await;
    let found = found.with_context(|| {
        format!(
            "cannot tell which cluster this is: the namespace `{IDENTITY_NAMESPACE}` cannot be read"
        )
    });
    let found = found.map_err(|error| {
        CommandError::from(error).with_exit(Exit::Unknown).with_hint(
            "let this user `get` that namespace, as the manifests in deploy/ do; a cluster that was made just now has \
             it in a moment",
        )
    })?;
    found.uid().ok_or_else(|| {
        CommandError::new(format!("the namespace `{IDENTITY_NAMESPACE}` has no uid"))
    })
}

/// Makes sure that the cluster has the kinds, installing them only if that was asked for.
async fn have_kinds(client: &Client, install: bool) -> Result<(), CommandError> {
    let kinds = crds::on_a_real_cluster();
    if install {
        crds::install_these(client, &kinds)
            .await
            .context("cannot install the kinds of Pathline")?;
        return Ok(());
    }
    let missing = crds::missing(client, &kinds)
        .await
        .context("cannot find out which kinds the cluster has")?;
    if missing.is_empty() {
        return Ok(());
    }
    let message = format!("the cluster lacks these kinds: {}", missing.join(", "));
    Err(CommandError::new(message).with_hint(
        "install them with `pathline crds | kubectl apply --server-side -f -`, or give --install-crds",
    ))
}

async fn start_webhook(
    args: &ControllerArgs,
    client: &Client,
    namespace: &str,
    servers: &mut Tasks,
    clock: &Clock,
) -> Result<Option<(SocketAddr, webhook::Registration)>, CommandError> {
    let Some(target) = &args.webhook else {
        return Ok(None);
    };
    let listener =
        pathline_server::listen(args.webhook_listen.as_str(), "--webhook-listen").await?;
    let address = listener.local_addr()?;
    let target = target.clone().on(address.port());
    let (serving, registration) = webhook::start(
        client,
        namespace,
        &target,
        args.admission,
        listener,
        servers.shutdown.clone(),
        clock.clone(),
    )
    .await?;
    servers.run(async move {
        serving.await;
        anyhow::Ok(())
    });
    Ok(Some((address, registration)))
}
