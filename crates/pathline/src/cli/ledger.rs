//! The location of the ledger, as users write it.

use std::convert::Infallible;
use std::str::FromStr;

use clap::Args;
use pathline_ledger::{Location, NotAUrl};

use crate::terminal::report::{Exit, Hint};

/// Arguments that locate the ledger.
#[derive(Args, Debug)]
pub(crate) struct LedgerArgs {
    /// The ledger: a file, or postgres://USER:PASSWORD@HOST:PORT/DATABASE [default: ledger.db in
    /// the data directory]
    #[arg(
        long,
        env = "PATHLINE_LEDGER",
        hide_env_values = true,
        value_name = "FILE|URL"
    )]
    ledger: Option<LedgerArg>,
}

/// A location as it was typed. It is judged later: a usage error would repeat it, and it may hold a password.
#[derive(Clone, Debug)]
struct LedgerArg(Result<Location, NotAUrl>);

impl FromStr for LedgerArg {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.parse()))
    }
}

impl LedgerArgs {
    /// Returns where the ledger is, if that was said.
    pub(crate) fn location(&self) -> Result<Option<Location>, NotAUrl> {
        let given = self.ledger.as_ref().map(|given| given.0.clone());
        given.transpose()
    }
}

impl Hint for NotAUrl {
    fn hint(&self) -> Option<String> {
        Some("`--ledger` (or PATHLINE_LEDGER) is a file or such a URL".to_owned())
    }

    fn exit(&self) -> Exit {
        Exit::Usage
    }
}
