//! Checks the values of known keys, where they are written.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pathline_document::{Data, Scalar};
use serde_json::Value;
use zeroize::Zeroizing;

use super::merge::{FILES, is_inherited};
use super::reader::Cursor;
use super::{Dialect, InvalidFile};

type Checked = Result<(), InvalidFile>;

/// The units of memory.
const UNITS: [&str; 13] = [
    "", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei",
];

/// Checks an application.
pub(super) fn application(own: &Cursor<'_>, dialect: Dialect) -> Checked {
    settings(own, dialect)?;
    let Some(overrides) = own.optional("in")? else {
        return Ok(());
    };
    for (_, override_) in overrides.members()? {
        for key in [
            "version",
            "imageTag",
            "repository",
            "component",
            "in",
            "vetos",
        ] {
            if let Some(value) = override_.optional(key)? {
                return Err(value.invalid(format!("`{key}` is the same in all environments")));
            }
        }
        settings(&override_, dialect)?;
    }
    Ok(())
}

/// Checks the settings that groups, applications and overrides have alike.
pub(super) fn settings(settings: &Cursor<'_>, dialect: Dialect) -> Checked {
    let (environment, resource) = match dialect {
        Dialect::First => (None, "resources"),
        Dialect::Second => (settings.optional("environment")?, "resource"),
    };
    match dialect {
        Dialect::First => {
            variables(settings.optional("environment")?, flat_variable)?;
            login(settings.optional("authRepository")?)?;
            each(settings.optional("config")?, |it| file(it, false))?;
            each(settings.optional("secrets")?, |it| file(it, true))?;
        }
        Dialect::Second => {
            let environment = environment.as_ref();
            let within = |key| environment.map(|it| it.optional(key)).transpose();
            variables(within("variable")?.flatten(), variable)?;
            if let Some(files) = within("file")?.flatten() {
                each(files.optional("config")?, |it| file(it, false))?;
                each(files.optional("secret")?, |it| file(it, true))?;
            }
        }
    }
    if let Some(resource) = settings.optional(resource)? {
        for bound in ["min", "max"] {
            resources(resource.optional(bound)?)?;
        }
    }
    repository(settings.optional("repository")?)?;
    text(settings.optional("component")?)?;
    vetos(settings.optional("vetos")?)
}

/// Checks that each file which is asked of the group is there.
pub(super) fn inherited(own: &Cursor<'_>, group: &Value, settings: &Value) -> Checked {
    for kind in FILES {
        let path = format!("/environment/file/{kind}");
        let files = settings.pointer(&path).and_then(Value::as_object);
        for (name, _) in files.into_iter().flatten() {
            let is_there = group.pointer(&path).and_then(|it| it.get(name)).is_some();
            if is_inherited(settings, kind, name) && !is_there {
                let problem = format!("the group has no {kind} file of that name to inherit");
                return Err(own.invalid(problem));
            }
        }
    }
    Ok(())
}

fn repository(repository: Option<Cursor<'_>>) -> Checked {
    let Some(repository) = repository else {
        return Ok(());
    };
    let image = repository.optional("image")?;
    for place in [Some(&repository), image.as_ref()].into_iter().flatten() {
        for key in ["domain", "owner", "name"] {
            text(place.optional(key)?)?;
        }
        login(place.optional("auth")?)?;
    }
    truth(
        image
            .map(|it| it.optional("officialImage"))
            .transpose()?
            .flatten(),
    )
}

fn vetos(vetos: Option<Cursor<'_>>) -> Checked {
    let Some(vetos) = vetos else {
        return Ok(());
    };
    truth(vetos.optional("autoDeploy")?)?;
    truth(vetos.optional("omitFromDeploy")?)?;
    for key in [
        "containerName",
        "containerOwner",
        "containerRepository",
        "name",
    ] {
        text(vetos.optional(key)?)?;
    }
    let omitted = vetos.optional("omitFromNamespaces")?;
    for name in omitted
        .map(|it| it.items())
        .transpose()?
        .unwrap_or_default()
    {
        name.text()?;
    }
    Ok(())
}

/// Checks a set of files: where they are mounted, and each of them.
fn file(file: &Cursor<'_>, is_secret: bool) -> Checked {
    truth(file.optional("inheritGroup")?)?;
    if let Some(path) = file.optional("mountPath")?
        && !path.text()?.starts_with('/')
    {
        return Err(path.invalid("an absolute path is expected"));
    }
    let data = file.optional("data")?;
    for item in data.map(|it| it.items()).transpose()?.unwrap_or_default() {
        let name = item.required("name", "a file has to have a")?;
        let is_name =
            |it: &str| !it.is_empty() && !it.contains(['/', '\0']) && it != "." && it != "..";
        if !is_name(name.text()?) {
            return Err(name.invalid("the name of a file is expected, without a directory"));
        }
        let value = item.required("value", "a file has to have a")?;
        if is_secret && !is_base64(value.text()?) {
            return Err(value.invalid("base64 is expected"));
        }
        variable(&value)?;
    }
    Ok(())
}

fn resources(resources: Option<Cursor<'_>>) -> Checked {
    let Some(resources) = resources else {
        return Ok(());
    };
    if let Some(cpu) = resources.optional("cpu")? {
        let is_valid = match cpu.data() {
            Data::Scalar(scalar @ Scalar::Integer, text) => {
                let canonical = scalar.canonical(text);
                canonical.is_some_and(|it| it.parse::<u64>().is_ok())
            }
            Data::Scalar(Scalar::Text, text) => {
                let digits = text.strip_suffix('m');
                digits.is_some_and(|it| it.parse::<u64>().is_ok())
            }
            _ => false,
        };
        if !is_valid {
            return Err(cpu.invalid("thousandths of a core are expected, such as 100"));
        }
    }
    if let Some(memory) = resources.optional("memory")? {
        let is_valid = match memory.data() {
            Data::Scalar(Scalar::Integer | Scalar::Text, text) => is_memory(text),
            _ => false,
        };
        if !is_valid {
            return Err(memory.invalid("an amount of memory is expected, such as 64Mi"));
        }
    }
    Ok(())
}

fn each(map: Option<Cursor<'_>>, check: impl Fn(&Cursor<'_>) -> Checked) -> Checked {
    let members = map.map(|it| it.members()).transpose()?;
    let mut members = members.into_iter().flatten();
    members.try_for_each(|(_, value)| check(&value))
}

/// Checks variables. What no container can have is refused here, before it fails in prod.
fn variables(map: Option<Cursor<'_>>, check: impl Fn(&Cursor<'_>) -> Checked) -> Checked {
    let members = map.map(|it| it.members()).transpose()?;
    for (name, value) in members.into_iter().flatten() {
        check(&value)?;
        if !is_variable_name(name) {
            return Err(value.invalid(
                "the name of a variable is one or more printable ASCII characters, and no `=`",
            ));
        }
        if matches!(value.data(), Data::Scalar(_, text) if text.contains('\0')) {
            return Err(value.invalid("a variable cannot hold a NUL byte"));
        }
    }
    Ok(())
}

/// As Kubernetes has it.
fn is_variable_name(name: &str) -> bool {
    let is_letter = |it: char| matches!(it, ' '..='~') && it != '=';
    !name.is_empty() && name.chars().all(is_letter)
}

fn variable(value: &Cursor<'_>) -> Checked {
    match value.data() {
        Data::Scalar(..) => Ok(()),
        Data::List(_) | Data::Map(_) => Err(value.invalid("a text is expected")),
    }
}

/// Checks a variable of the first dialect. Who knows the second one expects `variable` around it.
fn flat_variable(value: &Cursor<'_>) -> Checked {
    match value.data() {
        Data::Scalar(..) => Ok(()),
        Data::List(_) | Data::Map(_) => Err(value.invalid(
            "with `imageTag`, `environment` is a flat map of variables; write `version` for \
             `imageTag` to have `variable` and `file` in it",
        )),
    }
}

/// Checks the login for a registry. It is refused here, since nobody could log in with it later.
fn login(auth: Option<Cursor<'_>>) -> Checked {
    let Some(auth) = auth.filter(|it| !it.is_null()) else {
        return Ok(());
    };
    match auth.data() {
        Data::Scalar(Scalar::Text, text) if text.is_empty() || is_login(text) => Ok(()),
        _ => Err(auth.invalid("a text is expected: `USER:PASSWORD` in base64, as Docker has it")),
    }
}

fn text(value: Option<Cursor<'_>>) -> Checked {
    value
        .filter(|it| !it.is_null())
        .map_or(Ok(()), |it| it.text().map(|_| ()))
}

fn truth(value: Option<Cursor<'_>>) -> Checked {
    match value {
        Some(it) if !matches!(it.data(), Data::Scalar(Scalar::Boolean, _)) => {
            Err(it.invalid("true or false is expected"))
        }
        _ => Ok(()),
    }
}

fn is_memory(text: &str) -> bool {
    let digits = text.len()
        - text
            .trim_start_matches(|it: char| it.is_ascii_digit())
            .len();
    digits > 0 && UNITS.contains(&&text[digits..])
}

fn is_login(text: &str) -> bool {
    let bytes = STANDARD.decode(text.trim()).map(Zeroizing::new);
    bytes.is_ok_and(|it| std::str::from_utf8(&it).is_ok_and(|it| it.contains(':')))
}

fn is_base64(text: &str) -> bool {
    let is_digit =
        |it: char| it.is_ascii_alphanumeric() || "+/=".contains(it) || it.is_ascii_whitespace();
    text.chars().all(is_digit)
}
