//! `pathline blueprint`, as an author types it.

mod bad_input;
mod graph;
mod lint;
mod path;
mod paths;
mod tests;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use pathline_testkit::{shared_dir, skip};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::pathline;

/// The example, which is the blueprint of the seed.
fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/paths")
}

fn seed_blueprint() -> PathBuf {
    example().join("blueprint.yaml")
}

fn run_in(dir: &Path, arguments: &[&str]) -> Output {
    pathline()
        .current_dir(dir)
        .arg("blueprint")
        .args(arguments)
        .output()
        .expect("the binary runs")
}

/// A directory with files.
struct Scratch(TempDir);

impl Scratch {
    fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().expect("a scratch directory");
        for (name, content) in files {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().expect("inside of the directory"))
                .expect("a directory");
            fs::write(path, content).expect("a scratch file");
        }
        Self(dir)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        run_in(self.0.path(), arguments)
    }
}

fn json_of(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("stdout is not JSON: {output:?}"))
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "a literal is given away at the call"
)]
fn workload(labels: Value, spec: Value) -> String {
    let metadata = json!({"name": "app", "labels": labels});
    json!({"apiVersion": "carto.run/v1alpha1", "kind": "Workload", "metadata": metadata, "spec": spec})
        .to_string()
}

/// A supply chain of these resources.
fn chain(resources: &str) -> String {
    format!(
        "apiVersion: carto.run/v1alpha1\nkind: ClusterSupplyChain\nmetadata:\n  name: chain\nspec:\n  \
         selector: {{type: web}}\n  resources:\n{resources}"
    )
}

#[test]
fn example_is_the_blueprint_of_the_seed_unchanged() {
    let Some(shared) = shared_dir() else {
        return skip(
            "the seed's blueprint",
            "no shared seeds beside the repository",
        );
    };
    let seeds = fs::read_dir(shared.join("seeds")).expect("the seeds");
    let seed = seeds
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with("001"))
        })
        .expect("the seed about paths");
    let seed = fs::read_to_string(seed).expect("the seed");
    let written = fs::read_to_string(seed_blueprint()).expect("the example");
    assert!(seed.contains(&written));
}
