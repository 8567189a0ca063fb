//! Has my change arrived, is it live? Answered as soon as it can be, by whichever replica.
//!
//! Whoever waits follows the owner's lineage in the ledger; nobody polls.

mod id;
mod owner_wait;
mod owner_watch;
mod question;
mod replaced;
mod result;

use pathline_client::api::WaitResult;

pub(crate) use self::id::WaitId;
pub(crate) use self::owner_wait::OwnerWait;
pub(crate) use self::owner_watch::OwnerWatches;
pub(crate) use self::question::WaitQuestion;
use crate::views::answers::Answer;

impl Answer for WaitResult {
    fn is_decided(&self) -> bool {
        Self::is_decided(self)
    }

    fn id(&self) -> &str {
        &self.id
    }
}
