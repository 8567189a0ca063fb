//! One reconcile of one owner: choose, realize, clean up, report.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::Client;
use kube::api::DynamicObject;
use pathline_blueprint::blueprint::{Blueprint, Resource};
use pathline_blueprint::conditions::{self, Happened};
use pathline_blueprint::owner::{Owner, OwnerKind};
use pathline_blueprint::path;
use pathline_blueprint::realization::{Outcome, Realization};
use pathline_blueprint::retirement::{Passage, Retirement};
use pathline_blueprint::selection::{self, NoBlueprint, Step};
use pathline_blueprint::service_account::Account;
use pathline_blueprint::template::TemplateKind;
use pathline_blueprint::usage::{self, Generations};
use pathline_kinds::carto::ConditionStatus;
use pathline_lineage::Kind;
use pathline_lineage::rollout::ConfigRecord;
use pathline_observe::rollout::Configs;
use pathline_observe::{
    KubeEvent, Observation, ObservedPath, PathReads, ResourceObservation, Retain, SelectedPath,
    StatusReport,
};

use super::orphans::{self, Found, Orphan, Removal};
use super::realize;
use super::resource::{Realizer, ResourceResult};
use super::{Error, OwnerReconciler, status};
use crate::observe::lineage::RecordedLineage;
use crate::runtime::clients;
use crate::runtime::queue::Key;
use crate::runtime::queues::Used;
use crate::supply::catalogue::Listed;
use crate::supply::stamping;

impl OwnerReconciler {
    /// Realizes one owner as far as it can be, and reports how far that is.
    pub(super) async fn advance(&self, object: &DynamicObject) -> Result<(), Error> {
        if self.reports.is_ahead_of(object) {
            // Our cache is behind; the event that brings it up to date wakes the owner again.
            return Ok(());
        }
        let value = serde_json::to_value(object).unwrap_or_default();
        let owner = Owner::read(self.kind, value)?;
        let mut reconciliation = Reconciliation {
            this: self,
            owner: &owner,
            status: StatusReport::of(&owner),
            now: Time(self.context.env.clock.now()),
            kube_events: Vec::new(),
            observation: Observation::default(),
        };
        let outcome = reconciliation.advance().await;
        let outcome = outcome.and(reconciliation.record_lineage().await);
        let written = status::write(&reconciliation.status, &self.context.env.client, object);
        let version = written.await.map_err(Error::Status)?;
        if version.is_some() {
            reconciliation
                .kube_events
                .extend(reconciliation.status.kube_events());
        }
        self.reports.note(object, version);
        for event in reconciliation.kube_events {
            self.context.recorder.publish(&owner, event);
        }
        outcome
    }
}

/// One reconcile of one owner.
struct Reconciliation<'p> {
    this: &'p OwnerReconciler,
    owner: &'p Owner,
    status: StatusReport,
    now: Time,
    kube_events: Vec<KubeEvent>,
    /// The owner as far as it was observed.
    observation: Observation,
}

impl Reconciliation<'_> {
    /// Brings the owner one step further and notes in the status what happened.
    ///
    /// An error is what must be tried again; it is noted in the status as well.
    async fn advance(&mut self) -> Result<(), Error> {
        let listed = self.this.context.catalogue.blueprints(self.owner.kind);
        let blueprints = listed.iter().map(|listed| &listed.blueprint);
        let chosen = match selection::choose_blueprint(self.owner, blueprints) {
            Ok(chosen) => chosen,
            Err(why) => return self.without_blueprint(&why).await,
        };
        let mut known = listed.iter();
        let listed = known.find(|known| known.blueprint.name == chosen.name);
        let listed = listed.expect("the blueprint was chosen from these");
        let blueprint = &listed.blueprint;
        self.status.name_blueprint(&blueprint.name);
        let key = Key::new(&self.owner.namespace, &self.owner.name);
        let queues = &self.this.context.env.queues;
        queues.note(self.owner.kind, &key, named(blueprint));
        self.observation.used = self.uses(listed);
        let readiness = self.this.context.catalogue.judge(listed);
        let not_ready = readiness
            .last()
            .filter(|ready| ready.status != ConditionStatus::True);
        if let Some(ready) = not_ready {
            self.conclude(&Happened::NotReady(ready));
            return self.without_templates(listed).await;
        }
        let account = Account::of(self.owner, blueprint);
        let mut used = named(blueprint);
        used.push(Used::Account(account.clone()));
        queues.note(self.owner.kind, &key, used);
        let client = match self.client(&account).await {
            Ok(client) => client,
            Err(error) => {
                self.conclude(&Happened::NoAccount(&error.fault()));
                return if error.is_transient() {
                    Err(Error::Account(error))
                } else {
                    Ok(())
                };
            }
        };
        self.realize(&client, &account, listed).await
    }

    /// Returns what the owner uses of its blueprint. What changes after this wakes the owner again.
    fn uses(&self, listed: &Listed) -> Generations {
        let catalogue = &self.this.context.catalogue;
        let generation = |kind, name: &str| {
            let template = catalogue.has_template(kind, name);
            template.then(|| match catalogue.template(kind, name) {
                Ok(template) => template.generation.unwrap_or_default(),
                Err(_) => 0,
            })
        };
        let plan = listed.plan.as_ref().ok();
        let (blueprint, of_it) = (&listed.blueprint, listed.generation);
        usage::of_owner(self.owner, blueprint, plan, of_it, generation)
    }

    async fn realize(
        &mut self,
        client: &Client,
        account: &Account,
        listed: &Listed,
    ) -> Result<(), Error> {
        let blueprint = &listed.blueprint;
        let plan = match &listed.plan {
            Ok(plan) => plan,
            Err(fault) => unreachable!("a blueprint that cannot be planned is not ready: {fault}"),
        };
        let steps = plan.choose(self.owner);
        // Before any template is read: one that changes in between wakes the owner again.
        let key = Key::new(&self.owner.namespace, &self.owner.name);
        let queues = &self.this.context.env.queues;
        let mut used = used(blueprint, &steps);
        used.push(Used::Account(account.clone()));
        queues.note(self.owner.kind, &key, used);
        let selected_path = SelectedPath {
            blueprint,
            steps: &steps,
        };
        let catalogue = &self.this.context.catalogue;
        let template = |kind, name: &str| catalogue.template(kind, name);
        let path_reads = PathReads::new(self.owner, selected_path, template);
        let realizer = Realizer {
            client,
            context: &self.this.context,
            owner: self.owner,
            blueprint,
            path_reads: &path_reads,
            now: self.now.0,
        };
        let mut results = realize::all(&realizer, &steps).await;
        let observations = results.iter_mut().filter_map(|result| {
            let observation = result.observation.take()?;
            Some((result.realization.resource.clone(), observation))
        });
        let observations = observations.collect();
        let mut path = self.observed_path(&path_reads, observations);
        let found = self.stamped_before(&results).await;
        path.lose_all_but(&found.there);
        let judged = self.rollouts(&mut path, &results, &found).await;
        self.observation.path = Some(path);
        if results.iter().any(|result| result.is_unauthenticated) {
            self.this.context.clients.forget(account);
        }
        for result in &mut results {
            self.kube_events.append(&mut result.kube_events);
        }
        let resources: Vec<Realization> = results
            .iter()
            .map(|result| result.realization.clone())
            .collect();
        let title = blueprint.title();
        self.observation.note_troubles(&title, &resources);
        self.conclude(&Happened::Realized {
            blueprint: &title,
            resources: &resources,
        });
        self.status
            .replace_resources(&title, resources.iter(), &self.now);
        let mut removal = self
            .clean_up(client, blueprint, &steps, &resources, found.orphans)
            .await;
        let unpruned =
            |result: ResourceResult| Some((result.realization.resource, result.unpruned?));
        removal
            .failed
            .extend(results.into_iter().filter_map(unpruned));
        let outcome = self.conclude_removal(removal);
        first_to_retry(&resources).map_or(outcome.and(judged), Err)
    }

    /// Returns the path with what was seen on it.
    fn observed_path(
        &self,
        path_reads: &PathReads<'_>,
        observations: Vec<(String, ResourceObservation)>,
    ) -> ObservedPath {
        let path = ObservedPath::new(self.owner, path_reads, observations, self.now.0);
        path.unwrap_or_else(|error| {
            tracing::error!(%error, "a plan that can be followed is no path; please report this");
            ObservedPath::none(self.owner)
        })
    }

    /// Returns what the owner stamped so far, as far as it is still there.
    async fn stamped_before(&self, results: &[ResourceResult]) -> Found {
        let retain = |name: &str| {
            let holder = results
                .iter()
                .find(|result| result.realization.resource == name);
            holder.map_or(Retain::Nothing, |result| result.retain.clone())
        };
        self.find(retain).await
    }

    /// Judges the rollouts of what is final on a path or keeps something running, and what is left of former ones. An error is
    /// what must be tried again.
    async fn rollouts(
        &self,
        path: &mut ObservedPath,
        results: &[ResourceResult],
        found: &Found,
    ) -> Result<(), Error> {
        let finals = path.finals();
        let products = results.iter().filter_map(|result| result.product.as_ref());
        let images = products.filter(|product| product.artifact.kind() == Kind::Image);
        let images: Vec<String> = images
            .map(|product| product.artifact.shown().to_owned())
            .collect();
        let known = self
            .this
            .context
            .observers
            .lineage
            .configs(self.owner)
            .await;
        let configs = self.configs(path, results, known.map_err(Error::Ledger)?);
        let mut rollouts = BTreeMap::new();
        let mut check = self
            .this
            .context
            .observers
            .rollouts
            .check(self.owner, configs);
        for result in results {
            let resource = &result.realization.resource;
            let is_final = finals.contains(resource);
            let target = result.target.as_ref();
            let Some(target) = target.filter(|it| is_final || it.keeps_running()) else {
                continue;
            };
            // Of a final resource it is missed that nobody has judged it; one on the way would be passed over.
            let judged = check.judge(target, &images).await;
            let unseen = || target.unseen().filter(|_| !is_final);
            if let Some(rollout) = judged.or_else(unseen) {
                rollouts.insert(resource.clone(), rollout);
            }
        }
        for result in results.iter().filter(|result| result.config.is_some()) {
            let resource = &result.realization.resource;
            if let Some(rollout) = rollouts.remove(resource) {
                let judged = check.judge_config(resource, rollout);
                rollouts.extend(judged.map(|rollout| (resource.clone(), rollout)));
            }
        }
        let left = found.orphans.iter().map(Orphan::retiring).collect();
        let stamped = results
            .iter()
            .filter_map(|result| result.target.as_ref()?.uid());
        // Former runs are kept for as long as their template says.
        let retained = found.retained.iter().cloned();
        let stamped = stamped.map(str::to_owned).chain(retained).collect();
        if let Some(has_run) = self
            .this
            .context
            .observers
            .lineage
            .has_run(self.owner)
            .await
        {
            path.retire(check.retiring(left, has_run, &stamped).await);
        }
        path.roll_out(rollouts);
        let (configs, judged) = check.end();
        path.remember_configs(configs);
        judged.map_err(Error::Rollout)
    }

    /// Takes what the resources stamp as ConfigMaps and Secrets into what is known of them.
    fn configs<'m>(
        &self,
        path: &ObservedPath,
        results: &'m [ResourceResult],
        known: BTreeMap<String, ConfigRecord>,
    ) -> Configs<'m> {
        let mut configs = Configs::new(known, |resource| path.has(resource));
        for result in results {
            if let Some(config) = &result.config {
                configs.observe(&result.realization.resource, config, self.now.0);
            }
        }
        configs
    }

    /// Removes what nothing stamps any more, as far as it is time.
    async fn clean_up(
        &mut self,
        client: &Client,
        blueprint: &Blueprint,
        steps: &[Step],
        resources: &[Realization],
        orphans: Vec<Orphan>,
    ) -> Removal {
        if !blueprint.is_multi_path() {
            self.status.next.path.clear();
            return orphans::remove(client, orphans).await;
        }
        let passage = Passage {
            blueprint,
            now: resources,
            resources: &self.status.before().resources,
            path: &self.status.before().path,
        };
        let mut retiring: Vec<Retirement> = Vec::new();
        for orphan in &orphans {
            if !retiring
                .iter()
                .any(|known| known.resource == orphan.resource)
            {
                retiring.push(passage.retire(&orphan.resource));
            }
        }
        let is_due = |orphan: &Orphan| {
            let mut known = retiring.iter();
            known.any(|known| known.resource == orphan.resource && known.is_due())
        };
        let (due, _): (Vec<_>, Vec<_>) = orphans.into_iter().partition(is_due);
        let removal = orphans::remove(client, due).await;
        retiring.retain(|known| {
            let has_failed = |(resource, _): &(String, _)| *resource == known.resource;
            !known.is_due() || removal.failed.iter().any(has_failed)
        });
        for leaving in &retiring {
            self.status.keep_reference(&leaving.resource);
        }
        self.status.next.path = path::report(blueprint, steps, &retiring);
        removal
    }

    /// Cleans up after an owner that no blueprint picks up; if nobody can tell, everything stays.
    async fn without_blueprint(&mut self, why: &NoBlueprint) -> Result<(), Error> {
        self.conclude(&Happened::NoBlueprint(why));
        let is_certain = match why {
            NoBlueprint::LabelsMissing => true,
            NoBlueprint::NotFound { broken } => broken.is_empty(),
            NoBlueprint::Several => false,
        };
        // A blueprint that cannot be read may be the one.
        if !is_certain || !self.this.context.catalogue.is_readable(self.owner.kind) {
            return Ok(());
        }
        let orphans = self.find(|_| Retain::Nothing).await.orphans;
        self.observation.path = Some(ObservedPath::none(self.owner));
        self.status.next.resources.clear();
        self.status.next.path.clear();
        self.remove(orphans).await
    }

    /// Removes the objects whose template does not exist any more; the others stay as they are.
    async fn without_templates(&mut self, listed: &Listed) -> Result<(), Error> {
        let Found {
            mut orphans,
            mut there,
            ..
        } = self.find(|_| Retain::Nothing).await;
        let catalogue = &self.this.context.catalogue;
        orphans.retain(|orphan| {
            let template = orphan.template().and_then(read_template);
            template.is_some_and(|(kind, name)| !catalogue.has_template(kind, name))
        });
        let gone: Vec<String> = orphans.iter().map(|known| known.resource.clone()).collect();
        let is_gone = |name: &String| gone.contains(name);
        self.status
            .next
            .resources
            .retain(|entry| !is_gone(&entry.name));
        there.retain(|name| !is_gone(name));
        self.observation.path = self.path_without(listed, &there);
        self.observation.failure = self.status.failure();
        tracing::debug!(
            blueprint = listed.blueprint.name,
            ?gone,
            "templates are gone"
        );
        self.remove(orphans).await
    }

    /// Returns the path of an owner that can't be realized, where only some resources have an object.
    fn path_without(&self, listed: &Listed, there: &BTreeSet<String>) -> Option<ObservedPath> {
        let steps = listed.plan.as_ref().ok()?.choose(self.owner);
        let selected_path = SelectedPath {
            blueprint: &listed.blueprint,
            steps: &steps,
        };
        let catalogue = &self.this.context.catalogue;
        let template = |kind, name: &str| catalogue.template(kind, name);
        let path_reads = PathReads::new(self.owner, selected_path, template);
        let mut path = self.observed_path(&path_reads, Vec::new());
        path.lose_all_but(there);
        Some(path)
    }

    /// Removes objects under the account that the owner was last realized under.
    async fn remove(&mut self, orphans: Vec<Orphan>) -> Result<(), Error> {
        if orphans.is_empty() {
            return Ok(());
        }
        let account = self.this.reports.account(self.owner);
        let client = self.client(&account).await.map_err(Error::Account)?;
        let removal = orphans::remove(&client, orphans).await;
        self.conclude_removal(removal)
    }

    /// Returns what the owner stamped, and what of it is not to be retained.
    async fn find(&self, retain: impl Fn(&str) -> Retain) -> Found {
        let watches = &self.this.context.watches;
        let reported = &self.status.before().resources;
        for reference in reported
            .iter()
            .filter_map(|entry| entry.stamped_ref.as_ref())
        {
            stamping::watch_kind_of(watches, reference).await;
        }
        orphans::find(watches, &self.owner.uid, retain).await
    }

    fn conclude_removal(&mut self, removal: Removal) -> Result<(), Error> {
        self.kube_events.extend(removal.kube_events);
        let mut outcome = Ok(());
        for (resource, error) in removal.failed {
            self.status
                .report_removal_failure(&resource, &error.message(), &self.now);
            if !error.is_forbidden() {
                outcome = Err(Error::Orphan(error));
            }
        }
        outcome
    }

    /// Records what was observed, so that the status may show it.
    async fn record_lineage(&mut self) -> Result<(), Error> {
        let mut observation = std::mem::take(&mut self.observation);
        if !observation.has_path() {
            observation.failure = self.status.failure().or(observation.failure);
        }
        let lineage = &self.this.context.observers.lineage;
        let recorded = lineage.record(self.owner, observation).await;
        let RecordedLineage { lineage, shown } = recorded.map_err(Error::Ledger)?;
        self.status.show(shown);
        if self.owner.kind == OwnerKind::Deliverable {
            let deliveries = &self.this.context.observers.rollouts.deliveries;
            deliveries.reconciled(self.owner, &lineage);
        }
        Ok(())
    }

    async fn client(&self, account: &Account) -> Result<Client, clients::Error> {
        let client = self.this.context.clients.of_account(account).await?;
        self.this.reports.remember(self.owner, account);
        Ok(client)
    }

    fn conclude(&mut self, happened: &Happened<'_>) {
        self.status
            .conclude(conditions::of_owner(self.owner, happened), &self.now);
    }
}

fn first_to_retry(resources: &[Realization]) -> Option<Error> {
    resources
        .iter()
        .find_map(|resource| match &resource.outcome {
            Outcome::Failed(failure) if failure.is_retried() => {
                Some(Error::Resource(resource.resource.clone()))
            }
            _ => None,
        })
}

/// Returns the templates that a blueprint names: an owner that can't be stamped waits for any of them.
fn named(blueprint: &Blueprint) -> Vec<Used> {
    let templates = blueprint.templates();
    let template = |(resource, name): (&Resource, &str)| {
        Used::Template(resource.template_kind, name.to_owned())
    };
    templates.map(template).collect()
}

/// Returns the templates that are stamped.
fn used(blueprint: &Blueprint, steps: &[Step]) -> Vec<Used> {
    let stamped = usage::stamped(blueprint, steps).into_iter();
    stamped
        .map(|(kind, name)| Used::Template(kind, name))
        .collect()
}

/// Reads `Kind/name` as stamped objects carry it.
fn read_template(text: &str) -> Option<(TemplateKind, &str)> {
    let (kind, name) = text.split_once('/')?;
    let known = TemplateKind::ALL.into_iter();
    let kind = known.into_iter().find(|known| known.name() == kind)?;
    Some((kind, name))
}
