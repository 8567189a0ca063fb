//! Questions whose answer changes until it is decided.

use serde::Serialize;

use crate::error::ApiError;

/// Answers to one question, as they change.
pub(crate) trait Answers: Send + 'static {
    /// The type of an answer.
    type Answer: Answer;

    /// Returns what can be said as soon as it is something new; an error ends the waiting.
    fn next(&mut self) -> impl Future<Output = Result<Self::Answer, ApiError>> + Send;

    /// Returns what was found out last. It may be decided although [`Self::next`] has not returned it:
    /// then more was still being looked for.
    fn last(&self) -> Option<Self::Answer> {
        None
    }
}

/// An answer that may be followed by another one.
pub(crate) trait Answer: Serialize + Send {
    /// Tells whether there is nothing more to wait for.
    fn is_decided(&self) -> bool;

    /// Returns what somebody who comes back brings along; empty if nothing is needed.
    fn id(&self) -> &str;
}
