//! One owner and its controllers, who do what a test says.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use pathline_ledger::{Arrived, Change, Ledger, OwnerRef};
use pathline_lineage::chain::Resource;
use pathline_lineage::{
    Applied, Artifact, Chain, Derivation, Health, Origin, OwnerLineage, Snapshot, Stamp, State,
    Template, Tracing, Trust, Written,
};
use serde_json::json;

/// The history of one workload: `fetch` reads its source, `build` what `fetch` made and the param
/// `debug`, and `deploy`, which makes nothing, what `build` made.
pub(crate) struct Story {
    pub(crate) owner: OwnerRef,
    pub(crate) lineage: OwnerLineage,
    pub(crate) derivations: Vec<Derivation>,
    pub(crate) arrivals: Vec<Arrived>,
    generations: BTreeMap<String, i64>,
    seconds: i64,
}

impl Story {
    pub(crate) fn of(name: &str) -> Self {
        let uid = format!("uid-of-{name}");
        let resources = vec![
            resource("fetch", &[], &["source"]),
            resource("build", &["fetch"], &["param:debug"]),
            resource("deploy", &["build"], &[]),
        ];
        Self {
            owner: OwnerRef {
                kind: "Workload".to_owned(),
                namespace: "default".to_owned(),
                name: name.to_owned(),
                uid: uid.clone(),
            },
            lineage: OwnerLineage {
                uid,
                generation: 1,
                state: State::new(Chain::new(resources).unwrap()),
                ..OwnerLineage::default()
            },
            derivations: Vec::new(),
            arrivals: Vec::new(),
            generations: BTreeMap::new(),
            seconds: 0,
        }
    }

    /// Returns the time of the story, which goes on with everything that happens in it.
    pub(crate) fn now(&self) -> Timestamp {
        at(self.seconds)
    }

    /// Sets the clock.
    pub(crate) fn set_clock(&mut self, seconds: i64) {
        self.seconds = seconds;
    }

    /// Stamps a resource and sees that it is done, and what it made.
    pub(crate) fn make(
        &mut self,
        name: &str,
        inputs: &[(Origin, Artifact)],
        output: Option<&Artifact>,
    ) {
        let generation = self.stamp(name, inputs);
        self.see(name, generation, Some(generation), output);
    }

    /// Stamps a resource and sees what it made, without any sign that it is made from that.
    pub(crate) fn guess(
        &mut self,
        name: &str,
        inputs: &[(Origin, Artifact)],
        output: Option<&Artifact>,
    ) {
        let generation = self.stamp(name, inputs);
        self.see(name, generation, None, output);
    }

    /// Sees a resource as it is, which now says that it is done.
    pub(crate) fn prove(&mut self, name: &str, output: Option<&Artifact>) {
        let generation = self.generations[name];
        self.see(name, generation, Some(generation), output);
    }

    /// Sees a resource whose object somebody else has changed, and that shows what it did.
    pub(crate) fn meddle(&mut self, name: &str, output: Option<&Artifact>) {
        let generation = self.generations[name] + 1;
        self.see(name, generation, None, output);
    }

    /// Goes the whole way with a source.
    pub(crate) fn deliver(&mut self, source: &Artifact, debug: &str, image: &Artifact) {
        self.make("fetch", &[given("source", source)], Some(source));
        let debug = Artifact::param("debug", &json!(debug));
        let inputs = [made_by("fetch", source), given("param:debug", &debug)];
        self.make("build", &inputs, Some(image));
        self.make("deploy", &[made_by("build", image)], None);
    }

    /// Sees that the object of a sink has written a commit.
    pub(crate) fn write(&mut self, name: &str, commit: &Artifact) {
        self.seconds += 1;
        let written = Written {
            uid: format!("{}-{name}", self.owner.uid),
            generation: self.generations.get(name).copied(),
            artifact: commit.clone(),
            commit: String::new(),
            files: Vec::new(),
        };
        let time = at(self.seconds);
        let wrote = self.lineage.state.wrote(name, &written, time).unwrap();
        self.derivations.extend(wrote.cloned());
    }

    /// Notes that a value arrived.
    pub(crate) fn arrive(&mut self, input: &str, artifact: &Artifact, live: bool) {
        self.arrivals.push(Arrived {
            input: input.to_owned(),
            artifact: artifact.clone(),
            live,
            generation: self.lineage.generation,
        });
    }

    /// Records what is new.
    pub(crate) async fn record(&mut self, ledger: &Ledger) -> Result<(), pathline_ledger::Error> {
        self.repeat(ledger).await?;
        self.derivations.clear();
        self.arrivals.clear();
        Ok(())
    }

    /// Records what is new, and forgets that it did.
    pub(crate) async fn repeat(&self, ledger: &Ledger) -> Result<(), pathline_ledger::Error> {
        let change = Change {
            owner: &self.owner,
            lineage: &self.lineage,
            derivations: &self.derivations,
            arrivals: &self.arrivals,
            time: self.now(),
        };
        ledger.lineage().record(&change).await
    }

    fn stamp(&mut self, name: &str, inputs: &[(Origin, Artifact)]) -> i64 {
        self.seconds += 1;
        let generation = self.generations.entry(name.to_owned()).or_default();
        *generation += 1;
        let stamp = Stamp {
            template: template(name),
            uid: format!("{}-{name}", self.owner.uid),
            generation: Some(*generation),
            inputs: inputs.iter().cloned().collect(),
            offered: BTreeSet::new(),
            applied: Applied::Elsewhere,
            rendered: None,
            time: at(self.seconds),
        };
        self.lineage.state.stamped(name, stamp).unwrap();
        *generation
    }

    fn see(
        &mut self,
        name: &str,
        generation: i64,
        observed: Option<i64>,
        output: Option<&Artifact>,
    ) {
        self.seconds += 1;
        let snapshot = Snapshot {
            template: template(name),
            uid: format!("{}-{name}", self.owner.uid),
            generation: Some(generation),
            observed,
            condition_observed: None,
            health: Health::True,
            held: None,
            matched: Some(BTreeSet::new()),
            failed: None,
            inputs_id: None,
            earlier: Vec::new(),
            output: output.cloned(),
            time: at(self.seconds),
        };
        let seen = self.lineage.state.seen(name, &snapshot).unwrap();
        self.derivations.extend(seen.cloned());
    }
}

pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH
        + SignedDuration::from_hours(24 * 365 * 50)
        + SignedDuration::from_secs(seconds)
}

pub(crate) fn given(name: &str, artifact: &Artifact) -> (Origin, Artifact) {
    (Origin::owner(name), artifact.clone())
}

pub(crate) fn made_by(resource: &str, artifact: &Artifact) -> (Origin, Artifact) {
    (Origin::resource(resource), artifact.clone())
}

pub(crate) fn source(revision: &str) -> Artifact {
    Artifact::source("https://git.example/app", Some(revision))
}

/// Returns an image whose digest is made from one character.
pub(crate) fn image(digit: char) -> Artifact {
    let digest: String = std::iter::repeat_n(digit, 64).collect();
    Artifact::image(&format!("registry.example/app@sha256:{digest}"))
}

fn template(resource: &str) -> Template {
    Template {
        name: format!("ClusterTemplate/{resource}"),
        generation: Some(1),
    }
}

fn resource(name: &str, upstream: &[&str], reads: &[&str]) -> Resource {
    let texts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Resource {
        name: name.to_owned(),
        upstream: texts(upstream),
        reads: texts(reads),
        tracing: Tracing {
            trust: Trust::Declared,
            ..Tracing::default()
        },
        emits: name != "deploy",
        makes: None,
    }
}
