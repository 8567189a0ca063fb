//! Files with path tests.

use std::path::{Path, PathBuf};

use pathline_blueprint::blueprint::Blueprint;
use pathline_blueprint::owner::Owner;
use pathline_document::Lines;
use pathline_jsonpath::FieldPath;
use pathline_kinds::carto::API_VERSION;
use serde_json::{Map, Value};

use super::super::source::{self, Document, Error, SourceFile, Unreadable};
use super::expectation::Expectation;

/// The tests of one file, all of one blueprint.
pub(super) struct TestFile {
    pub(super) name: String,
    pub(super) blueprint_path: PathBuf,
    pub(super) blueprint: Blueprint,
    pub(super) tests: Vec<PathTest>,
}

/// One owner, and the path it is expected to take.
pub(super) struct PathTest {
    pub(super) name: String,
    /// The place of the test in its file.
    pub(super) line: usize,
    pub(super) owner: Owner,
    /// Whether the blueprint's own selector matches, if that is tested.
    pub(super) matches: Option<bool>,
    /// The expectations, by the index of the resource.
    pub(super) path: Vec<(usize, Expectation)>,
}

impl TestFile {
    pub(super) fn read(path: &Path) -> Result<Self, Error> {
        let file = SourceFile::read(path)?;
        let directory = path.parent().unwrap_or(Path::new(""));
        let [document] = &file.documents[..] else {
            return Err(Unreadable::Object {
                place: file.name.clone(),
                message: format!(
                    "a test file holds one document, not {}",
                    file.documents.len()
                ),
            }
            .into());
        };
        let reader = Reader {
            file: &file,
            document,
            directory,
        };
        reader.test_file()
    }
}

/// Reads parts of a file, and says where one is not as it should be.
struct Reader<'f> {
    file: &'f SourceFile,
    document: &'f Document,
    directory: &'f Path,
}

impl Reader<'_> {
    fn test_file(&self) -> Result<TestFile, Error> {
        let root = FieldPath::default();
        let fields = self.object(&self.document.value, &root, &["blueprint", "name", "tests"])?;
        let blueprint_path = self.text(fields, &root, "blueprint")?;
        let blueprint_path = self.directory.join(blueprint_path.ok_or_else(|| {
            self.wrong(
                &root,
                "`blueprint` is missing: the file with the blueprint, relative to this one",
            )
        })?);
        let name = self.text(fields, &root, "name")?;
        let blueprint_file = SourceFile::read(&blueprint_path)?;
        let blueprint = source::blueprint_in(&blueprint_file, name)?;
        let Some(Value::Array(tests)) = fields.get("tests") else {
            return Err(self
                .wrong(&root.field("tests"), "`tests` has to be a list of tests")
                .into());
        };
        let tests = tests.iter().enumerate().map(|(index, test)| {
            let at = root.field("tests").index(index);
            self.test(test, &at, &blueprint)
        });
        Ok(TestFile {
            name: self.file.name.clone(),
            tests: tests.collect::<Result<_, _>>()?,
            blueprint_path,
            blueprint,
        })
    }

    fn test(&self, test: &Value, at: &FieldPath, blueprint: &Blueprint) -> Result<PathTest, Error> {
        let fields = self.object(test, at, &["name", "owner", "matches", "path"])?;
        let name = self.text(fields, at, "name")?;
        let name =
            name.ok_or_else(|| self.wrong(at, "`name` is missing: say what the test shows"))?;
        let matches = match fields.get("matches") {
            None | Some(Value::Null) => None,
            Some(Value::Bool(matches)) => Some(*matches),
            Some(_) => {
                return Err(self
                    .wrong(&at.field("matches"), "`matches` is true or false")
                    .into());
            }
        };
        let start = self.document.span(at).start;
        Ok(PathTest {
            name: name.to_owned(),
            line: Lines::new(&self.file.text).position(start).line,
            owner: self.owner(fields.get("owner"), at, blueprint)?,
            matches,
            path: self.path(fields.get("path"), &at.field("path"), blueprint)?,
        })
    }

    fn owner(
        &self,
        owner: Option<&Value>,
        at: &FieldPath,
        blueprint: &Blueprint,
    ) -> Result<Owner, Error> {
        let kind = blueprint.owner_kind;
        match owner {
            Some(Value::String(path)) => source::owner(&self.directory.join(path), kind),
            Some(Value::Object(fields)) => {
                let mut object = fields.clone();
                let said = object.entry("kind").or_insert(kind.name().into());
                if said != kind.name() {
                    let message = format!(
                        "the {} `{}` is for a {}, not for a {said}",
                        kind.blueprint_noun(),
                        blueprint.name,
                        kind.name()
                    );
                    return Err(self.wrong(&at.field("owner").field("kind"), message).into());
                }
                object.entry("apiVersion").or_insert(API_VERSION.into());
                let at = at.field("owner");
                Ok(source::read_owner(
                    self.file,
                    self.document,
                    &at,
                    kind,
                    object.into(),
                )?)
            }
            _ => {
                let message = format!(
                    "`owner` has to be a {}, or the name of a file with one",
                    kind.name()
                );
                Err(self.wrong(&at.field("owner"), message).into())
            }
        }
    }

    fn path(
        &self,
        path: Option<&Value>,
        at: &FieldPath,
        blueprint: &Blueprint,
    ) -> Result<Vec<(usize, Expectation)>, Unreadable> {
        let Some(Value::Object(path)) = path else {
            return Err(self.wrong(at, "`path` has to say what is expected of some resources"));
        };
        let expectations = path.iter().map(|(name, value)| {
            let at = at.field(name.as_str());
            let mut resources = blueprint.resources.iter();
            let resource = resources.position(|resource| resource.name == *name);
            let resource = resource.ok_or_else(|| {
                self.wrong_key(&at, format!("the blueprint has no resource `{name}`"))
            })?;
            let expectation = Expectation::read(value).map_err(|why| self.wrong(&at, why))?;
            Ok((resource, expectation))
        });
        expectations.collect()
    }

    fn object<'v>(
        &self,
        value: &'v Value,
        at: &FieldPath,
        known: &[&str],
    ) -> Result<&'v Map<String, Value>, Unreadable> {
        let Value::Object(fields) = value else {
            return Err(self.wrong(at, format!("expected an object with {}", known.join(", "))));
        };
        match fields.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(fields),
            Some(name) => {
                let message = format!("there is no `{name}` here; there are {}", known.join(", "));
                Err(self.wrong_key(&at.field(name.as_str()), message))
            }
        }
    }

    fn text<'v>(
        &self,
        fields: &'v Map<String, Value>,
        at: &FieldPath,
        name: &str,
    ) -> Result<Option<&'v str>, Unreadable> {
        match fields.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.wrong(&at.field(name), format!("`{name}` has to be text"))),
        }
    }

    fn wrong(&self, at: &FieldPath, message: impl Into<String>) -> Unreadable {
        Unreadable::Object {
            place: self.file.place(self.document, at),
            message: message.into(),
        }
    }

    fn wrong_key(&self, at: &FieldPath, message: impl Into<String>) -> Unreadable {
        Unreadable::Object {
            place: self.file.key_place(self.document, at),
            message: message.into(),
        }
    }
}
