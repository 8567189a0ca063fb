//! In which order are resources realized?

use std::collections::{BTreeSet, HashMap};

use crate::blueprint::{Blueprint, Input, InputKind, Resource};
use crate::template::TemplateKind;

/// Says why a blueprint cannot be realized for any owner.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Two resources share a name.
    #[error("duplicate resource name [{0}] found")]
    DuplicateName(String),
    /// An input comes from a resource that does not exist.
    #[error("invalid {field} for resource [{resource}]: [{input}] is provided by unknown resource [{producer}]", field = .kind.field())]
    UnknownProducer {
        /// The resource with the input.
        resource: String,
        /// The kind as which the input is taken.
        kind: InputKind,
        /// The name of the input.
        input: String,
        /// The resource that does not exist.
        producer: String,
    },
    /// An input comes from a resource that gives something else.
    #[error("resource [{producer}] providing [{input}] must reference a {wanted}")]
    WrongProducer {
        /// The name of the input.
        input: String,
        /// The resource that gives something else.
        producer: String,
        /// The kind of template that would give it.
        wanted: &'static str,
    },
    /// A template would know two things by one name.
    #[error("resource [{resource}] takes [{input}] of {field} from both [{}] and [{}]", .producers[0], .producers[1], field = .kind.field())]
    Conflict {
        /// The resource with the inputs.
        resource: String,
        /// The kind as which the inputs are offered.
        kind: InputKind,
        /// The name of the inputs.
        input: String,
        /// The resources that they come from.
        producers: [String; 2],
    },
    /// Resources wait for each other.
    #[error("resources wait for each other: [{}]", shown(.0))]
    Cycle(Vec<String>),
}

impl Fault {
    /// Returns the reason of the condition that shows it.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::DuplicateName(_) => "DuplicateResourceName",
            Self::UnknownProducer { .. } => "UnknownResource",
            Self::WrongProducer { .. } => "WrongInputKind",
            Self::Conflict { .. } => "ConflictingInputs",
            Self::Cycle(_) => "ResourceCycle",
        }
    }
}

/// The number of resources of a cycle that a message names at each end.
const SHOWN: usize = 5;

/// Returns a cycle as messages show it; the middle of a long one is left out.
fn shown(names: &[String]) -> String {
    if names.len() <= 2 * SHOWN + 1 {
        return names.join(" -> ");
    }
    let (first, last) = (&names[..SHOWN], &names[names.len() - SHOWN..]);
    let hidden = names.len() - 2 * SHOWN;
    format!(
        "{} -> ({hidden} more) -> {}",
        first.join(" -> "),
        last.join(" -> ")
    )
}

/// Returns the indexes of the resources so that every producer stands before its consumers.
///
/// Resources that do not depend on each other keep their declared order. The inputs of all options
/// count, also of those that are never chosen.
pub(crate) fn order(blueprint: &Blueprint) -> Result<Vec<usize>, Fault> {
    let indexes = indexes(blueprint)?;
    let producers = producers(blueprint, &indexes)?;
    let mut order = Vec::with_capacity(producers.len());
    let mut is_placed = vec![false; producers.len()];
    let mut blocked: Vec<usize> = producers.iter().map(Vec::len).collect();
    let consumers = consumers(&producers);
    let mut ready: BTreeSet<usize> = (0..producers.len())
        .filter(|index| blocked[*index] == 0)
        .collect();
    while let Some(index) = ready.pop_first() {
        order.push(index);
        is_placed[index] = true;
        for consumer in &consumers[index] {
            blocked[*consumer] -= 1;
            if blocked[*consumer] == 0 {
                ready.insert(*consumer);
            }
        }
    }
    match is_placed.iter().position(|placed| !placed) {
        None => Ok(order),
        Some(start) => Err(Fault::Cycle(cycle(
            blueprint, &producers, &is_placed, start,
        ))),
    }
}

/// Returns the index of every resource, by its name.
pub(crate) fn indexes(blueprint: &Blueprint) -> Result<HashMap<&str, usize>, Fault> {
    let mut indexes = HashMap::with_capacity(blueprint.resources.len());
    for (index, resource) in blueprint.resources.iter().enumerate() {
        if indexes.insert(resource.name.as_str(), index).is_some() {
            return Err(Fault::DuplicateName(resource.name.clone()));
        }
    }
    Ok(indexes)
}

/// Returns, for every resource, the producers of all inputs it may ever have.
fn producers(
    blueprint: &Blueprint,
    indexes: &HashMap<&str, usize>,
) -> Result<Vec<Vec<usize>>, Fault> {
    let is_multi_path = blueprint.is_multi_path();
    let find = |resource: &Resource, input: &Input| {
        let Some(index) = indexes.get(input.producer.as_str()).copied() else {
            return Err(Fault::UnknownProducer {
                resource: resource.name.clone(),
                kind: input.declared,
                input: input.name.clone(),
                producer: input.producer.clone(),
            });
        };
        if !is_multi_path {
            check_kind(input, blueprint.resources[index].template_kind)?;
        }
        Ok(index)
    };
    let resources = blueprint.resources.iter();
    resources
        .map(|resource| {
            if is_multi_path {
                check_conflicts(resource)?;
            }
            let inputs = resource.all_inputs();
            inputs.map(|input| find(resource, input)).collect()
        })
        .collect()
}

fn check_kind(input: &Input, producer: TemplateKind) -> Result<(), Fault> {
    let (made, wanted) = match input.kind {
        InputKind::Source | InputKind::Deployment => (InputKind::Source, TemplateKind::Source),
        InputKind::Image => (InputKind::Image, TemplateKind::Image),
        InputKind::Config => (InputKind::Config, TemplateKind::Config),
    };
    if InputKind::made_by(producer) == Some(made) {
        return Ok(());
    }
    Err(Fault::WrongProducer {
        input: input.name.clone(),
        producer: input.producer.clone(),
        wanted: wanted.name(),
    })
}

/// Refuses two producers of what a template knows by one name, whichever option is chosen.
fn check_conflicts(resource: &Resource) -> Result<(), Fault> {
    let of_resource = conflict(resource, &HashMap::new(), &resource.inputs)?;
    for option in resource.options() {
        conflict(resource, &of_resource, &option.inputs)?;
    }
    Ok(())
}

type Offered<'b> = HashMap<(InputKind, &'b str), &'b str>;

fn conflict<'b>(
    resource: &Resource,
    others: &Offered<'b>,
    inputs: &'b [Input],
) -> Result<Offered<'b>, Fault> {
    let mut offered = Offered::with_capacity(inputs.len());
    for input in inputs {
        let place = (input.kind, input.name.as_str());
        let own = offered.insert(place, input.producer.as_str());
        let other = own.or_else(|| others.get(&place).copied());
        if let Some(other) = other.filter(|other| *other != input.producer) {
            return Err(Fault::Conflict {
                resource: resource.name.clone(),
                kind: input.kind,
                input: input.name.clone(),
                producers: [other.to_owned(), input.producer.clone()],
            });
        }
    }
    Ok(offered)
}

fn consumers(producers: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut consumers = vec![Vec::new(); producers.len()];
    for (consumer, producers) in producers.iter().enumerate() {
        for producer in producers {
            consumers[*producer].push(consumer);
        }
    }
    consumers
}

/// Walks up from a resource that could not be placed until one is met again.
fn cycle(
    blueprint: &Blueprint,
    producers: &[Vec<usize>],
    is_placed: &[bool],
    start: usize,
) -> Vec<String> {
    let mut trail = vec![start];
    let mut met = vec![None; producers.len()];
    met[start] = Some(0);
    loop {
        let last = trail[trail.len() - 1];
        let next = producers[last]
            .iter()
            .copied()
            .find(|producer| !is_placed[*producer]);
        let next = next.expect("a resource that could not be placed waits for another such");
        trail.push(next);
        if let Some(met) = met[next].replace(trail.len() - 1) {
            let names = trail[met..]
                .iter()
                .rev()
                .map(|index| blueprint.resources[*index].name.clone());
            return names.collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use pathline_testkit::cases;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::supply_chain;

    /// Makes a chain in which each resource takes in sources of the named others.
    fn chain(resources: &[(&str, &[&str])]) -> Blueprint {
        let resources: Vec<Value> = resources
            .iter()
            .map(|(name, producers)| {
                let sources: Vec<Value> = producers
                    .iter()
                    .map(|producer| json!({"name": producer, "resource": producer}))
                    .collect();
                json!({
                    "name": name,
                    "templateRef": {"kind": "ClusterSourceTemplate", "name": "t"},
                    "sources": sources,
                })
            })
            .collect();
        supply_chain(json!({"metadata": {"name": "chain"}, "spec": {"resources": resources}}))
    }

    #[test]
    fn producers_stand_before_consumers() {
        let declared_backwards =
            chain(&[("c", &["b", "a"]), ("b", &["a"]), ("a", &[]), ("z", &[])]);
        assert_eq!(order(&declared_backwards), Ok(vec![2, 1, 0, 3]));
        assert_eq!(order(&chain(&[])), Ok(vec![]));
    }

    #[test]
    fn what_cannot_be_realized_is_refused() {
        let fault = |resources| order(&chain(resources)).unwrap_err().to_string();
        assert_eq!(
            fault(&[
                ("start", &[]),
                ("a", &["c", "start"]),
                ("b", &["a"]),
                ("c", &["b"])
            ]),
            "resources wait for each other: [a -> b -> c -> a]"
        );
        assert_eq!(
            fault(&[("a", &["a"])]),
            "resources wait for each other: [a -> a]"
        );
        assert_eq!(
            fault(&[("a", &[]), ("a", &[])]),
            "duplicate resource name [a] found"
        );
        assert_eq!(
            fault(&[("a", &["b"])]),
            "invalid sources for resource [a]: [b] is provided by unknown resource [b]"
        );
    }

    #[test]
    fn inputs_must_come_from_what_gives_them() {
        let mut blueprint = chain(&[("a", &[]), ("b", &["a"])]);
        blueprint.resources[0].template_kind = TemplateKind::Image;
        assert_eq!(
            order(&blueprint).unwrap_err().to_string(),
            "resource [a] providing [a] must reference a ClusterSourceTemplate"
        );
        blueprint.resources[0].template_kind = TemplateKind::Deployment;
        assert_eq!(order(&blueprint), Ok(vec![0, 1]));
    }

    #[test]
    fn a_long_chain_is_ordered_without_recursion() {
        let names: Vec<String> = (0..5_000).map(|index| index.to_string()).collect();
        let producers: Vec<Vec<&str>> = (0..5_000)
            .map(|index| {
                names
                    .get(index + 1)
                    .map(String::as_str)
                    .into_iter()
                    .collect()
            })
            .collect();
        let resources: Vec<(&str, &[&str])> = names
            .iter()
            .map(String::as_str)
            .zip(producers.iter().map(Vec::as_slice))
            .collect();
        assert_eq!(order(&chain(&resources)), Ok((0..5_000).rev().collect()));
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn declared_order_never_matters(
            edges in proptest::collection::vec((0usize..8, 0usize..8), 0..16),
            shuffled in Just((0..8).collect::<Vec<usize>>()).prop_shuffle(),
        ) {
            let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
            let producers: Vec<Vec<&str>> = (0..8)
                .map(|index| edges.iter().filter(|(from, to)| *to == index && from < to).map(|(from, _)| names[*from]).collect())
                .collect();
            let resources: Vec<(&str, &[&str])> =
                shuffled.iter().map(|index| (names[*index], producers[*index].as_slice())).collect();
            let blueprint = chain(&resources);
            let order = order(&blueprint).expect("edges only lead forward");
            let placed = |name: &str| order.iter().position(|index| blueprint.resources[*index].name == name);
            for resource in &blueprint.resources {
                for input in &resource.inputs {
                    prop_assert!(placed(&input.producer) < placed(&resource.name));
                }
            }
        }
    }
}
