//! The history as it is written: resources and steps.

use std::collections::BTreeMap;

use serde_json::Value;

use super::reader::{Fields, Invalid, Place};

/// More resources than any path has; what flows through a path is followed recursively.
const RESOURCES: usize = 1000;

/// A history, checked for its shape.
#[derive(Debug)]
pub(super) struct History<'a> {
    pub(super) resources: Vec<Declared<'a>>,
    pub(super) steps: Vec<Step<'a>>,
}

/// A resource of the path.
#[derive(Debug)]
pub(super) struct Declared<'a> {
    pub(super) name: &'a str,
    pub(super) inputs: Vec<&'a str>,
    pub(super) reads: Vec<&'a str>,
    pub(super) tracing: Traced,
    pub(super) proves: Vec<&'a str>,
}

/// How outputs of a resource are traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Traced {
    Declared,
    Condition,
    None,
    Immutable,
    Applied,
    Rule,
}

/// Values by their names.
pub(super) type Values<'a> = BTreeMap<&'a str, &'a Value>;

/// One thing that happened.
#[derive(Debug)]
pub(super) enum Step<'a> {
    Owner(Values<'a>),
    Applied(Applied<'a>),
    Seen(Seen<'a>),
}

#[derive(Debug)]
pub(super) struct Applied<'a> {
    pub(super) resource: &'a str,
    pub(super) uid: &'a str,
    pub(super) generation: Option<i64>,
    pub(super) inputs: Values<'a>,
    pub(super) output: Option<(&'a str, &'a Value)>,
}

#[derive(Debug)]
pub(super) struct Seen<'a> {
    pub(super) resource: &'a str,
    pub(super) uid: &'a str,
    pub(super) generation: Option<i64>,
    pub(super) observed: Option<i64>,
    pub(super) condition_observed: Option<i64>,
    pub(super) healthy: Option<bool>,
    pub(super) matched: bool,
    pub(super) held: Option<bool>,
    pub(super) output: Option<(&'a str, &'a Value)>,
}

/// Reads a history, and says where it is not one.
pub(super) fn read(history: &Value) -> Result<History<'_>, Invalid> {
    let mut fields = Place::root(history).fields()?;
    let place = fields.required("resources")?;
    let resources: Vec<_> = place.items()?;
    if resources.len() > RESOURCES {
        return Err(place.invalid(format!("at most {RESOURCES} resources can be simulated")));
    }
    let resources = resources.iter().map(resource).collect::<Result<_, _>>()?;
    let mut history = History {
        resources,
        steps: Vec::new(),
    };
    for place in fields.required("steps")?.items()? {
        let step = history.step(&place)?;
        history.steps.push(step);
    }
    Ok(history)
}

fn resource<'a>(place: &Place<'a>) -> Result<Declared<'a>, Invalid> {
    let mut fields = place.fields()?;
    let name = fields.required("name")?.text()?;
    let inputs = names(fields.optional("inputs"))?;
    let reads = names(fields.optional("reads"))?;
    let tracing = fields.required("tracing")?;
    let proved = fields.optional("proves");
    let proves = names(proved.clone())?;
    let declared = Declared {
        name,
        tracing: traced(&tracing)?,
        inputs,
        reads,
        proves,
    };
    if let Some(read) = declared
        .reads
        .iter()
        .find(|it| declared.inputs.contains(it))
    {
        return Err(place.invalid(format!("`{read}` is in `inputs` and in `reads`")));
    }
    let unknown = declared.proves.iter().find(|it| !declared.takes(it));
    if let (Some(place), Some(name)) = (proved, unknown) {
        let problem = format!("`{name}` is neither in `inputs` nor in `reads`");
        return Err(place.invalid(problem));
    }
    fields.finish()?;
    Ok(declared)
}

fn traced(place: &Place<'_>) -> Result<Traced, Invalid> {
    Ok(match place.text()? {
        "declared" => Traced::Declared,
        "condition" => Traced::Condition,
        "none" => Traced::None,
        "immutable" => Traced::Immutable,
        "applied" => Traced::Applied,
        "rule" => Traced::Rule,
        other => {
            let known = "declared, condition, none, immutable, applied or rule";
            return Err(place.invalid(format!("`{other}` is no tracing; {known} is")));
        }
    })
}

impl<'a> Declared<'a> {
    fn takes(&self, name: &str) -> bool {
        self.inputs.contains(&name) || self.reads.contains(&name)
    }
}

impl<'a> History<'a> {
    fn step(&self, place: &Place<'a>) -> Result<Step<'a>, Invalid> {
        let mut fields = place.fields()?;
        let kinds = ["owner", "applied", "seen"];
        let mut kinds = kinds.map(|kind| fields.optional(kind)).into_iter();
        let mut next = || kinds.next().flatten();
        let step = match (next(), next(), next()) {
            (Some(owner), None, None) => Step::Owner(values(&owner)?),
            (None, Some(applied), None) => Step::Applied(self.applied(&applied)?),
            (None, None, Some(seen)) => Step::Seen(self.seen(&seen)?),
            _ => return Err(place.invalid("a step is one of `owner`, `applied` and `seen`")),
        };
        fields.finish()?;
        Ok(step)
    }

    fn applied(&self, place: &Place<'a>) -> Result<Applied<'a>, Invalid> {
        let mut fields = place.fields()?;
        let declared = self.declared(&mut fields)?;
        let uid = fields.required("uid")?.text()?;
        let generation = number(fields.optional("generation"))?;
        let inputs = fields.optional("inputs");
        if let Some(place) = &inputs {
            let stray = place
                .entries()?
                .into_iter()
                .find(|it| !declared.takes(it.0));
            if let Some((name, place)) = stray {
                let resource = declared.name;
                let problem =
                    format!("`{resource}` has `{name}` neither in `inputs` nor in `reads`");
                return Err(place.invalid(problem));
            }
        }
        let applied = Applied {
            resource: declared.name,
            uid,
            generation,
            inputs: inputs.map_or_else(|| Ok(Values::new()), |it| values(&it))?,
            output: output(fields.optional("outputs"))?,
        };
        fields.finish()?;
        Ok(applied)
    }

    fn seen(&self, place: &Place<'a>) -> Result<Seen<'a>, Invalid> {
        let mut fields = place.fields()?;
        let seen = Seen {
            resource: self.declared(&mut fields)?.name,
            uid: fields.required("uid")?.text()?,
            generation: number(fields.optional("generation"))?,
            observed: number(fields.optional("observed"))?,
            condition_observed: number(fields.optional("conditionObserved"))?,
            healthy: truth(fields.optional("healthy"))?,
            matched: truth(fields.optional("matched"))?.unwrap_or(false),
            held: truth(fields.optional("held"))?,
            output: output(fields.optional("outputs"))?,
        };
        fields.finish()?;
        Ok(seen)
    }

    fn declared(&self, fields: &mut Fields<'a>) -> Result<&Declared<'a>, Invalid> {
        let place = fields.required("resource")?;
        let name = place.text()?;
        let declared = self.resources.iter().find(|it| it.name == name);
        declared.ok_or_else(|| place.invalid(format!("`{name}` is not in `resources`")))
    }
}

fn names(place: Option<Place<'_>>) -> Result<Vec<&str>, Invalid> {
    match place {
        Some(place) if !place.value.is_null() => place.items()?.iter().map(Place::text).collect(),
        _ => Ok(Vec::new()),
    }
}

fn number(place: Option<Place<'_>>) -> Result<Option<i64>, Invalid> {
    place.map_or(Ok(None), |place| place.number())
}

fn truth(place: Option<Place<'_>>) -> Result<Option<bool>, Invalid> {
    place.map_or(Ok(None), |place| place.truth())
}

fn values<'a>(place: &Place<'a>) -> Result<Values<'a>, Invalid> {
    let entries = place.entries()?.into_iter();
    Ok(entries.map(|(name, place)| (name, place.value)).collect())
}

fn output<'a>(place: Option<Place<'a>>) -> Result<Option<(&'a str, &'a Value)>, Invalid> {
    let Some(place) = place.filter(|place| !place.value.is_null()) else {
        return Ok(None);
    };
    let mut entries = place.entries()?.into_iter();
    let output = entries.next().map(|(name, place)| (name, place.value));
    if entries.next().is_some() {
        return Err(place.invalid("a resource has at most one output"));
    }
    Ok(output)
}
