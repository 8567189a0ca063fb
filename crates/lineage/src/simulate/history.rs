//! The history as it is written: resources and steps.

use std::collections::BTreeMap;

use serde_json::Value;

use super::reader::{Cursor, Fields, Invalid};

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

/// The way in which outputs of a resource are traced.
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
    Seen(Observed<'a>),
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
pub(super) struct Observed<'a> {
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
    let mut fields = Cursor::root(history).fields()?;
    let cursor = fields.required("resources")?;
    let resources: Vec<_> = cursor.items()?;
    if resources.len() > RESOURCES {
        return Err(cursor.invalid(format!("at most {RESOURCES} resources can be simulated")));
    }
    let resources = resources.iter().map(resource).collect::<Result<_, _>>()?;
    let mut history = History {
        resources,
        steps: Vec::new(),
    };
    for cursor in fields.required("steps")?.items()? {
        let step = history.step(&cursor)?;
        history.steps.push(step);
    }
    Ok(history)
}

fn resource<'a>(cursor: &Cursor<'a>) -> Result<Declared<'a>, Invalid> {
    let mut fields = cursor.fields()?;
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
        return Err(cursor.invalid(format!("`{read}` is in `inputs` and in `reads`")));
    }
    let unknown = declared.proves.iter().find(|it| !declared.takes(it));
    if let (Some(cursor), Some(name)) = (proved, unknown) {
        let problem = format!("`{name}` is neither in `inputs` nor in `reads`");
        return Err(cursor.invalid(problem));
    }
    fields.finish()?;
    Ok(declared)
}

fn traced(cursor: &Cursor<'_>) -> Result<Traced, Invalid> {
    Ok(match cursor.text()? {
        "declared" => Traced::Declared,
        "condition" => Traced::Condition,
        "none" => Traced::None,
        "immutable" => Traced::Immutable,
        "applied" => Traced::Applied,
        "rule" => Traced::Rule,
        other => {
            let known = "declared, condition, none, immutable, applied or rule";
            return Err(cursor.invalid(format!("`{other}` is no tracing; {known} is")));
        }
    })
}

impl<'a> Declared<'a> {
    fn takes(&self, name: &str) -> bool {
        self.inputs.contains(&name) || self.reads.contains(&name)
    }
}

impl<'a> History<'a> {
    fn step(&self, cursor: &Cursor<'a>) -> Result<Step<'a>, Invalid> {
        let mut fields = cursor.fields()?;
        let kinds = ["owner", "applied", "seen"];
        let mut kinds = kinds.map(|kind| fields.optional(kind)).into_iter();
        let mut next = || kinds.next().flatten();
        let step = match (next(), next(), next()) {
            (Some(owner), None, None) => Step::Owner(values(&owner)?),
            (None, Some(applied), None) => Step::Applied(self.applied(&applied)?),
            (None, None, Some(seen)) => Step::Seen(self.seen(&seen)?),
            _ => return Err(cursor.invalid("a step is one of `owner`, `applied` and `seen`")),
        };
        fields.finish()?;
        Ok(step)
    }

    fn applied(&self, cursor: &Cursor<'a>) -> Result<Applied<'a>, Invalid> {
        let mut fields = cursor.fields()?;
        let declared = self.declared(&mut fields)?;
        let uid = fields.required("uid")?.text()?;
        let generation = number(fields.optional("generation"))?;
        let inputs = fields.optional("inputs");
        if let Some(cursor) = &inputs {
            let stray = cursor
                .entries()?
                .into_iter()
                .find(|it| !declared.takes(it.0));
            if let Some((name, cursor)) = stray {
                let resource = declared.name;
                let problem =
                    format!("`{resource}` has `{name}` neither in `inputs` nor in `reads`");
                return Err(cursor.invalid(problem));
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

    fn seen(&self, cursor: &Cursor<'a>) -> Result<Observed<'a>, Invalid> {
        let mut fields = cursor.fields()?;
        let seen = Observed {
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
        let cursor = fields.required("resource")?;
        let name = cursor.text()?;
        let declared = self.resources.iter().find(|it| it.name == name);
        declared.ok_or_else(|| cursor.invalid(format!("`{name}` is not in `resources`")))
    }
}

fn names(cursor: Option<Cursor<'_>>) -> Result<Vec<&str>, Invalid> {
    match cursor {
        Some(cursor) if !cursor.value.is_null() => {
            cursor.items()?.iter().map(Cursor::text).collect()
        }
        _ => Ok(Vec::new()),
    }
}

fn number(cursor: Option<Cursor<'_>>) -> Result<Option<i64>, Invalid> {
    cursor.map_or(Ok(None), |cursor| cursor.number())
}

fn truth(cursor: Option<Cursor<'_>>) -> Result<Option<bool>, Invalid> {
    cursor.map_or(Ok(None), |cursor| cursor.truth())
}

fn values<'a>(cursor: &Cursor<'a>) -> Result<Values<'a>, Invalid> {
    let entries = cursor.entries()?.into_iter();
    Ok(entries.map(|(name, cursor)| (name, cursor.value)).collect())
}

fn output<'a>(cursor: Option<Cursor<'a>>) -> Result<Option<(&'a str, &'a Value)>, Invalid> {
    let Some(cursor) = cursor.filter(|cursor| !cursor.value.is_null()) else {
        return Ok(None);
    };
    let mut entries = cursor.entries()?.into_iter();
    let output = entries.next().map(|(name, cursor)| (name, cursor.value));
    if entries.next().is_some() {
        return Err(cursor.invalid("a resource has at most one output"));
    }
    Ok(output)
}
