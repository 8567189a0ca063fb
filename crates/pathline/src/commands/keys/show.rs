//! Keys and changes for people.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use pathline_keys::{Change, ChangeKind, ChangeSet, KeyRef, KeySet, ValueRef, short_name};

const ADDED: Style = AnsiColor::Green.on_default();
const REMOVED: Style = AnsiColor::Red.on_default();
const MODIFIED: Style = AnsiColor::Yellow.on_default();
const DIM: Style = Style::new().dimmed();

/// Longer values are cut: the point is that they changed.
const MAX_VALUE: usize = 100;

/// Prints one line for each change, and below it what changed in the metadata.
pub(super) fn changes(changes: &ChangeSet, out: &mut dyn Write) -> io::Result<()> {
    if changes.is_empty() {
        return writeln!(out, "no changes");
    }
    for change in changes.iter() {
        write_change(change, out)?;
    }
    let count = |kind| {
        changes
            .iter()
            .filter(|change| change.kind() == kind)
            .count()
    };
    writeln!(
        out,
        "{DIM}{} added, {} removed, {} modified{DIM:#}",
        count(ChangeKind::Added),
        count(ChangeKind::Removed),
        count(ChangeKind::Modified)
    )
}

/// Prints one line for each key.
pub(super) fn keys(keys: &KeySet, out: &mut dyn Write) -> io::Result<()> {
    for key in keys {
        writeln!(
            out,
            "{} = {}{}",
            key.name(),
            value(key.value()),
            metadata(key)
        )?;
    }
    Ok(())
}

fn write_change(change: Change<'_>, out: &mut dyn Write) -> io::Result<()> {
    let name = change.name();
    match (change.old(), change.current()) {
        (Some(old), Some(new)) => {
            write!(out, "{MODIFIED}~ {name}{MODIFIED:#}")?;
            if change.value_changed() {
                write!(out, " = {} -> {}", value(old.value()), value(new.value()))?;
            }
            writeln!(out)?;
            write_meta_changes(change, out)
        }
        (None, Some(new)) => {
            let (shown, described) = (value(new.value()), metadata(new));
            writeln!(
                out,
                "{ADDED}+ {name}{ADDED:#} = {shown}{DIM}{described}{DIM:#}"
            )
        }
        (Some(old), None) => {
            let (shown, described) = (value(old.value()), metadata(old));
            writeln!(
                out,
                "{REMOVED}- {name}{REMOVED:#} = {shown}{DIM}{described}{DIM:#}"
            )
        }
        (None, None) => Ok(()),
    }
}

fn write_meta_changes(change: Change<'_>, out: &mut dyn Write) -> io::Result<()> {
    let meta = change.meta_changes();
    for (name, text) in &meta.added {
        writeln!(
            out,
            "    {ADDED}+ {}{ADDED:#} = {}",
            short_name(name),
            shorten(text)
        )?;
    }
    for (name, text) in &meta.removed {
        writeln!(
            out,
            "    {REMOVED}- {}{REMOVED:#} = {}",
            short_name(name),
            shorten(text)
        )?;
    }
    for (name, old, new) in &meta.modified {
        let (old, new) = (shorten(old), shorten(new));
        writeln!(
            out,
            "    {MODIFIED}~ {}{MODIFIED:#} = {old} -> {new}",
            short_name(name)
        )?;
    }
    Ok(())
}

fn value(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Absent => "(none)".to_owned(),
        ValueRef::Text(text) => shorten(text),
        ValueRef::Binary(bytes) => format!("({} bytes)", bytes.len()),
    }
}

/// Shows a text so that it stays one line, and nothing of it acts on the terminal.
fn shorten(text: &str) -> String {
    let is_plain = !text.is_empty()
        && !text.starts_with(['(', '"', ' '])
        && !text.ends_with(' ')
        && !text.chars().any(|character| character.is_control());
    let (cut, rest) = match text.char_indices().nth(MAX_VALUE) {
        Some((at, _)) => (&text[..at], format!("… ({} bytes)", text.len())),
        None => (text, String::new()),
    };
    if is_plain {
        format!("{cut}{rest}")
    } else {
        format!("{cut:?}{rest}")
    }
}

fn metadata(key: KeyRef<'_>) -> String {
    if key.metadata().is_empty() {
        return String::new();
    }
    let entry = |(name, text): (&_, &str)| match text {
        "" => short_name(name),
        text => format!("{}: {}", short_name(name), shorten(text)),
    };
    let entries: Vec<_> = key.metadata().iter().map(entry).collect();
    format!(" {{{}}}", entries.join(", "))
}
