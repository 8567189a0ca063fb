//! Cases: their steps and options.

use serde_json::{Map, Value};

use super::{InvalidCase, MAX_STEPS};
use crate::queue::{Environment, Flow};
use crate::version::Level;
use crate::vetos::Vetos;

/// A case, with its steps unread.
pub(super) struct Case {
    pub(super) id: Option<String>,
    pub(super) steps: Vec<String>,
    pub(super) flow: Flow,
    pub(super) vetos: Vetos,
}

pub(super) fn read(case: &Value) -> Result<Case, InvalidCase> {
    let invalid = |problem: &str| InvalidCase::new("case", problem);
    let fields = case.as_object();
    let fields = fields.ok_or_else(|| invalid("an object with `steps` is expected"))?;
    let steps = fields
        .get("steps")
        .ok_or_else(|| invalid("the field `steps` is missing"))?;
    let steps = texts("steps", steps)?;
    if steps.len() > MAX_STEPS {
        return Err(InvalidCase::new(
            "steps",
            format!("more than {MAX_STEPS} steps"),
        ));
    }
    let id = match fields.get("id") {
        None | Some(Value::Null) => None,
        Some(id) => Some(text("id", id)?),
    };
    let none = Map::new();
    let options = match fields.get("options") {
        None | Some(Value::Null) => &none,
        Some(Value::Object(options)) => options,
        Some(_) => return Err(InvalidCase::new("options", "an object is expected")),
    };
    let (flow, vetos) = read_options(options)?;
    Ok(Case {
        id,
        steps,
        flow,
        vetos,
    })
}

fn read_options(options: &Map<String, Value>) -> Result<(Flow, Vetos), InvalidCase> {
    let usual = Flow::usual();
    let usual = usual.environments().iter().map(|it| it.name.clone());
    let mut names: Vec<String> = usual.collect();
    let mut vetos = Vetos::default();
    let mut accepts = Vec::new();
    for (name, value) in options {
        let path = format!("options.{name}");
        match name.as_str() {
            "environments" => names = some_texts(&path, value)?,
            "omit" => vetos.omit_from_namespaces = texts(&path, value)?,
            "autoDeploy" | "auto_deploy" | "auto" => vetos.auto_deploy = truth(&path, value)?,
            "veto" | "vetoed" | "hold" | "held" => vetos.auto_deploy = !truth(&path, value)?,
            "vetos" => vetos = read_vetos(&path, value)?,
            "accepts" => accepts = read_accepts(&path, value)?,
            _ => {
                let problem =
                    "no such option; there are omit, autoDeploy, vetos, accepts and environments";
                return Err(InvalidCase::new(path, problem));
            }
        }
    }
    let positions = (0..).zip(&names);
    let mut environments: Vec<_> = positions
        .map(|(position, name)| Environment::new(name, position))
        .collect();
    for environment in &mut environments {
        let found = accepts.iter().find(|(name, _)| *name == environment.name);
        environment.accepts = found.map(|(_, level)| *level);
    }
    let mut named = vetos
        .omit_from_namespaces
        .iter()
        .chain(accepts.iter().map(|it| &it.0));
    if let Some(unknown) = named.find(|name| !names.contains(name)) {
        let problem = format!("there is no environment `{unknown}`");
        return Err(InvalidCase::new("options", problem));
    }
    let flow = Flow::new(environments);
    let flow = flow.map_err(|error| InvalidCase::new("options.environments", error.to_string()))?;
    Ok((flow, vetos))
}

/// Reads vetos as an application file has them.
fn read_vetos(path: &str, value: &Value) -> Result<Vetos, InvalidCase> {
    let vetos = serde_json::from_value(value.clone());
    vetos.map_err(|error| InvalidCase::new(path, error.to_string()))
}

fn read_accepts(path: &str, value: &Value) -> Result<Vec<(String, Level)>, InvalidCase> {
    let levels = value.as_object();
    let levels = levels.ok_or_else(|| InvalidCase::new(path, "an object is expected"))?;
    let of_one = |(name, level): (&String, &Value)| {
        let path = format!("{path}.{name}");
        let level = match text(&path, level)?.as_str() {
            "digest" => Level::Digest,
            "patch" => Level::Patch,
            "minor" => Level::Minor,
            "major" => Level::Major,
            _ => {
                return Err(InvalidCase::new(
                    path,
                    "a level is digest, patch, minor or major",
                ));
            }
        };
        Ok((name.clone(), level))
    };
    levels.iter().map(of_one).collect()
}

fn some_texts(path: &str, value: &Value) -> Result<Vec<String>, InvalidCase> {
    let texts = texts(path, value)?;
    match texts.is_empty() {
        true => Err(InvalidCase::new(path, "at least one is expected")),
        false => Ok(texts),
    }
}

fn texts(path: &str, value: &Value) -> Result<Vec<String>, InvalidCase> {
    let values = value.as_array();
    let values = values.ok_or_else(|| InvalidCase::new(path, "a list of texts is expected"))?;
    let at = |(index, value)| text(&format!("{path}[{index}]"), value);
    values.iter().enumerate().map(at).collect()
}

fn text(path: &str, value: &Value) -> Result<String, InvalidCase> {
    let text = value.as_str().map(str::to_owned);
    text.ok_or_else(|| InvalidCase::new(path, "a text is expected"))
}

fn truth(path: &str, value: &Value) -> Result<bool, InvalidCase> {
    let truth = value.as_bool();
    truth.ok_or_else(|| InvalidCase::new(path, "true or false is expected"))
}
