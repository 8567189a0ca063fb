//! One look at one owner: choose, realize, clean up, report.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::Client;
use kube::api::DynamicObject;
use pathline_blueprint::account::Account;
use pathline_blueprint::blueprint::{Blueprint, Resource};
use pathline_blueprint::conditions::{self, Happened};
use pathline_blueprint::model::ConditionStatus;
use pathline_blueprint::owner::{Owner, OwnerKind};
use pathline_blueprint::path;
use pathline_blueprint::realization::{Failure, Outcome, Realization};
use pathline_blueprint::retirement::{Passage, Retirement};
use pathline_blueprint::selection::{self, NoBlueprint, Step};
use pathline_blueprint::template::TemplateKind;
use pathline_blueprint::usage::{self, Generations};
use pathline_lineage::rollout::ConfigRecord;
use pathline_lineage::{Kind, Unstamped};

use super::leftovers::{self, Found, Leftover, Removal};
use super::realize;
use super::resource::{Hold, Made, Run};
use super::status::Status;
use super::{Error, Loop};
use crate::catalogue::Listed;
use crate::clients;
use crate::events::News;
use crate::last_mile::Configs;
use crate::lineage::{self, Choice, Look, Readings};
use crate::queue::Key;
use crate::stamped;
use crate::wakeups::Used;

impl Loop {
    /// Realizes one owner as far as it can be, and reports how far that is.
    pub(super) async fn reconcile(&self, object: &DynamicObject) -> Result<(), Error> {
        if self.reports.is_ahead_of(object) {
            // Our cache is behind; the event that brings it up to date wakes the owner again.
            return Ok(());
        }
        let value = serde_json::to_value(object).unwrap_or_default();
        let owner = Owner::read(self.context.kind, value)?;
        let mut pass = Pass {
            this: self,
            owner: &owner,
            status: Status::of(&owner),
            now: Time(Timestamp::now()),
            news: Vec::new(),
            path: None,
            failures: BTreeMap::new(),
            troubles: BTreeMap::new(),
            used: Generations::new(),
            unstamped: BTreeMap::new(),
        };
        let outcome = pass.advance().await;
        let outcome = outcome.and(pass.tell_lineage().await);
        let written = pass.status.write(&self.context.client, object).await;
        let version = written.map_err(Error::Status)?;
        if version.is_some() {
            pass.news.extend(pass.status.news());
        }
        self.reports.note(object, version);
        for news in pass.news {
            self.context.events.tell(&owner, news);
        }
        outcome
    }
}

/// One look at one owner.
struct Pass<'p> {
    this: &'p Loop,
    owner: &'p Owner,
    status: Status,
    now: Time,
    news: Vec<News>,
    /// The path and what was seen on it, if the look got that far.
    path: Option<lineage::Path>,
    /// Why resources cannot go on until somebody changes something.
    failures: BTreeMap<String, String>,
    /// What is wrong with resources, whether or not it may pass.
    troubles: BTreeMap<String, String>,
    /// The blueprint and the templates that were used.
    used: Generations,
    /// Why resources could not be stamped.
    unstamped: BTreeMap<String, Unstamped>,
}

impl Pass<'_> {
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
        let wakeups = &self.this.context.wakeups;
        wakeups.note(self.owner.kind, &key, named(blueprint));
        self.used = self.uses(listed);
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
        wakeups.note(self.owner.kind, &key, used);
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
        let wakeups = &self.this.context.wakeups;
        let mut used = used(blueprint, &steps);
        used.push(Used::Account(account.clone()));
        wakeups.note(self.owner.kind, &key, used);
        let choice = Choice {
            blueprint,
            steps: &steps,
        };
        let catalogue = &self.this.context.catalogue;
        let template = |kind, name: &str| catalogue.template(kind, name);
        let readings = Readings::new(self.owner, choice, template);
        let run = Run {
            client,
            context: &self.this.context,
            owner: self.owner,
            blueprint,
            readings: &readings,
            now: self.now.0,
        };
        let mut made = realize::all(&run, &steps).await;
        let sightings = made.iter_mut().filter_map(|made| {
            let sighting = made.sighting.take()?;
            Some((made.realization.resource.clone(), sighting))
        });
        let sightings = sightings.collect();
        let mut path = lineage::Path::new(self.owner, &readings, sightings, self.now.0);
        let found = self.stamped_before(&made).await;
        path.lose_all_but(&found.there);
        let judged = self.last_miles(&mut path, &made, &found).await;
        self.path = Some(path);
        if made.iter().any(|made| made.is_unauthenticated) {
            self.this.context.clients.forget(account);
        }
        for made in &mut made {
            self.news.append(&mut made.news);
        }
        let resources: Vec<Realization> =
            made.iter().map(|made| made.realization.clone()).collect();
        self.note_troubles(&blueprint.name, &resources);
        self.unstamped = unstamped(&resources);
        self.conclude(&Happened::Realized {
            blueprint: &blueprint.name,
            resources: &resources,
        });
        self.status
            .replace_resources(&blueprint.name, resources.iter(), &self.now);
        let mut removal = self
            .clean_up(client, blueprint, &steps, &resources, found.leftovers)
            .await;
        let unpruned = |made: Made| Some((made.realization.resource, made.unpruned?));
        removal.failed.extend(made.into_iter().filter_map(unpruned));
        let outcome = self.conclude_removal(removal);
        first_to_retry(&resources).map_or(outcome.and(judged), Err)
    }

    /// Notes what is wrong with resources, and which of that cannot pass by itself.
    fn note_troubles(&mut self, blueprint: &str, resources: &[Realization]) {
        let named = |told: fn(&Realization, &str) -> Option<String>| {
            let told = resources
                .iter()
                .filter_map(|it| Some((it.resource.clone(), told(it, blueprint)?)));
            told.collect()
        };
        self.failures = named(Realization::failure);
        self.troubles = named(Realization::trouble);
    }

    /// Returns what the owner stamped so far, as far as it is still there.
    async fn stamped_before(&self, made: &[Made]) -> Found {
        let hold = |name: &str| {
            let holder = made.iter().find(|made| made.realization.resource == name);
            holder.map_or(Hold::Nothing, |made| made.hold.clone())
        };
        self.find(hold).await
    }

    /// Judges the last miles of what is final on a path, and what is left of former ones. An error is
    /// what must be tried again.
    async fn last_miles(
        &self,
        path: &mut lineage::Path,
        made: &[Made],
        found: &Found,
    ) -> Result<(), Error> {
        let finals = path.finals();
        let products = made.iter().filter_map(|made| made.product.as_ref());
        let images = products.filter(|product| product.artifact.kind() == Kind::Image);
        let images: Vec<String> = images
            .map(|product| product.artifact.shown().to_owned())
            .collect();
        let known = self.this.context.lineage.configs(self.owner).await;
        let configs = self.configs(path, made, known.map_err(Error::Ledger)?);
        let mut rollouts = BTreeMap::new();
        let mut round = self.this.context.last_miles.round(self.owner, configs);
        for made in made {
            let resource = &made.realization.resource;
            let Some(end) = made.end.as_ref().filter(|_| finals.contains(resource)) else {
                continue;
            };
            if let Some(rollout) = round.judge(end, &images).await {
                rollouts.insert(resource.clone(), rollout);
            }
        }
        for made in made.iter().filter(|made| made.config.is_some()) {
            let resource = &made.realization.resource;
            if let Some(rollout) = rollouts.remove(resource) {
                let judged = round.judge_config(resource, rollout);
                rollouts.extend(judged.map(|rollout| (resource.clone(), rollout)));
            }
        }
        let left = found.leftovers.iter().map(Leftover::retiring).collect();
        let stamped = made.iter().filter_map(|made| made.end.as_ref()?.uid());
        // Former runs are kept for as long as their template says.
        let held = found.held.iter().cloned();
        let stamped = stamped.map(str::to_owned).chain(held).collect();
        if let Some(has_run) = self.this.context.lineage.has_run(self.owner).await {
            path.retire(round.retiring(left, has_run, &stamped).await);
        }
        path.roll_out(rollouts);
        let (configs, judged) = round.end();
        path.remember_configs(configs);
        judged.map_err(Error::LastMile)
    }

    /// Takes what the resources stamp as ConfigMaps and Secrets into what is known of them.
    fn configs<'m>(
        &self,
        path: &lineage::Path,
        made: &'m [Made],
        known: BTreeMap<String, ConfigRecord>,
    ) -> Configs<'m> {
        let mut configs = Configs::new(known, |resource| path.has(resource));
        for made in made {
            if let Some(look) = &made.config {
                configs.look(&made.realization.resource, look, self.now.0);
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
        leftovers: Vec<Leftover>,
    ) -> Removal {
        if !blueprint.is_multi_path() {
            self.status.path.clear();
            return leftovers::remove(client, leftovers).await;
        }
        let passage = Passage {
            blueprint,
            now: resources,
            resources: &self.status.before().resources,
            path: &self.status.before().path,
        };
        let mut retiring: Vec<Retirement> = Vec::new();
        for leftover in &leftovers {
            if !retiring
                .iter()
                .any(|known| known.resource == leftover.resource)
            {
                retiring.push(passage.retire(&leftover.resource));
            }
        }
        let is_due = |leftover: &Leftover| {
            let mut known = retiring.iter();
            known.any(|known| known.resource == leftover.resource && known.is_due())
        };
        let (due, _): (Vec<_>, Vec<_>) = leftovers.into_iter().partition(is_due);
        let removal = leftovers::remove(client, due).await;
        retiring.retain(|known| {
            let has_failed = |(resource, _): &(String, _)| *resource == known.resource;
            !known.is_due() || removal.failed.iter().any(has_failed)
        });
        for leaving in &retiring {
            self.status.keep_reference(&leaving.resource);
        }
        self.status.path = path::report(blueprint, steps, &retiring);
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
        let leftovers = self.find(|_| Hold::Nothing).await.leftovers;
        self.path = Some(lineage::Path::none(self.owner));
        self.status.resources.clear();
        self.status.path.clear();
        self.remove(leftovers).await
    }

    /// Removes the objects whose template does not exist any more; the others stay as they are.
    async fn without_templates(&mut self, listed: &Listed) -> Result<(), Error> {
        let Found {
            mut leftovers,
            mut there,
            ..
        } = self.find(|_| Hold::Nothing).await;
        let catalogue = &self.this.context.catalogue;
        leftovers.retain(|leftover| {
            let template = leftover.template().and_then(read_template);
            template.is_some_and(|(kind, name)| !catalogue.has_template(kind, name))
        });
        let gone: Vec<String> = leftovers
            .iter()
            .map(|known| known.resource.clone())
            .collect();
        let is_gone = |name: &String| gone.contains(name);
        self.status.resources.retain(|entry| !is_gone(&entry.name));
        there.retain(|name| !is_gone(name));
        self.path = self.path_without(listed, &there);
        let why = self.status.failure();
        self.failures.extend(why.map(|it| (String::new(), it)));
        tracing::debug!(
            blueprint = listed.blueprint.name,
            ?gone,
            "templates are gone"
        );
        self.remove(leftovers).await
    }

    /// Returns the path of an owner that can't be realized, where only some resources have an object.
    fn path_without(&self, listed: &Listed, there: &BTreeSet<String>) -> Option<lineage::Path> {
        let steps = listed.plan.as_ref().ok()?.choose(self.owner);
        let choice = Choice {
            blueprint: &listed.blueprint,
            steps: &steps,
        };
        let catalogue = &self.this.context.catalogue;
        let template = |kind, name: &str| catalogue.template(kind, name);
        let readings = Readings::new(self.owner, choice, template);
        let mut path = lineage::Path::new(self.owner, &readings, Vec::new(), self.now.0);
        path.lose_all_but(there);
        Some(path)
    }

    /// Removes objects under the account that the owner was last realized under.
    async fn remove(&mut self, leftovers: Vec<Leftover>) -> Result<(), Error> {
        if leftovers.is_empty() {
            return Ok(());
        }
        let account = self.this.reports.account(self.owner);
        let client = self.client(&account).await.map_err(Error::Account)?;
        let removal = leftovers::remove(&client, leftovers).await;
        self.conclude_removal(removal)
    }

    /// Returns what the owner stamped, and what of it `hold` does not keep.
    async fn find(&self, hold: impl Fn(&str) -> Hold) -> Found {
        let watches = &self.this.context.watches;
        let reported = &self.status.before().resources;
        for reference in reported
            .iter()
            .filter_map(|entry| entry.stamped_ref.as_ref())
        {
            stamped::watch_kind_of(watches, reference).await;
        }
        leftovers::find(watches, &self.owner.uid, hold).await
    }

    fn conclude_removal(&mut self, removal: Removal) -> Result<(), Error> {
        self.news.extend(removal.news);
        let mut outcome = Ok(());
        for (resource, error) in removal.failed {
            self.status.accuse(&resource, &error.message(), &self.now);
            if !error.is_forbidden() {
                outcome = Err(Error::Leftover(error));
            }
        }
        outcome
    }

    /// Writes down what the look found, so that the status may show it.
    async fn tell_lineage(&mut self) -> Result<(), Error> {
        let path = self.path.take();
        let mut failures = std::mem::take(&mut self.failures);
        if path.as_ref().is_none_or(lineage::Path::is_empty) {
            failures.extend(self.status.failure().map(|why| (String::new(), why)));
        }
        for (resource, unstamped) in &mut self.unstamped {
            let why = failures
                .get(resource)
                .or_else(|| self.troubles.get(resource));
            if let Some(why) = why {
                unstamped.why.clone_from(why);
            }
        }
        let look = Look {
            path,
            failures,
            troubles: std::mem::take(&mut self.troubles),
            used: std::mem::take(&mut self.used),
            unstamped: std::mem::take(&mut self.unstamped),
        };
        let lineage = &self.this.context.lineage;
        let shown = lineage
            .take_in(self.owner, look)
            .await
            .map_err(Error::Ledger)?;
        self.status.show(shown);
        if self.owner.kind == OwnerKind::Deliverable {
            let deliveries = &self.this.context.last_miles.deliveries;
            deliveries.looked_at(self.owner).await;
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

/// Returns why resources could not be stamped.
fn unstamped(resources: &[Realization]) -> BTreeMap<String, Unstamped> {
    let why = |it: &Realization| {
        let (why, retried) = match &it.outcome {
            Outcome::Failed(Failure::Rejected {
                reason, is_invalid, ..
            }) => (reason.clone(), !is_invalid),
            Outcome::Failed(
                Failure::NoTemplate(_)
                | Failure::TemplateUnavailable(_)
                | Failure::Stamp(_)
                | Failure::NoSuchInput(_),
            ) => (String::new(), false),
            _ => return None,
        };
        Some((it.resource.clone(), Unstamped { why, retried }))
    };
    resources.iter().filter_map(why).collect()
}

/// Reads `Kind/name` as stamped objects carry it.
fn read_template(text: &str) -> Option<(TemplateKind, &str)> {
    let (kind, name) = text.split_once('/')?;
    let known = TemplateKind::ALL.into_iter();
    let kind = known.into_iter().find(|known| known.name() == kind)?;
    Some((kind, name))
}
