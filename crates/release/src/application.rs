//! The application file, `fathomable.yaml`: what an application is, in the repository it is made from.
//!
//! A file has groups, a group has applications and settings for all of them (`group`). Two dialects are read: the one
//! with `version`, and the older one with `imageTag`, whose keys are brought to those of the other.
//! Keys that mean nothing here are kept.

mod check;
mod hash;
mod image;
mod known;
mod merge;
mod normalize;
mod places;
mod reader;
mod schema;
mod secrets;
pub(crate) mod template;
mod written;

use std::fmt;

use pathline_document::{Format, Limits, Lines, Position, ReadError, ReadErrorKind};
use serde_json::{Value, json};

pub use self::image::ImageName;
use self::image::Naming;
pub use self::known::{Warning, warnings};
pub(crate) use self::merge::effective;
use self::places::Places;
use self::reader::Cursor;
pub use self::schema::schema;
pub use self::secrets::{InvalidSecrets, Secrets};
use crate::label::{InvalidLabel, Label};
use crate::name::TrackerName;
use crate::release::Configuration;
use crate::vetos::Vetos;

/// The largest file, in bytes.
pub const MAX_FILE: usize = 1 << 20;

/// The largest number of values in a file; aliases count as often as they are used.
const MAX_VALUES: usize = 100_000;

/// The signs that versions begin with, and that mean something in YAML.
const OF_YAML: [char; 4] = ['>', '*', '!', '|'];

/// The keys of a document: the settings of the group and of the application, and the places of keys that mean nothing.
const GROUP_KEY: &str = "group";
const OWN_KEY: &str = "application";
const PLACES_KEY: &str = "places";

/// One application, as its file has it.
#[derive(Clone, PartialEq)]
pub struct Application {
    name: TrackerName,
    label: Label,
    image: ImageName,
    vetos: Vetos,
    config_hash: String,
    /// The settings of the group, normalized.
    group: Value,
    /// Those of the application, normalized.
    own: Value,
    /// The places of keys that mean nothing.
    places: Places,
}

/// Says why a file is none, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{position}: {problem}")]
pub struct InvalidFile {
    /// The line and the column.
    pub position: Position,
    /// The complaint. It never repeats a value.
    pub problem: String,
}

/// The words of the two dialects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    /// With `imageTag`.
    First,
    /// With `version`.
    Second,
}

impl Application {
    /// Reads what a file says about one application.
    ///
    /// ```
    /// use pathline_release::application::Application;
    ///
    /// let name = "shop.web".parse()?;
    /// let application = Application::read("shop: {web: {version: '1.x'}}", &name)?;
    /// assert_eq!(application.image().to_string(), "docker.io/shop/web");
    /// let refused = Application::read("shop:\n  web: {version: 1.10}", &name);
    /// assert!(refused.is_err_and(|it| it.to_string().starts_with("line 2, column 18: quote the version")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If it is no valid YAML, does not have the application, or has a known key with a value that it cannot have.
    pub fn read(text: &str, name: &TrackerName) -> Result<Self, InvalidFile> {
        let begin = Position { line: 1, column: 1 };
        let at_begin = |problem: String| InvalidFile {
            position: begin,
            problem,
        };
        if text.len() > MAX_FILE {
            return Err(at_begin(format!(
                "the file is larger than {MAX_FILE} bytes"
            )));
        }
        let limits = Limits::default()
            .with_values(MAX_VALUES)
            .with_merged(MAX_VALUES);
        let documents = Format::Yaml.read_with(text, &limits);
        let documents = documents.map_err(|error| InvalidFile {
            position: error.position,
            problem: unreadable(text, &error),
        })?;
        let document = match &documents[..] {
            [document] => document,
            [] => return Err(at_begin("the file is empty".to_owned())),
            _ => return Err(at_begin("one document is expected".to_owned())),
        };
        let lines = Lines::new(text);
        let root = Cursor::root(document, &lines);
        let applications = root.required(name.group(), "the file has no group")?;
        let group = applications.optional("group")?;
        let own = applications.required(name.name(), "the group has no application")?;
        Self::of(name, group.as_ref(), &own)
    }

    fn of(
        name: &TrackerName,
        group: Option<&Cursor<'_>>,
        own: &Cursor<'_>,
    ) -> Result<Self, InvalidFile> {
        let (dialect, label) = read_label(own)?;
        if let Some(group) = group {
            check::settings(group, dialect)?;
        }
        check::application(own, dialect)?;
        let values = |it: &Cursor<'_>| {
            let mut values = it.to_json();
            written::keep(it, &mut values, dialect);
            normalize::normalized(values, dialect)
        };
        let (group_values, own_values) = (group.map(values), values(own));
        let group_values = group_values.unwrap_or_else(|| Value::Object(serde_json::Map::new()));
        check::inherited(own, &group_values, &own_values)?;
        let naming = Naming {
            name,
            dialect,
            settings: &merge::merged(&[&group_values, &own_values]),
        };
        let image = naming.image().map_err(|problem| own.invalid(problem))?;
        let mut places = Places::new();
        for (key, settings, values) in [
            (GROUP_KEY, group, &group_values),
            (OWN_KEY, Some(own), &own_values),
        ] {
            if let Some(settings) = settings {
                let unknown = known::unknown_keys(name, key, Some(values));
                places.extend(places::find(settings, dialect, &unknown));
            }
        }
        Ok(Self {
            name: name.clone(),
            label,
            image,
            vetos: normalize::vetos(&group_values, &own_values, name),
            config_hash: hash::of(&[group, Some(own)]),
            group: group_values,
            own: own_values,
            places,
        })
    }

    /// Returns the name.
    pub fn name(&self) -> &TrackerName {
        &self.name
    }

    /// Returns the label: which tag of the image it wants.
    pub fn label(&self) -> &Label {
        &self.label
    }

    /// Returns the image.
    pub fn image(&self) -> &ImageName {
        &self.image
    }

    /// Returns the application's word on where it goes.
    pub fn vetos(&self) -> &Vetos {
        &self.vetos
    }

    /// Returns the hash of all that the file says about the application and its group: neither comments nor spelling
    /// nor other applications change it.
    pub fn config_hash(&self) -> &str {
        &self.config_hash
    }

    /// Returns what a tracker has to know, as one commit has it.
    pub fn configuration(&self, commit: &str, blob: &str) -> Configuration {
        Configuration {
            config_hash: self.config_hash.clone(),
            label: self.label.clone(),
            repository: self.image.to_string(),
            commit: commit.to_owned(),
            blob: blob.to_owned(),
            vetos: self.vetos.clone(),
        }
    }

    /// Returns what is told about keys that mean nothing: they are kept, and may be misspelt.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut document = json!({GROUP_KEY: self.group, OWN_KEY: self.own});
        places::note(&mut document, &self.places);
        known::warnings(&self.name, &document)
    }

    /// Returns what holds in an environment: the defaults of its template, overridden by the group, the application,
    /// and by what the application says for the type of the environment, and for the environment itself (`in`).
    ///
    /// The values may be secret: see `environment.file.secret`.
    pub fn effective(&self, template: &Value, environment: &str, of_type: Option<&str>) -> Value {
        effective(template, (&self.group, &self.own), environment, of_type)
    }

    /// Returns all that the file says about the application and its group, normalized, without the values that are
    /// secret, and these: together they are the whole ([`Secrets::merged_into`]). The places of keys that mean nothing are
    /// noted beside ([`settings`]).
    pub fn split(&self) -> (Value, Secrets) {
        let mut document = json!({GROUP_KEY: self.group, OWN_KEY: self.own});
        let secrets = Secrets::take_from(&mut document);
        places::note(&mut document, &self.places);
        (document, secrets)
    }
}

/// Returns a document with the settings alone, which are what a configuration is.
pub fn settings(mut document: Value) -> Value {
    if let Value::Object(fields) = &mut document {
        fields.remove(PLACES_KEY);
    }
    document
}

impl fmt::Debug for Application {
    /// Writes what is no secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Application")
            .field("name", &self.name)
            .field("label", &self.label)
            .field("image", &self.image)
            .field("config_hash", &self.config_hash)
            .finish_non_exhaustive()
    }
}

/// Reads the label, by whose key the dialect is known.
fn read_label(own: &Cursor<'_>) -> Result<(Dialect, Label), InvalidFile> {
    let (dialect, value) = match (own.optional("version")?, own.optional("imageTag")?) {
        (Some(_), Some(tag)) => {
            return Err(
                tag.invalid("`imageTag` is an older word for `version`; there is one of them")
            );
        }
        (Some(version), None) => (Dialect::Second, version),
        (None, Some(tag)) => (Dialect::First, tag),
        (None, None) => return Err(own.invalid("`version` is missing")),
    };
    if value.is_number() {
        return Err(value.invalid("quote the version: a number such as 1.10 is read as 1.1"));
    } else if value.tag().is_some() {
        return Err(value.invalid("quote the version: `!` begins a tag of YAML"));
    }
    let label = value.text()?;
    let label = Label::parse(label).map_err(|invalid| {
        value.invalid(match invalid {
            InvalidLabel::Range(range) => format!("the version is not a range: {range}"),
            invalid => format!("the version is wrong: {invalid}"),
        })
    })?;
    Ok((dialect, label))
}

/// Says why a text is no YAML. The signs of ranges mean something else there, so that its own words lead nowhere.
fn unreadable(text: &str, error: &ReadError) -> String {
    let line = text
        .lines()
        .nth(error.position.line - 1)
        .unwrap_or_default();
    let values = ["version:", "imageTag:"]
        .into_iter()
        .filter_map(|key| line.split_once(key));
    let mut signs = values.filter_map(|(_, value)| value.trim_start().chars().next());
    match signs.find(|sign| OF_YAML.contains(sign)) {
        Some(sign) if matches!(error.kind, ReadErrorKind::Syntax(_)) => {
            format!("quote the version: `{sign}` means something else in YAML")
        }
        _ => error.kind.to_string(),
    }
}
