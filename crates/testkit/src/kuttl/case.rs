//! Test directories and what their files say.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::document::documents;

/// One test directory.
#[derive(Debug)]
pub struct Case {
    /// The path of the directory below the one that was searched.
    pub name: String,
    pub(super) steps: Vec<Step>,
}

/// Everything in a directory that has the same number.
#[derive(Debug, Default)]
pub(super) struct Step {
    pub(super) number: u32,
    pub(super) apply: Vec<Value>,
    pub(super) asserts: Vec<Value>,
    pub(super) errors: Vec<Value>,
}

/// The purpose of the objects of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Apply,
    Assert,
    Errors,
}

/// Finds and reads every test directory at or below `root`, in the order of their names.
///
/// # Errors
/// Fails if a file cannot be read, or there is no test at all.
pub fn find(root: &Path) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    let mut ahead = vec![root.to_path_buf()];
    while let Some(directory) = ahead.pop() {
        let mut files = Vec::new();
        for entry in std::fs::read_dir(&directory)
            .with_context(|| format!("{} cannot be read", directory.display()))?
        {
            let path = entry?.path();
            if path.is_dir() {
                ahead.push(path);
            } else if let Some((number, purpose)) = step_file(&path) {
                files.push((path, number, purpose));
            }
        }
        if !files.is_empty() {
            cases.push(Case::read(name_below(root, &directory), files)?);
        }
    }
    ensure!(
        !cases.is_empty(),
        "{} holds no test: no directory with files like 00-assert.yaml",
        root.display()
    );
    cases.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(cases)
}

fn name_below(root: &Path, directory: &Path) -> String {
    let below = directory.strip_prefix(root).unwrap_or(directory);
    let named = if below.as_os_str().is_empty() {
        directory.file_name().map(Path::new).unwrap_or(directory)
    } else {
        below
    };
    named.display().to_string()
}

/// Reads number and purpose from a name like `02-assert-more.yaml`.
fn step_file(path: &Path) -> Option<(u32, Purpose)> {
    let stem = path.file_name()?.to_str()?.strip_suffix(".yaml")?;
    let (number, name) = stem.split_once('-')?;
    if name.is_empty() || name.contains('.') || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let purpose = match name.split('-').next()?.to_lowercase().as_str() {
        "assert" => Purpose::Assert,
        "errors" => Purpose::Errors,
        _ => Purpose::Apply,
    };
    Some((number.parse().ok()?, purpose))
}

impl Case {
    fn read(name: String, mut files: Vec<(PathBuf, u32, Purpose)>) -> Result<Self> {
        files.sort_by(|(left, ..), (right, ..)| left.cmp(right));
        let mut steps: BTreeMap<u32, Step> = BTreeMap::new();
        for (path, number, purpose) in files {
            let text = std::fs::read_to_string(&path)?;
            let objects =
                objects(&text).with_context(|| format!("{} cannot be used", path.display()))?;
            let step = steps.entry(number).or_default();
            step.number = number;
            match purpose {
                Purpose::Apply => step.apply.extend(objects),
                Purpose::Assert => step.asserts.extend(objects),
                Purpose::Errors => step.errors.extend(objects),
            }
        }
        Ok(Self {
            name,
            steps: steps.into_values().collect(),
        })
    }
}

fn objects(text: &str) -> Result<Vec<Value>> {
    let mut objects = Vec::new();
    for object in documents(text)? {
        let api_version = object["apiVersion"].as_str().unwrap_or_default();
        match object["kind"].as_str() {
            // A document of comments and separators alone, which kuttl passes over.
            None | Some("") => {}
            Some(kind) if api_version.starts_with("kuttl.dev/") => {
                bail!("the kind {kind} of kuttl is not supported: apply, assert and errors are")
            }
            Some(_) => objects.push(object),
        }
    }
    Ok(objects)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_say_step_and_purpose() {
        let cases = [
            ("00-assert.yaml", Some((0, Purpose::Assert))),
            ("02-errors.yaml", Some((2, Purpose::Errors))),
            ("10-assert-more.yaml", Some((10, Purpose::Assert))),
            ("01-Assert.yaml", Some((1, Purpose::Assert))),
            ("01-asserts.yaml", Some((1, Purpose::Apply))),
            ("01-workload-assert.yaml", Some((1, Purpose::Apply))),
            ("1-x.yaml", Some((1, Purpose::Apply))),
            ("assert.yaml", None),
            ("01-a.b.yaml", None),
            ("01-.yaml", None),
            ("01-x.json", None),
            ("a1-x.yaml", None),
        ];
        for (name, expected) in cases {
            assert_eq!(step_file(Path::new(name)), expected, "{name}");
        }
    }

    #[test]
    fn every_directory_with_steps_is_a_case_and_its_files_are_merged() {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("b/deep/00-a.yaml", "kind: A\n---\nkind: B\n"),
            ("b/deep/00-b.yaml", "kind: C\n"),
            ("b/deep/01-assert.yaml", "kind: D\n"),
            ("b/deep/1-errors.yaml", "# only a comment\n---\nkind: E\n"),
            ("a/00-x.yaml", "kind: X\n"),
            ("_crds/test.yaml", "kind: Y\n"),
        ] {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let cases = find(root.path()).unwrap();
        let names: Vec<_> = cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names, ["a", "b/deep"]);
        let kinds = |objects: &[Value]| -> String {
            objects
                .iter()
                .filter_map(|it| it["kind"].as_str())
                .collect()
        };
        let steps: Vec<_> = cases[1]
            .steps
            .iter()
            .map(|step| {
                (
                    step.number,
                    kinds(&step.apply),
                    kinds(&step.asserts),
                    kinds(&step.errors),
                )
            })
            .collect();
        let text = |it: &str| it.to_owned();
        assert_eq!(
            steps,
            [
                (0, text("ABC"), text(""), text("")),
                (1, text(""), text("D"), text("E"))
            ]
        );
        assert_eq!(find(&root.path().join("a")).unwrap()[0].name, "a");
    }

    #[test]
    fn what_the_runner_does_not_do_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let error = find(root.path()).unwrap_err().to_string();
        assert!(error.contains("holds no test"), "{error}");
        let step = "apiVersion: kuttl.dev/v1beta1\nkind: TestStep\n";
        std::fs::write(root.path().join("00-step.yaml"), step).unwrap();
        let error = format!("{:#}", find(root.path()).unwrap_err());
        assert!(
            error.contains("TestStep of kuttl is not supported"),
            "{error}"
        );
    }
}
