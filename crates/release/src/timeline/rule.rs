//! Recurrence rules, as node-schedule has them.

use jiff::civil::{Date, Time};
use serde_json::{Map, Value};

/// The years that a rule may name.
const YEARS: (i64, i64) = (1970, 9999);

/// The names of all fields.
const FIELDS: &str = "second, minute, hour, date, month, year and dayOfWeek";

/// A set of civil times, by their fields. A field that is absent has every value, but for the second, which is 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    second: Values,
    minute: Values,
    hour: Values,
    date: Values,
    /// From 0.
    month: Values,
    /// From 0, which is Sunday.
    day_of_week: Values,
    /// The first and the last of each span; nothing for every year.
    years: Option<Vec<(i64, i64)>>,
}

/// The values that a field may have, a bit each: all are below 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Values(u64);

/// Says why a rule is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}")]
pub struct InvalidRule {
    /// The field that is wrong; `releaseFrequency` for the rule as a whole.
    pub field: String,
    /// The complaint.
    pub problem: String,
}

/// The rule without fields: each minute.
impl Default for Rule {
    fn default() -> Self {
        Self::from_fields(&Map::new()).expect("no field is wrong where there is none")
    }
}

impl Rule {
    /// Reads a rule: an object whose fields are a number, a range such as `"5-6"`, or a list of them.
    ///
    /// # Errors
    /// If it has another shape, an unknown field, an empty list, or a value that the field cannot have.
    pub fn from_json(rule: &Value) -> Result<Self, InvalidRule> {
        let fields = rule.as_object().ok_or_else(|| InvalidRule {
            field: "releaseFrequency".to_owned(),
            problem: format!("an object with {FIELDS} is expected"),
        })?;
        Self::from_fields(fields)
    }

    fn from_fields(fields: &Map<String, Value>) -> Result<Self, InvalidRule> {
        if let Some(unknown) = fields.keys().find(|name| !is_field(name)) {
            return Err(InvalidRule {
                field: unknown.clone(),
                problem: match unknown.as_str() {
                    "tz" | "timeZone" => "the time zone belongs to the environment".to_owned(),
                    _ => format!("no such field; there are {FIELDS}"),
                },
            });
        }
        let values = |name, limits| Values::read(fields, name, limits);
        Ok(Self {
            second: match fields.contains_key("second") {
                true => values("second", (0, 59))?,
                false => Values::of(&[(0, 0)]),
            },
            minute: values("minute", (0, 59))?,
            hour: values("hour", (0, 23))?,
            date: values("date", (1, 31))?,
            month: values("month", (0, 11))?,
            day_of_week: values("dayOfWeek", (0, 6))?,
            years: fields
                .get("year")
                .map(|it| spans("year", it, YEARS))
                .transpose()?,
        })
    }

    pub(super) fn has_year(&self, year: i16) -> bool {
        let year = i64::from(year);
        let has = |spans: &Vec<(i64, i64)>| spans.iter().any(|it| it.0 <= year && year <= it.1);
        self.years.as_ref().is_none_or(has)
    }

    pub(super) fn has_month(&self, month: i8) -> bool {
        self.month.has(month - 1)
    }

    pub(super) fn has_day(&self, date: Date) -> bool {
        self.date.has(date.day()) && self.day_of_week.has(date.weekday().to_sunday_zero_offset())
    }

    /// Returns the first time of a day from one on.
    pub(super) fn time_from(&self, from: Time) -> Option<Time> {
        let hour = from.hour();
        let here = self
            .hour
            .has(hour)
            .then(|| self.time_in(hour, from.minute(), from.second()));
        here.flatten()
            .or_else(|| self.time_in(self.hour.from(hour + 1)?, 0, 0))
    }

    /// Returns the first time of an hour from a minute and a second on.
    fn time_in(&self, hour: i8, minute: i8, second: i8) -> Option<Time> {
        let here = self.minute.has(minute).then(|| self.second.from(second));
        let here = here.flatten().map(|second| (minute, second));
        let later = || Some((self.minute.from(minute + 1)?, self.second.from(0)?));
        let (minute, second) = here.or_else(later)?;
        Time::new(hour, minute, second, 0).ok()
    }
}

impl Values {
    /// Reads a field; one that is absent has every value.
    fn read(
        fields: &Map<String, Value>,
        name: &str,
        limits: (i64, i64),
    ) -> Result<Self, InvalidRule> {
        let value = fields.get(name);
        let spans = value.map(|value| spans(name, value, limits)).transpose()?;
        Ok(Self::of(&spans.unwrap_or_else(|| vec![limits])))
    }

    fn of(spans: &[(i64, i64)]) -> Self {
        let values = spans.iter().flat_map(|(first, last)| *first..=*last);
        Self(values.fold(0, |bits, value| bits | 1 << value))
    }

    fn has(self, value: i8) -> bool {
        self.from(value) == Some(value)
    }

    /// Returns the first value from one on.
    fn from(self, value: i8) -> Option<i8> {
        let value = u32::try_from(value).ok()?;
        let rest = self.0.checked_shr(value).unwrap_or(0);
        let found = (rest != 0).then(|| value + rest.trailing_zeros())?;
        i8::try_from(found).ok()
    }
}

fn is_field(name: &str) -> bool {
    FIELDS
        .split([' ', ','])
        .any(|field| field == name && name != "and")
}

/// Reads the value of a field as spans of numbers.
fn spans(name: &str, value: &Value, limits: (i64, i64)) -> Result<Vec<(i64, i64)>, InvalidRule> {
    let of_one = |value| span(value, limits);
    let spans = match value {
        Value::Array(values) if values.is_empty() => Err("an empty list never ticks".to_owned()),
        Value::Array(values) => values.iter().map(of_one).collect(),
        value => of_one(value).map(|span| vec![span]),
    };
    spans.map_err(|problem| InvalidRule {
        field: name.to_owned(),
        problem,
    })
}

fn span(value: &Value, limits: (i64, i64)) -> Result<(i64, i64), String> {
    let (first, last) = match value {
        Value::Number(number) => {
            let number = number
                .as_i64()
                .ok_or_else(|| format!("{number} is not a whole number"))?;
            (number, number)
        }
        Value::String(text) => read_span(text)
            .ok_or_else(|| format!("\"{}\" is not a range such as \"5-6\"", shortened(text)))?,
        _ => {
            return Err(
                "a number, a range such as \"5-6\", or a list of them is expected".to_owned(),
            );
        }
    };
    let (least, most) = limits;
    if let Some(value) = [first, last]
        .into_iter()
        .find(|it| !(least..=most).contains(it))
    {
        return Err(format!(
            "{value} is out of range; from {least} to {most} is"
        ));
    }
    if first > last {
        return Err(format!("{first}-{last} is a reversed range"));
    }
    Ok((first, last))
}

fn read_span(text: &str) -> Option<(i64, i64)> {
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse().ok()).flatten()
    };
    let (first, last) = text.split_once('-')?;
    Some((number(first)?, number(last)?))
}

fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}
