//! Binding a port, with errors that say which flag to change.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use tokio::net::TcpListener;

/// An error because of which an address could not be listened on.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address} (`{flag}`)")]
pub struct BindError {
    /// The address as the user wrote it.
    pub address: String,
    /// The flag that sets the address.
    pub flag: &'static str,
    /// The error of the system.
    pub source: io::Error,
}

impl BindError {
    /// Returns what to try next.
    pub fn hint(&self) -> String {
        let flag = self.flag;
        match self.source.kind() {
            io::ErrorKind::AddrInUse => format!(
                "another program uses this port; choose another with `{flag}`, or any free one with \
                 `{flag} 127.0.0.1:0`"
            ),
            io::ErrorKind::PermissionDenied => {
                format!("ports below 1024 need more rights; choose a higher one with `{flag}`")
            }
            io::ErrorKind::AddrNotAvailable => format!(
                "this machine does not have that address; `{flag} 127.0.0.1:0` always works"
            ),
            _ => format!("set another address with `{flag} HOST:PORT`"),
        }
    }
}

/// Listens on `address` (`HOST:PORT`); `flag` is named in the error, so that it says what to change.
pub async fn listen(address: &str, flag: &'static str) -> Result<TcpListener, BindError> {
    TcpListener::bind(address)
        .await
        .map_err(|source| BindError {
            address: address.to_owned(),
            flag,
            source,
        })
}

/// Returns an address under which a program on this machine reaches the listener: a listener on
/// "all addresses" is reached through the loopback one.
pub fn reachable(mut address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        IpAddr::V4(_) | IpAddr::V6(_) => {}
    }
    address
}
