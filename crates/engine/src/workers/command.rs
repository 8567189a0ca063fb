//! What a child is given: its command and its environment.

use std::collections::BTreeMap;
use std::ffi::OsString;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Options;
use super::source::{Source, WorkDir};

/// A variable in the environment of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Variable {
    /// The name.
    #[schemars(regex(pattern = r"^[A-Za-z_][A-Za-z0-9_]*$"))]
    pub name: String,
    /// The value.
    #[serde(default)]
    pub value: String,
}

/// The environment of a command: little, declared variables on top, and never our own.
pub(crate) fn environment(
    options: &Options,
    work: &WorkDir,
    declared: &[Variable],
    source: Option<&Source>,
) -> BTreeMap<OsString, OsString> {
    let mut environment: BTreeMap<OsString, OsString> = BTreeMap::new();
    let mut set = |name: &str, value: OsString| environment.insert(name.into(), value);
    set("PATH", options.search_path.clone());
    set("HOME", work.home().into());
    set("TMPDIR", work.temporary().into());
    set("LANG", "C.UTF-8".into());
    for Variable { name, value } in declared {
        // A NUL cannot be in an environment; the command would not start for a reason hard to see.
        set(name, value.replace('\0', "").into());
    }
    set("PATHLINE_BIN", options.executable.clone().into());
    if let Some(source) = source {
        set("PATHLINE_SOURCE_URL", source.url.clone().into());
        set(
            "PATHLINE_SOURCE_REVISION",
            source.revision.clone().unwrap_or_default().into(),
        );
    }
    environment
}
