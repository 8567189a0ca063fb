//! `pathline keys canon`: names in, canonical names out.

use std::io::{self, Read, Write};

use pathline_keys::Name;
use serde_json::json;

use crate::cli::CanonArgs;
use crate::terminal::output::{Format, print_bytes, print_data};
use crate::terminal::report::{CommandError, Exit};

pub(super) fn run(args: &CanonArgs) -> Result<Exit, CommandError> {
    let mut input = Vec::new();
    io::stdin().lock().read_to_end(&mut input)?;
    if args.output.format == Format::Text {
        print_bytes(&canonical(&input)?)?;
        return Ok(Exit::Yes);
    }
    let show = |line: &[u8]| match Name::parse(line) {
        Ok(name) => json!({ "name": name.to_string() }),
        Err(error) => json!({ "invalid": error.to_string() }),
    };
    let all: Vec<_> = lines(&input).map(show).collect();
    print_data(args.output.format, &all, |_| Ok(()))?;
    Ok(Exit::Yes)
}

/// Names are bytes, so the lines are not printed as text.
fn canonical(input: &[u8]) -> io::Result<Vec<u8>> {
    let mut out = Vec::with_capacity(input.len());
    for line in lines(input) {
        match Name::parse(line) {
            Ok(name) => out.extend_from_slice(&name.escaped()),
            Err(error) => write!(out, "INVALID {error}")?,
        }
        out.push(b'\n');
    }
    Ok(out)
}

/// Splits at line feeds; the last line may end without one.
fn lines(input: &[u8]) -> impl Iterator<Item = &[u8]> {
    let input = (!input.is_empty()).then(|| input.strip_suffix(b"\n").unwrap_or(input));
    input
        .into_iter()
        .flat_map(|input| input.split(|byte| *byte == b'\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canon(input: &str) -> String {
        String::from_utf8(canonical(input.as_bytes()).unwrap()).unwrap()
    }

    #[test]
    fn each_line_is_answered_in_order() {
        assert_eq!(
            canon("user://a/./b\n/#10\n\n/a\r\n/last"),
            "user:/a/b\n/#_10\nINVALID the name is empty\n/a\r\n/last\n"
        );
        assert_eq!(canon(""), "");
        assert_eq!(canon("\n"), "INVALID the name is empty\n");
    }
}
