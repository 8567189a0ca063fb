//! The house: what each crate may be built on.

use std::collections::BTreeSet;
use std::process::Command;

use pathline_testkit::repository_root;

use crate::words::sources;

/// The crates of rules and vocabulary: no I/O, no clock, no client.
const PURE: &[&str] = &[
    "pathline-blueprint",
    "pathline-clauses",
    "pathline-document",
    "pathline-graph",
    "pathline-jsonpath",
    "pathline-keys",
    "pathline-kinds",
    "pathline-lineage",
    "pathline-observe",
    "pathline-release",
    "pathline-trace",
];

/// Crates that do I/O, or exist only for those that do.
const IMPURE: &[&str] = &[
    "aws-lc-rs",
    "aws-lc-sys",
    "axum",
    "gix",
    "hyper",
    "hyper-util",
    "kube-client",
    "kube-runtime",
    "reqwest",
    "rustls",
    "sqlx",
    "tokio",
    "tower",
];

/// Returns the names of all crates that a crate is built on, with all its features.
fn built_on(package: &str) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .current_dir(repository_root())
        .args(["tree", "--offline", "--locked", "--all-features"])
        .args([
            "--edges",
            "normal",
            "--prefix",
            "none",
            "--package",
            package,
        ])
        .output()
        .expect("cargo starts");
    let problems = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "cargo tree of {package}: {problems}"
    );
    let tree = String::from_utf8(output.stdout).expect("names of crates are text");
    let names = tree.lines().filter_map(|line| line.split(' ').next());
    names.map(str::to_owned).collect()
}

#[test]
fn pure_crates_build_without_a_runtime_a_client_or_tls() {
    for package in PURE {
        let built_on = built_on(package);
        assert!(built_on.contains(*package), "{package} is in its own tree");
        let impure: Vec<&&str> = IMPURE.iter().filter(|it| built_on.contains(**it)).collect();
        assert!(impure.is_empty(), "{package} is built on {impure:?}");
    }
}

/// Guards the table above against misspelt names: the program is built on all of them.
#[test]
fn impure_crates_are_recognized() {
    let built_on = built_on("pathline");
    let unknown: Vec<&&str> = IMPURE
        .iter()
        .filter(|it| !built_on.contains(**it))
        .collect();
    assert!(unknown.is_empty(), "nobody is built on {unknown:?}");
}

#[test]
fn the_embedded_cluster_knows_names_and_paths_but_no_supply_chains() {
    assert!(!built_on("pathline-cluster").contains("pathline-blueprint"));
}

/// Words of which each module of a room of the engine has one: it waits, calls the cluster, or shares state.
const EFFECTS: &[&str] = &["async ", ".await", "Client", "Mutex", "Queues"];

#[test]
fn rooms_of_the_engine_have_no_module_of_pure_rules() {
    let engine = repository_root().join("crates/engine/src");
    let rooms = ["supply", "observe"].map(|room| sources(&engine.join(room)));
    let modules = rooms.into_iter().flatten();
    let modules: Vec<_> = modules
        .filter(|(path, _)| !path.ends_with("tests.rs"))
        .collect();
    assert!(modules.len() > 20, "{} modules are found", modules.len());
    let pure = modules
        .iter()
        .filter(|(_, text)| !EFFECTS.iter().any(|effect| text.contains(effect)));
    let pure: Vec<_> = pure.map(|(path, _)| path).collect();
    assert!(
        pure.is_empty(),
        "these belong to a crate of rules: {pure:#?}"
    );
}
