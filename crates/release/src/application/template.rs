//! Templates: settings of an environment, below those of groups and applications.

use pathline_document::{Data, Document, Format, Limits, Lines, NodeId, Position};
use serde_json::{Map, Value};

use super::check;
use super::known::warnings_of_template;
use super::normalize::normalized;
use super::reader::Cursor;
use super::{Dialect, MAX_VALUES};

/// The most problems of one template.
const MAX_PROBLEMS: usize = 20;

/// The places of settings that are texts, whatever they look like.
const TEXTS: [&str; 2] = ["variable", "file"];

/// A problem of a template: where it is, and the complaint. It never repeats a value.
pub(crate) type TemplateProblem = (String, String);

/// A value of a document, and the way to it.
type Step = Vec<String>;

/// Reads a template; paths of problems begin with `root`.
pub(crate) fn template(template: &Value, root: &str) -> Result<Value, Vec<TemplateProblem>> {
    if !template.is_object() {
        let problem = "a mapping with `environment` and `resource` is expected";
        return Err(vec![(root.to_owned(), problem.to_owned())]);
    }
    let mut problems: Vec<TemplateProblem> = Vec::new();
    if template.pointer("/environment/file/secret").is_some() {
        let problem =
            "an environment can be read by many; secrets belong to groups and applications";
        problems.push((
            format!("{root}.environment.file.secret"),
            problem.to_owned(),
        ));
    }
    let unknown = warnings_of_template(template, root).into_iter();
    let unknown = unknown.filter(|it| !it.path.ends_with(".environment.file.secret"));
    problems.extend(unknown.map(|it| (it.path, it.message)));
    problems.extend(shapes(template.clone(), root));
    match problems.is_empty() {
        true => Ok(normalized(template.clone(), Dialect::Second)),
        false => Err(problems),
    }
}

/// Checks the values of known keys. What is wrong is told and left out, until nothing is wrong any more.
fn shapes(mut template: Value, root: &str) -> Vec<TemplateProblem> {
    let mut problems = Vec::new();
    for _ in 0..MAX_PROBLEMS {
        let Some((path, problem)) = first_problem(&template) else {
            break;
        };
        problems.push((shown(root, &path), problem));
        let Some((last, parents)) = path.split_last() else {
            break;
        };
        let pointer: String = parents
            .iter()
            .map(|it| format!("/{}", escaped(it)))
            .collect();
        match template.pointer_mut(&pointer) {
            Some(Value::Object(fields)) => drop(fields.remove(last)),
            Some(Value::Array(items)) => {
                if let Some(item) = last.parse().ok().and_then(|it: usize| items.get_mut(it)) {
                    *item = Value::Object(Map::from_iter([
                        ("name".to_owned(), Value::from("left-out")),
                        ("value".to_owned(), Value::from("")),
                    ]));
                }
            }
            _ => break,
        }
    }
    problems
}

fn first_problem(template: &Value) -> Option<(Step, String)> {
    let text = template.to_string();
    let limits = Limits::default().with_values(MAX_VALUES);
    let documents = match Format::Json.read_with(&text, &limits) {
        Ok(documents) => documents,
        Err(error) => return Some((Vec::new(), error.kind.to_string())),
    };
    let document = documents.first()?;
    let lines = Lines::new(&text);
    if let Err(invalid) = check::settings(&Cursor::root(document, &lines), Dialect::Second) {
        let path = path_of(document, &lines, invalid.position).unwrap_or_default();
        return Some((path, invalid.problem));
    }
    let path = fraction(template.get("environment")?)?;
    let problem = "quote the value: a number such as 1.10 is read as 1.1".to_owned();
    Some(([vec!["environment".to_owned()], path].concat(), problem))
}

/// Finds a text that is written as a fraction, of which JSON keeps the number and not the spelling.
fn fraction(environment: &Value) -> Option<Step> {
    let mut open: Vec<(Step, &Value)> = Vec::new();
    for key in TEXTS {
        open.extend(environment.get(key).map(|it| (vec![key.to_owned()], it)));
    }
    while let Some((path, value)) = open.pop() {
        let below = |key: String| [path.clone(), vec![key]].concat();
        match value {
            Value::Number(number) if number.is_f64() => return Some(path),
            Value::Object(fields) => {
                open.extend(fields.iter().map(|(key, it)| (below(key.clone()), it)));
            }
            Value::Array(items) => {
                let items = items.iter().enumerate();
                open.extend(items.map(|(index, it)| (below(index.to_string()), it)));
            }
            _ => {}
        }
    }
    None
}

/// Returns the way to the value that is written at a position. In JSON no two values begin at one.
fn path_of(document: &Document, lines: &Lines<'_>, position: Position) -> Option<Step> {
    let mut open: Vec<(Step, NodeId)> = vec![(Vec::new(), document.root())];
    while let Some((path, id)) = open.pop() {
        let node = document.node(id);
        if lines.position(node.span.start) == position {
            return Some(path);
        }
        let below = |key: &str| [path.clone(), vec![key.to_owned()]].concat();
        match &node.data {
            Data::Map(members) => {
                open.extend(members.iter().map(|it| (below(&it.key), it.value.id)));
            }
            Data::List(items) => {
                let items = items.iter().enumerate();
                open.extend(items.map(|(index, it)| (below(&index.to_string()), it.id)));
            }
            Data::Scalar(..) => {}
        }
    }
    None
}

/// Writes a path; the indexes of lists are those of numbers.
fn shown(root: &str, path: &[String]) -> String {
    let mut shown = root.to_owned();
    for step in path {
        match step.parse::<usize>() {
            Ok(index) => shown.push_str(&format!("[{index}]")),
            Err(_) => shown.push_str(&format!(".{step}")),
        }
    }
    shown
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
