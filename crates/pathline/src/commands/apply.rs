//! `pathline apply`: server-side apply, and then wait until it runs.

mod changes;
mod concern;
mod objects;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams};
use kube::discovery::{Scope, oneshot};
use kube::{Client, ResourceExt};
use pathline_blueprint::owner::OwnerKind;
use pathline_blueprint::template::TemplateKind;
use pathline_lineage::wait::Wish;
use pathline_server::api::{Concerned, ProblemDetail, ServerFile, Waited};
use serde::Serialize;

pub(crate) use self::changes::Changes;
use self::objects::Manifest;
use crate::cli::{ApplyObjectsArgs, OwnerName, ServerArgs};
use crate::commands::wait::{self, Request};
use crate::controller::reach;
use crate::output::{Format, print_data, print_text, say};
use crate::report::{Exit, Failure};
use crate::settings::DATA_DIR;

/// Who applies, in the eyes of the cluster.
const FIELD_MANAGER: &str = "pathline";

/// What `apply` prints.
#[derive(Debug, Default, Serialize)]
struct Report {
    applied: Vec<Applied>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    waited: Vec<WaitedOwner>,
    /// Whom the applied blueprints and templates concern, if no owner was applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    concerned: Option<Concerned>,
    /// Why it is not as it should be.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ProblemDetail>,
}

/// An owner that was waited for, and what was told of it last.
#[derive(Debug, Serialize)]
struct WaitedOwner {
    /// Such as `workload default/hello`.
    owner: String,
    #[serde(flatten)]
    waited: Waited,
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
    /// What has changed of an owner.
    #[serde(skip)]
    changes: Option<Changes>,
}

pub(crate) async fn run(args: &ApplyObjectsArgs) -> Result<Exit, Failure> {
    let timeout = wait::patience(args.timeout)?;
    // All is read before anything is applied, so that a mistake in the last file leaves no half.
    let manifests = objects::read(&args.files)?;
    let local = kubeconfig_of(&args.server);
    let kubeconfig = args.kubeconfig.as_deref().or(local.as_deref());
    let config = reach(kubeconfig, None).await?;
    let namespace = args.namespace.clone();
    let namespace = namespace.unwrap_or_else(|| config.default_namespace.clone());
    let client = Client::try_from(config).map_err(anyhow::Error::from)?;
    let mut report = Report::default();
    let mut outcome = apply_all(args, &manifests, &client, &namespace, &mut report).await;
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

/// Applies one after the other, as far as the cluster lets us.
async fn apply_all(
    args: &ApplyObjectsArgs,
    manifests: &[Manifest],
    client: &Client,
    namespace: &str,
    report: &mut Report,
) -> Result<Exit, Failure> {
    for manifest in manifests {
        let applied = apply(client, manifest, namespace, args.force_conflicts).await;
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
) -> Result<Exit, Failure> {
    let begun = Instant::now();
    let owners = report.owners();
    let seen = report.seen();
    if owners.is_empty() && seen.is_empty() {
        say(
            "there is no workload, no deliverable, no blueprint and no template among them to wait for",
        );
        return Ok(Exit::Yes);
    }
    let client = crate::client::Client::find(&args.server)?;
    if owners.is_empty() {
        return wait_for_concerned(args, report, &client, &seen, timeout).await;
    }
    // A deliverable brings what a workload wrote: the commit of the application is none of its sources.
    let has_workload = owners
        .iter()
        .any(|(owner, ..)| owner.kind == OwnerKind::Workload);
    for (owner, namespace, changes) in owners {
        let is_asked = !has_workload || owner.kind == OwnerKind::Workload;
        let wishes = args.wishes.iter().filter(|_| is_asked).cloned().collect();
        let owned = (owner, namespace, changes);
        let timeout = timeout.saturating_sub(begun.elapsed());
        let request = request(args, owned, wishes, &seen, timeout)?;
        let deadline = tokio::time::Instant::now() + timeout;
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
    client: &crate::client::Client,
    seen: &[String],
    timeout: Duration,
) -> Result<Exit, Failure> {
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
    mut wishes: Vec<Wish>,
    seen: &[String],
    timeout: Duration,
) -> Result<Request, Failure> {
    changes.check()?;
    if changes.is_empty() {
        wishes.push(Wish::Current);
    }
    Ok(Request {
        owner,
        namespace,
        wishes,
        changes: Some(changes),
        seen: seen.to_vec(),
        live: true,
        accept_assumed: args.accept_assumed,
        timeout,
    })
}

/// Returns the kubeconfig of the Pathline that runs on the data directory, if one does.
fn kubeconfig_of(args: &ServerArgs) -> Option<PathBuf> {
    let data_dir = args.data_dir.as_deref().unwrap_or(Path::new(DATA_DIR));
    let runs = ServerFile::path(data_dir).exists();
    runs.then(|| data_dir.join("kubeconfig"))
        .filter(|path| path.exists())
}

async fn apply(
    client: &Client,
    manifest: &Manifest,
    namespace: &str,
    force: bool,
) -> Result<Applied, Failure> {
    let object = &manifest.object;
    let gvk = GroupVersionKind::try_from(&manifest.types)
        .map_err(|error| Failure::new(format!("{}: {error}", manifest.place)))?;
    let failed = |what: &str, error: kube::Error| refused(manifest, what, error);
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
    let ours = api_version == pathline_blueprint::model::API_VERSION;
    let mut kinds = [OwnerKind::Workload, OwnerKind::Deliverable].into_iter();
    kinds.find(|it| ours && it.name() == kind)
}

fn api(client: &Client, resource: &ApiResource, namespace: Option<&str>) -> Api<DynamicObject> {
    match namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, resource),
        None => Api::all_with(client.clone(), resource),
    }
}

fn refused(manifest: &Manifest, what: &str, error: kube::Error) -> Failure {
    let Manifest {
        place,
        types,
        object,
    } = manifest;
    let (kind, name) = (&types.kind, object.name_any());
    let hint = match &error {
        kube::Error::Api(status) if status.code == 409 => {
            Some("somebody else has set these fields; `--force-conflicts` takes them over")
        }
        kube::Error::Api(status) if status.code == 404 => {
            Some("`pathline crds` prints the kinds of Pathline; is this the right cluster?")
        }
        kube::Error::Api(_) => None,
        _ => Some("is the cluster running? check --kubeconfig"),
    };
    let (exit, code) = match &error {
        kube::Error::Api(status) => (Exit::No, code_of(status.code)),
        _ => (Exit::Unknown, "unavailable"),
    };
    let message = match &error {
        kube::Error::Api(_) | kube::Error::Discovery(_) => {
            format!("{place}: the cluster {what} {kind}/{name}")
        }
        _ => format!("{place}: the cluster can't be asked for {kind}/{name}"),
    };
    let cause = match error {
        kube::Error::Api(status) => anyhow::anyhow!(status.message),
        other => anyhow::Error::from(other),
    };
    let failure = Failure::from(cause.context(message));
    let failure = failure.with_exit(exit).with_code(code);
    match hint {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}

/// Returns REST's word for a status that the cluster answers with.
fn code_of(status: u16) -> &'static str {
    match status {
        400 | 422 => "bad-request",
        401 => "token-unknown",
        403 => "forbidden",
        404 => "not-found",
        409 => "conflict",
        429 => "too-many",
        500.. => "unavailable",
        _ => "failed",
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
        let is_ours = |it: &&Applied| it.api_version == pathline_blueprint::model::API_VERSION;
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
