//! Controllers at work, one step at a time.

use pathline_lineage::Health;

use super::controller::Controller;
use super::object::{Held, Object};
use super::world::World;

impl World {
    /// Lets the controller of a part do one thing, and the watch see it.
    pub(super) fn work(&mut self, part: usize) {
        let runs = self.parts[part].controller == Controller::Runs;
        let count = self.parts[part].objects.len();
        let unfinished = self.parts[part].objects.iter();
        let unfinished = unfinished.take_while(|it| it.status.done.is_some()).count();
        let index = if runs {
            unfinished
        } else {
            count.saturating_sub(1)
        };
        let Some(mut object) = self.parts[part].objects.get(index).cloned() else {
            return;
        };
        match self.parts[part].controller {
            Controller::Applied | Controller::PassesThrough => return,
            Controller::Runs => self.run(part, &mut object),
            controller if controller.reports() => self.report(part, controller, &mut object),
            controller => self.mumble(part, controller, &mut object),
        }
        let it = &mut self.parts[part];
        it.pending.push_back(object.clone());
        it.objects[index] = object;
    }

    /// A run succeeds or fails, once.
    fn run(&mut self, part: usize, object: &mut Object) {
        let succeeds = self.calm || self.dice.chance(70);
        let output = self.make(part, &object.fields());
        object.status.done = Some(object.generation);
        if succeeds {
            object.status.health = Health::True;
            object.status.output = Some(output);
        } else {
            object.status.health = Health::False;
            object.status.output = Some(output).filter(|_| self.dice.chance(30));
        }
    }

    /// A controller that says honestly when it is done with a generation.
    fn report(&mut self, part: usize, controller: Controller, object: &mut Object) {
        let restless = !self.calm && self.dice.chance(40);
        if restless && self.publish_old_work(part, object) {
            return;
        }
        match object.work.take() {
            Some((generation, fields)) if generation == object.generation => {
                self.finish(part, controller, object, &fields);
            }
            Some((_, fields)) => {
                object.old_work = Some(fields);
                self.begin(object);
            }
            // Nobody retries what has failed for good.
            None if object.has_failed() => {}
            None if object.status.done != Some(object.generation) => self.begin(object),
            None if controller == Controller::Flapping => {
                let says_so = self.dice.chance(50);
                flap(object, restless, says_so);
            }
            None if controller == Controller::SelfStarting && restless => {
                self.parts[part].salt += 1;
                object.work = Some((object.generation, object.fields()));
            }
            None => {}
        }
    }

    fn begin(&mut self, object: &mut Object) {
        object.work = Some((object.generation, object.fields()));
        if self.dice.chance(50) {
            object.status.observed = Some(object.generation);
            object.status.condition_observed = Some(object.generation);
            object.status.health = Health::Unknown;
        }
    }

    fn finish(&mut self, part: usize, controller: Controller, object: &mut Object, fields: &Held) {
        let generation = Some(object.generation);
        object.status.observed = generation;
        object.status.condition_observed = generation;
        if controller == Controller::Failing && !self.calm && self.dice.chance(40) {
            object.status.health = Health::False;
            let for_good = self.dice.chance(40);
            object.status.failed = for_good.then(|| "it failed for good".to_owned());
            return;
        }
        let output = self.make(part, fields);
        object.status.failed = None;
        object.old_work = None;
        object.status.health = Health::True;
        object.status.made = Some(output.clone());
        object.status.output = Some(output);
        object.status.done = generation;
    }

    /// Work on an older generation ends late; the controller knows that it is not the last word.
    fn publish_old_work(&mut self, part: usize, object: &mut Object) -> bool {
        if object.status.done == Some(object.generation) {
            return false;
        }
        let Some(fields) = object.old_work.take() else {
            return false;
        };
        object.status.output = Some(self.make(part, &fields));
        if object.status.observed == Some(object.generation) {
            object.status.health = Health::Unknown;
        }
        true
    }

    /// A controller whose word on generations is worth nothing.
    fn mumble(&mut self, part: usize, controller: Controller, object: &mut Object) {
        let reports = matches!(
            controller,
            Controller::Lagging | Controller::Presumed | Controller::Matching
        );
        object.status.health = if controller == Controller::Presumed {
            Health::Presumed
        } else {
            Health::True
        };
        match object.work.take() {
            Some((generation, fields)) => {
                self.use_fields(part, object, fields);
                object.status.done = Some(generation);
            }
            None if object.status.done != Some(object.generation) => {
                object.work = Some((object.generation, object.fields()));
                object.status.observed = reports.then_some(object.generation);
            }
            None if controller.correlates() => self.roll_back_or_on(part, object),
            None => {}
        }
    }

    /// A controller that says what it uses goes back to what it used before, or on again: nothing
    /// but its status tells.
    fn roll_back_or_on(&mut self, part: usize, object: &mut Object) {
        let is_back = object.status.used != object.fields();
        if is_back {
            self.use_fields(part, object, object.fields());
        } else if !self.calm && self.dice.chance(25) && !object.used_before.is_empty() {
            self.use_fields(part, object, object.used_before.clone());
        }
    }

    fn use_fields(&mut self, part: usize, object: &mut Object, fields: Held) {
        let output = self.make(part, &fields);
        object.status.output = Some(output).filter(|_| !self.parts[part].sink);
        object.used_before = std::mem::replace(&mut object.status.used, fields);
    }
}

/// The output goes, and perhaps the health with it; or both come back.
fn flap(object: &mut Object, restless: bool, says_so: bool) {
    if restless {
        if says_so {
            object.status.health = Health::False;
        }
        object.status.output = None;
    } else {
        object.status.health = Health::True;
        object.status.output = object.status.made.clone();
    }
}
