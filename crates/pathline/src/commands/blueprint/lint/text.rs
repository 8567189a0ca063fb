//! Findings for people, as a compiler shows them.

use std::io::{self, Write};

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use pathline_blueprint::lint::CATALOGUE;

use super::{LintReport, Located};

/// More text than this is not shown: objects that programs wrote are often one line.
const MAX_EXCERPT: usize = 400;

/// Writes every finding with the line it is about, and a summary.
pub(super) fn write(report: &LintReport, out: &mut dyn Write) -> io::Result<()> {
    let renderer = Renderer::styled();
    for finding in &report.findings {
        let text = &report.texts[finding.text];
        writeln!(out, "{}\n", render(&renderer, finding, text))?;
    }
    let errors = report
        .findings
        .iter()
        .filter(|found| found.is_error())
        .count();
    let warnings = report.findings.len() - errors;
    match (errors, warnings) {
        (0, 0) => writeln!(out, "nothing found"),
        _ => writeln!(
            out,
            "{}, {}",
            count(errors, "error"),
            count(warnings, "warning")
        ),
    }
}

fn count(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}

fn render(renderer: &Renderer, located: &Located, text: &str) -> String {
    let finding = &located.finding;
    let level = if located.is_error() {
        Level::ERROR
    } else {
        Level::WARNING
    };
    let title = level.primary_title(&finding.message).id(finding.code);
    // Only the lines meant are handed over: files may be large, and findings many.
    let start = text[..located.place.start]
        .rfind('\n')
        .map_or(0, |newline| newline + 1);
    let rest = &text[located.place.end..];
    let end = located.place.end + rest.find('\n').unwrap_or(rest.len());
    let group = if end - start > MAX_EXCERPT {
        let origin = Origin::path(&finding.file);
        title.element(origin.line(finding.line).char_column(finding.column))
    } else {
        let place = located.place.start - start..located.place.end - start;
        title.element(
            Snippet::source(&text[start..end])
                .path(&finding.file)
                .line_start(finding.line)
                .annotation(AnnotationKind::Primary.span(place)),
        )
    };
    let advice = CATALOGUE.iter().find(|info| info.code == finding.code);
    let advice = advice.filter(|info| !finding.message.contains(info.advice));
    let help = advice.map(|info| Level::HELP.message(info.advice));
    let group = help.into_iter().fold(group, Group::element);
    renderer.render(&[group])
}
