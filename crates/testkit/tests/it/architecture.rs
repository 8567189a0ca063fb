//! The documentation of the house is true: every file that it names is there.

use std::fs;

use pathline_testkit::repository_root;

/// The endings by which a name in `docs/architecture.md` is known to be a file or a directory.
const ENDINGS: [&str; 6] = [".rs", ".md", ".toml", ".sql", ".yaml", "/"];

#[test]
fn every_path_that_the_architecture_names_exists() {
    let root = repository_root();
    let text = fs::read_to_string(root.join("docs/architecture.md")).expect("it is written");
    let named: Vec<_> = paths(&text).collect();
    assert!(named.len() > 40, "few paths are found: {named:?}");
    let missing = named.iter().filter(|path| {
        let places = ["", "crates", "docs"].map(|place| root.join(place).join(path));
        !places.iter().any(|place| place.exists())
    });
    let missing: Vec<_> = missing.collect();
    assert!(missing.is_empty(), "these are not there: {missing:#?}");
}

/// Returns what stands between backquotes and looks like a path below the repository. What a data
/// directory holds is a path of users, and is told in a table of its own.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let told = text.split("## The data directory").next();
    let quoted = told.unwrap_or_default().split('`').skip(1).step_by(2);
    quoted.filter(|it| {
        let is_one_word = !it.contains(char::is_whitespace) && !it.contains(['{', '*', '<', '=']);
        is_one_word && it.contains('/') && ENDINGS.iter().any(|ending| it.ends_with(ending))
    })
}
