//! Reading YAML: a stream of documents, core schema, with aliases and merge keys.

mod compose;
mod merge;
mod resolve;
mod span;

use granit_parser::{ErrorKind, Event, Parser, ScanError};

use self::compose::Composer;
pub(crate) use self::resolve::is_plain_text;
use crate::document::Document;
use crate::error::{ErrorAt, ReadErrorKind};
use crate::limits::Limits;

/// Parses a text that is a stream of YAML documents.
pub(crate) fn parse(text: &str, limits: &Limits) -> Result<Vec<Document>, ErrorAt> {
    // One more than we accept, so that the position is ours.
    let nesting = limits.nesting.saturating_add(1);
    let options = granit_parser::options! {
        emit_anchor_events: true,
        emit_comments: false,
        flow_nesting_limit: nesting,
        block_nesting_limit: nesting,
    };
    let mut composer = Composer::new(text, limits);
    let mut events = Parser::new_from_str_with_options(text, options).peekable();
    while let Some(event) = events.next() {
        let (event, span) = event.map_err(|error| syntax(&error, limits))?;
        // The anchor of a value is told after it, though it is written before.
        let anchor = match events.peek() {
            Some(Ok((Event::Anchor(..), anchor))) => anchor.byte_range(),
            _ => None,
        };
        composer.take(event, &span, anchor)?;
    }
    Ok(composer.finish())
}

fn syntax(error: &ScanError, limits: &Limits) -> ErrorAt {
    let offset = error.marker().byte_offset().unwrap_or_default();
    match error.kind() {
        ErrorKind::RecursionLimitExceeded => {
            ErrorAt::new(offset, ReadErrorKind::TooDeep(limits.nesting))
        }
        _ => ErrorAt::syntax(offset, error.info()),
    }
}
