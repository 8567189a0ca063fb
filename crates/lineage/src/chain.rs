//! The selected path of one owner: its resources, and who reads what.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::artifact::Kind;
use crate::origin::Origin;
use crate::tracing::Tracing;

/// A selected resource.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Resource {
    /// The name in the blueprint.
    pub name: String,
    /// The resources whose outputs it takes.
    pub upstream: BTreeSet<String>,
    /// The inputs of the owner that it reads: its template, or the selector that chose its option.
    pub reads: BTreeSet<String>,
    /// The way in which outputs of its object can be traced to inputs.
    pub tracing: Tracing,
    /// Whether its template gives an output: an object that shows none has made nothing yet. If
    /// not, the object itself is the result until an output is seen.
    #[serde(default)]
    pub emits: bool,
    /// The kind of that output, where whoever follows the path knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub makes: Option<Kind>,
}

/// The selected resources of a blueprint for one owner, in declared order. Skipped ones are absent.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(try_from = "Vec<Resource>", into = "Vec<Resource>")]
pub struct Chain {
    resources: Vec<Resource>,
    /// Indexes of `resources`, producers first.
    order: Vec<usize>,
}

/// The reason for which resources are no chain.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// Two resources have one name.
    #[error("resource `{0}` is there twice; names must differ")]
    Twice(String),
    /// A resource takes the output of one that is not there.
    #[error("resource `{resource}` takes the output of `{producer}`, which is no resource")]
    NoProducer {
        /// The one that takes it.
        resource: String,
        /// The one that is not there.
        producer: String,
    },
    /// A resource would need its own output.
    #[error("resources need each other's outputs in a circle: {}", .0.join(", "))]
    Cycle(Vec<String>),
}

impl Chain {
    /// Checks that names differ, that producers exist and that nothing needs its own output.
    pub fn new(resources: Vec<Resource>) -> Result<Self, Error> {
        let mut names = BTreeSet::new();
        for resource in &resources {
            if !names.insert(resource.name.as_str()) {
                return Err(Error::Twice(resource.name.clone()));
            }
        }
        for resource in &resources {
            let missing = |name: &&String| !names.contains(name.as_str());
            if let Some(producer) = resource.upstream.iter().find(missing) {
                return Err(Error::NoProducer {
                    resource: resource.name.clone(),
                    producer: producer.clone(),
                });
            }
        }
        let order = order(&resources)?;
        Ok(Self { resources, order })
    }

    /// Returns the resources in declared order.
    pub fn resources(&self) -> &[Resource] {
        &self.resources
    }

    /// Returns the resources, producers before consumers.
    pub fn in_path_order(&self) -> impl DoubleEndedIterator<Item = &Resource> {
        self.order.iter().map(|index| &self.resources[*index])
    }

    /// Returns a resource by its name.
    pub fn get(&self, name: &str) -> Option<&Resource> {
        self.resources.iter().find(|resource| resource.name == name)
    }

    /// Returns the resources that no selected resource consumes, in declared order.
    pub fn finals(&self) -> impl Iterator<Item = &Resource> {
        let taken = self
            .resources
            .iter()
            .flat_map(|resource| &resource.upstream);
        let taken: BTreeSet<&String> = taken.collect();
        self.resources
            .iter()
            .filter(move |resource| !taken.contains(&resource.name))
    }

    /// Returns the names of the resources that an origin flows into, directly or through others.
    pub fn reached_by(&self, origin: &Origin) -> BTreeSet<&str> {
        let mut reached = BTreeSet::new();
        for resource in self.in_path_order() {
            let directly = match origin {
                Origin::Owner(name) => resource.reads.contains(name),
                Origin::Resource(name) => resource.upstream.contains(name),
            };
            let mut upstream = resource.upstream.iter();
            if directly || upstream.any(|name| reached.contains(name.as_str())) {
                reached.insert(resource.name.as_str());
            }
        }
        reached
    }

    /// Returns the final resources that an origin flows into.
    pub fn targets(&self, origin: &Origin) -> Vec<&Resource> {
        let reached = self.reached_by(origin);
        self.finals()
            .filter(|resource| reached.contains(resource.name.as_str()))
            .collect()
    }
}

impl TryFrom<Vec<Resource>> for Chain {
    type Error = Error;

    fn try_from(resources: Vec<Resource>) -> Result<Self, Error> {
        Self::new(resources)
    }
}

impl From<Chain> for Vec<Resource> {
    fn from(chain: Chain) -> Self {
        chain.resources
    }
}

fn order(resources: &[Resource]) -> Result<Vec<usize>, Error> {
    let index_of: BTreeMap<&str, usize> = resources
        .iter()
        .enumerate()
        .map(|(index, resource)| (resource.name.as_str(), index))
        .collect();
    let mut consumers = vec![Vec::new(); resources.len()];
    let mut missing: Vec<usize> = resources.iter().map(|r| r.upstream.len()).collect();
    for (index, resource) in resources.iter().enumerate() {
        for producer in &resource.upstream {
            consumers[index_of[producer.as_str()]].push(index);
        }
    }
    let mut ready: BTreeSet<usize> = (0..resources.len()).filter(|i| missing[*i] == 0).collect();
    let mut order = Vec::with_capacity(resources.len());
    while let Some(index) = ready.pop_first() {
        order.push(index);
        for consumer in &consumers[index] {
            missing[*consumer] -= 1;
            if missing[*consumer] == 0 {
                ready.insert(*consumer);
            }
        }
    }
    if order.len() == resources.len() {
        return Ok(order);
    }
    let stuck = (0..resources.len()).filter(|index| missing[*index] > 0);
    Err(Error::Cycle(
        stuck.map(|index| resources[index].name.clone()).collect(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(name: &str, upstream: &[&str], reads: &[&str]) -> Resource {
        let texts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Resource {
            name: name.to_owned(),
            upstream: texts(upstream),
            reads: texts(reads),
            ..Resource::default()
        }
    }

    #[test]
    fn targets_are_the_finals_an_input_flows_into() {
        let chain = Chain::new(vec![
            resource("deploy", &["build"], &["param:replicas"]),
            resource("scan", &["fetch"], &[]),
            resource("build", &["fetch"], &["param:debug"]),
            resource("fetch", &[], &["field:url"]),
        ])
        .unwrap();
        let targets = |origin: Origin| -> Vec<String> {
            let targets = chain.targets(&origin).into_iter();
            targets.map(|resource| resource.name.clone()).collect()
        };
        assert_eq!(targets(Origin::owner("field:url")), ["deploy", "scan"]);
        assert_eq!(targets(Origin::owner("param:debug")), ["deploy"]);
        assert_eq!(targets(Origin::resource("fetch")), ["deploy", "scan"]);
        assert!(targets(Origin::owner("param:nobody")).is_empty());
        let order: Vec<_> = chain.in_path_order().map(|r| r.name.as_str()).collect();
        assert_eq!(order, ["fetch", "scan", "build", "deploy"]);
    }

    #[test]
    fn chain_that_cannot_be_followed_is_refused() {
        let twice = vec![resource("a", &[], &[]), resource("a", &[], &[])];
        assert_eq!(Chain::new(twice), Err(Error::Twice("a".into())));
        assert_eq!(
            Chain::new(vec![resource("a", &["b"], &[])]),
            Err(Error::NoProducer {
                resource: "a".into(),
                producer: "b".into()
            })
        );
        let circle = vec![
            resource("a", &["b"], &[]),
            resource("b", &["a"], &[]),
            resource("c", &[], &[]),
        ];
        let names = vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(Chain::new(circle), Err(Error::Cycle(names)));
    }
}
