//! `pathline apply`: server-side apply, and then wait until it runs.

mod changes;
mod concern;
mod objects;
mod refusal;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams};
use kube::discovery::{Scope, oneshot};
use kube::{Client, ResourceExt};
use pathline_blueprint::owner::OwnerKind;
use pathline_blueprint::template::TemplateKind;
use pathline_client::api::{Concerned, ProblemDetail, ServerFile, WaitResult};
use pathline_clock::instant;
use pathline_lineage::wait::WaitFor;
use serde::Serialize;

pub(crate) use self::changes::Changes;
use self::objects::Manifest;
use self::refusal::Refusal;
use crate::cli::settings::DATA_DIR;
use crate::cli::{ApplyObjectsArgs, OwnerName, ServerArgs};
use crate::commands::wait::{self, Request};
use crate::terminal::client::start_hint;
use crate::terminal::output::{Format, print_data, print_text, say};
use crate::terminal::report::{CommandError, Exit};
use crate::wiring::controller::reach;

/// The field manager of what is applied.
const FIELD_MANAGER: &str = "pathline";

/// The output of `apply`.
#[derive(Debug, Default, Serialize)]
struct Report {
    applied: Vec<Applied>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    waited: Vec<WaitedOwner>,
    /// The owners that the applied blueprints and templates concern, if no owner was applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    concerned: Option<Concerned>,
    /// The reason that it is not as it should be.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ProblemDetail>,
}

/// An owner that was waited for, and what was told of it last.
#[derive(Debug, Serialize)]
struct WaitedOwner {
    /// Such as `workload default/hello`.
    owner: String,
    #[serde(flatten)]
    waited: WaitResult,
}

/// One object that was applied.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Applied {
    api_version: String,
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    name: String,
    generation: Option<i64>,
    /// The changes of an owner.
    #[serde(skip)]
    changes: Option<Changes>,
}

pub(crate) async fn run(args: &ApplyObjectsArgs) -> Result<Exit, CommandError> {
    let timeout = wait::timeout(args.timeout)?;
    wait::check(&args.awaited)?;
    // All is read before anything is applied, so that a mistake in the last file leaves no half.
    let manifests = objects::read(&args.files)?;
    check_awaited(args, &manifests)?;
    let local = kubeconfig_of(&args.server);
    let kubeconfig = args.kubeconfig.as_deref().or(local.as_deref());
    let start = start_advice(args);
    let config = reach(kubeconfig, None).await;
    let config = config.map_err(|failure| match &start {
        Some(start) => failure.with_hint(start),
        None => failure,
    })?;
    let namespace = args.namespace.clone();
    let namespace = namespace.unwrap_or_else(|| config.default_namespace.clone());
    let client = Client::try_from(config).map_err(anyhow::Error::from)?;
    let mut report = Report::default();
    let refusal = Refusal::new(start);
    let applying = apply_all(args, &manifests, &client, &namespace, &refusal, &mut report);
    let mut outcome = applying.await;
    if args.output.format == Format::Text && outcome.is_ok() {
        print_data(Format::Text, &report, |out| report.write(out))?;
    }
    if args.wait && outcome.is_ok() {
        outcome = wait_for_all(args, &mut report, timeout).await;
    }
    report.error = outcome
        .as_ref()
        .err()
        .map(|failure| failure.problem().error);
    if args.output.format != Format::Text {
        print_data(args.output.format, &report, |_| Ok(()))?;
    }
    outcome
}

/// Refuses `--for` where nothing among the files is made of anything.
fn check_awaited(args: &ApplyObjectsArgs, manifests: &[Manifest]) -> Result<(), CommandError> {
    let is_owner = |it: &Manifest| owner_kind(&it.types.api_version, &it.types.kind).is_some();
    let Some(awaited) = args.awaited.first() else {
        return Ok(());
    };
    if manifests.iter().any(is_owner) {
        return Ok(());
    }
    let message = format!(
        "`--for {awaited}` is asked of the workloads and deliverables among the files, and there is none"
    );
    Err(CommandError::new(message)
        .with_exit(Exit::Usage)
        .with_hint(format!(
            "apply it without `--for`; then `pathline wait workload/NAME --for {awaited}` asks one that is there"
        )))
}

/// Applies one after the other, as far as the cluster lets us.
async fn apply_all(
    args: &ApplyObjectsArgs,
    manifests: &[Manifest],
    client: &Client,
    namespace: &str,
    refusal: &Refusal,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    for manifest in manifests {
        let applied = apply(client, manifest, namespace, args.force_conflicts, refusal).await;
        let applied = applied.inspect_err(|_| {
            let (done, all) = (report.applied.len(), manifests.len());
            say(&format!("applied before that: {done} of {all}"));
        });
        report.applied.push(applied?);
    }
    Ok(Exit::Yes)
}

/// Waits for every owner among the applied, all within one time-out.
async fn wait_for_all(
    args: &ApplyObjectsArgs,
    report: &mut Report,
    timeout: Duration,
) -> Result<Exit, CommandError> {
    let begun = instant();
    let owners = report.owners();
    let seen = report.seen();
    if owners.is_empty() && seen.is_empty() {
        say(
            "there is no workload, no deliverable, no blueprint and no template among them to wait for",
        );
        return Ok(Exit::Yes);
    }
    let client = crate::terminal::client::Client::find(&args.server.options())?;
    if owners.is_empty() {
        return wait_for_concerned(args, report, &client, &seen, timeout).await;
    }
    // A deliverable brings what a workload wrote: the commit of the application is none of its sources.
    let has_workload = owners
        .iter()
        .any(|(owner, ..)| owner.kind == OwnerKind::Workload);
    for (owner, namespace, changes) in owners {
        let is_asked = !has_workload || owner.kind == OwnerKind::Workload;
        let awaited = args.awaited.iter().filter(|_| is_asked).cloned().collect();
        let owned = (owner, namespace, changes);
        let timeout = timeout.saturating_sub(begun.elapsed());
        let request = request(args, owned, awaited, &seen, timeout)?;
        let deadline = instant() + timeout;
        let ending = wait::follow(&client, &request, deadline).await?;
        let owner = request.owner();
        let waited = ending.waited().cloned();
        let waited = waited.map(|waited| WaitedOwner { owner, waited });
        report.waited.extend(waited);
        wait::tell(ending, &request, args.output.format)?;
    }
    Ok(Exit::Yes)
}

/// Waits until all have been looked at whom the applied blueprints and templates concern.
async fn wait_for_concerned(
    args: &ApplyObjectsArgs,
    report: &mut Report,
    client: &crate::terminal::client::Client,
    seen: &[String],
    timeout: Duration,
) -> Result<Exit, CommandError> {
    let ended = concern::follow(client, seen, timeout, &mut report.concerned).await;
    if let (Ok(_), Some(concerned), Format::Text) = (&ended, &report.concerned, args.output.format)
    {
        print_text(|out| writeln!(out, "{}", concern::sum_up(concerned)))?;
    }
    ended
}

/// Asks for the values that were applied, and for what was named besides.
fn request(
    args: &ApplyObjectsArgs,
    (owner, namespace, changes): (OwnerName, String, Changes),
    mut awaited: Vec<WaitFor>,
    seen: &[String],
    timeout: Duration,
) -> Result<Request, CommandError> {
    changes.check()?;
    if changes.is_empty() {
        awaited.push(WaitFor::Current);
    }
    Ok(Request {
        owner,
        namespace,
        awaited,
        changes: Some(changes),
        seen: seen.to_vec(),
        live: true,
        accept_assumed: args.accept_assumed,
        timeout,
    })
}

/// Says how the Pathline of the data directory is started, if its cluster is the one that is meant.
fn start_advice(args: &ApplyObjectsArgs) -> Option<String> {
    let data_dir = data_dir(&args.server);
    let is_meant = args.kubeconfig.is_none() && data_dir.join("kubeconfig").exists();
    let start = is_meant.then(|| start_hint(data_dir))?;
    Some(format!(
        "{start}, or name another cluster with --kubeconfig"
    ))
}

fn data_dir(args: &ServerArgs) -> &Path {
    args.data_dir.as_deref().unwrap_or(Path::new(DATA_DIR))
}

/// Returns the kubeconfig of the Pathline that runs on the data directory, if one does.
fn kubeconfig_of(args: &ServerArgs) -> Option<PathBuf> {
    let data_dir = data_dir(args);
    let runs = ServerFile::path(data_dir).exists();
    runs.then(|| data_dir.join("kubeconfig"))
        .filter(|path| path.exists())
}

async fn apply(
    client: &Client,
    manifest: &Manifest,
    namespace: &str,
    force: bool,
    refusal: &Refusal,
) -> Result<Applied, CommandError> {
    let object = &manifest.object;
    let gvk = GroupVersionKind::try_from(&manifest.types)
        .map_err(|error| CommandError::new(format!("{}: {error}", manifest.place)))?;
    let failed = |what: &str, error: kube::Error| refusal.of(manifest, what, error);
    let (resource, capabilities) = oneshot::pinned_kind(client, &gvk)
        .await
        .map_err(|error| failed("does not know the kind of", error))?;
    let namespace = match capabilities.scope {
        Scope::Cluster => None,
        Scope::Namespaced => Some(object.namespace().unwrap_or_else(|| namespace.to_owned())),
    };
    let api = api(client, &resource, namespace.as_deref());
    let owner = owner_kind(&resource.api_version, &resource.kind);
    let before = match owner {
        Some(_) => api.get_opt(&object.name_any()).await,
        None => Ok(None),
    };
    let before = before.map_err(|error| failed("does not show", error))?;
    let mut params = PatchParams::apply(FIELD_MANAGER);
    params.force = force;
    let applied = api
        .patch(&object.name_any(), &params, &Patch::Apply(object))
        .await
        .map_err(|error| failed("refuses", error))?;
    Ok(Applied {
        api_version: resource.api_version,
        kind: resource.kind,
        namespace,
        name: applied.name_any(),
        generation: applied.metadata.generation,
        changes: owner.map(|kind| Changes::of(kind, object, before.as_ref(), &applied)),
    })
}

fn owner_kind(api_version: &str, kind: &str) -> Option<OwnerKind> {
    let ours = api_version == pathline_kinds::carto::API_VERSION;
    let mut kinds = [OwnerKind::Workload, OwnerKind::Deliverable].into_iter();
    kinds.find(|it| ours && it.name() == kind)
}

fn api(client: &Client, resource: &ApiResource, namespace: Option<&str>) -> Api<DynamicObject> {
    match namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, resource),
        None => Api::all_with(client.clone(), resource),
    }
}

impl Applied {
    fn is_same(&self, other: &Self) -> bool {
        let key = |it: &Self| (it.kind.clone(), it.namespace.clone(), it.name.clone());
        self.api_version == other.api_version && key(self) == key(other)
    }

    /// Returns the owner that this is, with its namespace and what has changed of it, if it is one.
    fn owner(&self) -> Option<(OwnerName, String, Changes)> {
        let changes = self.changes.clone()?;
        let owner = format!("{}/{}", self.kind, self.name).parse().ok()?;
        Some((owner, self.namespace.clone()?, changes))
    }
}

impl Report {
    /// Returns the owners that were applied; of one that was applied twice, only the last counts.
    fn owners(&self) -> Vec<(OwnerName, String, Changes)> {
        let is_last = |(index, it): &(usize, &Applied)| {
            let mut later = self.applied[index + 1..].iter();
            !later.any(|other| it.is_same(other))
        };
        let last = self.applied.iter().enumerate().filter(is_last);
        last.filter_map(|(_, applied)| applied.owner()).collect()
    }

    /// Returns the blueprints and templates that were applied, as the server names them. Those of
    /// Runnables are not waited for, which is said.
    fn seen(&self) -> Vec<String> {
        let is_ours = |it: &&Applied| it.api_version == pathline_kinds::carto::API_VERSION;
        let mut seen = Vec::new();
        for it in self.applied.iter().filter(is_ours) {
            let Applied { kind, name, .. } = it;
            let blueprints = OwnerKind::ALL.map(OwnerKind::blueprint_kind);
            let templates = TemplateKind::ALL.map(TemplateKind::name);
            if blueprints
                .iter()
                .chain(&templates)
                .any(|known| known == kind)
            {
                seen.push(format!(
                    "{kind}/{name}@{}",
                    it.generation.unwrap_or_default()
                ));
            } else if kind == "ClusterRunTemplate" || kind == "Runnable" {
                say(&format!(
                    "note: {kind}/{name} is not waited for: Runnables are not owners"
                ));
            }
        }
        seen
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for applied in &self.applied {
            let Applied { kind, name, .. } = applied;
            match &applied.namespace {
                Some(namespace) => writeln!(out, "{kind}/{name} applied in {namespace}")?,
                None => writeln!(out, "{kind}/{name} applied")?,
            }
        }
        Ok(())
    }
}
