//! A path, its objects and its controllers; and Pathline, which looks at them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use jiff::Timestamp;
use serde_json::json;

use super::clients::Client;
use super::controller::{CONTROLLERS, Controller};
use super::dice::Dice;
use super::object::{self, Held, Object, Truth};
use super::waits::Waiting;
use crate::artifact::{Artifact, ArtifactId, Kind};
use crate::chain::{Chain, Resource};
use crate::clauses::Clause;
use crate::origin::Origin;
use crate::snapshot::Snapshot;
use crate::stamp::{Inputs, Template};
use crate::state::State;
use crate::tracing::Tracing;
use crate::track::Retiring;

/// The owner's params, and the values they take.
pub(super) const PARAMS: [&str; 3] = ["param:a", "param:b", "param:c"];
pub(super) const VALUES: [&str; 3] = ["1", "2", "3"];

/// One resource, its controller and its objects.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) controller: Controller,
    pub(super) upstream: Vec<usize>,
    pub(super) params: Vec<&'static str>,
    /// Inputs that are rendered into fields that change the generation.
    pub(super) spec: BTreeSet<Origin>,
    /// Inputs that are rendered into metadata. All others are read, and change nothing.
    pub(super) metadata: BTreeSet<Origin>,
    /// Inputs whose used value is reported.
    pub(super) named: BTreeSet<Origin>,
    /// The output is always called the same.
    pub(super) mutable: bool,
    /// Only one input makes a difference to the output.
    pub(super) insensitive: bool,
    /// The object has a generation.
    pub(super) counted: bool,
    /// Pathline knows that there will be an output, and takes nothing without it for a sink.
    pub(super) emits: bool,
    /// There never is an output.
    pub(super) sink: bool,
    /// The second template does not read the first param.
    pub(super) second_template: bool,
    /// The generation of its template, and the one that Pathline has looked at.
    pub(super) template_generation: i64,
    pub(super) looked_template: i64,
    /// Pathline could not stamp it when it looked last, for an upstream gives nothing.
    pub(super) lacks_input: bool,
    /// The current object last; only runs have more than one.
    pub(super) objects: Vec<Object>,
    /// Objects that are no longer there, as they were last.
    pub(super) gone: Vec<Object>,
    /// States that a watch has still to deliver.
    pub(super) pending: VecDeque<Object>,
    /// The last apply that Pathline remembers.
    pub(super) recorded: Option<Inputs>,
    /// The last apply that was made.
    pub(super) rendered: Option<Inputs>,
    /// Every apply, with its template.
    pub(super) applies: Vec<(Template, Inputs)>,
    /// An input was changed without a new generation, or an apply was forgotten.
    pub(super) disputed: bool,
    /// Somebody else has written to the object, or deleted it, since the last apply.
    pub(super) touched: bool,
    /// Changes with everything that a controller does on its own.
    pub(super) salt: u64,
    /// The object that Pathline looked at last.
    pub(super) seen: Option<Object>,
    /// The applies that Pathline remembers, each with the object and the generation that it made.
    pub(super) remembered: Vec<Apply>,
    /// Another output was shown since the last of them was made, perhaps by a state that came late. What
    /// an object showed before anybody remembers an apply to it counts as made of the first that is
    /// remembered.
    pub(super) shown_since: bool,
}

/// The object of an apply, the generation that it made, and its inputs.
pub(super) type Apply = (String, i64, Inputs);

/// What the ledger had when it went away.
#[derive(Debug)]
pub(super) struct Written {
    state: State,
    parts: Vec<WrittenPart>,
    looked: i64,
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
    /// What the owner has now, and how often that changed.
    pub(super) owner: BTreeMap<&'static str, Artifact>,
    pub(super) generation: i64,
    /// The generation of the owner that Pathline has looked at.
    pub(super) looked: i64,
    /// What those who wait, or have waited, asked for and were told.
    pub(super) waiting: Waiting,
    /// Those who wait from one step to the next.
    pub(super) clients: Vec<Client>,
    /// Objects that nothing stamps any more, and that are still there.
    pub(super) retiring: Vec<Retiring>,
    pub(super) truth: Truth,
    pub(super) artifacts: BTreeMap<ArtifactId, Artifact>,
    pub(super) state: State,
    /// What the ledger has, while it takes nothing.
    ledger: Option<Written>,
    /// Objects carry the id of their inputs, and Pathline compares their fields.
    pub(super) annotated: bool,
    /// Nothing fails, flaps or starts on its own any more.
    pub(super) calm: bool,
    pub(super) time: i64,
    uids: u64,
    /// What happened, if somebody wants to read it.
    pub(super) story: Option<Vec<String>>,
}

impl World {
    pub(super) fn new(seed: u64, dropped: Option<Clause>) -> Self {
        let mut dice = Dice::new(seed);
        let count = 1 + dice.below(5);
        let mut parts: Vec<Part> = Vec::new();
        for index in 0..count {
            let part = part(&mut dice, &parts, index + 1 == count);
            parts.push(part);
        }
        let chain = Chain::new(parts.iter().map(|it| it.resource(&parts)).collect());
        let mut world = Self {
            annotated: dice.chance(60),
            dice,
            state: State::new(chain.expect("producers come first")).dropping(dropped),
            parts,
            ledger: None,
            owner: BTreeMap::new(),
            generation: 0,
            looked: 0,
            waiting: Waiting::default(),
            clients: Vec::new(),
            retiring: Vec::new(),
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
        let param = Artifact::param(name, &value);
        self.keep(&param);
        self.generation += 1;
        self.tell(|| format!("{name} is {} now", param.shown()));
        let before = self.owner.insert(name, param.clone());
        self.waiting.changed(name, before, &param);
    }

    /// Pathline looks at the owner.
    pub(super) fn look(&mut self) {
        let inputs = self.owner.iter();
        let inputs = inputs.map(|(name, param)| ((*name).to_owned(), param.clone()));
        self.state.own(inputs.collect());
        self.looked = self.generation;
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
            }),
        };
    }

    /// Pathline stops, and starts again with what it had written down.
    pub(super) fn restart(&mut self, dropped: Option<Clause>) {
        if let Some(written) = self.ledger.take() {
            self.forget(written);
        }
        let text = serde_json::to_string(&self.state).expect("a state is JSON");
        let read: State = serde_json::from_str(&text).expect("what was written can be read");
        let read = read.dropping(dropped);
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
            failed: object.status.failed.clone().filter(|_| object.has_failed()),
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
        for upstream in &it.upstream {
            let name = &self.parts[*upstream].name;
            let output = self.state.current(name)?.output.clone()?;
            inputs.insert(Origin::resource(name), output);
        }
        Some(inputs)
    }
}

impl Part {
    pub(super) fn template(&self) -> Template {
        Template {
            name: if self.second_template { "two" } else { "one" }.to_owned(),
            generation: Some(1),
        }
    }

    /// Takes note of an apply that Pathline remembers.
    pub(super) fn remember(&mut self, object: &Object, inputs: &Inputs) {
        let is_first = !self.remembered.iter().any(|(uid, ..)| *uid == object.uid);
        if is_first || self.recorded.as_ref() != Some(inputs) {
            self.shown_since = is_first;
        }
        self.recorded = Some(inputs.clone());
        let apply = (object.uid.clone(), object.generation, inputs.clone());
        if self.remembered.last() != Some(&apply) {
            self.remembered.push(apply);
        }
    }

    /// Takes note of what Pathline was shown, unless it came too late.
    fn show(&mut self, object: &Object) {
        // Uids grow.
        let age = |it: &Object| (it.uid.len(), it.uid.clone(), it.generation);
        let is_late = self.seen.as_ref().is_some_and(|it| age(it) > age(object));
        if !is_late || self.controller == Controller::Runs {
            let before = self.seen.as_ref().map(|it| &it.status.output);
            self.shown_since |= before.is_none_or(|it| *it != object.status.output);
            self.seen = Some(object.clone());
        }
    }

    /// Tells whether the object is as Pathline left it by the template of now, and Pathline knows how
    /// that was.
    pub(super) fn is_as_applied(&self) -> bool {
        let last = self.rendered.as_ref().zip(self.applies.last());
        let remembered = last.is_none_or(|(rendered, (template, _))| {
            self.recorded.as_ref() == Some(rendered) && *template == self.template()
        });
        remembered && !self.touched
    }

    fn params_read(&self) -> &[&'static str] {
        &self.params[usize::from(self.second_template)..]
    }

    fn resource(&self, parts: &[Self]) -> Resource {
        let upstream = self.upstream.iter();
        Resource {
            name: self.name.clone(),
            upstream: upstream.map(|index| parts[*index].name.clone()).collect(),
            reads: self.params.iter().map(|name| (*name).to_owned()).collect(),
            tracing: Tracing {
                immutable: self.controller == Controller::Runs,
                trust: self.controller.trust(),
                rules: self.named.clone(),
            },
            emits: self.emits,
        }
    }

    /// Returns the fields that some inputs are rendered into.
    pub(super) fn fields_of(&self, inputs: &Inputs) -> Held {
        let mut fields = object::ids(inputs, &self.spec);
        fields.extend(object::ids(inputs, &self.metadata));
        fields
    }

    /// Returns what a controller makes of some fields.
    pub(super) fn output(&self, fields: &Held) -> Artifact {
        let sensitive = if self.insensitive { 1 } else { usize::MAX };
        let content: Vec<_> = fields
            .iter()
            .take(sensitive)
            .map(|it| format!("{it:?}"))
            .collect();
        if self.mutable {
            return Artifact::image(&format!("{}:latest", self.name));
        }
        let kind = if self.controller == Controller::Applied {
            Kind::Config
        } else {
            Kind::Image
        };
        Artifact::value(kind, &json!([self.name, content, self.salt]))
    }
}

fn part(dice: &mut Dice, before: &[Part], is_last: bool) -> Part {
    let index = before.len();
    let name = format!("r{index}");
    let upstream: Vec<_> = (0..index).filter(|_| dice.chance(50)).collect();
    let mut controller = dice.one_of(&CONTROLLERS);
    let hands_on = matches!(controller, Controller::HandsOn | Controller::PassesThrough);
    if hands_on && upstream.len() != 1 {
        controller = Controller::Honest;
    }
    let mut params: Vec<_> = PARAMS.into_iter().filter(|_| dice.chance(50)).collect();
    if params.is_empty() {
        params.push(dice.one_of(&PARAMS));
    }
    let mut spec = BTreeSet::new();
    let mut metadata = BTreeSet::new();
    let of_params = params.iter().map(|name| Origin::owner(*name));
    let of_upstream = upstream
        .iter()
        .map(|index| Origin::resource(format!("r{index}")));
    for origin in of_params {
        match dice.below(10) {
            0..3 => metadata.insert(origin),
            3 => false,
            _ => spec.insert(origin),
        };
    }
    spec.extend(of_upstream);
    let correlated = controller.correlates();
    let named = spec.iter().filter(|_| correlated && dice.chance(80));
    let named = named.cloned().collect();
    let sink = correlated && is_last && dice.chance(50);
    Part {
        mutable: dice.chance(8) && controller != Controller::Applied,
        insensitive: dice.chance(25),
        counted: controller != Controller::Applied || dice.chance(40),
        emits: !sink && (controller == Controller::Flapping || dice.chance(70)),
        sink,
        second_template: false,
        template_generation: 1,
        looked_template: 0,
        lacks_input: false,
        objects: Vec::new(),
        gone: Vec::new(),
        pending: VecDeque::new(),
        recorded: None,
        rendered: None,
        applies: Vec::new(),
        disputed: false,
        touched: false,
        salt: 0,
        seen: None,
        remembered: Vec::new(),
        shown_since: false,
        name,
        controller,
        upstream,
        params,
        spec,
        metadata,
        named,
    }
}
