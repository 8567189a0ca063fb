//! Finds the sockets that may answer on a port, in the tables that Linux keeps of them.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The state of a socket that listens, in a table of sockets.
const LISTEN: &str = "0A";

/// A socket that listens on a port of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Listener {
    /// The address it is bound to.
    pub(super) address: IpAddr,
    /// The number that `/proc/PID/fd` names it by.
    pub(super) inode: u64,
}

/// Returns the sockets that listen on `port`, from the text of `/proc/net/tcp` or `tcp6`.
///
/// Lines that cannot be read are left out, such as one that was cut off.
pub(super) fn listening(table: &str, port: u16) -> Vec<Listener> {
    let sockets = table.lines().filter_map(listener);
    let sockets = sockets.filter(|(_, bound)| *bound == port);
    sockets.map(|(socket, _)| socket).collect()
}

/// Returns the inodes of the sockets that the kernel may give a connection to 127.0.0.1.
///
/// A socket bound to exactly that address goes before one that is bound to all of them, and among
/// those one of IPv4 before one of IPv6. Several of the same rank share the connections
/// (`SO_REUSEPORT`).
pub(super) fn answering(listeners: &[Listener]) -> BTreeSet<u64> {
    let best = listeners.iter().filter_map(rank).min();
    listeners
        .iter()
        .filter(|it| best.is_some() && rank(it) == best)
        .map(|it| it.inode)
        .collect()
}

fn rank(listener: &Listener) -> Option<u8> {
    match listener.address {
        IpAddr::V4(Ipv4Addr::LOCALHOST) => Some(0),
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Some(1),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Some(2),
        IpAddr::V6(address) => match address.to_ipv4_mapped()? {
            Ipv4Addr::LOCALHOST => Some(0),
            Ipv4Addr::UNSPECIFIED => Some(2),
            _ => None,
        },
        IpAddr::V4(_) => None,
    }
}

/// Reads one line: `sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode …`.
fn listener(line: &str) -> Option<(Listener, u16)> {
    let mut fields = line.split_ascii_whitespace();
    let (address, port) = fields.nth(1)?.split_once(':')?;
    let state = fields.nth(1)?;
    let inode = fields.nth(5)?.parse().ok()?;
    let address = address_of(address)?;
    let port = u16::from_str_radix(port, 16).ok()?;
    (state == LISTEN).then_some((Listener { address, inode }, port))
}

/// Reads an address: words of 32 bits, each with the byte order of this machine.
fn address_of(text: &str) -> Option<IpAddr> {
    let word = |at: usize| {
        let digits = text.get(at * 8..at * 8 + 8)?;
        u32::from_str_radix(digits, 16).ok().map(u32::to_ne_bytes)
    };
    match text.len() {
        8 => Some(word(0)?.into()),
        32 => {
            let words = [word(0)?, word(1)?, word(2)?, word(3)?];
            let bytes: [u8; 16] = words.concat().try_into().ok()?;
            Some(bytes.into())
        }
        _ => None,
    }
}

#[cfg(all(test, target_endian = "little"))]
mod tests {
    use super::*;

    const TCP: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 101 1 0 100 0 0 10 0
   1: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 102 1 0 100 0 0 10 0
   2: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 103 1 0 100 0 0 10 0
   3: 0500000A:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 104 1 0 100 0 0 10 0
   4: 0100007F:1F90 0100007F:C350 06 00000000:00000000 03:00001000 00000000     0        0 0 3 0
   5: 0100007F:1F90 0100007F:C351 01 00000000:00000000 00:00000000 00000000     0        0 105 1 0 20 4 30 10 -1
";
    const TCP6: &str = "\
  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 201 1 0 100 0 0 10 0
   1: 00000000000000000000000001000000:1F90 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 202 1 0 100 0 0 10 0
   2: 0000000000000000FFFF00000100007F:1F90 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 203 1 0 100 0 0 10 0
";

    fn found(table: &str, port: u16) -> Vec<(String, u64)> {
        let listeners = listening(table, port).into_iter();
        listeners
            .map(|it| (it.address.to_string(), it.inode))
            .collect()
    }

    #[test]
    fn only_sockets_that_listen_on_the_port_are_found() {
        let expected = [("127.0.0.1", 101), ("0.0.0.0", 102), ("10.0.0.5", 104)];
        assert_eq!(
            found(TCP, 8080),
            expected.map(|(address, inode)| (address.to_owned(), inode))
        );
        let expected = [("::", 201), ("::1", 202), ("::ffff:127.0.0.1", 203)];
        assert_eq!(
            found(TCP6, 8080),
            expected.map(|(address, inode)| (address.to_owned(), inode))
        );
        assert_eq!(found(TCP, 80), []);
        // What waits for stray packets of an old connection is no listener.
        assert_eq!(found(TCP, 50_000), []);
    }

    #[test]
    fn what_is_not_a_table_has_no_listeners() {
        let half = TCP.lines().nth(1).unwrap().get(..60).unwrap();
        let odd = [
            "",
            "\u{0}\u{0}",
            "ünïcode ünïcodeü:1F90 x 0A 0 0 0 0 0 1",
            half,
            "0: 0100007:1F90 0:0 0A 0:0 0:0 0 0 0 1",
            "0: 0100007F:1F90F 0:0 0A 0:0 0:0 0 0 0 1",
        ];
        for text in odd {
            assert_eq!(listening(text, 8080), [], "{text:?}");
        }
    }

    #[test]
    fn the_most_specific_address_answers() {
        let of = |addresses: &[(&str, u64)]| {
            let listeners: Vec<_> = addresses
                .iter()
                .map(|(address, inode)| Listener {
                    address: address.parse().unwrap(),
                    inode: *inode,
                })
                .collect();
            answering(&listeners).into_iter().collect::<Vec<_>>()
        };
        assert_eq!(of(&[]), [0; 0]);
        assert_eq!(of(&[("127.0.0.1", 1), ("0.0.0.0", 2), ("::", 3)]), [1]);
        assert_eq!(of(&[("0.0.0.0", 2), ("::", 3), ("::1", 4)]), [2]);
        assert_eq!(of(&[("::", 3), ("::1", 4), ("10.0.0.5", 5)]), [3]);
        assert_eq!(of(&[("::1", 4), ("10.0.0.5", 5)]), [0; 0]);
        assert_eq!(of(&[("::ffff:127.0.0.1", 6), ("0.0.0.0", 2)]), [6]);
        // They share the port.
        assert_eq!(of(&[("127.0.0.1", 1), ("127.0.0.1", 7)]), [1, 7]);
        assert_eq!(of(&[("0.0.0.0", 1), ("0.0.0.0", 7), ("::", 3)]), [1, 7]);
    }
}
