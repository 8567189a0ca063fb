//! Tables in which the last column is as long as it has to be.

use std::io::{self, Write};

use pathline_client::words::one_line;

/// Writes rows in columns that are as wide as their longest cell.
pub(super) fn write(out: &mut dyn Write, header: &[&str], rows: &[Vec<String>]) -> io::Result<()> {
    let header: Vec<String> = header.iter().map(|&it| it.to_owned()).collect();
    let all = || std::iter::once(&header).chain(rows);
    let width = |column: usize| {
        let cells = all().filter_map(|row| row.get(column));
        cells.map(|it| it.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    for row in all() {
        let cells = row.iter().zip(&widths);
        let cells = cells.map(|(cell, width)| format!("{:width$}", one_line(cell)));
        let line = cells.collect::<Vec<_>>().join("  ");
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_longest_cell() {
        let mut out = Vec::new();
        let rows = [
            vec!["shop.web".to_owned(), "a\u{1b}b".to_owned()],
            vec!["a.b".to_owned(), "c".to_owned()],
        ];
        write(&mut out, &["NAME", "WHY"], &rows).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "NAME      WHY\nshop.web  a\u{fffd}b\na.b       c\n"
        );
    }
}
