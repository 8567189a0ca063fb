//! Durations and sizes as people write them in Kubernetes objects.

use std::borrow::Cow;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// Longer is never meant, and would not fit into a clock.
const LONGEST: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// A duration as Go writes it: `90s`, `1h30m`, `500ms`.
///
/// The schema refuses anything else, so reading one never fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Span(String);

impl Span {
    /// Wraps text that is known to be a duration.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the time it stands for, ten years at most; what makes no sense counts as nothing.
    pub fn duration(&self) -> Duration {
        let mut total = Duration::ZERO;
        let mut rest = self.0.as_str();
        while let Some(unit_at) = rest.find(|c: char| c.is_ascii_alphabetic()) {
            let (number, tail) = rest.split_at(unit_at);
            let unit_end = tail
                .find(|c: char| !c.is_ascii_alphabetic())
                .unwrap_or(tail.len());
            let (unit, tail) = tail.split_at(unit_end);
            let seconds = match unit {
                "ms" => 0.001,
                "s" => 1.0,
                "m" => 60.0,
                "h" => 3600.0,
                _ => 0.0,
            } * number.parse::<f64>().unwrap_or(0.0);
            let part = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
            total = total.saturating_add(part);
            rest = tail;
        }
        total.min(LONGEST)
    }
}

impl JsonSchema for Span {
    fn schema_name() -> Cow<'static, str> {
        "Span".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "pattern": r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$"})
    }
}

/// A number of bytes: `4096`, `64Ki`, `1Mi`, `2Gi`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ByteSize(String);

impl ByteSize {
    /// Wraps text that is known to be a size.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the number of bytes.
    pub fn bytes(&self) -> u64 {
        let digits = self.0.trim_end_matches(|c: char| !c.is_ascii_digit());
        let factor: u64 = match &self.0[digits.len()..] {
            "Ki" => 1 << 10,
            "Mi" => 1 << 20,
            "Gi" => 1 << 30,
            _ => 1,
        };
        digits
            .parse::<u64>()
            .unwrap_or(u64::MAX)
            .saturating_mul(factor)
    }
}

impl JsonSchema for ByteSize {
    fn schema_name() -> Cow<'static, str> {
        "ByteSize".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "pattern": "^[0-9]+(Ki|Mi|Gi)?$"})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_as_go_reads_them() {
        for (text, milliseconds) in [
            ("90s", 90_000),
            ("1h30m", 5_400_000),
            ("1m0s", 60_000),
            ("1.5s", 1500),
            ("250ms", 250),
        ] {
            assert_eq!(
                Span::new(text).duration(),
                Duration::from_millis(milliseconds),
                "{text}"
            );
        }
        assert_eq!(Span::new("9".repeat(400) + "h").duration(), LONGEST);
    }

    #[test]
    fn sizes_read_as_kubernetes_reads_them() {
        for (text, bytes) in [("0", 0), ("4096", 4096), ("64Ki", 65536), ("1Mi", 1 << 20)] {
            assert_eq!(ByteSize::new(text).bytes(), bytes, "{text}");
        }
        assert_eq!(ByteSize::new("99999999999999999999Gi").bytes(), u64::MAX);
    }
}
