//! Steps: their notation.

use std::collections::BTreeSet;

use crate::label::is_digest;

/// One step of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Poll {
        registry: Registry,
        source: Source,
    },
    Tick(Vec<String>),
    Ready(String),
    Failed(String),
    Promote {
        environment: Option<String>,
        release: Option<u64>,
    },
    Delete,
    Restart,
}

/// The answer of the registry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Registry {
    #[default]
    Unchanged,
    Error,
    NotFound,
    /// Names and digests; a manifest that is named by its digest alone has that as its name.
    Tags(Vec<(String, String)>),
}

/// The answer of the repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Source {
    #[default]
    Unchanged,
    Error,
    NotFound,
    Invalid,
    Configuration {
        hash: String,
        label: String,
    },
}

const POLL: &str = "a poll is `p r=TAG:DIGEST,… g=CONFIG@LABEL`";

pub(super) fn read(step: &str) -> Result<Step, String> {
    let mut words = step.split_whitespace();
    let verb = words.next().unwrap_or_default();
    let rest: Vec<&str> = words.collect();
    match (verb, &rest[..]) {
        ("p", words) => read_poll(words),
        ("t", [_, ..]) => Ok(Step::Tick(rest.iter().map(|&it| it.to_owned()).collect())),
        ("k", [environment]) => Ok(Step::Ready((*environment).to_owned())),
        ("x", [environment]) => Ok(Step::Failed((*environment).to_owned())),
        ("promote", words) => read_promotion(words),
        ("del", []) => Ok(Step::Delete),
        ("restart", []) => Ok(Step::Restart),
        ("t" | "k" | "x", _) => Err(format!("`{verb}` takes the name of an environment")),
        ("del" | "restart", _) => Err(format!("`{verb}` takes nothing")),
        _ => Err("no such step; there are p, t, k, x, promote, del and restart".to_owned()),
    }
}

/// Reads a poll; a label may have blanks.
fn read_poll(words: &[&str]) -> Result<Step, String> {
    let mut fields: Vec<(char, String)> = Vec::new();
    for word in words {
        if let Some(value) = word.strip_prefix("r=") {
            fields.push(('r', value.to_owned()));
        } else if let Some(value) = word.strip_prefix("g=") {
            fields.push(('g', value.to_owned()));
        } else {
            let (_, value) = fields.last_mut().ok_or(POLL)?;
            value.push(' ');
            value.push_str(word);
        }
    }
    let mut registry = None;
    let mut source = None;
    for (name, value) in fields {
        let is_first = match name {
            'r' => registry.replace(read_registry(&value)?).is_none(),
            _ => source.replace(read_source(&value)?).is_none(),
        };
        if !is_first {
            return Err(format!("`{name}=` is there twice"));
        }
    }
    Ok(Step::Poll {
        registry: registry.unwrap_or_default(),
        source: source.unwrap_or_default(),
    })
}

fn read_registry(value: &str) -> Result<Registry, String> {
    match value {
        "=" => Ok(Registry::Unchanged),
        // An answer that makes no sense is a failure, too.
        "!" | "?" => Ok(Registry::Error),
        "0" => Ok(Registry::NotFound),
        "" => Ok(Registry::Tags(Vec::new())),
        tags => {
            let tags: Vec<_> = tags.split(',').map(read_tag).collect::<Result<_, _>>()?;
            let names: BTreeSet<_> = tags.iter().map(|(tag, _)| tag).collect();
            match names.len() == tags.len() {
                true => Ok(Registry::Tags(tags)),
                false => Err("`r=` has a tag twice".to_owned()),
            }
        }
    }
}

fn read_tag(text: &str) -> Result<(String, String), String> {
    let (tag, digest) = match is_digest(text) {
        true => (text, text),
        false => text.split_once(':').ok_or(POLL)?,
    };
    match (tag, digest) {
        ("", _) | (_, "") => Err(POLL.to_owned()),
        (tag, digest) => Ok((tag.to_owned(), digest.to_owned())),
    }
}

fn read_source(value: &str) -> Result<Source, String> {
    match value {
        "=" => Ok(Source::Unchanged),
        "!" => Ok(Source::Error),
        "0" => Ok(Source::NotFound),
        "?" => Ok(Source::Invalid),
        configuration => {
            let (hash, label) = configuration.split_once('@').ok_or(POLL)?;
            if hash.is_empty() {
                return Err(POLL.to_owned());
            }
            Ok(Source::Configuration {
                hash: hash.to_owned(),
                label: label.to_owned(),
            })
        }
    }
}

fn read_promotion(words: &[&str]) -> Result<Step, String> {
    let (mut environment, mut release) = (None, None);
    for word in words {
        let is_first = match word.parse() {
            Ok(number) => release.replace(number).is_none(),
            Err(_) => environment.replace((*word).to_owned()).is_none(),
        };
        if !is_first {
            return Err("`promote` takes an environment and the number of a release".to_owned());
        }
    }
    Ok(Step::Promote {
        environment,
        release,
    })
}
