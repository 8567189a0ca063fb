//! The tools that every deployment works with.

use kube::Client;
use pathline_ledger::Ledger;

use crate::runtime::clients::Clients;
use crate::runtime::clock::Clock;

/// The tools of deployments.
pub(super) struct Tools {
    /// The client of the engine itself.
    pub(super) client: Client,
    /// The clients of service accounts.
    pub(super) clients: Clients,
    pub(super) ledger: Ledger,
    pub(super) clock: Clock,
    /// The command that installs a path for owners that no blueprint selects.
    pub(super) path_command: &'static str,
}
