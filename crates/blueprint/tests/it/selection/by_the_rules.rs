//! The rules of paths, read aloud: slow, recursive, straight from the JSON. The oracle of selection.

use std::collections::BTreeMap;

use serde_json::Value;

/// The answer of the rules for a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    Selected {
        option: Option<usize>,
        /// Field and name of every input, with its producer.
        inputs: BTreeMap<(String, String), String>,
    },
    Skipped,
    Failed,
}

/// A selector that cannot be evaluated.
struct Broken;

pub(super) struct Reading<'r> {
    resources: &'r [Value],
    owner: &'r Value,
    is_multi_path: bool,
}

impl<'r> Reading<'r> {
    pub(super) fn new(blueprint: &'r Value, owner: &'r Value) -> Self {
        let resources = blueprint["spec"]["resources"]
            .as_array()
            .expect("resources");
        let is_multi_path = resources.iter().any(|resource| {
            !resource["selector"].is_null()
                || options(resource)
                    .iter()
                    .any(|option| option["selector"].is_null() || !inputs(option).is_empty())
        });
        Self {
            resources,
            owner,
            is_multi_path,
        }
    }

    pub(super) fn path(&self) -> Vec<State> {
        self.resources
            .iter()
            .map(|resource| self.state(resource))
            .collect()
    }

    fn state(&self, resource: &Value) -> State {
        let chosen = if self.is_multi_path {
            self.first(resource)
        } else {
            self.best(resource)
        };
        match chosen {
            Err(Broken) => State::Failed,
            Ok(None) => State::Skipped,
            Ok(Some(option)) => {
                let mut all = inputs(resource);
                if let Some(option) = option {
                    all.extend(inputs(&options(resource)[option]));
                }
                let offered = all.into_iter().map(|(field, name, producer)| {
                    let field = if self.is_multi_path {
                        self.made(&field, &producer)
                    } else {
                        field
                    };
                    ((field, name), producer)
                });
                State::Selected {
                    option,
                    inputs: offered.collect(),
                }
            }
        }
    }

    fn first(&self, resource: &Value) -> Result<Option<Option<usize>>, Broken> {
        if !self.is_met(resource)? {
            return Ok(None);
        }
        if resource["templateRef"]["name"].is_string() {
            return Ok(Some(None));
        }
        for (index, option) in options(resource).iter().enumerate() {
            if self.is_met(option)? {
                return Ok(Some(Some(index)));
            }
        }
        Ok(None)
    }

    /// Whether the selector matches and all producers are selected.
    fn is_met(&self, holder: &Value) -> Result<bool, Broken> {
        if !holder["selector"].is_null() && self.score(&holder["selector"])?.is_none() {
            return Ok(false);
        }
        Ok(inputs(holder).iter().all(|(_, _, producer)| {
            let producer = self
                .resources
                .iter()
                .find(|resource| resource["name"] == producer.as_str());
            matches!(
                self.state(producer.expect("a producer")),
                State::Selected { .. }
            )
        }))
    }

    fn best(&self, resource: &Value) -> Result<Option<Option<usize>>, Broken> {
        if resource["templateRef"]["name"].is_string() {
            return Ok(Some(None));
        }
        let mut scores = Vec::new();
        for option in options(resource) {
            scores.push(self.score(&option["selector"])?.unwrap_or(0));
        }
        let best = scores.iter().copied().max().unwrap_or(0);
        let tied = scores.iter().filter(|score| **score == best).count();
        if best == 0 || tied > 1 {
            return Err(Broken);
        }
        Ok(Some(scores.iter().position(|score| *score == best)))
    }

    /// Returns the number of requirements, if all hold.
    fn score(&self, selector: &Value) -> Result<Option<usize>, Broken> {
        let labels = &self.owner["metadata"]["labels"];
        let mut holds = true;
        let mut count = 0;
        for (key, value) in selector["matchLabels"].as_object().into_iter().flatten() {
            holds &= labels[key] == *value;
            count += 1;
        }
        for expression in selector["matchExpressions"]
            .as_array()
            .into_iter()
            .flatten()
        {
            holds &= relation(
                expression,
                &labels[expression["key"].as_str().expect("a key")],
            );
            count += 1;
        }
        for field in selector["matchFields"].as_array().into_iter().flatten() {
            if holds {
                holds = relation(field, self.field(field["key"].as_str().expect("a key"))?);
            }
            count += 1;
        }
        Ok(holds.then_some(count))
    }

    fn field(&self, key: &str) -> Result<&Value, Broken> {
        match key {
            "spec.source.url" => self.field("spec.source.git.url"),
            "spec.source[" => Err(Broken),
            "spec.params[0].name" => match self.owner["spec"]["params"].as_array() {
                Some(params) => params.first().map(|param| &param["name"]).ok_or(Broken),
                None => Ok(&Value::Null),
            },
            plain => Ok(plain
                .split('.')
                .fold(self.owner, |value, step| &value[step])),
        }
    }

    /// The field under which what a producer makes is offered.
    fn made(&self, declared: &str, producer: &str) -> String {
        let producer = self
            .resources
            .iter()
            .find(|resource| resource["name"] == producer);
        let kind = &producer.expect("a producer")["templateRef"]["kind"];
        match (declared, kind.as_str().expect("a kind")) {
            ("deployment", _) => "deployment",
            (_, "ClusterImageTemplate") => "images",
            (_, "ClusterConfigTemplate") => "configs",
            (_, "ClusterSourceTemplate" | "ClusterDeploymentTemplate") => "sources",
            (declared, _) => declared,
        }
        .to_owned()
    }
}

fn options(resource: &Value) -> &[Value] {
    resource["templateRef"]["options"]
        .as_array()
        .map_or(&[], Vec::as_slice)
}

fn inputs(holder: &Value) -> Vec<(String, String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut inputs = Vec::new();
    for field in ["sources", "images", "configs"] {
        for input in holder[field].as_array().into_iter().flatten() {
            inputs.push((
                field.to_owned(),
                text(&input["name"]),
                text(&input["resource"]),
            ));
        }
    }
    if let Some(producer) = holder["deployment"]["resource"].as_str() {
        inputs.push(("deployment".to_owned(), String::new(), producer.to_owned()));
    }
    inputs
}

/// Relates what was found to what is asked. Null is absent, for fields and labels alike.
fn relation(requirement: &Value, found: &Value) -> bool {
    let is_listed = requirement["values"]
        .as_array()
        .is_some_and(|values| values.contains(found));
    match requirement["operator"].as_str().expect("an operator") {
        "In" => is_listed,
        "NotIn" => !is_listed,
        "Exists" => !found.is_null(),
        "DoesNotExist" => found.is_null(),
        other => panic!("the generator knows no operator {other}"),
    }
}
