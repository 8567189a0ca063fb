//! Long answers, a page at a time.

use crate::error::Error;

/// The most that a page may hold.
pub const LONGEST_PAGE: u32 = 1000;

/// Which part of a long answer is wanted.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Page {
    /// Where the page before ended, as [`Paged::next`] said; none for the first page.
    pub after: Option<String>,
    /// How much of it is wanted, at most [`LONGEST_PAGE`].
    pub limit: u32,
}

/// A part of a long answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Paged<T> {
    /// What the page holds.
    pub items: Vec<T>,
    /// Where the next page begins; none if this was the last one.
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
        i64::from(self.limit.clamp(1, LONGEST_PAGE)) + 1
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
    pub(crate) fn new(page: &Page, mut rows: Vec<T>, number: impl Fn(&T) -> i64) -> Self {
        let wanted = usize::try_from(page.rows() - 1).expect("a page is short");
        let more = rows.len() > wanted;
        rows.truncate(wanted);
        let last = rows.last().filter(|_| more);
        let next = last.map(|row| number(row).to_string());
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
