//! The objects of one resource, read once for all who use them.

use std::collections::BTreeSet;

use jiff::Timestamp;
use pathline_blueprint::conditions::Verdict;
use pathline_blueprint::output::{self, Output};
use pathline_blueprint::realization::{Failure, Outcome};
use pathline_blueprint::stamp::Rendered;
use pathline_blueprint::template::{Template, TemplateKind};
use pathline_kinds::carto::Lifecycle;
use pathline_lineage::rollout::{ConfigObservation, Object};
use pathline_lineage::{
    Applied, Artifact, Health, InputsId, Origin, Snapshot, Stamp, Tracing, Written,
};
use serde_json::Value;

use crate::observed_object::ObservedObject;
use crate::path_reads::UsedInputs;
use crate::products::Product;
use crate::resource_observation::{
    ResourceObservation, StampedObservation, run_of, tracing_of, used,
};
use crate::rollout::RolloutTarget;
use crate::stamped_object::StampedObject;
use crate::version::Version;

/// The objects of a resource after it was written, with what they were made from.
#[derive(Debug, Clone)]
pub struct StampedResource<'s> {
    /// The template that was stamped.
    pub template: &'s Template,
    /// The object that was rendered from it.
    pub rendered: &'s Rendered,
    /// The inputs that it was rendered from.
    pub used_inputs: &'s UsedInputs,
    /// The id of that.
    pub inputs_id: &'s InputsId,
    /// The object that carries what was rendered.
    pub stamped: &'s StampedObject,
    /// The object that the output is read from.
    pub source: Source<'s>,
    /// The output that the resource was given to deploy, which a deployment hands on.
    pub deployment: Option<&'s Output>,
    /// The inputs of which the object says that it used them.
    pub matched: BTreeSet<Origin>,
    /// The name under which Pathline writes.
    pub manager: &'s str,
    /// The time of the reconcile.
    pub time: Timestamp,
}

/// The object that the output of a resource is read from.
#[derive(Debug, Clone, Copy)]
pub enum Source<'s> {
    /// The one that carries what was rendered.
    Stamped,
    /// The run that has been healthy, if there is one.
    Run(Option<&'s Value>),
}

/// The one reading of the objects of a resource.
#[derive(Debug)]
pub struct ResourceReading {
    /// The output that others use.
    pub product: Option<Product>,
    /// The outcome: how far the resource came.
    pub outcome: Outcome,
    /// The health of the object that carries what was rendered.
    pub health: Verdict,
    /// Whether what it reports is about what was written last, as far as it says.
    pub is_observed: bool,
    /// The reason for which it will get no further until somebody changes something.
    pub failed: Option<String>,
    /// The observation that lineage learns from.
    pub observation: ResourceObservation,
    /// The target whose rollout is followed.
    pub target: RolloutTarget,
    /// The ConfigMap or Secret that was stamped, if it is one.
    pub config: Option<ConfigObservation>,
}

impl StampedResource<'_> {
    /// Reads each object once.
    pub fn read(&self) -> ResourceReading {
        let (product, outcome) = self.product();
        let read = |object| ObservedObject::read(self.template, object, product.is_some());
        let current = read(&self.stamped.object);
        let run = match self.source {
            Source::Stamped => None,
            Source::Run(run) => run.map(read),
        };
        let source = match self.source {
            Source::Stamped => Some(&current),
            Source::Run(_) => run.as_ref(),
        };
        ResourceReading {
            observation: self.observation(&current, source, product.as_ref()),
            target: RolloutTarget::of(self.template, self.inputs_id.as_str(), &current, source),
            config: self.stamped.config(&self.rendered.object, self.manager),
            health: current.health.clone(),
            is_observed: current.is_observed,
            failed: current.failed.clone(),
            product,
            outcome,
        }
    }

    /// Reads what the resource gives, or why it gives nothing.
    fn product(&self) -> (Option<Product>, Outcome) {
        let kind = self.template.kind();
        let source = match self.source {
            Source::Stamped => Some(&self.stamped.object),
            Source::Run(run) => run,
        };
        match source {
            Some(source) => match output::read(&self.template.output, source, self.deployment) {
                Ok(output) => {
                    let product = output.map(|output| Product::new(kind, output));
                    (product, Outcome::Submitted)
                }
                Err(unavailable) => (None, Outcome::Failed(Failure::Unavailable(unavailable))),
            },
            None if kind == TemplateKind::Plain => (None, Outcome::Submitted),
            None => (None, Outcome::Failed(Failure::NoHealthyRun)),
        }
    }

    fn observation(
        &self,
        current: &ObservedObject<'_>,
        source: Option<&ObservedObject<'_>>,
        product: Option<&Product>,
    ) -> ResourceObservation {
        let before = self.stamped.before.as_ref();
        let before = before.filter(|_| !current.is_runnable());
        let (before, commit_before) = before.map(|it| self.earlier(it)).unzip();
        let objects = [current].into_iter().chain(source).map(|it| &it.object);
        ResourceObservation::Stamped(Box::new(StampedObservation {
            tracing: self.tracing(current),
            before,
            commit_before: commit_before.flatten(),
            version: Version::of(self.template, self.inputs_id, objects),
            stamp: self.stamp(current),
            after: source.and_then(|it| self.after(it, product)),
            commit: source.and_then(|it| self.commit(it)),
        }))
    }

    fn tracing(&self, current: &ObservedObject<'_>) -> Tracing {
        let Object {
            api_version, kind, ..
        } = &current.object;
        tracing_of(self.template, api_version, kind)
    }

    /// Returns the commit that an object wrote. What has an output says by itself what came out.
    fn commit(&self, observed: &ObservedObject<'_>) -> Option<Written> {
        let is_sink = self.template.kind() == TemplateKind::Plain;
        observed.written.clone().filter(|_| is_sink)
    }

    fn stamp(&self, current: &ObservedObject<'_>) -> Stamp {
        let object = &current.object;
        let (uid, generation) = if current.is_runnable() && !self.is_run() {
            (run_of(&object.uid, self.inputs_id.as_str()), None)
        } else {
            (object.uid.clone(), object.generation)
        };
        Stamp {
            template: used(self.template),
            uid,
            generation,
            inputs: self.used_inputs.inputs.clone(),
            offered: self.used_inputs.offered.clone(),
            applied: self.applied(),
            rendered: Some(self.rendered.digest().to_owned()),
            time: self.time,
        }
    }

    /// Returns what the object shows that the output is read from.
    fn after(&self, source: &ObservedObject<'_>, product: Option<&Product>) -> Option<Snapshot> {
        let output = product.map(|product| product.artifact.clone());
        if source.is_runnable() && !self.is_run() {
            return self.through_runnable(source, output);
        }
        Some(Snapshot {
            held: Some(true),
            matched: Some(self.matched.clone()),
            ..source.snapshot(self.template, output, self.time)
        })
    }

    /// Reads the run behind a Runnable, whose outputs it shows.
    ///
    /// Only runs that ended well give outputs, so that of the run is good.
    fn through_runnable(
        &self,
        runnable: &ObservedObject<'_>,
        output: Option<Artifact>,
    ) -> Option<Snapshot> {
        let made_from = runnable.made_from?;
        Some(Snapshot {
            uid: run_of(&runnable.object.uid, made_from),
            generation: None,
            observed: None,
            condition_observed: None,
            health: Health::True,
            failed: None,
            inputs_id: Some(InputsId::read(made_from)),
            earlier: Vec::new(),
            ..runnable.snapshot(self.template, output, self.time)
        })
    }

    /// Reads what an object showed before it was written, and the commit that it had written by then.
    fn earlier(&self, before: &Value) -> (Snapshot, Option<Written>) {
        let output = self.earlier_output(before);
        let observed = ObservedObject::read(self.template, before, output.is_some());
        let commit = self.commit(&observed);
        (observed.snapshot(self.template, output, self.time), commit)
    }

    /// Reads what an object gave before it was written. What a deployment hands on was given to
    /// this state of the object, and is not known any more.
    fn earlier_output(&self, before: &Value) -> Option<Artifact> {
        let kind = self.template.kind();
        let output = match kind {
            TemplateKind::Deployment | TemplateKind::Plain => None,
            TemplateKind::Source | TemplateKind::Image | TemplateKind::Config => {
                output::read(&self.template.output, before, None)
                    .ok()
                    .flatten()
            }
        };
        output.map(|output| Product::new(kind, output).artifact)
    }

    /// Reads the output in what was applied.
    fn applied(&self) -> Applied {
        let kind = self.template.kind();
        match kind {
            TemplateKind::Plain => Applied::Object,
            TemplateKind::Deployment => Applied::Elsewhere,
            TemplateKind::Source | TemplateKind::Image | TemplateKind::Config => {
                let output = output::read(&self.template.output, &self.rendered.object, None);
                let output = output.ok().flatten();
                output.map_or(Applied::Elsewhere, |output| {
                    Applied::Output(Product::new(kind, output).artifact.id())
                })
            }
        }
    }

    fn is_run(&self) -> bool {
        self.template.lifecycle != Lifecycle::Mutable
    }
}

#[cfg(test)]
mod tests {
    use pathline_blueprint::stamp::APPLIED_ANNOTATION;
    use pathline_blueprint::template_reads::Reads;
    use pathline_kinds::carto::{ConditionStatus, StampedReference};
    use pathline_lineage::{Inputs, Stage};
    use serde_json::json;

    use super::*;
    use crate::stamped_object::Write;

    /// Reads what was stamped from a template with this spec.
    fn read(
        kind: TemplateKind,
        spec: &Value,
        stamped: &StampedObject,
        run: Option<&Value>,
    ) -> ResourceReading {
        let template = json!({"metadata": {"name": "t", "generation": 1}, "spec": spec});
        let template = Template::read(kind, template).expect("the test wrote a valid template");
        let rendered = Rendered {
            object: json!({"metadata": {"annotations": {APPLIED_ANNOTATION: "digest"}}}),
            reads: Reads::default(),
        };
        let source = match template.lifecycle {
            Lifecycle::Mutable => Source::Stamped,
            Lifecycle::Immutable | Lifecycle::Tekton => Source::Run(run),
        };
        let resource = StampedResource {
            template: &template,
            rendered: &rendered,
            used_inputs: &UsedInputs::default(),
            inputs_id: &InputsId::of(&Inputs::new()),
            stamped,
            source,
            deployment: None,
            matched: BTreeSet::new(),
            manager: "pathline",
            time: Timestamp::UNIX_EPOCH,
        };
        resource.read()
    }

    fn stamped(object: Value, before: Option<Value>) -> StampedObject {
        StampedObject {
            reference: StampedReference::default(),
            object,
            before,
            write: Write::Nothing,
            steady_since: None,
        }
    }

    fn object(api_version: &str, kind: &str, generation: i64, status: &Value) -> Value {
        json!({
            "apiVersion": api_version,
            "kind": kind,
            "metadata": {"name": "o", "namespace": "apps", "uid": "u", "generation": generation},
            "status": status,
        })
    }

    fn observation(reading: &ResourceReading) -> &StampedObservation {
        match &reading.observation {
            ResourceObservation::Stamped(stamped) => stamped,
            ResourceObservation::PassedThrough { .. } => panic!("it was stamped"),
        }
    }

    fn images() -> Value {
        json!({
            "imagePath": ".status.image",
            "healthRule": {"singleConditionType": "Ready"},
            "template": {},
        })
    }

    fn built(image: &str, observed: i64) -> Value {
        json!({
            "image": image,
            "observedGeneration": observed,
            "conditions": [{"type": "Ready", "status": "True"}],
        })
    }

    #[test]
    fn realization_lineage_and_rollout_are_told_by_one_answer() {
        let before = object("kpack.io/v1", "Image", 2, &built("app:1", 2));
        let now = object("kpack.io/v1", "Image", 3, &built("app:2", 2));
        let reading = read(
            TemplateKind::Image,
            &images(),
            &stamped(now, Some(before)),
            None,
        );
        let product = reading.product.as_ref().expect("there is an image");
        assert_eq!(product.artifact.shown(), "app:2");
        assert_eq!(reading.outcome, Outcome::Submitted);
        assert_eq!(reading.health.status, ConditionStatus::True);
        assert!(!reading.is_observed);
        let seen = observation(&reading);
        assert_eq!(
            (seen.stamp.uid.as_str(), seen.stamp.generation),
            ("u", Some(3))
        );
        let after = seen.after.as_ref().expect("it was seen");
        assert_eq!((after.generation, after.observed), (Some(3), Some(2)));
        assert_eq!((after.health, after.held), (Health::True, Some(true)));
        assert_eq!(after.output.as_ref(), Some(&product.artifact));
        let before = seen.before.as_ref().expect("it was seen before");
        assert_eq!((before.generation, before.held), (Some(2), None));
        assert_eq!(before.output.as_ref().map(Artifact::shown), Some("app:1"));
        assert_eq!(reading.target.uid(), Some("u"));
    }

    #[test]
    fn run_that_was_not_healthy_gives_nothing_and_the_one_before_still_does() {
        let mut spec = images();
        spec["lifecycle"] = json!("immutable");
        let current = stamped(object("batch/v1", "Job", 1, &json!({})), None);
        let reading = read(TemplateKind::Image, &spec, &current, None);
        assert_eq!(reading.outcome, Outcome::Failed(Failure::NoHealthyRun));
        assert_eq!(reading.health.status, ConditionStatus::Unknown);
        assert_eq!(observation(&reading).after, None);
        let mut former = object("batch/v1", "Job", 1, &built("app:1", 1));
        former["metadata"]["uid"] = json!("former");
        let reading = read(TemplateKind::Image, &spec, &current, Some(&former));
        assert_eq!(reading.outcome, Outcome::Submitted);
        assert_eq!(reading.health.status, ConditionStatus::Unknown);
        let seen = observation(&reading);
        assert_eq!(seen.stamp.uid, "u");
        let after = seen.after.as_ref().expect("the former run was seen");
        assert_eq!((after.uid.as_str(), after.health), ("former", Health::True));
        assert_eq!(reading.target.uid(), Some("former"));
    }

    #[test]
    fn runnable_shows_the_run_that_its_outputs_are_of() {
        let status = json!({"image": "app:1", "madeFrom": "id"});
        let runnable = object("carto.run/v1alpha1", "Runnable", 4, &status);
        let reading = read(
            TemplateKind::Image,
            &images(),
            &stamped(runnable, None),
            None,
        );
        let seen = observation(&reading);
        let inputs_id = InputsId::of(&Inputs::new());
        assert_eq!(seen.stamp.uid, format!("u/{}", inputs_id.as_str()));
        assert_eq!(seen.stamp.generation, None);
        let after = seen.after.as_ref().expect("the run was seen");
        assert_eq!((after.uid.as_str(), after.generation), ("u/id", None));
        assert_eq!((after.health, after.held), (Health::True, None));
        assert_eq!(reading.target.uid(), Some("u/id"));
        assert!(matches!(reading.target, RolloutTarget::Run(_)));
    }

    #[test]
    fn rollout_is_followed_before_the_end_of_a_path_where_something_keeps_running() {
        let keeps_running = |api_version, kind| {
            let object = object(api_version, kind, 1, &json!({}));
            let spec = json!({"template": {}});
            let target = read(TemplateKind::Plain, &spec, &stamped(object, None), None).target;
            target.keeps_running()
        };
        assert!(keeps_running("pathline.dev/v1alpha1", "Process"));
        assert!(keeps_running("apps/v1", "Deployment"));
        assert!(!keeps_running("pathline.dev/v1alpha1", "Task"));
        assert!(!keeps_running("batch/v1", "Job"));
        assert!(!keeps_running("v1", "ConfigMap"));
    }

    #[test]
    fn rollout_is_followed_where_kind_or_template_say_that_something_runs() {
        let target = |spec: Value, api_version, kind| {
            let object = object(api_version, kind, 1, &json!({"observedGeneration": 1}));
            read(TemplateKind::Plain, &spec, &stamped(object, None), None).target
        };
        let plain = || json!({"template": {}});
        let selector = |label: &str| {
            let selector =
                json!({"apiVersion": "v1", "kind": "Pod", "matchLabels": {"app": label}});
            json!({"template": {}, "artifactTracing": {"liveSelector": selector}})
        };
        let known = target(plain(), "apps/v1", "Deployment");
        assert!(matches!(known, RolloutTarget::Known(_)));
        let commit = target(plain(), "pathline.dev/v1alpha1", "GitCommit");
        assert!(matches!(commit, RolloutTarget::Commit(_)));
        let task = |spec| target(spec, "pathline.dev/v1alpha1", "Task");
        assert!(matches!(task(plain()), RolloutTarget::Known(_)));
        assert!(matches!(task(selector("o")), RolloutTarget::Selected(..)));
        let RolloutTarget::Selected(_, selected) =
            target(selector("$(metadata.name)$"), "a/v1", "App")
        else {
            panic!("its template selects pods");
        };
        assert!(selected.is_pods());
        assert_eq!(selected.labels["app"], "o");
        let stage = |target| match target {
            RolloutTarget::Clear(rollout) => rollout.stage,
            other => panic!("{other:?}"),
        };
        assert_eq!(stage(target(plain(), "a/v1", "App")), Stage::None);
        let nowhere = stage(target(selector("$(spec.nowhere)$"), "a/v1", "App"));
        assert!(matches!(nowhere, Stage::Progressing { .. }), "{nowhere:?}");
    }
}
