//! Waits as a client sees them: begun at any step, before, during and after a change, and gone on with
//! over restarts until they are decided.

use super::check::{self, Fault};
use super::controller::Controller;
use super::waits;
use super::world::{PARAMS, VALUES, World};
use crate::artifact::Artifact;
use crate::origin::Origin;
use crate::wait::{Never, Options, Verdict, Waiter};
use serde_json::json;

/// How many wait at once.
const MAX_CLIENTS: usize = 3;

/// Somebody who waits for a value of a param.
#[derive(Debug)]
pub(super) struct Client {
    name: &'static str,
    value: Artifact,
    /// The generation of the owner when the waiting began.
    since: i64,
    /// What was learned so far; it survives the connection and the server.
    carried: Vec<bool>,
}

/// Lets everybody look who waits, and checks the answers; perhaps somebody else begins to wait.
/// Returns how many were told that what they waited for has arrived.
pub(super) fn look(world: &mut World) -> Result<u64, Fault> {
    if world.clients.len() < MAX_CLIENTS && world.dice.chance(10) {
        begin(world);
    }
    let mut told = 0;
    for mut client in std::mem::take(&mut world.clients) {
        match client.look(world) {
            None | Some(Verdict::Waiting(_)) => world.clients.push(client),
            Some(verdict) => told += client.check(world, &verdict)?,
        }
    }
    Ok(told)
}

fn begin(world: &mut World) {
    let name = world.dice.one_of(&PARAMS);
    let value = Artifact::param(name, &json!(world.dice.one_of(&VALUES)));
    world.clients.push(Client {
        name,
        value,
        since: world.generation,
        carried: Vec::new(),
    });
}

impl Client {
    /// Asks once, as whoever connects again does; none if nobody can tell yet.
    fn look(&mut self, world: &mut World) -> Option<Verdict> {
        let options = Options {
            since_generation: Some(self.since),
            ..Options::default()
        };
        let wishes = vec![waits::wish(self.name, &self.value)];
        let mut waiter = Waiter::new(wishes, options).remembering(&self.carried);
        let blueprint = world.blueprint.generation;
        let now = waits::used(blueprint, &world.parts, |it| it.template_generation);
        let verdict = waits::on_track(world, |track| {
            let verdict = Some(waiter.look(track));
            // As the server does: what was looked at with other templates is of the past.
            let outdated = !track.outdated(&now).is_empty();
            verdict.filter(|it| !outdated || matches!(it, Verdict::Waiting(_)))
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

    fn check(&self, world: &World, verdict: &Verdict) -> Result<u64, Fault> {
        let wishes = [waits::wish(self.name, &self.value)];
        let is_now = world.owner.get(self.name) == Some(&self.value);
        let has_looked = world.looked_blueprint == world.blueprint.generation;
        if matches!(verdict, Verdict::Holds(_)) && !has_looked {
            return Err(waits::fault(
                &wishes,
                verdict,
                "was looked at with another supply chain",
            ));
        }
        if let (Verdict::Holds(_), Some(part)) = (verdict, self.outdated(world)) {
            let truth = format!("was looked at with another template of {part}");
            return Err(waits::fault(&wishes, verdict, &truth));
        }
        let had = world.waiting.had.get(self.name);
        let had = had.is_some_and(|had| had.contains(&self.value.id()));
        match verdict {
            _ if is_now && world.looked == world.generation => {
                waits::answered(world, &wishes, verdict)
            }
            Verdict::Holds(_) => {
                check::really_arrived(world, &Origin::owner(self.name), &self.value).map(|()| 1)
            }
            Verdict::Never(Never::Superseded { .. }) if !had => {
                Err(waits::fault(&wishes, verdict, "was never there"))
            }
            Verdict::Never(_) | Verdict::Waiting(_) | Verdict::Unproven(_) => Ok(0),
        }
    }
}
