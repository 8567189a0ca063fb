//! Long answers, a page at a time.

use crate::error::Error;

/// The most that a page may hold.
pub const MAX_PAGE: u32 = 1000;

/// The part of a long answer that is wanted.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Page {
    /// The end of the page before, as [`Paged::next`] said; none for the first page.
    pub after: Option<String>,
    /// The most items that are wanted, up to [`MAX_PAGE`].
    pub limit: u32,
}

/// A part of a long answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Paged<T> {
    /// The items of the page.
    pub items: Vec<T>,
    /// The beginning of the next page; none if this was the last one.
    pub next: Option<String>,
}

impl Default for Page {
    fn default() -> Self {
        Self {
            after: None,
            limit: 100,
        }
    }
}

impl Page {
    /// Returns the first page, of at most `limit`.
    pub fn first(limit: u32) -> Self {
        Self { after: None, limit }
    }

    /// Returns how many rows tell whether there is another page.
    pub(crate) fn rows(&self) -> i64 {
        i64::from(self.limit.clamp(1, MAX_PAGE)) + 1
    }

    /// Returns the number the page before ended with, or `start`.
    pub(crate) fn after(&self, start: i64) -> Result<i64, Error> {
        match &self.after {
            None => Ok(start),
            Some(cursor) => cursor.parse().map_err(|_| Error::BadCursor(cursor.clone())),
        }
    }
}

impl<T> Paged<T> {
    /// Cuts rows to a page; `number` is what a page may go on after.
    pub(crate) fn new(page: &Page, rows: Vec<T>, number: impl Fn(&T) -> i64) -> Self {
        Self::by_text(page, rows, |row| number(row).to_string())
    }

    /// Cuts rows to a page; `text` is what a page may go on after.
    pub(crate) fn by_text(page: &Page, mut rows: Vec<T>, text: impl Fn(&T) -> String) -> Self {
        let wanted = usize::try_from(page.rows() - 1).expect("a page is short");
        let more = rows.len() > wanted;
        rows.truncate(wanted);
        let last = rows.last().filter(|_| more);
        let next = last.map(text);
        Self { items: rows, next }
    }

    /// Makes something else of every item.
    pub(crate) fn try_map<U>(
        self,
        each: impl FnMut(T) -> Result<U, Error>,
    ) -> Result<Paged<U>, Error> {
        Ok(Paged {
            items: self.items.into_iter().map(each).collect::<Result<_, _>>()?,
            next: self.next,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(page: &Page, rows: i64) -> Paged<i64> {
        let found = (1..=rows).take(usize::try_from(page.rows()).unwrap());
        Paged::new(page, found.collect(), |number| *number)
    }

    #[test]
    fn page_holds_one_at_least_and_no_more_than_the_most() {
        for (limit, rows) in [
            (0, 2),
            (1, 2),
            (100, 101),
            (MAX_PAGE, 1001),
            (u32::MAX, 1001),
        ] {
            assert_eq!(Page::first(limit).rows(), rows, "{limit}");
        }
        assert_eq!(numbers(&Page::first(0), 5).items, [1]);
    }

    #[test]
    fn next_page_begins_after_the_last_row_and_there_is_none_after_the_last_page() {
        let page = Page::first(3);
        for (rows, next) in [(0, None), (2, None), (3, None), (4, Some("3"))] {
            let paged = numbers(&page, rows);
            assert_eq!(paged.next.as_deref(), next, "{rows}");
            assert_eq!(paged.items.len(), usize::try_from(rows.min(3)).unwrap());
        }
    }

    #[test]
    fn cursor_is_a_number_or_refused() {
        let after = |cursor: &str| {
            let after = Some(cursor.to_owned());
            Page { after, limit: 1 }.after(7)
        };
        assert_eq!(Page::default().after(7).unwrap(), 7);
        assert_eq!(after("12").unwrap(), 12);
        assert_eq!(after(&i64::MIN.to_string()).unwrap(), i64::MIN);
        for wrong in ["", " 1", "1.0", "0x1", "9223372036854775808", "one"] {
            assert!(
                matches!(after(wrong), Err(Error::BadCursor(it)) if it == wrong),
                "{wrong}"
            );
        }
    }
}
