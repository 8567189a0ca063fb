//! The environment that a command is given.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;

use pathline_kinds::workers::{Source, Variable};

use super::Options;
use super::child::StartError;
use super::source::WorkDir;

/// The environment of a command: little, declared variables with their values on top, and never our own.
///
/// # Errors
/// If a variable has a NUL, which no environment can hold: without it the command would run with
/// something else than it was given.
pub(crate) fn environment(
    options: &Options,
    work: &WorkDir,
    declared: &[Variable],
    source: Option<&Source>,
) -> Result<BTreeMap<OsString, OsString>, StartError> {
    let mut environment: BTreeMap<OsString, OsString> = BTreeMap::new();
    let mut set = |name: &str, value: OsString| environment.insert(name.into(), value);
    set("PATH", options.search_path.clone());
    set("HOME", work.home().into());
    set("TMPDIR", work.temporary().into());
    set("LANG", "C.UTF-8".into());
    for Variable { name, value, .. } in declared {
        if name.contains('\0') || value.contains('\0') {
            let why = format!("the variable `{}` has a NUL", name.replace('\0', ""));
            return Err(StartError::Command(io::Error::other(why)));
        }
        set(name, value.into());
    }
    set("PATHLINE_BIN", options.executable.clone().into());
    if let Some(source) = source {
        set("PATHLINE_SOURCE_URL", source.url.clone().into());
        set(
            "PATHLINE_SOURCE_REVISION",
            source.revision.clone().unwrap_or_default().into(),
        );
    }
    Ok(environment)
}
