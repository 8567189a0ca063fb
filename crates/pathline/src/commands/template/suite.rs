//! From a directory to tests: each directory adds to what the one above it says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::info::{CompareOptions, GivenSupplyChain, Info, MockSupplyChain, OneOrMore};

/// The usual name of the values of a supply chain, which would else be taken for one.
const BLUEPRINT_VALUES: &str = "supply-chain-ytt-values.yaml";

/// One test, with the files it is made of.
#[derive(Clone, Debug, Default)]
pub(super) struct Case {
    pub(super) name: String,
    pub(super) template: Option<PathBuf>,
    pub(super) owner: Option<PathBuf>,
    pub(super) blueprints: Vec<PathBuf>,
    pub(super) mock: Option<MockSupplyChain>,
    pub(super) target: Option<String>,
    pub(super) outputs: BTreeMap<String, Value>,
    pub(super) compare: CompareOptions,
    /// The values with which the template file, and those of the supply chain, are made by ytt.
    pub(super) template_values: Vec<PathBuf>,
    pub(super) blueprint_values: Vec<PathBuf>,
    expected: Option<PathBuf>,
}

impl Case {
    /// Reads the object that must come out.
    pub(super) fn expected(&self) -> anyhow::Result<Value> {
        let path = self.expected.as_deref();
        let path = path.context("there is no expected.yaml, and info.yaml names none")?;
        one(path)
    }

    /// Returns what a directory below this one is tested with.
    fn below(&self, directory: &Path) -> anyhow::Result<Self> {
        let mut case = self.clone();
        case.name = directory.display().to_string();
        let info_path = directory.join("info.yaml");
        let info: Info = if info_path.exists() {
            one(&info_path)?
        } else {
            Info::default()
        };
        let given = info.given;
        let named = |name: Option<String>, default: &str| {
            let path = directory.join(name.as_deref().unwrap_or(default));
            (name.is_some() || path.exists()).then_some(path)
        };
        let values = values(
            directory,
            &given.template.ytt_path,
            "template-ytt-values.yaml",
        );
        replace_list(&mut case.template_values, values);
        replace(
            &mut case.template,
            named(given.template.path, "template.yaml"),
        );
        replace(&mut case.owner, named(given.workload, "workload.yaml"));
        replace(
            &mut case.owner,
            named(given.deliverable, "deliverable.yaml"),
        );
        replace(&mut case.expected, named(info.expected, "expected.yaml"));
        replace(&mut case.mock, given.mock_supply_chain);
        case.take_supply_chain(directory, given.supply_chain.unwrap_or_default())?;
        case.compare = info
            .compare_options
            .unwrap_or_default()
            .or(&info.compare)
            .or(&self.compare);
        if case.mock.is_some() && !case.blueprints.is_empty() {
            bail!(
                "{}: give a supply chain or a mock of one, not both",
                case.name
            );
        }
        Ok(case)
    }

    fn take_supply_chain(
        &mut self,
        directory: &Path,
        given: GivenSupplyChain,
    ) -> anyhow::Result<()> {
        let values = values(directory, &given.ytt_path, BLUEPRINT_VALUES);
        replace_list(&mut self.blueprint_values, values);
        replace(&mut self.target, given.target_resource_name);
        self.outputs
            .extend(given.previous_outputs.unwrap_or_default());
        let mut paths: Vec<PathBuf> = given
            .paths
            .iter()
            .map(|path| directory.join(path))
            .collect();
        if paths.is_empty() {
            let is_blueprint = |path: &PathBuf| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                name.starts_with("supply-chain")
                    && name.ends_with(".yaml")
                    && name != BLUEPRINT_VALUES
            };
            paths = entries(directory)?
                .into_iter()
                .filter(is_blueprint)
                .collect();
        }
        replace_list(&mut self.blueprints, paths);
        Ok(())
    }
}

/// Returns the tests in a directory and below it.
pub(super) fn read(directory: &Path) -> anyhow::Result<Vec<Case>> {
    let mut cases = Vec::new();
    collect(&Case::default(), directory, &mut cases)?;
    Ok(cases)
}

fn collect(above: &Case, directory: &Path, cases: &mut Vec<Case>) -> anyhow::Result<()> {
    let case = above.below(directory)?;
    let below: Vec<PathBuf> = entries(directory)?
        .into_iter()
        .filter(|path| path.is_dir())
        .collect();
    if below.is_empty() {
        cases.push(case);
        return Ok(());
    }
    for directory in below {
        collect(&case, &directory, cases)?;
    }
    Ok(())
}

fn entries(directory: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(directory)
        .with_context(|| format!("cannot read the directory {}", directory.display()))?;
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<_>>()?;
    paths.sort();
    Ok(paths)
}

/// Returns the files of values that are named, or else the usual one, if it is there.
fn values(directory: &Path, named: &OneOrMore, usual: &str) -> Vec<PathBuf> {
    let usual = directory.join(usual);
    match named.names() {
        [] if usual.exists() => vec![usual],
        names => names.iter().map(|name| directory.join(name)).collect(),
    }
}

fn replace_list<T>(place: &mut Vec<T>, new: Vec<T>) {
    if !new.is_empty() {
        *place = new;
    }
}

fn replace<T>(place: &mut Option<T>, new: Option<T>) {
    if new.is_some() {
        *place = new;
    }
}

/// Reads a file with one YAML document.
pub(super) fn one<T: DeserializeOwned>(path: &Path) -> anyhow::Result<T> {
    let text = text(path)?;
    serde_saphyr::from_str(&text).with_context(|| format!("cannot use {}", path.display()))
}

pub(super) fn text(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}
