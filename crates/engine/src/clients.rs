//! As whom objects are written.

use kube::Client;
use pathline_blueprint::blueprint::Blueprint;
use pathline_blueprint::owner::Owner;

/// Gives the client with which the objects of an owner are written.
#[derive(Clone)]
pub(crate) struct Clients {
    controller: Client,
}

impl Clients {
    pub(crate) fn new(controller: Client) -> Self {
        Self { controller }
    }

    /// Returns the client for the objects of this owner: the engine's own.
    pub(crate) fn of_owner(&self, _owner: &Owner, _blueprint: &Blueprint) -> Client {
        self.controller.clone()
    }
}
