//! A history, fed to the state machine step by step.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use jiff::Timestamp;
use serde_json::{Value, json};

use super::history::{Applied, Declared, History, Observed, Step, Traced, Values};
use super::{DirectInput, Input, Invalid, Output, Report};
use crate::artifact::{Artifact, ArtifactId, Kind};
use crate::chain::{Chain, Resource};
use crate::origin::Origin;
use crate::snapshot::{Health, Snapshot};
use crate::stamp::{Inputs, Stamp, Template};
use crate::state::State;
use crate::tracing::{Tracing, Trust};
use crate::{chain, stamp};

/// A history that is being run.
pub(super) struct Run<'a> {
    history: &'a History<'a>,
    state: State,
    /// The name of each resource's output.
    names: BTreeMap<&'a str, &'a str>,
    values: HashMap<ArtifactId, &'a Value>,
}

/// Runs all steps.
pub(super) fn run<'a>(history: &'a History<'a>) -> Result<Run<'a>, Invalid> {
    let names = output_names(&history.steps);
    let resources = history.resources.iter().map(|declared| {
        let mut others = history.resources.iter();
        let is_taken = others.any(|it| it.inputs.contains(&declared.name));
        declared.resource(is_taken || names.contains_key(declared.name))
    });
    let resources = resources.collect();
    let chain = Chain::new(resources).map_err(|problem: chain::Error| Invalid {
        path: "resources".to_owned(),
        problem: problem.to_string(),
    })?;
    let mut run = Run {
        history,
        state: State::new(chain),
        names,
        values: HashMap::new(),
    };
    for (index, step) in history.steps.iter().enumerate() {
        run.step(index, step);
    }
    Ok(run)
}

/// Returns the name under which each resource's output is first mentioned.
fn output_names<'a>(steps: &[Step<'a>]) -> BTreeMap<&'a str, &'a str> {
    let mut names = BTreeMap::new();
    for step in steps {
        let mentioned = match step {
            Step::Owner(_) => None,
            Step::Applied(it) => it.output.map(|(name, _)| (it.resource, name)),
            Step::Seen(it) => it.output.map(|(name, _)| (it.resource, name)),
        };
        if let Some((resource, name)) = mentioned {
            names.entry(resource).or_insert(name);
        }
    }
    names
}

impl Declared<'_> {
    /// Returns the resource of a path; `emits` tells whether it has an output at any time.
    fn resource(&self, emits: bool) -> Resource {
        let texts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Resource {
            name: self.name.to_owned(),
            upstream: texts(&self.inputs),
            reads: texts(&self.reads),
            tracing: Tracing {
                immutable: self.tracing == Traced::Immutable,
                trust: match self.tracing {
                    Traced::Declared => Trust::Declared,
                    Traced::Condition => Trust::Condition,
                    Traced::None | Traced::Immutable | Traced::Applied | Traced::Rule => {
                        Trust::Never
                    }
                },
                rules: self.rules(),
            },
            emits,
            makes: None,
        }
    }

    fn rules(&self) -> BTreeSet<Origin> {
        let rules = self.tracing == Traced::Rule;
        let named = self.proves.iter().filter(|_| rules);
        named.map(|name| self.origin(name)).collect()
    }

    fn origin(&self, name: &str) -> Origin {
        if self.inputs.contains(&name) {
            Origin::resource(name)
        } else {
            Origin::owner(name)
        }
    }
}

impl<'a> Run<'a> {
    fn step(&mut self, index: usize, step: &Step<'a>) {
        let time = Timestamp::from_second(index as i64).unwrap_or(Timestamp::MAX);
        match step {
            Step::Owner(values) => self.own(values),
            Step::Applied(applied) => self.applied(applied, time),
            Step::Seen(seen) => self.seen(seen, time),
        }
    }

    fn own(&mut self, values: &Values<'a>) {
        let given = values.iter().map(|(name, value)| {
            let artifact = self.known(given(name, value), value);
            ((*name).to_owned(), artifact)
        });
        let given = given.collect();
        self.state.own(given);
    }

    fn applied(&mut self, applied: &Applied<'a>, time: Timestamp) {
        let declared = self.declared(applied.resource);
        let inputs = applied.inputs.iter().map(|(name, value)| {
            let origin = declared.origin(name);
            let artifact = match &origin {
                Origin::Owner(_) => given(name, value),
                Origin::Resource(_) => made(self.output_name(name, declared), value),
            };
            (origin, self.known(artifact, value))
        });
        let inputs: Inputs = inputs.collect();
        let stamp = Stamp {
            template: Template::default(),
            uid: applied.uid.to_owned(),
            generation: applied.generation,
            inputs,
            offered: BTreeSet::new(),
            applied: match applied.output {
                _ if declared.tracing != Traced::Applied => stamp::Applied::Elsewhere,
                None => stamp::Applied::Object,
                Some((name, value)) => stamp::Applied::Output(made(Some(name), value).id()),
            },
            rendered: None,
            time,
        };
        let known = self.state.stamped(applied.resource, stamp);
        known.expect("steps name declared resources");
    }

    fn seen(&mut self, seen: &Observed<'a>, time: Timestamp) {
        let declared = self.declared(seen.resource);
        let output = seen.output.map(|(name, value)| {
            let artifact = made(Some(name), value);
            self.known(artifact, value)
        });
        let snapshot = Snapshot {
            template: Template::default(),
            uid: seen.uid.to_owned(),
            generation: seen.generation,
            observed: seen.observed,
            condition_observed: seen.condition_observed,
            health: match seen.healthy {
                Some(true) => Health::True,
                Some(false) => Health::False,
                None => Health::Unknown,
            },
            held: seen.held,
            matched: Some(if seen.matched {
                declared.rules()
            } else {
                BTreeSet::new()
            }),
            failed: None,
            inputs_id: None,
            earlier: Vec::new(),
            output,
            time,
        };
        let known = self.state.seen(seen.resource, &snapshot);
        known.expect("steps name declared resources");
    }

    /// Tells what is known now.
    pub(super) fn report(&self) -> Report {
        let resources = self.state.chain().resources().iter();
        Report {
            outputs: resources.filter_map(|it| self.output(&it.name)).collect(),
            inputs: self.state.owner().iter().map(|it| self.input(it)).collect(),
        }
    }

    fn output(&self, resource: &str) -> Option<Output> {
        let made = self.state.current(resource)?;
        let output = made.output.as_ref()?;
        let mut from: Vec<_> = made.from.iter().collect();
        from.sort_by_key(|(origin, _)| origin.name());
        let from = from.into_iter().map(|(origin, edge)| DirectInput {
            name: origin.name().to_owned(),
            value: self.value(&edge.artifact),
            evidence: edge.evidence,
        });
        Some(Output {
            resource: resource.to_owned(),
            name: self.names[resource].to_owned(),
            value: self.value(output),
            from: from.collect(),
        })
    }

    fn input(&self, (name, value): (&String, &Artifact)) -> Input {
        let origin = Origin::owner(name);
        let arrival = self.state.arrival(&origin, |artifact| artifact == value);
        Input {
            name: name.clone(),
            value: self.value(value),
            arrived: arrival.arrived(),
            mixed: arrival.mixed,
            unused: arrival.unused(),
        }
    }

    /// Returns the name of an upstream's output. If no step mentions it, only the resource's own
    /// output can tell what it is for.
    fn output_name(&self, upstream: &str, resource: &Declared<'_>) -> Option<&'a str> {
        let name = self.names.get(upstream);
        name.or_else(|| self.names.get(resource.name)).copied()
    }

    fn declared(&self, resource: &str) -> &'a Declared<'a> {
        let mut resources = self.history.resources.iter();
        let declared = resources.find(|it| it.name == resource);
        declared.expect("steps name declared resources")
    }

    fn known(&mut self, artifact: Artifact, value: &'a Value) -> Artifact {
        self.values.insert(artifact.id(), value);
        artifact
    }

    fn value(&self, artifact: &Artifact) -> Value {
        self.values[&artifact.id()].clone()
    }
}

/// Returns what the owner gives under a name; `source`, `image` and `config` may be handed on.
fn given(name: &str, value: &Value) -> Artifact {
    match name.split_once(':') {
        Some(("param", name)) => Artifact::param(name, value),
        Some(("field", path)) => Artifact::field(path, value),
        _ => made(Some(name), value),
    }
}

/// Returns what a resource makes. Values are names of contents here, so none is mutable.
fn made(name: Option<&str>, value: &Value) -> Artifact {
    match name {
        Some("source") => Artifact::value(Kind::Source, value),
        Some("image") => Artifact::value(Kind::Image, value),
        Some("config") => Artifact::value(Kind::Config, value),
        Some("deployment") => Artifact::value(Kind::Deployment, value),
        name => Artifact::value(Kind::Object, &json!({"name": name, "value": value})),
    }
}
