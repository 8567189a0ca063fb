//! One resource of the path, its controller and its objects.

use std::collections::{BTreeSet, VecDeque};

use pathline_lineage::chain::Resource;
use pathline_lineage::{Artifact, Inputs, Kind, Origin, Template, Tracing};
use pathline_testkit::Dice;
use serde_json::json;

use super::controller::{CONTROLLERS, Controller};
use super::object::{self, Held, Object};
use super::world::PARAMS;

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
    /// Its object is a Task, where it is at the end of the path.
    pub(super) is_task: bool,
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
        let seen = self.seen.as_ref().filter(|it| it.uid == object.uid);
        let was_there = seen.is_some_and(|it| it.generation < object.generation);
        if is_first || self.recorded.as_ref() != Some(inputs) {
            self.shown_since = is_first && !was_there;
        }
        self.recorded = Some(inputs.clone());
        let apply = (object.uid.clone(), object.generation, inputs.clone());
        if self.remembered.last() != Some(&apply) {
            self.remembered.push(apply);
        }
    }

    /// Takes note of what Pathline was shown, unless it came too late.
    pub(super) fn show(&mut self, object: &Object) {
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

    pub(super) fn params_read(&self) -> &[&'static str] {
        &self.params[usize::from(self.second_template)..]
    }

    pub(super) fn resource(&self, upstream: &[usize], parts: &[Self]) -> Resource {
        let upstream = upstream.iter();
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
            makes: None,
        }
    }

    /// Returns the fields that some inputs are rendered into.
    pub(super) fn fields_of(&self, inputs: &Inputs) -> Held {
        let mut fields = object::ids(inputs, &self.spec);
        fields.extend(object::ids(inputs, &self.metadata));
        fields
    }

    /// Tells whether the object is another one by now than Pathline was shown, or has another generation, where it
    /// has one at all. Nobody changes a run.
    pub(super) fn has_changed_since_seen(&self) -> bool {
        let is_seen = |object: &Object| {
            let seen = self.seen.as_ref();
            seen.is_some_and(|seen| {
                seen.uid == object.uid && (!self.counted || seen.generation == object.generation)
            })
        };
        let has_object = !matches!(
            self.controller,
            Controller::Runs | Controller::PassesThrough
        );
        has_object && !self.objects.last().is_some_and(is_seen)
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

/// Makes up a part.
pub(super) fn part(dice: &mut Dice, before: &[Part], is_last: bool) -> Part {
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
        is_task: false,
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
