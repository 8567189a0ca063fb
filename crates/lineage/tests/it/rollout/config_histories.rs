//! Histories of a ConfigMap and of pods that read it, against a cluster that knows the truth.

#![expect(
    clippy::unwrap_used,
    reason = "what the tests write can be read by them"
)]

use std::collections::BTreeMap;

use pathline_lineage::Stage;
use pathline_lineage::rollout::{Below, ConfigRecord};
use pathline_testkit::cases;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::configs::{config, env, fed, observe, reader, time};
use super::{complete, deployment, replica_set};

/// An event of a history, each some tenths of a second after the one before.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// Pathline writes a value.
    Write(u8),
    /// Somebody else writes a value, and Pathline observes it later.
    Edit(u8),
    /// Pathline, or somebody else, writes a label.
    Label(bool),
    /// A pod takes the place of another.
    Replace(usize),
    /// A container is started again.
    Restart(usize),
    /// Pathline observes it.
    Observe,
    /// The watch breaks off, and what is there is listed.
    Relist,
    /// Pathline is started again: it has what it wrote down, and a new listing.
    Reboot,
}

fn event() -> impl Strategy<Value = (i64, Event)> {
    let what = prop_oneof![
        (0..3_u8).prop_map(Event::Write),
        (0..3_u8).prop_map(Event::Edit),
        any::<bool>().prop_map(Event::Label),
        (0..2_usize).prop_map(Event::Replace),
        (0..2_usize).prop_map(Event::Restart),
        Just(Event::Observe),
        Just(Event::Relist),
        Just(Event::Reboot),
    ];
    (1..15_i64, what)
}

/// A cluster that knows when everything happened, in tenths of seconds.
struct World {
    now: i64,
    version: u64,
    config: Value,
    changed: i64,
    /// When the container of each pod started, and the pod.
    pods: BTreeMap<usize, (i64, Value)>,
    below: Below,
    record: ConfigRecord,
    /// Since when the content is the same for whoever watches.
    steady_since: u64,
}

impl World {
    fn new() -> Self {
        let first = config(1, "0", 0);
        let mut below = Below::default();
        below.seen(&replica_set("new", "2"));
        let mut world = Self {
            now: 0,
            version: 1,
            record: ConfigRecord::after(None, &observe(&first, None), 0),
            config: first,
            changed: 0,
            pods: BTreeMap::new(),
            below,
            steady_since: 1,
        };
        (0..2).for_each(|index| world.replace(index));
        world
    }

    fn second(&self) -> i64 {
        self.now / 10
    }

    fn write(&mut self, manager: &str, value: Option<u8>) -> Value {
        let before = self.config.clone();
        self.version += 1;
        self.config["metadata"]["resourceVersion"] = json!(self.version.to_string());
        let field = if value.is_some() {
            "f:data"
        } else {
            "f:metadata"
        };
        let entries = &mut self.config["metadata"]["managedFields"];
        let entries = entries.as_array_mut().unwrap();
        if value.is_some() {
            // Whoever writes a field has it alone.
            for entry in entries.iter_mut() {
                entry["fieldsV1"].as_object_mut().unwrap().remove(field);
            }
            let is_idle = |it: &Value| it["fieldsV1"] == json!({});
            entries.retain(|it| it["manager"] == manager || !is_idle(it));
        }
        let of_manager = |it: &Value| it["manager"] == manager;
        if !entries.iter().any(of_manager) {
            let entry = json!({"manager": manager, "operation": "Apply", "fieldsV1": {}});
            entries.push(entry);
        }
        let own = entries.iter_mut().find(|it| of_manager(it)).unwrap();
        own["time"] = time(self.now / 10);
        own["fieldsV1"][field] = json!({"f:debug": {}});
        if let Some(value) = value {
            let value = json!(value.to_string());
            if self.config["data"]["debug"] != value {
                self.changed = self.now;
                self.steady_since = self.version;
            }
            self.config["data"]["debug"] = value;
        }
        before
    }

    fn replace(&mut self, index: usize) {
        self.below.gone(&format!("pod-{index}"));
        self.version += 1;
        let mut pod = reader(&format!("pod-{index}"), self.second(), self.second(), env());
        pod["metadata"]["resourceVersion"] = json!(self.version.to_string());
        self.below.changed(&pod);
        self.pods.insert(index, (self.now, pod));
    }

    fn restart(&mut self, index: usize) {
        let now = time(self.second());
        let (started, pod) = self.pods.get_mut(&index).unwrap();
        *started = self.now;
        pod["status"]["containerStatuses"][0]["state"]["running"]["startedAt"] = now;
        self.version += 1;
        pod["metadata"]["resourceVersion"] = json!(self.version.to_string());
        self.below.changed(pod);
    }

    fn observe(&mut self, before: Option<&Value>, steady_since: u64) -> Stage {
        let observed = observe(&self.config, before).steady_since(Some(steady_since));
        self.record = ConfigRecord::after(Some(&self.record), &observed, self.second());
        let object = deployment(2, complete(2));
        let judged = fed(&object, &self.below, &self.record, Some(&observed));
        for pods in judged.settled.values() {
            self.record.settle(pods);
        }
        judged.stage
    }

    fn reboot(&mut self) {
        let text = serde_json::to_string(&self.record).unwrap();
        self.record = serde_json::from_str(&text).unwrap();
        self.below = Below::default();
        self.below.seen(&replica_set("new", "2"));
        for (_, pod) in self.pods.values() {
            self.below.seen(pod);
        }
    }

    /// Lets something happen, and returns what Pathline says if it observes it.
    fn happen(&mut self, event: Event) -> Option<Stage> {
        match event {
            Event::Write(value) => {
                let steady_since = self.steady_since;
                let before = self.write("pathline", Some(value));
                return Some(self.observe(Some(&before), steady_since));
            }
            Event::Edit(value) => drop(self.write("editor", Some(value))),
            Event::Label(true) => {
                let before = self.write("pathline", None);
                return Some(self.observe(Some(&before), self.steady_since));
            }
            Event::Label(false) => drop(self.write("labeller", None)),
            Event::Replace(index) => self.replace(index),
            Event::Restart(index) => self.restart(index),
            Event::Observe => return Some(self.observe(None, self.steady_since)),
            Event::Relist => self.steady_since = self.version,
            Event::Reboot => {
                self.reboot();
                self.steady_since = self.version;
                return Some(self.observe(None, self.steady_since));
            }
        }
        None
    }
}

proptest! {
    #![proptest_config(cases(512))]

    #[test]
    fn point_17_nothing_is_live_while_a_container_has_started_before_the_change(
        events in prop::collection::vec(event(), 0..40),
    ) {
        let mut world = World::new();
        for (pause, event) in events {
            world.now += pause;
            let Some(stage) = world.happen(event) else { continue };
            let oldest = world.pods.values().map(|(started, _)| *started).min().unwrap();
            prop_assert!(
                stage != Stage::Done || oldest >= world.changed,
                "{:?} by {:?}: started at {}, changed at {}", stage, world.record, oldest, world.changed
            );
        }
        // Whoever follows the advice gets there, and stays there whatever happens to labels.
        world.now += 10;
        (0..2).for_each(|index| world.replace(index));
        prop_assert_eq!(world.observe(None, world.steady_since), Stage::Done);
        for event in [Event::Label(true), Event::Label(false), Event::Observe, Event::Reboot] {
            let stage = world.happen(event).unwrap_or(Stage::Done);
            prop_assert_eq!(stage, Stage::Done, "after {:?}", event);
        }
    }
}
