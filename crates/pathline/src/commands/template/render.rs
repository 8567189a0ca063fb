//! From a test to the object its template makes.

use anyhow::{Context, bail};
use pathline_blueprint::blueprint::{Blueprint, Input, InputKind, Resource, Templates};
use pathline_blueprint::output::Output;
use pathline_blueprint::owner::{Owner, OwnerKind};
use pathline_blueprint::selection::{Action, Plan, Step, choose_blueprint, explain};
use pathline_blueprint::stamp::Stamp;
use pathline_blueprint::template::{Template, TemplateKind};
use pathline_kinds::carto::Selector;
use serde_json::Value;

use super::Tools;
use super::info::MockSupplyChain;
use super::preprocess::documents;
use super::suite::{Case, one};

/// Renders the template of a test.
pub(super) async fn render(case: &Case, tools: &Tools) -> anyhow::Result<Value> {
    let owner = owner(case)?;
    if case.blueprints.is_empty() {
        let template = templates(case, tools).await?.into_iter().next();
        let template = template.context("the template file is empty")?;
        let mock = case.mock.clone().unwrap_or_default();
        return mocked(&owner, &template, mock, tools).await;
    }
    in_blueprint(case, &owner, tools).await
}

fn owner(case: &Case) -> anyhow::Result<Owner> {
    let path = case.owner.as_deref();
    let object: Value = one(path.context("there is no workload.yaml, and info.yaml names none")?)?;
    let kind = object["kind"].as_str().unwrap_or_default();
    let kind = OwnerKind::ALL
        .into_iter()
        .find(|known| known.name() == kind)
        .with_context(|| format!("a `{kind}` is no owner; give a Workload or a Deliverable"))?;
    Ok(Owner::read(kind, object)?)
}

async fn templates(case: &Case, tools: &Tools) -> anyhow::Result<Vec<Template>> {
    let path = case.template.as_deref();
    let path = path.context("there is no template.yaml, and info.yaml names none")?;
    let documents = documents(&tools.ytt, path, &case.template_values).await?;
    documents.into_iter().map(template).collect()
}

fn template(object: Value) -> anyhow::Result<Template> {
    let name = object["kind"].as_str().unwrap_or_default().to_owned();
    let mut kinds = TemplateKind::ALL.into_iter();
    let kind = kinds.find(|known| known.name() == name);
    let kind = kind.with_context(|| format!("a `{name}` is no template"))?;
    Template::read(kind, object).context("the template cannot be read")
}

/// Renders with inputs and params that a test gives, as a resource of a blueprint that has but this one.
async fn mocked(
    owner: &Owner,
    template: &Template,
    mock: MockSupplyChain,
    tools: &Tools,
) -> anyhow::Result<Value> {
    let inputs = mock.blueprint_inputs;
    let lists = [
        (InputKind::Source, inputs.sources),
        (InputKind::Image, inputs.images),
        (InputKind::Config, inputs.configs),
    ];
    let deployment = inputs
        .deployment
        .map(|value| (InputKind::Deployment, String::new(), value));
    let given = lists
        .into_iter()
        .flat_map(|(kind, list)| {
            list.into_iter()
                .map(move |(name, value)| (kind, name, value))
        })
        .chain(deployment);
    let given: Vec<(Input, Output)> = given
        .map(|(kind, name, value)| {
            let output = output(kind, &value)
                .with_context(|| format!("the input `{name}` lacks what {} have", kind.field()))?;
            let producer = name.clone();
            Ok((
                Input {
                    kind,
                    declared: kind,
                    name,
                    producer,
                },
                output,
            ))
        })
        .collect::<anyhow::Result<_>>()?;
    let blueprint = Blueprint {
        owner_kind: owner.kind,
        name: "mock".to_owned(),
        selector: Selector::default(),
        params: mock.blueprint_params,
        service_account: None,
        resources: vec![Resource {
            name: "mock".to_owned(),
            template_kind: template.kind(),
            selector: None,
            templates: Templates::One(template.name.clone()),
            params: Vec::new(),
            inputs: given.iter().map(|(input, _)| input.clone()).collect(),
        }],
    };
    let inputs: Vec<(&Input, &Output)> = given
        .iter()
        .map(|(input, output)| (input, output))
        .collect();
    let stamp = Stamp {
        owner,
        blueprint: &blueprint,
        resource: &blueprint.resources[0],
        template,
        inputs: &inputs,
    };
    Ok(tools.renderer.render(&stamp).await?.object)
}

/// Renders as the target resource of the blueprint that is for the owner.
async fn in_blueprint(case: &Case, owner: &Owner, tools: &Tools) -> anyhow::Result<Value> {
    let mut blueprints = Vec::new();
    for path in &case.blueprints {
        for object in documents(&tools.ytt, path, &case.blueprint_values).await? {
            blueprints.push(Blueprint::read(object)?);
        }
    }
    let blueprint = match blueprints.as_slice() {
        [only] => only,
        several => choose_blueprint(owner, several)
            .ok()
            .context("none, or more than one, of the supply chains is for this owner")?,
    };
    let target = case
        .target
        .as_deref()
        .context("given.supplyChain.targetResourceName is missing")?;
    let index = blueprint
        .resources
        .iter()
        .position(|resource| resource.name == target);
    let index = index.with_context(|| format!("the supply chain has no resource `{target}`"))?;
    let steps = Plan::new(blueprint)?.choose(owner);
    let Step::Selected { option } = &steps[index] else {
        bail!(
            "`{target}` is not stamped: {}",
            explain(blueprint, index, &steps)
        );
    };
    let selected = blueprint.selected(index, *option);
    let Action::Stamp(name) = selected.action else {
        bail!("`{target}` hands an input on and stamps nothing");
    };
    let kind = blueprint.resources[index].template_kind;
    let template = templates(case, tools)
        .await?
        .into_iter()
        .find(|template| template.kind() == kind && template.name == name)
        .with_context(|| {
            format!(
                "`{target}` is stamped from the {} `{name}`, which is not in the template file",
                kind.name()
            )
        })?;
    let outputs: Vec<(&Input, Output)> = selected
        .inputs
        .into_iter()
        .map(|input| {
            let given = case
                .outputs
                .get(&input.producer)
                .and_then(|value| output(input.kind, value));
            let output = given.with_context(|| {
                format!(
                    "given.supplyChain.previousOutputs says nothing about what `{}` gives",
                    input.producer
                )
            })?;
            Ok((input, output))
        })
        .collect::<anyhow::Result<_>>()?;
    let inputs: Vec<(&Input, &Output)> = outputs
        .iter()
        .map(|(input, output)| (*input, output))
        .collect();
    let stamp = Stamp {
        owner,
        blueprint,
        resource: &blueprint.resources[index],
        template: &template,
        inputs: &inputs,
    };
    Ok(tools.renderer.render(&stamp).await?.object)
}

/// Reads what a resource has given: `{url, revision}`, also below `source`, `{image}` or `{config}`.
fn output(kind: InputKind, value: &Value) -> Option<Output> {
    let field = |name: &str| value.get(name).cloned();
    match kind {
        InputKind::Source | InputKind::Deployment => {
            let source = value.get("source").unwrap_or(value);
            Some(Output::Source {
                url: source.get("url")?.clone(),
                revision: source.get("revision").cloned().unwrap_or(Value::Null),
            })
        }
        InputKind::Image => field("image").map(Output::Image),
        InputKind::Config => field("config").map(Output::Config),
    }
}
