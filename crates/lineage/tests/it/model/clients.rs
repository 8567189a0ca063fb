//! Waits as a client sees them: begun at any step, before, during and after a change, and gone on with
//! over restarts until they are decided.

use pathline_lineage::wait::{AwaitedMetadata, Impossible, Options, Verdict, Waiter};
use pathline_lineage::{Artifact, Origin};
use serde_json::json;

use super::check::{self, Fault};
use super::controller::Controller;
use super::world::{self, PARAMS, VALUES, World};
use super::{confirm, waits};

/// The number of waits at once.
const MAX_CLIENTS: usize = 3;

/// Somebody who waits for a value of a param.
#[derive(Debug)]
pub(super) struct Client {
    name: &'static str,
    value: Artifact,
    /// The generation of the owner when the waiting began.
    since: i64,
    /// The number of changes of the owner's labels by then.
    labels: u64,
    /// A part whose template was applied before, and the generation of that.
    named: Option<(usize, i64)>,
    /// True if it has to run.
    live: bool,
    /// True if all is read that has to be before an answer is given. For the others only the owner, the supply chain
    /// and the templates are, so that no other mistake is hidden by that.
    careful: bool,
    /// The state of the wait so far; it survives the connection and the server.
    carried: Vec<bool>,
}

/// Lets everybody look who waits, and checks the answers; perhaps somebody else begins to wait.
/// Returns how many were told that what they waited for has arrived.
pub(super) fn look(world: &mut World) -> Result<u64, Fault> {
    if world.clients.len() < MAX_CLIENTS && world.dice.chance(10) {
        let name = world.dice.one_of(&PARAMS);
        let value = world.dice.one_of(&VALUES);
        world.clients.push(Client::new(world, name, value));
    }
    if world.careful_clients.len() < MAX_CLIENTS && world.side_dice.chance(10) {
        let client = Client::careful(world);
        world.careful_clients.push(client);
    }
    let mut told = 0;
    let clients = std::mem::take(&mut world.clients);
    let careful = std::mem::take(&mut world.careful_clients);
    for mut client in clients.into_iter().chain(careful) {
        match client.look(world) {
            None | Some(Verdict::Waiting(_)) if client.careful => {
                world.careful_clients.push(client);
            }
            None | Some(Verdict::Waiting(_)) => world.clients.push(client),
            Some(verdict) => told += client.check(world, &verdict)?,
        }
    }
    Ok(told)
}

impl Client {
    fn new(world: &World, name: &'static str, value: &str) -> Self {
        Self {
            name,
            value: world::param(name, &json!(value)),
            since: world.generation,
            labels: world.labels,
            named: None,
            live: false,
            careful: false,
            carried: Vec::new(),
        }
    }

    /// Somebody for whom a value of a generation and so many labels has to run.
    pub(super) fn of_release(
        (name, value): (&'static str, &Artifact),
        (since, labels): (i64, u64),
    ) -> Self {
        Self {
            name,
            value: value.clone(),
            since,
            labels,
            named: None,
            live: true,
            careful: true,
            carried: Vec::new(),
        }
    }

    /// Somebody who perhaps has applied a template, and perhaps wants it to run.
    fn careful(world: &mut World) -> Self {
        let dice = &mut world.side_dice;
        let (name, value) = (dice.one_of(&PARAMS), dice.one_of(&VALUES));
        let part = dice.index(world.parts.len());
        let named = (part, world.parts[part].template_generation);
        let (is_named, live) = (dice.chance(50), dice.chance(50));
        Self {
            named: is_named.then_some(named),
            live,
            careful: true,
            ..Self::new(world, name, value)
        }
    }

    /// Asks once, as whoever connects again does; none if nobody can tell yet.
    fn look(&mut self, world: &mut World) -> Option<Verdict> {
        self.live &= waits::has_last_miles(world);
        let options = Options {
            live: self.live,
            since_generation: Some(self.since),
            ..Options::default()
        };
        let awaited = vec![waits::wait_for(self.name, &self.value)];
        let mut waiter = Waiter::new(awaited, options).remembering(&self.carried);
        // Whoever connects again finds the labels that the owner has by then.
        let labels = waits::digest_of(world.labels);
        let mut metadata = AwaitedMetadata::new(self.since, labels.clone());
        // As the server does: what was looked at with other labels, or other templates, is of the past.
        let verdict = waits::on_lineage(world, |world, lineage| {
            let unobserved = self.named.and_then(|(part, generation)| {
                let key = waits::template_key(&world.parts[part]);
                lineage.unobserved(&key, generation, &waits::used_now(world))
            });
            if metadata.is_unobserved(lineage, Some(&labels)) || unobserved.is_some() {
                return None;
            }
            let verdict = waiter.judge(lineage);
            let mut confirmation = waiter.confirmation(lineage, &verdict);
            if !self.careful {
                confirmation.finals.clear();
            }
            (!confirm::differs(world, &confirmation)).then_some(verdict)
        });
        self.carried = waiter.carried().to_vec();
        verdict
    }

    /// Returns the first part on the way that was not stamped with its template of now, although it
    /// could be. What lacks an input runs on as it was stamped before, and counts.
    fn outdated<'w>(&self, world: &'w World) -> Option<&'w str> {
        let reached = world.state.chain().reached_by(&Origin::owner(self.name));
        let mut parts = world
            .parts
            .iter()
            .filter(|it| reached.contains(it.name.as_str()));
        let found = parts.find(|it| {
            let last = it.applies.last();
            it.controller != Controller::PassesThrough
                && !it.lacks_input
                && last.is_some_and(|(template, _)| *template != it.template())
        });
        found.map(|it| it.name.as_str())
    }

    /// Says what has happened at the end of the way, or to what runs there, that Pathline was not shown.
    fn unseen_change(&self, world: &World) -> Option<String> {
        let targets = world.state.chain().targets(&Origin::owner(self.name));
        let mut parts = targets
            .into_iter()
            .map(|it| &world.parts[check::index_of(world, &it.name)]);
        let changed = parts.find(|it| it.has_changed_since_seen());
        let changed = changed.map(|it| format!("was changed in {}, unseen", it.name));
        let ended = || self.live.then(|| world.running.unseen_change()).flatten();
        changed.or_else(ended)
    }

    /// Checks an answer; returns how many were told that what they waited for has arrived.
    pub(super) fn check(&self, world: &World, verdict: &Verdict) -> Result<u64, Fault> {
        let awaited = [waits::wait_for(self.name, &self.value)];
        let is_now = world.owner.get(self.name) == Some(&self.value);
        let has_looked = world.looked_blueprint == world.blueprint.generation;
        if matches!(verdict, Verdict::Holds(_)) && !has_looked {
            return Err(waits::fault(
                &awaited,
                verdict,
                "was looked at with another supply chain",
            ));
        }
        if let (Verdict::Holds(_), Some(part)) = (verdict, self.outdated(world)) {
            let truth = format!("was looked at with another template of {part}");
            return Err(waits::fault(&awaited, verdict, &truth));
        }
        if world.looked_labels < self.labels {
            return Err(waits::fault(
                &awaited,
                verdict,
                "was looked at with other labels",
            ));
        }
        if let Some((part, generation)) = self.named
            && world.parts[part].looked_template < generation
        {
            return Err(waits::fault(
                &awaited,
                verdict,
                "was looked at without the template that was applied",
            ));
        }
        let changed = self.careful.then(|| self.unseen_change(world)).flatten();
        if let (Verdict::Holds(_), Some(changed)) = (verdict, changed) {
            return Err(waits::fault(&awaited, verdict, &changed));
        }
        let had = world.waiting.had.get(self.name);
        let had = had.is_some_and(|had| had.contains(&self.value.id()));
        match verdict {
            _ if is_now && world.looked == world.generation => {
                waits::answered(world, &awaited, verdict, self.live)
            }
            Verdict::Holds(_) => {
                let origin = Origin::owner(self.name);
                check::really_arrived(world, &origin, &self.value)?;
                if self.live {
                    check::really_started(world, &origin, &self.value)?;
                }
                Ok(1)
            }
            Verdict::Impossible(Impossible::Superseded { .. }) if is_now => Err(waits::fault(
                &awaited,
                verdict,
                "is what the owner says now",
            )),
            Verdict::Impossible(Impossible::Superseded { .. }) if !had => {
                Err(waits::fault(&awaited, verdict, "was never there"))
            }
            Verdict::Impossible(_) | Verdict::Waiting(_) | Verdict::Unproven(_) => Ok(0),
        }
    }
}
