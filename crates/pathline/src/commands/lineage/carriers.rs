//! The carriers of something, as a table.

use std::io::{self, Write};

use anstyle::Style;
use pathline_client::api::{Carrier, Contains};
use pathline_client::words::{self, named, one_line, shorten};
use pathline_lineage::Kind;

use super::artifact::when;
use super::style::{DOUBT, GOOD, HEADER, SOFT};
use super::tree::Node;

/// The fewest characters of an artifact that are worth showing.
const MIN_VALUE_WIDTH: usize = 16;

const TITLES: [&str; 6] = ["OWNER", "RESOURCE", "SINCE", "NOW", "PROVEN", "MADE"];

/// Writes what was asked about, and everything that is made of it.
pub(super) fn write(contains: &Contains, columns: usize, out: &mut dyn Write) -> io::Result<()> {
    for found in &contains.found {
        let url = found.url.as_deref().map(one_line).unwrap_or_default();
        writeln!(
            out,
            "{HEADER}{}{HEADER:#}  {SOFT}{url}{SOFT:#}",
            named(found)
        )?;
    }
    if contains.carriers.is_empty() {
        return writeln!(out, "\nnothing was made of it");
    }
    writeln!(out)?;
    let rows: Vec<_> = contains.carriers.iter().map(row).collect();
    let widths = widths(&rows);
    let taken: usize = widths[..5].iter().map(|width| width + 2).sum();
    let room = columns.saturating_sub(taken);
    if room < MIN_VALUE_WIDTH {
        return write_list(&contains.carriers, columns, out);
    }
    write_row(&TITLES.map(str::to_owned), &widths, room, |_| HEADER, out)?;
    for (row, carrier) in rows.iter().zip(&contains.carriers) {
        write_row(row, &widths, room, |column| style(carrier, column), out)?;
    }
    Ok(())
}

/// Writes what would not fit into a table.
fn write_list(carriers: &[Carrier], columns: usize, out: &mut dyn Write) -> io::Result<()> {
    for carrier in carriers {
        let [owner, resource, _, _, _, made] = row(carrier);
        let proven = match carrier.proven {
            true => (GOOD, "proven".to_owned()),
            false => (DOUBT, "assumed".to_owned()),
        };
        let item = Node {
            label: owner,
            value: resource,
            notes: vec![
                (Style::new(), shorten(&made, columns.saturating_sub(3))),
                when(carrier.current, carrier.since),
                proven,
            ],
            below: Vec::new(),
        };
        item.draw(columns, out)?;
    }
    Ok(())
}

fn row(carrier: &Carrier) -> [String; 6] {
    let now = match carrier.until {
        _ if carrier.current => "yes".to_owned(),
        Some(until) => format!("until {}", words::time(until)),
        None => "no".to_owned(),
    };
    [
        words::owner(&carrier.owner),
        carrier.resource.clone(),
        words::time(carrier.since),
        now,
        if carrier.proven { "yes" } else { "assumed" }.to_owned(),
        made(carrier),
    ]
}

/// Says what came out; where that is something in the cluster, what it is there.
fn made(carrier: &Carrier) -> String {
    let object = carrier.object.as_ref();
    let object = object.map(|it| one_line(&format!("{}/{}", it.kind, it.name)));
    let artifact = carrier.artifact.as_ref();
    match (artifact, object) {
        (Some(artifact), Some(object)) if artifact.kind == Kind::Deployment => {
            format!("{object} of {}", named(artifact))
        }
        (Some(artifact), _) => named(artifact),
        (None, Some(object)) => object,
        (None, None) => "its object".to_owned(),
    }
}

fn style(carrier: &Carrier, column: usize) -> Style {
    match column {
        3 if carrier.current => GOOD,
        4 if carrier.proven => GOOD,
        4 => DOUBT,
        _ if carrier.current => Style::new(),
        _ => SOFT,
    }
}

fn widths(rows: &[[String; 6]]) -> [usize; 6] {
    let width = |text: &str| text.chars().count();
    let mut widths = TITLES.map(width);
    for row in rows {
        for (most, text) in widths.iter_mut().zip(row) {
            *most = width(text).max(*most);
        }
    }
    widths
}

fn write_row(
    row: &[String; 6],
    widths: &[usize; 6],
    room: usize,
    style: impl Fn(usize) -> Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (column, (text, width)) in row.iter().zip(widths).enumerate() {
        let style = style(column);
        if column == 5 {
            writeln!(out, "{style}{}{style:#}", shorten(text, room))?;
        } else {
            write!(out, "{style}{text:<width$}{style:#}  ")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::super::samples::{self, plain};
    use super::*;

    #[test]
    fn table_says_where_it_is_since_when_and_how_sure_that_is() {
        assert_snapshot!(plain(|out| write(&samples::contains(), 130, out)), @"
            source main@sha1:8f1c2e7d00000000000000000000000000000000  https://git.example/app

            OWNER                      RESOURCE  SINCE                 NOW                         PROVEN   MADE
            deliverable default/hello  run       2026-11-16 02:10:33Z  yes                         yes      Process/hello of …ployment fed9870
            workload default/hello     build     2026-11-16 02:10:33Z  yes                         yes      image registry.ex…1212121212121212
            workload default/hello     manifest  2026-11-16 02:10:33Z  until 2026-11-16 02:11:00Z  assumed  its object
            ");
    }

    #[test]
    fn terminal_that_is_too_narrow_for_a_table_gets_a_list() {
        let text = plain(|out| write(&samples::contains(), 60, out));
        let list = text.split_once("\n\n").unwrap().1;
        for line in list.lines() {
            assert!(line.chars().count() <= 60, "{line}");
        }
        assert_snapshot!(list, @"
        deliverable default/hello run
           Process/hello of deployment fed9870
           now, since 2026-11-16 02:10:33Z
           proven
        workload default/hello build
           image registry.example/app@s…1212121212121212121212121212
           now, since 2026-11-16 02:10:33Z
           proven
        workload default/hello manifest
           its object
           formerly, from 2026-11-16 02:10:33Z
           assumed
        ");
    }
}
