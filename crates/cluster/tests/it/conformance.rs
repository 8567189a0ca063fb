//! One suite for two servers: the embedded API has to answer as a real kube-apiserver does.
//!
//! Every test here runs twice, as `embedded::NAME` and as `real::NAME`, with the same expectations.
//! The real server decides who is right: snapshots are recorded from it alone, with
//! `INSTA_UPDATE=always cargo test -p pathline-cluster --test it real::`.

/// Makes the named functions, `async fn(&Target) -> anyhow::Result<()>`, tests on both servers.
/// `kubectl` or `api` says what they drive the server with.
macro_rules! conformance {
    ($needs:ident: $($name:ident),+ $(,)?) => {
        mod embedded {
            $(#[tokio::test]
            async fn $name() -> anyhow::Result<()> {
                use crate::conformance::target::{run, Needs, Server};
                run(Server::Embedded, Needs::$needs, super::$name).await
            })+
        }
        mod real {
            $(#[tokio::test]
            async fn $name() -> anyhow::Result<()> {
                use crate::conformance::target::{run, Needs, Server};
                run(Server::Real, Needs::$needs, super::$name).await
            })+
        }
    };
}

mod expect;
mod objects;
mod refusals;
mod requests;
mod server;
mod session;
mod target;
mod widget;

mod api_applying;
mod api_bad_changes;
mod api_bad_options;
mod api_collecting;
mod api_controllers;
mod api_deleting;
mod api_errors;
mod api_large;
mod api_leases;
mod api_listing;
mod api_protobuf;
mod api_tokens;
mod api_watching;
mod api_writing;
mod kubectl_applying;
mod kubectl_creating;
mod kubectl_definitions;
mod kubectl_deleting;
mod kubectl_describing;
mod kubectl_discovering;
mod kubectl_getting;
mod kubectl_patching;
mod kubectl_server_side;
mod kubectl_waiting;
