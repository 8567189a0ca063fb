//! Ports that a test hands to a program which binds them later.
//!
//! A port that the kernel picks may be anybody's a moment later: that of another test, or of a
//! connection that goes out. These ports lie outside the range from which the kernel picks, and each
//! is locked against the other tests of this machine for as long as the test process lives.

use std::fs::{self, File, TryLockError};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::MetadataExt;
use std::{env, io, process};

use parking_lot::Mutex;

/// The lowest port that is given out.
const LOWEST: u16 = 12_000;
/// The port below which the kernel picks none, where the kernel does not say so.
const EPHEMERAL: u16 = 32_768;

/// The locks of the ports that this process has given out.
static GIVEN: Mutex<Vec<File>> = Mutex::new(Vec::new());

/// Returns a port that is free, and that neither the kernel nor another test gives away.
pub fn free_port() -> u16 {
    let count = highest() - LOWEST;
    // Where processes begin at different ports, they do not all try the same ones first.
    let start = process::id().wrapping_mul(97) % u32::from(count);
    let mut given = GIVEN.lock();
    for step in 0..u32::from(count) {
        let offset = (start + step) % u32::from(count);
        let port = LOWEST + u16::try_from(offset).expect("it is less than the count");
        if let Some(lock) = lock(port).expect("the directory of temporary files is writable")
            && TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
        {
            given.push(lock);
            return port;
        }
    }
    panic!("every port from {LOWEST} to {} is taken", highest());
}

/// Returns the port at which the range begins from which the kernel picks.
fn highest() -> u16 {
    let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let first = range.split_whitespace().next();
    let first = first.and_then(|first| first.parse().ok());
    first
        .filter(|&first| first > LOWEST + 1000)
        .unwrap_or(EPHEMERAL)
}

/// Locks a port against other test processes of this user; `None` if one of them has it.
fn lock(port: u16) -> io::Result<Option<File>> {
    let user = fs::metadata("/proc/self")?.uid();
    let directory = env::temp_dir().join(format!("pathline-ports-{user}"));
    fs::create_dir_all(&directory)?;
    let file = File::create(directory.join(port.to_string()))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_is_given_once_and_never_by_the_kernel() {
        let ports: Vec<_> = (0..50).map(|_| free_port()).collect();
        let mut distinct = ports.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), ports.len());
        assert!(ports.iter().all(|port| (LOWEST..highest()).contains(port)));
        assert!(
            lock(ports[0]).unwrap().is_none(),
            "another process may not have it"
        );
    }
}
