//! A path, its objects and its controllers; and Pathline, which looks at them.

use std::collections::BTreeMap;

use jiff::Timestamp;
use pathline_lineage::clauses::Clause;
use pathline_lineage::{
    Artifact, ArtifactId, Chain, Derivation, Inputs, Origin, Retiring, Snapshot, State,
};
use pathline_testkit::Dice;
use serde_json::{Value, json};

use super::clients::Client;
use super::object::{Object, Truth};
use super::part::{self, Apply, Part};
use super::releases::Release;
use super::running::Running;
use super::task;
use super::waits::Waiting;

/// The owner's params, and the values they take.
pub(super) const PARAMS: [&str; 3] = ["param:a", "param:b", "param:c"];
pub(super) const VALUES: [&str; 3] = ["1", "2", "3"];

/// A supply chain, which may keep the last of its producers from a part.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Blueprint {
    pub(super) generation: i64,
    cut: Option<usize>,
}

/// The content of the ledger when it went away.
#[derive(Debug)]
pub(super) struct Written {
    state: State,
    parts: Vec<WrittenPart>,
    looked: i64,
    looked_labels: u64,
    looked_blueprint: i64,
}

/// A part as the ledger had it: what was applied, seen and remembered.
#[derive(Debug)]
struct WrittenPart {
    recorded: Option<Inputs>,
    seen: Option<Object>,
    remembered: Vec<Apply>,
    looked_template: i64,
}

/// Everything.
pub(super) struct World {
    pub(super) dice: Dice,
    pub(super) parts: Vec<Part>,
    /// The params that the owner has now, and how often that changed.
    pub(super) owner: BTreeMap<&'static str, Artifact>,
    pub(super) generation: i64,
    /// The generation of the owner that Pathline has looked at.
    pub(super) looked: i64,
    /// The number of changes of the owner's labels, and of those that Pathline has observed. They change by dice of
    /// their own, without which every history would be another one.
    pub(super) labels: u64,
    pub(super) looked_labels: u64,
    label_dice: Dice,
    /// The processes at the end of the path. They change, and careful clients come, by dice of their own, too.
    pub(super) running: Running,
    pub(super) side_dice: Dice,
    /// The supply chain, and the generation of it that Pathline has looked at.
    pub(super) blueprint: Blueprint,
    pub(super) looked_blueprint: i64,
    /// The questions and answers of those who wait, or have waited.
    pub(super) waiting: Waiting,
    /// Those who wait from one step to the next.
    pub(super) clients: Vec<Client>,
    /// Those of them for whom everything is read before they are answered.
    pub(super) careful_clients: Vec<Client>,
    /// The release that is being deployed. Releases come by dice of their own, too.
    pub(super) release: Option<Release>,
    pub(super) release_dice: Dice,
    /// Objects that nothing stamps any more, and that are still there.
    pub(super) retiring: Vec<Retiring>,
    /// The derivation that was last recorded of each resource, by the time since when it is known.
    pub(super) judged: BTreeMap<String, Derivation>,
    pub(super) truth: Truth,
    pub(super) artifacts: BTreeMap<ArtifactId, Artifact>,
    pub(super) state: State,
    /// The content of the ledger, while it takes nothing.
    ledger: Option<Written>,
    /// Objects carry the id of their inputs, and Pathline compares their fields.
    pub(super) annotated: bool,
    /// Nothing fails, flaps or starts on its own any more.
    pub(super) calm: bool,
    pub(super) time: i64,
    uids: u64,
    /// The events, if somebody wants to read them.
    pub(super) story: Option<Vec<String>>,
}

impl World {
    pub(super) fn new(seed: u64, dropped: Option<Clause>) -> Self {
        let mut dice = Dice::new(seed);
        let count = 1 + dice.index(5);
        let mut parts: Vec<Part> = Vec::new();
        for index in 0..count {
            let part = part::part(&mut dice, &parts, index + 1 == count);
            parts.push(part);
        }
        // By dice of their own as well.
        let mut task_dice = Dice::new(!seed.rotate_left(29));
        for part in &mut parts {
            part.is_task = task::is_task(part, &mut task_dice);
        }
        let blueprint = Blueprint::default();
        let mut world = Self {
            annotated: dice.chance(60),
            dice,
            state: State::new(blueprint.chain(&parts)).without(dropped),
            parts,
            blueprint,
            looked_blueprint: blueprint.generation,
            ledger: None,
            owner: BTreeMap::new(),
            generation: 0,
            looked: 0,
            labels: 0,
            looked_labels: 0,
            label_dice: Dice::new(!seed),
            running: Running::default(),
            side_dice: Dice::new(!seed.rotate_left(17)),
            waiting: Waiting::default(),
            clients: Vec::new(),
            careful_clients: Vec::new(),
            release: None,
            release_dice: Dice::new(!seed.rotate_left(41)),
            retiring: Vec::new(),
            judged: BTreeMap::new(),
            truth: Truth::default(),
            artifacts: BTreeMap::new(),
            calm: false,
            time: 0,
            uids: 0,
            story: None,
        };
        for param in PARAMS {
            world.change_param(param);
        }
        world.look();
        world
    }

    pub(super) fn change_param(&mut self, name: &'static str) {
        let value = json!(self.dice.one_of(&VALUES));
        let param = param(name, &value);
        self.keep(&param);
        self.generation += 1;
        self.tell(|| format!("{name} is {} now", param.shown()));
        let before = self.owner.insert(name, param.clone());
        self.waiting.changed(name, before, &param);
    }

    /// Perhaps somebody changes a label of the owner, which makes no new generation.
    pub(super) fn change_labels(&mut self) {
        if self.label_dice.chance(5) {
            self.labels += 1;
            let labels = self.labels;
            self.tell(|| format!("the labels are {labels} now"));
        }
    }

    /// Somebody applies a supply chain that keeps a producer from a part, or one that does not.
    pub(super) fn change_blueprint(&mut self, part: usize) {
        let Blueprint { generation, cut } = &mut self.blueprint;
        *cut = if cut.is_none() && self.parts[part].upstream.len() > 1 {
            Some(part)
        } else {
            None
        };
        *generation += 1;
        let blueprint = self.blueprint;
        self.tell(|| format!("{blueprint:?} is applied"));
    }

    /// Pathline looks at the owner and its supply chain.
    pub(super) fn look(&mut self) {
        if self.looked_blueprint != self.blueprint.generation {
            self.state.follow(self.blueprint.chain(&self.parts));
            self.looked_blueprint = self.blueprint.generation;
        }
        let inputs = self.owner.iter();
        let inputs = inputs.map(|(name, param)| ((*name).to_owned(), param.clone()));
        self.state.own(inputs.collect());
        self.looked = self.generation;
        self.looked_labels = self.labels;
    }

    /// An object is left behind that nothing stamps any more, or what is left goes.
    pub(super) fn leave_or_reap(&mut self) {
        if self.retiring.pop().is_none() {
            let uid = self.new_uid();
            self.retiring.push(Retiring {
                uid,
                ..Retiring::default()
            });
        }
    }

    pub(super) fn keep(&mut self, artifact: &Artifact) {
        self.artifacts.insert(artifact.id(), artifact.clone());
    }

    pub(super) fn tell(&mut self, event: impl FnOnce() -> String) {
        if let Some(story) = &mut self.story {
            story.push(event());
        }
    }

    pub(super) fn new_uid(&mut self) -> String {
        self.uids += 1;
        format!("u{}", self.uids)
    }

    /// The ledger is away from now on, or is there again and takes everything.
    pub(super) fn lose_or_find_ledger(&mut self) {
        self.ledger = match self.ledger.take() {
            Some(_) => None,
            None => Some(Written {
                state: self.state.clone(),
                parts: self
                    .parts
                    .iter()
                    .map(|it| WrittenPart {
                        recorded: it.recorded.clone(),
                        seen: it.seen.clone(),
                        remembered: it.remembered.clone(),
                        looked_template: it.looked_template,
                    })
                    .collect(),
                looked: self.looked,
                looked_labels: self.looked_labels,
                looked_blueprint: self.looked_blueprint,
            }),
        };
    }

    /// Pathline stops, and starts again with what it had written down.
    pub(super) fn restart(&mut self, dropped: Option<Clause>) {
        if let Some(written) = self.ledger.take() {
            self.forget(written);
        }
        // Whoever leads from now on writes it again.
        self.release = None;
        let text = serde_json::to_string(&self.state).expect("a state is JSON");
        let read: State = serde_json::from_str(&text).expect("what was written can be read");
        let read = read.without(dropped);
        assert!(
            read == self.state,
            "a restart must not change what is known"
        );
        self.state = read;
    }

    /// All that Pathline did while the ledger was away is forgotten.
    fn forget(&mut self, written: Written) {
        self.tell(|| "everything since the ledger went away is forgotten".to_owned());
        self.state = written.state;
        self.looked = written.looked;
        self.looked_labels = written.looked_labels;
        self.looked_blueprint = written.looked_blueprint;
        for (part, written) in self.parts.iter_mut().zip(written.parts) {
            part.disputed |= part.recorded != written.recorded;
            part.recorded = written.recorded;
            part.seen = written.seen;
            part.remembered = written.remembered;
            part.looked_template = written.looked_template;
        }
        self.waiting.forget();
    }

    /// Pathline reads an object.
    pub(super) fn see(&mut self, part: usize, object: &Object) {
        self.time += 1;
        let it = &self.parts[part];
        let recorded = it.recorded.as_ref();
        let fields = object.fields();
        let held = recorded.is_some_and(|inputs| {
            let ours = |origin: &Origin, id: &ArtifactId| {
                inputs.get(origin).map(Artifact::id) == Some(*id)
            };
            fields.iter().all(|(origin, id)| ours(origin, id))
        });
        let used = object.status.used.iter();
        let matches = |origin: &Origin, id: &ArtifactId| {
            let input = recorded.and_then(|inputs| inputs.get(origin));
            input.map(Artifact::id) == Some(*id) && it.named.contains(origin)
        };
        let matched = used.filter(|(origin, id)| matches(origin, id));
        let snapshot = Snapshot {
            template: it.template(),
            uid: object.uid.clone(),
            generation: it.counted.then_some(object.generation),
            observed: object.status.observed,
            condition_observed: object.status.condition_observed,
            health: object.status.health,
            held: self.annotated.then_some(held),
            matched: Some(matched.map(|(origin, _)| origin.clone()).collect()),
            failed: object.status.failed.clone(),
            inputs_id: self.annotated.then(|| object.inputs_id.clone()),
            earlier: if self.annotated {
                object.earlier.clone()
            } else {
                Vec::new()
            },
            output: object.status.output.clone(),
            time: Timestamp::from_second(self.time).expect("a small number"),
        };
        let name = it.name.clone();
        self.parts[part].show(object);
        self.tell(|| {
            let fields: Vec<_> = object.fields().into_iter().collect();
            format!("{name} seen {snapshot:?} holding {fields:?}")
        });
        self.state
            .seen(&name, &snapshot)
            .expect("it is on the path");
    }

    /// Returns what a part is to be given, as far as Pathline has looked, if all of it is there.
    pub(super) fn inputs(&self, part: usize) -> Option<Inputs> {
        let it = &self.parts[part];
        let mut inputs = Inputs::new();
        for name in it.params_read() {
            inputs.insert(Origin::owner(*name), self.state.owner()[*name].clone());
        }
        let resource = self.state.chain().get(&it.name);
        for name in &resource.expect("it is on the path").upstream {
            let output = self.state.current(name)?.output.clone()?;
            inputs.insert(Origin::resource(name), output);
        }
        Some(inputs)
    }
}

/// Returns a value of a param, which is given by the name that it has as an input.
pub(super) fn param(input: &str, value: &Value) -> Artifact {
    Artifact::param(input.trim_start_matches("param:"), value)
}

impl Blueprint {
    /// Returns the path that it describes.
    fn chain(self, parts: &[Part]) -> Chain {
        let resource = |(index, part): (usize, &Part)| {
            let kept = part.upstream.len() - usize::from(self.cut == Some(index));
            part.resource(&part.upstream[..kept], parts)
        };
        let resources = parts.iter().enumerate().map(resource).collect();
        Chain::new(resources).expect("producers come first")
    }
}
