//! One random history: what happens, until everything settles.

use jiff::Timestamp;
use pathline_lineage::clauses::Clause;
use pathline_lineage::{Applied, Artifact, Health, Inputs, InputsId, Origin, Stamp, Template};

use super::check::{self, Counts, Fault};
use super::controller::Controller;
use super::object::{self, Held, Object, Status};
use super::world::{PARAMS, World};
use super::{clients, releases, waits};

const STEPS: usize = 60;

/// The part of the answers that is compared with the truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Checks {
    /// Everything.
    All,
    /// That nothing proven is wrong.
    Proofs,
    /// The answers of waits.
    Waits,
}

/// Runs a history, perhaps without a clause; counts what was proven.
pub(super) fn run(seed: u64, dropped: Option<Clause>, checks: Checks) -> Result<Counts, Fault> {
    play(&mut World::new(seed, dropped), dropped, checks)
}

/// Runs a history again and tells what happens in it.
pub(super) fn tell(seed: u64) -> String {
    let mut world = World::new(seed, None);
    world.story = Some(Vec::new());
    let _ = play(&mut world, None, Checks::All);
    world.story.unwrap_or_default().join("\n")
}

fn play(world: &mut World, dropped: Option<Clause>, checks: Checks) -> Result<Counts, Fault> {
    let mut counts = Counts::default();
    for step in 0..STEPS {
        world.step(dropped);
        check(world, step, checks, &mut counts)?;
    }
    world.settle();
    check(world, STEPS, checks, &mut counts)?;
    if checks == Checks::All {
        check::settled(world, &mut counts)?;
    }
    Ok(counts)
}

fn check(world: &mut World, step: usize, checks: Checks, counts: &mut Counts) -> Result<(), Fault> {
    if checks == Checks::All {
        check::dated(world)?;
    }
    if checks != Checks::Waits {
        check::proven(world, counts)?;
    }
    if checks != Checks::Proofs {
        counts.awaited += waits::told(world, step)?;
        counts.awaited += clients::look(world)?;
        counts.deployed += releases::look(world)?;
    }
    Ok(())
}

impl World {
    fn step(&mut self, dropped: Option<Clause>) {
        self.change_labels();
        self.running.change(&mut self.side_dice);
        let part = self.dice.index(self.parts.len());
        match self.dice.below(100) {
            0..9 => {
                let param = self.dice.one_of(&PARAMS);
                self.change_param(param);
            }
            9..31 => self.reconcile(part, false),
            31..38 => {
                // Only the id of the inputs on the object tells what was applied and forgotten.
                self.reconcile(part, self.annotated);
                self.restart(dropped);
            }
            38..68 => self.work(part),
            68..88 => self.deliver(part),
            88..92 => self.meddle(part),
            92..94 => self.delete(part),
            94..96 => self.replace(part),
            96..98 => self.restart(dropped),
            98 if self.annotated => self.lose_or_find_ledger(),
            99 if self.dice.chance(30) => self.leave_or_reap(),
            99 if self.dice.chance(50) => self.change_blueprint(part),
            _ => {
                let it = &mut self.parts[part];
                it.second_template = !it.second_template && it.params.len() > 1;
                it.template_generation += 1;
            }
        }
    }

    /// Everything is applied, made and seen, and nothing else happens.
    fn settle(&mut self) {
        self.calm = true;
        self.retiring.clear();
        self.running.settle();
        for _ in 0..=self.parts.len() {
            for part in 0..self.parts.len() {
                self.reconcile(part, false);
                for _ in 0..4 {
                    self.work(part);
                    while !self.parts[part].pending.is_empty() {
                        self.deliver(part);
                    }
                }
            }
        }
    }

    /// Pathline reads the object, applies what it should be, and remembers that unless it crashes.
    fn reconcile(&mut self, part: usize, crash: bool) {
        self.look();
        self.parts[part].looked_template = self.parts[part].template_generation;
        let inputs = self.inputs(part);
        self.parts[part].lacks_input = inputs.is_none();
        let Some(inputs) = inputs else {
            return;
        };
        let controller = self.parts[part].controller;
        if controller == Controller::PassesThrough {
            self.pass_through(part, inputs);
            return;
        }
        if controller != Controller::Runs {
            // What a watch still has to deliver may come after that which was read.
            if self.calm || self.dice.chance(70) {
                self.parts[part].pending.clear();
            }
            if let Some(object) = self.parts[part].objects.last().cloned() {
                self.see(part, &object);
            }
        }
        self.apply(part, &inputs);
        let annotated = self.annotated;
        let it = &mut self.parts[part];
        if crash {
            let object = it.objects.last().cloned();
            self.tell(|| format!("r{part} crash after applying {inputs:?} as {object:?}"));
            return;
        }
        let object = it.objects.last().expect("it was applied").clone();
        it.remember(&object, &inputs);
        it.pending.push_back(object.clone());
        let stamp = Stamp {
            template: it.template(),
            uid: object.uid.clone(),
            generation: it.counted.then_some(object.generation),
            applied: if controller == Controller::Applied {
                Applied::Output(it.output(&it.fields_of(&inputs)).id())
            } else {
                Applied::Elsewhere
            },
            offered: std::collections::BTreeSet::new(),
            rendered: annotated.then(|| format!("{:?}", it.fields_of(&inputs))),
            inputs,
            time: Timestamp::UNIX_EPOCH,
        };
        let name = it.name.clone();
        self.tell(|| format!("{name} stamped {stamp:?}"));
        self.state.stamped(&name, stamp).expect("it is on the path");
    }

    fn pass_through(&mut self, part: usize, inputs: Inputs) {
        let upstream = &self.parts[self.parts[part].upstream[0]].name;
        let passed = Origin::resource(upstream);
        let output = inputs[&passed].clone();
        let fields = inputs.iter().map(|(origin, it)| (origin.clone(), it.id()));
        self.truth.record(part, &output, &fields.collect());
        let it = &mut self.parts[part];
        it.applies.push((Template::default(), inputs.clone()));
        it.recorded = Some(inputs.clone());
        let name = it.name.clone();
        let passed = self
            .state
            .passed_through(&name, &passed, inputs, Timestamp::UNIX_EPOCH);
        passed.expect("it is on the path");
    }

    /// The API server takes an apply.
    fn apply(&mut self, part: usize, inputs: &Inputs) {
        let it = &mut self.parts[part];
        it.applies.push((it.template(), inputs.clone()));
        it.touched = false;
        let before = it.rendered.replace(inputs.clone());
        let spec = object::ids(inputs, &it.spec);
        let metadata = object::ids(inputs, &it.metadata);
        let inputs_id = InputsId::of(inputs);
        let runs = it.controller == Controller::Runs;
        let kept = it.objects.last_mut();
        let kept = kept.filter(|it| !runs || (it.spec == spec && it.metadata == metadata));
        match kept {
            Some(object) => {
                let earlier = std::mem::replace(&mut object.inputs_id, inputs_id);
                let is_kept = object.spec == spec;
                object.spec = spec;
                object.metadata = metadata;
                if is_kept {
                    it.disputed |= before.as_ref() != Some(inputs);
                    object.earlier.push(earlier);
                    object.earlier.retain(|id| *id != object.inputs_id);
                } else {
                    object.raise();
                    object.start();
                    it.disputed = false;
                }
            }
            None => {
                it.disputed = false;
                let object = new_object(self.new_uid(), spec, metadata, inputs_id);
                self.parts[part].objects.push(object);
            }
        }
        self.show_applied(part);
    }

    /// An applied field is its own output.
    fn show_applied(&mut self, part: usize) {
        let it = &self.parts[part];
        if it.controller != Controller::Applied {
            return;
        }
        let fields = it.objects.last().expect("it was applied").fields();
        let output = self.make(part, &fields);
        let object = self.parts[part].objects.last_mut().expect("it was applied");
        object.status.output = Some(output);
        object.status.health = Health::Presumed;
    }

    /// A controller makes an output of some fields; that is the truth.
    pub(super) fn make(&mut self, part: usize, fields: &Held) -> Artifact {
        let it = &self.parts[part];
        let output = if it.controller == Controller::HandsOn {
            let upstream = Origin::resource(&self.parts[it.upstream[0]].name);
            self.artifacts.get(&fields[&upstream]).cloned()
        } else {
            None
        };
        let output = output.unwrap_or_else(|| it.output(fields));
        self.keep(&output);
        self.truth.record(part, &output, fields);
        output
    }

    /// A watch delivers one state, perhaps late.
    fn deliver(&mut self, part: usize) {
        if let Some(object) = self.parts[part].pending.pop_front() {
            self.see(part, &object);
        }
    }

    /// Somebody else writes to the object.
    fn meddle(&mut self, part: usize) {
        let taint = self.dice.chance(60);
        let it = &mut self.parts[part];
        let Some(object) = it.objects.last_mut() else {
            return;
        };
        if it.controller == Controller::Runs {
            return;
        }
        it.touched = true;
        object.raise();
        if taint && let Some(field) = object.spec.values_mut().next() {
            *field = object::somebody_elses();
        }
        object.start();
        self.show_applied(part);
        let it = &mut self.parts[part];
        it.pending.extend(it.objects.last().cloned());
    }

    /// Somebody deletes the object; Pathline may or may not notice.
    fn delete(&mut self, part: usize) {
        let noticed = self.dice.chance(50);
        let it = &mut self.parts[part];
        let Some(object) = it.objects.pop() else {
            return;
        };
        it.touched = true;
        it.gone.push(object.clone());
        let name = it.name.clone();
        self.tell(|| format!("{name}: {} is deleted", object.uid));
        if noticed {
            self.state.gone(&name, &object.uid);
        }
    }

    /// Somebody puts another object in the place of ours, with all its metadata.
    fn replace(&mut self, part: usize) {
        if self.parts[part].controller == Controller::Runs {
            return;
        }
        let uid = self.new_uid();
        let Some(old) = self.parts[part].objects.pop() else {
            return;
        };
        self.parts[part].gone.push(old.clone());
        let mut spec = old.spec;
        for field in spec.values_mut() {
            *field = object::somebody_elses();
        }
        let object = new_object(uid, spec, old.metadata, old.inputs_id);
        self.parts[part].objects.push(object);
        self.show_applied(part);
        let it = &mut self.parts[part];
        // Pathline can't know whether its next apply changes anything but metadata.
        it.disputed |= !self.annotated;
        it.touched = true;
        it.pending.extend(it.objects.last().cloned());
    }
}

fn new_object(uid: String, spec: Held, metadata: Held, inputs_id: InputsId) -> Object {
    let started = spec.clone().into_iter().chain(metadata.clone());
    Object {
        uid,
        generation: 1,
        started: started.collect(),
        spec,
        metadata,
        inputs_id,
        earlier: Vec::new(),
        status: Status {
            health: Health::Unknown,
            ..Status::default()
        },
        work: None,
        old_work: None,
        used_before: Held::new(),
    }
}
