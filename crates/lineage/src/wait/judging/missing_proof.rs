//! Templates that do not say enough.

use std::collections::BTreeSet;

use super::Judging;
use crate::arrival::{Arrival, Missing};
use crate::origin::Origin;
use crate::snapshot::Health;
use crate::tracing::Trust;
use crate::wait::asked::Value;
use crate::wait::judging::telling;
use crate::wait::verdict::MissingProof;
use crate::wait::way::Way;

/// Advice for a template whose object can't say that it is done.
const OBSERVED: &str = "declare artifactTracing.observedGenerationPath with a healthRule that reads the status, \
    or a correlationRule for it";
/// The same for a template that declares where the observed generation is.
const HEALTH: &str = "give it a healthRule that reads the status, or a correlationRule for it";
/// The same for a template that says all that it can.
const RULE: &str = "its object does not say that it has got to what was applied last; a correlationRule for it would";

impl Judging<'_> {
    /// Names what keeps a settled path from being proven.
    pub(super) fn missing_proofs(self, value: &Value, arrival: &Arrival) -> Vec<MissingProof> {
        let assumed = arrival.missing.iter().filter_map(|it| match it {
            Missing::Assumed { resource, input } => Some((resource.clone(), input.clone())),
            _ => None,
        });
        let mut edges: BTreeSet<_> = assumed.collect();
        let is_assumed = !edges.is_empty();
        if !is_assumed {
            edges.extend(self.unproven_edges(value));
        }
        edges
            .iter()
            .map(|(resource, input)| MissingProof {
                assumed: is_assumed,
                ..self.missing_proof_of_edge(resource, input)
            })
            .collect()
    }

    /// Asks for what would show that something runs.
    pub(super) fn missing_proof_of_rollout(self, resource: &str) -> MissingProof {
        self.missing_proof_in(resource, "nothing below its object is known to run; declare artifactTracing.liveSelector, or wait without --live".into())
    }

    /// Asks for what would start what runs with an input.
    pub(super) fn missing_proof_of_start(self, resource: &str, input: &Origin) -> MissingProof {
        let input = telling::name(input);
        self.missing_proof_in(resource, format!("its object was given {input} in its metadata alone, so what runs was started before; put it into the spec as well, such as a variable or an annotation of the pod template, or wait without --live"))
    }

    /// Returns every edge on the way of a value that nothing proves. Whatever is missing after all
    /// has settled is missing behind one of them.
    fn unproven_edges(self, value: &Value) -> Vec<(String, Origin)> {
        let way = Way::new(&self.lineage.state, &value.origin, &value.wanted);
        let resources: Vec<_> = way.resources().collect();
        let on_way = |input: &Origin| {
            *input == value.origin
                || resources
                    .iter()
                    .any(|it| *input == Origin::resource(&it.name))
        };
        let made = resources
            .iter()
            .filter_map(|it| self.lineage.state.current(&it.name));
        let edges = made.flat_map(|made| {
            let from = made
                .from
                .iter()
                .filter(|(_, edge)| !edge.evidence.is_proof());
            from.map(|(input, _)| (made.resource.clone(), input.clone()))
        });
        edges.filter(|(_, input)| on_way(input)).collect()
    }

    fn missing_proof_of_edge(self, resource: &str, input: &Origin) -> MissingProof {
        let made = self.lineage.state.current(resource);
        let edge = made.and_then(|made| made.from.get(input));
        let mutable = edge.is_some_and(|edge| edge.artifact.is_mutable());
        match input {
            Origin::Resource(producer) if mutable => self.missing_proof_in(
                producer,
                format!("its output `{}` can be something else tomorrow; let it give a digest or a revision", edge.map(|it| it.artifact.shown()).unwrap_or_default()),
            ),
            _ if mutable => self.missing_proof_in(resource, format!("it takes {} without a digest or a revision; let the owner name one", telling::name(input))),
            _ => {
                let advice = self.advice(resource);
                let why = format!("nothing proves that what it makes was made from {}; {advice}", telling::name(input));
                self.missing_proof_in(resource, why)
            }
        }
    }

    /// Returns what would prove more, and is not done already.
    fn advice(self, resource: &str) -> &'static str {
        let state = &self.lineage.state;
        let declared = state.chain().get(resource);
        let declares = declared.is_some_and(|it| it.tracing.trust == Trust::Declared);
        let seen = state.history_of(resource).and_then(|it| it.last_seen());
        match seen.map(|it| it.health) {
            _ if !declares => OBSERVED,
            Some(Health::Presumed) => HEALTH,
            _ => RULE,
        }
    }

    fn missing_proof_in(self, resource: &str, why: String) -> MissingProof {
        let history = self.lineage.state.history_of(resource);
        let applied = history.and_then(|it| it.last_apply());
        let template = applied.map(|it| it.template.name.clone());
        MissingProof {
            resource: resource.to_owned(),
            template: template
                .filter(|it| !it.is_empty())
                .unwrap_or_else(|| "its template".into()),
            why,
            assumed: false,
        }
    }
}
