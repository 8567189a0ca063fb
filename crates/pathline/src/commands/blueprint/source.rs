//! The files of an author: blueprints, templates, owners.

mod document;
mod error;

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use pathline_blueprint::admission::{self, Misfit, MisfitKind};
use pathline_blueprint::blueprint::Blueprint;
use pathline_blueprint::owner::{self, Owner, OwnerKind};
use pathline_blueprint::selection::{Fault, Plan};
use pathline_document::{Lines, ReadError};
use pathline_jsonpath::FieldPath;
use pathline_kinds::lenient;
use serde_json::{Map, Value};

use crate::cli::BlueprintFileArgs;

pub(super) use self::document::Document;
pub(super) use self::error::{Error, Missing, Unreadable};

/// More than any blueprint; what is larger was hardly meant.
const MAX_BYTES: u64 = 64 << 20;
/// The name of the standard input.
const STDIN: &str = "-";

/// A file and its documents.
#[derive(Debug)]
pub(super) struct SourceFile {
    /// The name, as it was given.
    pub(super) name: String,
    pub(super) text: String,
    pub(super) documents: Vec<Document>,
}

impl SourceFile {
    /// Reads a file, or the standard input.
    pub(super) fn read(path: &Path) -> Result<Self, Unreadable> {
        let (name, text) = read_text(path)?;
        Self::parse(name, text).map_err(|(name, _, error)| Unreadable::Syntax {
            name,
            source: Box::new(error),
        })
    }

    /// Finds the documents of a text; what cannot be read is given back.
    pub(super) fn parse(name: String, text: String) -> Result<Self, (String, String, ReadError)> {
        match document::read(&text) {
            Ok(documents) => Ok(Self {
                name,
                text,
                documents,
            }),
            Err(error) => Err((name, text, error)),
        }
    }

    /// Returns `file:line:column` of something in one of the documents.
    pub(super) fn place(&self, document: &Document, path: &FieldPath) -> String {
        self.at(document.span(path).start)
    }

    /// Returns `file:line:column` of a key in one of the documents.
    pub(super) fn key_place(&self, document: &Document, path: &FieldPath) -> String {
        self.at(document.key_span(path).start)
    }

    fn at(&self, offset: usize) -> String {
        let position = Lines::new(&self.text).position(offset);
        format!("{}:{}:{}", self.name, position.line, position.column)
    }

    /// Says what is in the file, for messages.
    fn kinds(&self) -> String {
        let mut kinds: Vec<&str> = self.documents.iter().filter_map(kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        match (kinds.is_empty(), self.documents.is_empty()) {
            (false, _) => kinds.join(", "),
            (true, false) => "something without a kind".to_owned(),
            (true, true) => "nothing".to_owned(),
        }
    }
}

/// Reads the text of a file, or of the standard input, with its name.
pub(super) fn read_text(path: &Path) -> Result<(String, String), Unreadable> {
    let is_stdin = path == Path::new(STDIN);
    let name = if is_stdin {
        "<stdin>".to_owned()
    } else {
        path.display().to_string()
    };
    let failed = |source| Unreadable::File {
        name: name.clone(),
        source,
    };
    let input: Box<dyn Read> = if is_stdin {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(path).map_err(failed)?)
    };
    let mut bytes = Vec::new();
    let mut bounded = input.take(MAX_BYTES + 1);
    bounded.read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Unreadable::TooLarge { name });
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok((name, text)),
        Err(_) => Err(Unreadable::NotText { name }),
    }
}

/// Returns the files below a directory whose name ends in one of `endings`, sorted; a file is itself.
pub(super) fn files_below(path: &Path, endings: &[&str]) -> Result<Vec<PathBuf>, Unreadable> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    let mut directories = vec![path.to_owned()];
    while let Some(directory) = directories.pop() {
        let failed = |source| Unreadable::File {
            name: directory.display().to_string(),
            source,
        };
        for entry in fs::read_dir(&directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            // A link to a directory may lead back here.
            if entry.file_type().map_err(failed)?.is_dir() {
                if !name.starts_with('.') {
                    directories.push(entry.path());
                }
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Reads the one blueprint that is asked for.
pub(super) fn blueprint(args: &BlueprintFileArgs) -> Result<Blueprint, Error> {
    let file = SourceFile::read(&args.file)?;
    blueprint_in(&file, args.name.as_deref())
}

/// Returns the one blueprint of a file, or the one of this name.
pub(super) fn blueprint_in(file: &SourceFile, wanted: Option<&str>) -> Result<Blueprint, Error> {
    let blueprints = file
        .documents
        .iter()
        .filter(|document| is_blueprint(document));
    let (chosen, others): (Vec<_>, Vec<_>) = blueprints
        .partition(|document| wanted.is_none_or(|wanted| object_name(document) == wanted));
    let name = file.name.clone();
    match (&chosen[..], wanted) {
        ([document], _) => Ok(read_blueprint(file, document)?),
        ([], Some(wanted)) if !others.is_empty() => Err(Missing::NamedBlueprint {
            name,
            wanted: wanted.to_owned(),
            names: object_names(&others),
        }
        .into()),
        ([], _) => Err(Missing::Blueprint {
            name,
            found: file.kinds(),
        }
        .into()),
        _ => Err(Missing::SeveralBlueprints {
            name,
            names: object_names(&chosen),
        }
        .into()),
    }
}

/// Prepares a blueprint of a file for owners.
pub(super) fn plan(file: &Path, blueprint: &Blueprint) -> Result<Plan, Error> {
    Plan::new(blueprint).map_err(|source| fault(file, blueprint, source))
}

/// Returns the error that a blueprint of a file can be realized for no owner.
pub(super) fn fault(file: &Path, blueprint: &Blueprint, source: Fault) -> Error {
    let fault = Unreadable::Fault {
        name: file.display().to_string(),
        blueprint: blueprint.name.clone(),
        source: Box::new(source),
    };
    fault.into()
}

fn read_blueprint(file: &SourceFile, document: &Document) -> Result<Blueprint, Unreadable> {
    let root = FieldPath::default();
    check_shape(file, document, &root, &document.value, |misfit| {
        !misfit.is_unknown_field()
    })?;
    Blueprint::read(document.value.clone()).map_err(|error| Unreadable::Object {
        place: file.place(document, &FieldPath::default()),
        message: chain(&error),
    })
}

/// Reads the one owner of this kind that a file holds.
pub(super) fn owner(path: &Path, kind: OwnerKind) -> Result<Owner, Error> {
    let file = SourceFile::read(path)?;
    owner_in(&file, kind)
}

fn owner_in(file: &SourceFile, wanted: OwnerKind) -> Result<Owner, Error> {
    let is_wanted = |document: &&Document| kind(document) == Some(wanted.name());
    let owners: Vec<&Document> = file.documents.iter().filter(is_wanted).collect();
    let name = file.name.clone();
    match owners[..] {
        [document] => {
            let (root, object) = (FieldPath::default(), document.value.clone());
            Ok(read_owner(file, document, &root, wanted, object)?)
        }
        [] => Err(Missing::Owner {
            name,
            wanted: wanted.name(),
            found: file.kinds(),
        }
        .into()),
        _ => Err(Missing::SeveralOwners {
            name,
            names: object_names(&owners),
        }
        .into()),
    }
}

/// Reads an owner that stands in a file, as the whole document or as a part of it.
pub(super) fn read_owner(
    file: &SourceFile,
    document: &Document,
    at: &FieldPath,
    kind: OwnerKind,
    mut object: Value,
) -> Result<Owner, Unreadable> {
    lenient::correct_owner(&mut object);
    if object["metadata"].is_null() {
        object["metadata"] = Map::new().into();
    }
    // What an example leaves out is no mistake: no metadata, no spec.
    check_shape(file, document, at, &object, |misfit| {
        matches!(misfit.kind, MisfitKind::Type { .. })
    })?;
    Owner::read(kind, object).map_err(|error: owner::ReadError| Unreadable::Object {
        place: file.place(document, at),
        message: chain(&error),
    })
}

fn check_shape(
    file: &SourceFile,
    document: &Document,
    at: &FieldPath,
    object: &Value,
    matters: impl Fn(&Misfit) -> bool,
) -> Result<(), Unreadable> {
    let misfits = admission::misfits(object).unwrap_or_default();
    match misfits.iter().find(|misfit| matters(misfit)) {
        None => Ok(()),
        Some(misfit) => Err(Unreadable::Object {
            place: file.place(document, &at.join(&misfit.path)),
            message: misfit.to_string(),
        }),
    }
}

pub(super) fn is_blueprint(document: &Document) -> bool {
    let kind = kind(document);
    OwnerKind::ALL
        .iter()
        .any(|known| kind == Some(known.blueprint_kind()))
}

pub(super) fn kind(document: &Document) -> Option<&str> {
    document.value.get("kind").and_then(Value::as_str)
}

fn object_name(document: &Document) -> &str {
    let name = document.value.pointer("/metadata/name");
    name.and_then(Value::as_str).unwrap_or_default()
}

fn object_names(documents: &[&Document]) -> Vec<String> {
    let names = documents.iter().map(|document| object_name(document));
    names.map(str::to_owned).collect()
}

/// Returns an error and its causes in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text += &format!(": {error}");
        cause = error.source();
    }
    text
}
