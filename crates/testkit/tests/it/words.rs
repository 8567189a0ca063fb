//! The words of the house: names that were given up for the field's do not come back where they were.

use std::fs;
use std::path::{Path, PathBuf};

use pathline_testkit::repository_root;

/// Types, modules of a crate's root and functions that were renamed, with the crates they were in. What
/// the field calls so may come back in another crate: the hold of a release, the position of an
/// environment.
const GIVEN_UP: [(&str, &[&str]); 72] = [
    ("Track", &["lineage", "ledger", "engine", "server"]),
    ("fn find_track", &["ledger"]),
    ("fn marks", &["lineage"]),
    ("Memory", &["lineage", "pathline"]),
    ("Look", &["engine", "observe", "workers"]),
    ("fn look", &["engine", "workers"]),
    ("Rounds", &["engine"]),
    ("mod rounds", &["engine"]),
    ("mod following", &["engine"]),
    ("Sighting", &["engine", "observe"]),
    ("Subject", &["engine", "observe"]),
    ("Known", &["engine"]),
    ("Unrecorded", &["engine"]),
    ("Given", &["engine", "observe"]),
    ("Own", &["engine", "observe"]),
    ("Taken", &["engine", "observe"]),
    ("Choice", &["engine", "observe"]),
    ("Readings", &["engine", "observe"]),
    ("Made", &["engine", "observe"]),
    ("Hold", &["engine"]),
    ("Pass", &["engine"]),
    ("mod last_mile", &["engine"]),
    ("LastMiles", &["engine"]),
    ("End", &["engine", "observe"]),
    ("Unfollowed", &["lineage"]),
    ("Shelf", &["engine"]),
    ("mod shelf", &["engine"]),
    ("Objects", &["engine"]),
    ("Seen", &["engine", "observe"]),
    ("Wakeups", &["engine"]),
    ("mod wakeups", &["engine"]),
    ("Lane", &["engine"]),
    ("LaneEnd", &["engine"]),
    ("Reconciled", &["engine"]),
    ("News", &["engine", "observe"]),
    ("mod leftovers", &["engine", "workers"]),
    ("mod lost", &["engine"]),
    ("fn end_lost", &["engine", "ledger"]),
    ("Doors", &["server", "pathline"]),
    ("mod doors", &["server", "pathline"]),
    ("Refusal", &["server"]),
    ("Guarded", &["server"]),
    ("Picky", &["server"]),
    ("MayMiss", &["server"]),
    ("Crowded", &["server"]),
    ("Withheld", &["server"]),
    ("Wish", &["lineage", "server", "pathline"]),
    ("NotAWish", &["lineage"]),
    ("Never", &["lineage", "server"]),
    ("Mend", &["lineage", "server"]),
    ("Position", &["lineage", "server"]),
    ("Waited", &["server"]),
    ("Crier", &["ledger"]),
    ("mod crier", &["ledger"]),
    ("Ear", &["ledger"]),
    ("fn hear", &["ledger"]),
    ("fn bell", &["ledger"]),
    ("fn nudge", &["ledger"]),
    ("Stay", &["server"]),
    ("fn let_in", &["pathline"]),
    ("fn doors_to", &["pathline"]),
    ("fn nobodys", &["server"]),
    ("fn accuse", &["engine"]),
    ("LAST_BREATH", &["pathline"]),
    ("mod finders", &["lineage", "blueprint"]),
    ("mod loose", &["blueprint"]),
    ("mod live", &["blueprint"]),
    ("mod reads", &["blueprint"]),
    ("mod rules", &["blueprint"]),
    ("mod account", &["blueprint"]),
    ("mod accounts", &["engine"]),
    ("mod wish", &["lineage", "server"]),
];

/// The keywords of a declaration that is given by its name alone.
const OF_TYPES: [&str; 5] = ["struct", "enum", "trait", "type", "const"];

#[test]
fn names_that_were_given_up_are_not_declared_where_they_were() {
    let mut found = Vec::new();
    for (name, crates) in GIVEN_UP {
        for package in crates {
            let declared = sources(&crate_dir(package).join("src")).filter(|(file, text)| {
                let is_place = !name.starts_with("mod ") || file.ends_with("src/lib.rs");
                is_place && declares(text, name)
            });
            found.extend(declared.map(|(file, _)| format!("{name} in {}", file.display())));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn limits_are_called_max_and_deadlines_timeout() {
    let mut found = Vec::new();
    for (file, text) in sources(&repository_root().join("crates")) {
        let consts = text.lines().filter_map(constant);
        let private = consts.filter(|name| {
            name.starts_with("MOST") || name.split('_').any(|word| word == "PATIENCE")
        });
        found.extend(private.map(|name| format!("{name} in {}", file.display())));
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// The words of questions: a doc comment begins with the thing that it is about.
const QUESTIONS: [&str; 6] = ["What", "Why", "Where", "Who", "How", "Which"];

#[test]
fn doc_comments_begin_with_what_a_thing_is_or_does() {
    let mut found = Vec::new();
    for (file, text) in sources(&repository_root().join("crates")) {
        let openings = doc_openings(&text).filter(|(_, opening)| asks(opening));
        let at = |(line, opening)| format!("{}:{line}: {opening}", file.display());
        found.extend(openings.map(at));
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// Returns the first line of each doc comment, with its number.
fn doc_openings(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut before = None;
    let numbered = text.lines().map(str::trim_start).enumerate();
    numbered.filter_map(move |(index, line)| {
        let marker = line.get(..3).filter(|it| matches!(*it, "///" | "//!"));
        let is_opening = marker.is_some() && marker != before;
        before = marker;
        is_opening.then(|| (index + 1, line[3..].trim()))
    })
}

/// Tells whether a sentence begins with the word of a question.
fn asks(opening: &str) -> bool {
    let first = opening.split(|it: char| !it.is_alphanumeric()).next();
    first.is_some_and(|word| QUESTIONS.contains(&word))
}

#[test]
fn openings_of_doc_comments_are_found() {
    let text =
        "//! Names.\n//!\n//! Which ones?\n\n/// Whether it is.\nstruct A;\n    /// What it is.\n";
    let openings: Vec<_> = doc_openings(text).collect();
    assert_eq!(
        openings,
        [(1, "Names."), (5, "Whether it is."), (7, "What it is.")]
    );
    assert!(asks("What it is."));
    assert!(asks("Who, and what to do."));
    for opening in ["Whether it is.", "Whatever.", "The reason why.", ""] {
        assert!(!asks(opening), "{opening}");
    }
}

fn crate_dir(package: &str) -> PathBuf {
    repository_root().join("crates").join(package)
}

/// Returns every file of Rust below a directory, with its text.
pub(crate) fn sources(directory: &Path) -> impl Iterator<Item = (PathBuf, String)> + use<> {
    let mut files = Vec::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(directory) = pending.pop() {
        let entries = fs::read_dir(&directory).expect("a crate can be listed");
        for path in entries.map(|entry| entry.expect("it can be read").path()) {
            if path.is_dir() && !path.ends_with("target") {
                pending.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                files.push(path);
            }
        }
    }
    files.into_iter().map(|path| {
        let text = fs::read_to_string(&path).expect("sources are text");
        (path, text)
    })
}

/// Tells whether a text declares a type of that name, or what a keyword before the name says.
fn declares(text: &str, name: &str) -> bool {
    let (keywords, name) = match name.split_once(' ') {
        Some((keyword, name)) => (vec![keyword], name),
        None => (OF_TYPES.to_vec(), name),
    };
    text.lines().any(|line| {
        let mut words = declaration(line.trim_start()).split_whitespace();
        let keyword = words.next().unwrap_or_default();
        let named = words.next().unwrap_or_default();
        let mut named = named.split(|it: char| !it.is_alphanumeric() && it != '_');
        keywords.contains(&keyword) && named.next() == Some(name)
    })
}

/// Returns a line without its visibility, and without `async`.
fn declaration(line: &str) -> &str {
    let line = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ").map_or(rest, |it| it.1),
        Some(rest) => rest.trim_start(),
        None => line,
    };
    line.strip_prefix("async ").unwrap_or(line)
}

fn constant(line: &str) -> Option<&str> {
    let rest = declaration(line.trim_start()).strip_prefix("const ")?;
    rest.split(':').next()
}

#[test]
fn declarations_are_found_by_name_and_keyword() {
    for line in [
        "pub struct Track {",
        "pub(crate) enum Track<'a> {",
        "    trait Track: Send {",
    ] {
        assert!(declares(line, "Track"), "{line}");
    }
    assert!(declares("pub mod loose;", "mod loose"));
    assert!(declares("    pub async fn hear() {", "fn hear"));
    for line in ["pub struct Tracker;", "use x::Track;", "/// A Track."] {
        assert!(!declares(line, "Track"), "{line}");
    }
    assert!(!declares("pub fn reads() {", "mod reads"));
}
