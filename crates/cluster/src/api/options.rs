//! The options of a request: what its query parameters mean for reads and for writes.

use http::HeaderMap;
use serde_json::{Value, json};

use super::query::Query;
use crate::schema::{ErrorKind, FieldError};
use crate::selector::LabelSelector;
use crate::status::Status;

/// The longest name that a field manager may have.
const MAX_MANAGER_BYTES: usize = 128;

/// The treatment of fields that the schema does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Validation {
    /// Drop them silently.
    Ignore,
    /// Drop them and say so in `Warning` headers.
    Warn,
    /// Refuse the request.
    Strict,
}

/// The options of a create, update, patch or apply.
#[derive(Debug, Clone)]
pub(crate) struct WriteOptions {
    /// Does everything but store the result.
    pub(crate) dry_run: bool,
    /// The author of the write, for `managedFields`.
    pub(crate) manager: String,
    /// The treatment of unknown fields.
    pub(crate) validation: Validation,
}

impl WriteOptions {
    /// Reads the options; `kind` is their name in messages, such as `CreateOptions`.
    pub(crate) fn parse(query: &Query, headers: &HeaderMap, kind: &str) -> Result<Self, Status> {
        let mut errors = Vec::new();
        let manager = query.get("fieldManager").unwrap_or_default();
        check_manager(manager, &mut errors);
        let dry_run = parse_dry_run(query.all("dryRun"), &mut errors);
        let validation = parse_validation(query, &mut errors);
        if !errors.is_empty() {
            return Err(Status::invalid_options(kind, &errors));
        }
        let manager = if manager.is_empty() {
            default_manager(headers)
        } else {
            manager.to_owned()
        };
        Ok(Self {
            dry_run,
            manager,
            validation,
        })
    }
}

fn check_manager(manager: &str, errors: &mut Vec<FieldError>) {
    if manager.len() > MAX_MANAGER_BYTES {
        errors.push(FieldError::too_long(
            "fieldManager",
            MAX_MANAGER_BYTES as u64,
        ));
    }
    let unprintable = manager
        .char_indices()
        .find(|(_, character)| character.is_control());
    if let Some((position, character)) = unprintable {
        let code = u32::from(character);
        let detail = format!("invalid character U+{code:04X} (at position {position})");
        errors.push(FieldError::invalid(
            "fieldManager",
            &manager.into(),
            &detail,
        ));
    }
}

/// Reads the values of `dryRun`, of which `All` is the only one that exists.
pub(crate) fn parse_dry_run<'a>(
    values: impl Iterator<Item = &'a str>,
    errors: &mut Vec<FieldError>,
) -> bool {
    let values: Vec<&str> = values.filter(|value| !value.is_empty()).collect();
    if values.iter().any(|value| *value != "All") {
        errors.push(FieldError::not_supported(
            "dryRun",
            &json!(values),
            &["All".into()],
        ));
    }
    !values.is_empty()
}

fn parse_validation(query: &Query, errors: &mut Vec<FieldError>) -> Validation {
    match query.get("fieldValidation").unwrap_or_default() {
        "" | "Warn" => Validation::Warn,
        "Ignore" => Validation::Ignore,
        "Strict" => Validation::Strict,
        other => {
            let allowed = ["", "Ignore", "Strict", "Warn"].map(Value::from);
            errors.push(FieldError::not_supported(
                "fieldValidation",
                &other.into(),
                &allowed,
            ));
            Validation::Warn
        }
    }
}

/// Returns the manager of a client that names none: its program, as in `kubectl/v1.36 (linux)`.
fn default_manager(headers: &HeaderMap) -> String {
    let agent = headers
        .get(http::header::USER_AGENT)
        .and_then(|agent| agent.to_str().ok());
    let program = agent
        .unwrap_or_default()
        .split('/')
        .next()
        .unwrap_or_default();
    let program: String = program
        .chars()
        .filter(|it| !it.is_control())
        .take(128)
        .collect();
    if program.is_empty() {
        "unknown".to_owned()
    } else {
        program
    }
}

/// The meaning of `resourceVersion` in a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    /// The newest state.
    Latest,
    /// Any state; the newest one will do.
    Any,
    /// A state that is not older than this.
    NotOlderThan(u64),
    /// The state at exactly this revision.
    Exact(u64),
}

/// The options of a list or watch.
#[derive(Debug, Clone)]
pub(crate) struct ListOptions {
    /// The labels that an object must have.
    pub(crate) labels: LabelSelector,
    /// The fields that an object must have; read against the kind that is listed.
    pub(crate) fields: String,
    /// The most objects in one answer.
    pub(crate) limit: Option<usize>,
    /// The position at which an earlier answer ended.
    pub(crate) continue_token: Option<String>,
    /// The state that is asked for.
    pub(crate) version: Version,
    /// Whether to watch rather than list.
    pub(crate) watch: bool,
    /// The length of the watch, in seconds.
    pub(crate) timeout_seconds: Option<u64>,
    /// Whether the watcher wants bookmarks.
    pub(crate) bookmarks: bool,
    /// Whether the watch opens with the current state.
    pub(crate) initial_events: Option<bool>,
}

impl ListOptions {
    /// Reads the options.
    pub(crate) fn parse(query: &Query) -> Result<Self, Status> {
        let labels = LabelSelector::parse(query.get("labelSelector").unwrap_or_default())
            .map_err(|error| Status::bad_request(error.to_string()))?;
        let watch = query.flag("watch");
        let initial_events = query
            .get("sendInitialEvents")
            .map(|_| query.flag("sendInitialEvents"));
        check_version_match(query, watch, initial_events)?;
        Ok(Self {
            labels,
            fields: query.get("fieldSelector").unwrap_or_default().to_owned(),
            limit: query
                .number("limit")?
                .and_then(|limit| usize::try_from(limit).ok())
                .filter(|it| *it > 0),
            continue_token: query.text("continue").map(str::to_owned),
            version: parse_version(query, watch)?,
            watch,
            timeout_seconds: query
                .number("timeoutSeconds")?
                .and_then(|it| u64::try_from(it).ok()),
            bookmarks: query.flag("allowWatchBookmarks"),
            initial_events,
        })
    }
}

fn parse_version(query: &Query, watch: bool) -> Result<Version, Status> {
    let Some(text) = query.text("resourceVersion") else {
        return Ok(Version::Latest);
    };
    let number: u64 = text.parse().map_err(|_| {
        let why = format!(
            "resourceVersion: Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: \
             invalid syntax"
        );
        if watch {
            Status::unclassified(why)
        } else {
            Status::bad_request(format!("invalid resource version: {why}"))
        }
    })?;
    Ok(match (number, query.text("resourceVersionMatch")) {
        (0, _) => Version::Any,
        (number, Some("Exact")) => Version::Exact(number),
        (number, _) => Version::NotOlderThan(number),
    })
}

fn check_version_match(
    query: &Query,
    watch: bool,
    initial_events: Option<bool>,
) -> Result<(), Status> {
    let chosen = query.text("resourceVersionMatch");
    let mut errors = Vec::new();
    if watch {
        check_watch_match(chosen, initial_events, &mut errors);
    } else {
        if initial_events.is_some() {
            let detail = "sendInitialEvents is forbidden for list";
            errors.push(FieldError::forbidden("sendInitialEvents", detail));
        }
        check_list_match(chosen, query, &mut errors);
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(Status::invalid_options("ListOptions", &errors))
    }
}

fn check_watch_match(
    chosen: Option<&str>,
    initial_events: Option<bool>,
    errors: &mut Vec<FieldError>,
) {
    let field = "resourceVersionMatch";
    match (chosen, initial_events) {
        (None, None) | (Some("NotOlderThan"), Some(_)) => {}
        (None, Some(_)) => {
            let detail = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
            errors.push(FieldError::forbidden(field, detail));
        }
        (Some(chosen), initial) => {
            let detail = match initial {
                None => {
                    "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
                }
                Some(_) => {
                    "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
                }
            };
            errors.push(FieldError::forbidden(field, detail));
            if chosen != "NotOlderThan" {
                let allowed = ["NotOlderThan".into()];
                errors.push(FieldError::not_supported(field, &chosen.into(), &allowed));
            }
        }
    }
}

fn check_list_match(chosen: Option<&str>, query: &Query, errors: &mut Vec<FieldError>) {
    let field = "resourceVersionMatch";
    let Some(chosen) = chosen else { return };
    let version = query.text("resourceVersion");
    if query.text("continue").is_some() {
        let detail = "resourceVersionMatch is forbidden when continue is provided";
        errors.push(FieldError::forbidden(field, detail));
    }
    if version.is_none() {
        let detail = "resourceVersionMatch is forbidden unless resourceVersion is provided";
        errors.push(FieldError::forbidden(field, detail));
    }
    if !matches!(chosen, "Exact" | "NotOlderThan") {
        let allowed = ["Exact", "NotOlderThan", ""].map(Value::from);
        errors.push(FieldError::not_supported(field, &chosen.into(), &allowed));
    } else if chosen == "Exact" && version == Some("0") {
        let detail = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
        errors.push(FieldError::new(ErrorKind::Forbidden, field, None, detail));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(query: &str) -> Result<ListOptions, Status> {
        ListOptions::parse(&Query::parse(query).unwrap())
    }

    fn write(query: &str) -> Result<WriteOptions, Status> {
        WriteOptions::parse(
            &Query::parse(query).unwrap(),
            &HeaderMap::new(),
            "CreateOptions",
        )
    }

    #[test]
    fn resource_versions_are_read_with_their_match() {
        assert_eq!(list("").unwrap().version, Version::Latest);
        assert_eq!(list("resourceVersion=0").unwrap().version, Version::Any);
        assert_eq!(
            list("resourceVersion=7").unwrap().version,
            Version::NotOlderThan(7)
        );
        let exact = list("resourceVersion=7&resourceVersionMatch=Exact").unwrap();
        assert_eq!(exact.version, Version::Exact(7));
    }

    #[test]
    fn options_that_contradict_each_other_are_refused() {
        let refused = [
            "resourceVersionMatch=Exact",
            "resourceVersionMatch=Foo&resourceVersion=1",
            "resourceVersionMatch=Exact&resourceVersion=0",
            "watch=1&resourceVersionMatch=Exact&resourceVersion=0",
            "watch=1&sendInitialEvents=true",
            "sendInitialEvents=true",
        ];
        for query in refused {
            assert_eq!(list(query).unwrap_err().code(), 422, "{query}");
        }
        for query in ["resourceVersion=abc", "limit=x", "labelSelector=a%20b%20c"] {
            assert_eq!(list(query).unwrap_err().code(), 400, "{query}");
        }
    }

    #[test]
    fn a_limit_below_one_is_no_limit() {
        assert_eq!(list("limit=-1").unwrap().limit, None);
        assert_eq!(list("limit=0").unwrap().limit, None);
        assert_eq!(list("limit=5").unwrap().limit, Some(5));
    }

    #[test]
    fn unknown_write_options_are_refused_with_the_real_servers_words() {
        let body = write("dryRun=Foo").unwrap_err().to_json();
        assert_eq!(
            body["message"],
            "CreateOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"Foo\"]: \
             supported values: \"All\""
        );
        assert_eq!(write("fieldValidation=X").unwrap_err().code(), 422);
        let long = format!("fieldManager={}", "x".repeat(129));
        assert_eq!(write(&long).unwrap_err().code(), 422);
    }

    #[test]
    fn the_program_of_the_user_agent_is_the_default_manager() {
        let mut headers = HeaderMap::new();
        assert_eq!(default_manager(&headers), "unknown");
        headers.insert(
            "user-agent",
            "kubectl/v1.36.3 (linux/amd64)".parse().unwrap(),
        );
        assert_eq!(default_manager(&headers), "kubectl");
    }
}
