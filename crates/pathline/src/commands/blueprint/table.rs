//! The path of an owner as a table.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use pathline_blueprint::path::{ResourceReport, State};

const SELECTED: Style = AnsiColor::Green.on_default();
const SKIPPED: Style = Style::new().dimmed();
const FAILED: Style = AnsiColor::Red.on_default().bold();
const HEADER: Style = Style::new().bold();

/// Writes one line for each resource.
pub(super) fn write(resources: &[ResourceReport], out: &mut dyn Write) -> io::Result<()> {
    let choices: Vec<String> = resources.iter().map(ResourceReport::choice).collect();
    let names = resources.iter().map(|resource| resource.name.as_str());
    let name_width = width(names.chain(["RESOURCE"]));
    let choice_width = width(choices.iter().map(String::as_str).chain(["TEMPLATE"]));
    writeln!(
        out,
        "{HEADER}{:name_width$}  STATE     {:choice_width$}  REASON{HEADER:#}",
        "RESOURCE", "TEMPLATE"
    )?;
    for (resource, choice) in resources.iter().zip(&choices) {
        let (name, state) = (&resource.name, resource.state.name());
        let (style, reason) = (style(resource.state), &resource.reason);
        writeln!(
            out,
            "{name:name_width$}  {style}{state:8}{style:#}  {choice:choice_width$}  {reason}"
        )?;
    }
    Ok(())
}

fn width<'t>(texts: impl Iterator<Item = &'t str>) -> usize {
    texts
        .map(|text| text.chars().count())
        .max()
        .unwrap_or_default()
}

fn style(state: State) -> Style {
    match state {
        State::Selected => SELECTED,
        State::Skipped => SKIPPED,
        State::Failed => FAILED,
    }
}
