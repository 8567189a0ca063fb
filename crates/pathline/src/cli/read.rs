//! Reading what was typed, and in which form the answer is expected, be it understood or not.

use std::ffi::OsString;

use clap::{ArgMatches, CommandFactory, FromArgMatches, ValueEnum};

use super::{Cli, LintFormat};
use crate::terminal::output::Format;

/// Reads a command line, beginning with the name of the program.
pub(crate) fn read(typed: Vec<OsString>) -> Result<(Cli, Format), (Box<clap::Error>, Format)> {
    let guessed = guess(&typed);
    let refused = |error| (Box::new(error), guessed);
    let matches = Cli::command().try_get_matches_from(typed);
    let matches = matches.map_err(refused)?;
    let cli = Cli::from_arg_matches(&matches).map_err(refused)?;
    Ok((cli, format_of(&matches)))
}

/// Returns the form that the command prints its data in; text for one that prints none.
fn format_of(matches: &ArgMatches) -> Format {
    if let Some((_, matches)) = matches.subcommand() {
        return format_of(matches);
    }
    let format = matches.try_get_one::<Format>("format").ok().flatten();
    let lint = matches.try_get_one::<LintFormat>("format").ok().flatten();
    match (format, lint) {
        (Some(format), _) => *format,
        (None, Some(LintFormat::Json)) => Format::Json,
        (None, Some(LintFormat::Yaml)) => Format::Yaml,
        (None, Some(LintFormat::Text | LintFormat::Sarif) | None) => Format::Text,
    }
}

/// Finds the form in a command line that may not be understood as a whole.
fn guess(typed: &[OsString]) -> Format {
    let typed: Vec<_> = typed.iter().filter_map(|it| it.to_str()).collect();
    let following = typed.windows(2).filter_map(|pair| match pair {
        ["-o" | "--output", format] => Some(*format),
        _ => None,
    });
    let joined = typed.iter().filter_map(|it| {
        let long = it.strip_prefix("--output=");
        long.or_else(|| it.strip_prefix("-o"))
    });
    let named = following.chain(joined);
    let mut formats = named.filter_map(|it| {
        let name = it.strip_prefix('=').unwrap_or(it);
        Format::from_str(name, false).ok()
    });
    formats.next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mk_typed(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn form_of_the_answer_is_known_also_of_what_is_not_understood() {
        for (line, expected) in [
            ("pathline wait workload/a -o json", Format::Json),
            ("pathline wait workload/a", Format::Text),
            ("pathline wait nothing -ojson", Format::Json),
            ("pathline wait nothing -o=yaml", Format::Yaml),
            ("pathline wait nothing --output=json", Format::Json),
            ("pathline wait nothing --output json", Format::Json),
            ("pathline wait nothing -o sarif", Format::Text),
            ("pathline blueprint lint -f a -o yaml", Format::Yaml),
            ("pathline blueprint lint -f a -o sarif", Format::Text),
            ("pathline keys compose a b", Format::Json),
            ("pathline lineage simulate a -o json", Format::Json),
            ("pathline completions bash", Format::Text),
        ] {
            let format = match read(mk_typed(line)) {
                Ok((_, format)) | Err((_, format)) => format,
            };
            assert_eq!(format, expected, "{line}");
        }
    }
}
