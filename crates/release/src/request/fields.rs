//! Fields of a body, and the problems that are found in them.

use serde_json::{Map, Value};

use super::{Hosts, Problem, Reference, Repository, SourceLocation, SourcePath};

/// The fields that can be written, in the order in which problems are told.
const WRITABLE: [&str; 7] = [
    "id",
    "token",
    "repo",
    "sourcePath",
    "tag",
    "branch",
    "commit",
];

/// The fields of an answer that are not read: what was got can be put again.
const READ_ONLY: [&str; 10] = [
    "hasToken",
    "tokenVersion",
    "group",
    "name",
    "generation",
    "createdAt",
    "createdBy",
    "updatedAt",
    "updatedBy",
    "status",
];

/// The longest name of an unknown field that is repeated.
const MAX_REPEATED: usize = 64;

/// A field's text that is wrong: the word for it, and the complaint.
pub(super) type Wrong = (&'static str, String);

/// The fields of a body, and what is wrong with those that were looked at.
pub(super) struct Fields<'a> {
    fields: &'a Map<String, Value>,
    problems: Vec<Problem>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(fields: &'a Map<String, Value>) -> Self {
        Self {
            fields,
            problems: Vec::new(),
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    /// Reads a text that has to be there.
    pub(super) fn required<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&str) -> Result<T, Wrong>,
    ) -> Option<T> {
        if !self.has(name) {
            let message = match name {
                "token" => "the field is missing; `\"\"` means that there is none",
                "sourcePath" => "the field is missing; `\"\"` means the root of the repository",
                _ => "the field is missing",
            };
            self.add(name, "required", message.to_owned());
        }
        self.optional(name, read)
    }

    /// Reads a text that may be missing.
    pub(super) fn optional<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&str) -> Result<T, Wrong>,
    ) -> Option<T> {
        let Some(text) = self.fields.get(name)?.as_str() else {
            self.add(name, "wrong-type", "a text is expected".to_owned());
            return None;
        };
        match read(text) {
            Ok(value) => Some(value),
            Err((code, message)) => {
                self.add(name, code, message);
                None
            }
        }
    }

    /// Reads the fields that say which file is read; returns the repository also if the others are wrong.
    pub(super) fn source(&mut self, hosts: &Hosts) -> (Option<Repository>, Option<SourceLocation>) {
        let repository = self.required("repo", |text| Repository::parse(text, hosts));
        let path = self.required("sourcePath", SourcePath::parse);
        let reference = self.reference();
        let source = match (&repository, path, reference) {
            (Some(repository), Some(path), Some(reference)) => Some(SourceLocation {
                repository: repository.clone(),
                path,
                reference,
            }),
            _ => None,
        };
        (repository, source)
    }

    fn reference(&mut self) -> Option<Reference> {
        let is_given = |name: &&str| self.fields.get(*name).is_some_and(|it| !it.is_null());
        let given: Vec<_> = ["tag", "branch", "commit"]
            .into_iter()
            .filter(is_given)
            .collect();
        let mut read = None;
        for name in &given {
            if given.len() > 1 {
                let message = "only one of tag, branch and commit can be followed".to_owned();
                self.add(name, "ref-conflict", message);
            } else {
                read = self.optional(name, |text| Reference::parse(name, text));
            }
        }
        if given.is_empty() {
            return Some(Reference::Head);
        }
        read
    }

    pub(super) fn add(&mut self, field: &str, code: &'static str, message: String) {
        self.problems.push(Problem {
            field: field.to_owned(),
            code,
            message,
        });
    }

    /// Adds a problem of a field before those of the fields that follow it.
    pub(super) fn add_in_order(&mut self, field: &str, code: &'static str, message: String) {
        let rank = |name: &str| WRITABLE.iter().position(|it| *it == name);
        let is_before = |it: &Problem| rank(&it.field) <= rank(field);
        let index = self.problems.iter().take_while(|it| is_before(it)).count();
        let field = field.to_owned();
        self.problems.insert(
            index,
            Problem {
                field,
                code,
                message,
            },
        );
    }

    /// Reads a number from 1 on that may be missing.
    pub(super) fn number(&mut self, name: &str, most: u64) -> Option<u64> {
        let value = self.fields.get(name)?;
        let read = value.as_u64().filter(|it| (1..=most).contains(it));
        if read.is_none() {
            let code = if value.is_number() {
                "malformed"
            } else {
                "wrong-type"
            };
            self.add(name, code, format!("a number from 1 to {most} is expected"));
        }
        read
    }

    /// Reads a truth value; one that is missing is false.
    pub(super) fn flag(&mut self, name: &str) -> bool {
        let Some(value) = self.fields.get(name) else {
            return false;
        };
        let read = value.as_bool();
        if read.is_none() {
            let message = "true or false is expected".to_owned();
            self.add(name, "wrong-type", message);
        }
        read.unwrap_or_default()
    }

    /// Returns all problems; fields that nobody knows are among them.
    pub(super) fn finish(self) -> Vec<Problem> {
        self.finished(&WRITABLE, &READ_ONLY)
    }

    /// Returns all problems of a body that has only these fields.
    pub(super) fn finish_known(self, known: &[&str]) -> Vec<Problem> {
        self.finished(known, &[])
    }

    fn finished(mut self, writable: &[&str], read_only: &[&str]) -> Vec<Problem> {
        let known = |name: &str| writable.contains(&name) || read_only.contains(&name);
        for name in self.fields.keys().filter(|name| !known(name)) {
            let field = name.chars().take(MAX_REPEATED).collect();
            let message = format!("no such field; there are {}", writable.join(", "));
            self.problems.push(Problem {
                field,
                code: "unknown-field",
                message,
            });
        }
        self.problems
    }
}
