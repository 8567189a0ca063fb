//! The styles and the width of what is written to the terminal.

use std::io::{self, IsTerminal};

use anstyle::{AnsiColor, Style};
use pathline_client::words;
use pathline_lineage::Evidence;
use terminal_size::{Width, terminal_size_of};

pub(super) const GOOD: Style = AnsiColor::Green.on_default();
pub(super) const DOUBT: Style = AnsiColor::Yellow.on_default().bold();
pub(super) const HEADER: Style = Style::new().bold();
pub(super) const SOFT: Style = Style::new().dimmed();

/// Returns how many columns a line may have: those of the terminal, or as many as it needs.
pub(super) fn columns() -> usize {
    let stdout = io::stdout();
    let size = stdout
        .is_terminal()
        .then(|| terminal_size_of(&stdout))
        .flatten();
    size.map_or(usize::MAX, |(Width(columns), _)| columns.into())
}

/// Returns how it is known that one thing was made from another, in its style.
pub(super) fn proof(evidence: Evidence) -> (Style, String) {
    let style = if evidence.is_proof() { GOOD } else { DOUBT };
    (style, words::proof(evidence))
}
