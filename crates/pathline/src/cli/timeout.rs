//! Time-outs as users write them: `90s`, `10m`.

use jiff::SignedDuration;

/// Reads a time-out; whether it may be negative is the command's to say.
pub(super) fn parse(text: &str) -> Result<SignedDuration, &'static str> {
    text.parse()
        .map_err(|_| "write a number and a unit, such as 90s or 10m")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_out_is_a_number_with_a_unit_or_says_how_one_looks() {
        assert_eq!(parse("1m30s"), Ok(SignedDuration::from_secs(90)));
        assert_eq!(parse("-1s"), Ok(SignedDuration::from_secs(-1)));
        for bad in ["", "abc", "10"] {
            assert!(parse(bad).unwrap_err().contains("such as 90s"), "{bad}");
        }
    }
}
