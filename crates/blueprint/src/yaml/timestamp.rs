//! Times as yaml.v3 recognizes them, by way of Go's `time.Parse`.

/// Tells whether a text is a date, or a date and a time: with a zone after `T`, without after blanks.
pub(super) fn is_timestamp(text: &str) -> bool {
    let starts_with_year = text.bytes().take_while(u8::is_ascii_digit).count() == 4;
    if !starts_with_year {
        return false;
    }
    let Some((year, rest)) = text.split_once('-') else {
        return false;
    };
    let mut rest = Rest(rest);
    let (Some(month), true, Some(day)) = (rest.number(), rest.eat('-'), rest.number()) else {
        return false;
    };
    is_date(year, month, day) && (rest.0.is_empty() || rest.reads_as_time())
}

fn is_date(year: &str, month: u8, day: u8) -> bool {
    let date = |year: i16| {
        let (Ok(month), Ok(day)) = (i8::try_from(month), i8::try_from(day)) else {
            return false;
        };
        jiff::civil::Date::new(year, month, day).is_ok()
    };
    year.parse().is_ok_and(date)
}

/// The text that has not been read yet.
struct Rest<'t>(&'t str);

impl Rest<'_> {
    fn reads_as_time(mut self) -> bool {
        let has_zone = self.eat('T') || self.eat('t');
        if !has_zone {
            let blanks = self.0.len() - self.0.trim_start_matches(' ').len();
            if blanks == 0 {
                return false;
            }
            self.0 = &self.0[blanks..];
        }
        let is_clock = self.number_below(24)
            && self.eat(':')
            && self.number_below(60)
            && self.eat(':')
            && self.number_below(60);
        self.fraction();
        is_clock && (!has_zone || self.zone()) && self.0.is_empty()
    }

    fn fraction(&mut self) {
        let Some(digits) = self.0.strip_prefix(['.', ',']) else {
            return;
        };
        let after = digits.trim_start_matches(|c: char| c.is_ascii_digit());
        if after.len() < digits.len() {
            self.0 = after;
        }
    }

    fn zone(&mut self) -> bool {
        if self.eat('Z') {
            return true;
        }
        // Twenty-four hours and sixty minutes pass, as they do in Go.
        (self.eat('+') || self.eat('-'))
            && self.two_digits().is_some_and(|hours| hours <= 24)
            && self.eat(':')
            && self.two_digits().is_some_and(|minutes| minutes <= 60)
    }

    /// Reads a number of one or two digits.
    fn number(&mut self) -> Option<u8> {
        let length = self
            .0
            .bytes()
            .take(2)
            .take_while(u8::is_ascii_digit)
            .count();
        let (digits, rest) = self.0.split_at(length);
        self.0 = rest;
        digits.parse().ok()
    }

    fn number_below(&mut self, limit: u8) -> bool {
        self.number().is_some_and(|number| number < limit)
    }

    fn two_digits(&mut self) -> Option<u8> {
        let before = self.0.len();
        let number = self.number()?;
        (before - self.0.len() == 2).then_some(number)
    }

    fn eat(&mut self, expected: char) -> bool {
        let rest = self.0.strip_prefix(expected);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_what_go_reads_as_times() {
        for text in [
            "2020-01-01",
            "2020-1-1",
            "2020-02-29",
            "0000-1-1",
            "2020-1-1T1:2:3Z",
            "2020-1-1t1:2:3.5Z",
            "2020-01-01T00:00:00+24:60",
            "2020-1-1 1:2:3",
            "2020-1-1   1:2:3.123456789012",
            "2020-1-1T1:2:3,5Z",
        ] {
            assert!(is_timestamp(text), "{text}");
        }
        for text in [
            "",
            "2020",
            "2020-1",
            "2020-1-",
            "20200-1-1",
            "220-1-1",
            "2020-13-1",
            "2020-1-32",
            "2021-02-29",
            "2020-1-1T1:2:3",
            "2020-1-1 1:2:3Z",
            "2020-1-1T24:0:0Z",
            "2020-1-1T1:2Z",
            "2020-1-1T1:2:3+1:00",
            "2020-1-1T1:2:3+25:00",
            "2020-1-1x",
            "2020-1-1 ",
            "2020-1-1T1:2:3.Z",
        ] {
            assert!(!is_timestamp(text), "{text}");
        }
    }
}
