//! Failures of the machine, which pass: a full disk, no more processes, no more open files.

use std::error::Error as StdError;
use std::io::{self, ErrorKind};

use rustix::io::Errno;

/// Tells whether an error came from a lack of something, or from a disk that does not work: the same may succeed
/// later, without a change.
///
/// Libraries wrap what the system said, so all causes are looked at.
pub(super) fn is_shortage(error: &(dyn StdError + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |&error| error.source());
    causes.any(|cause| cause.downcast_ref::<io::Error>().is_some_and(passes))
}

fn passes(error: &io::Error) -> bool {
    // Some wrappers keep the kind only, and some errors have none.
    let by_kind = matches!(
        error.kind(),
        ErrorKind::StorageFull
            | ErrorKind::FileTooLarge
            | ErrorKind::QuotaExceeded
            | ErrorKind::ReadOnlyFilesystem
            | ErrorKind::StaleNetworkFileHandle
            | ErrorKind::OutOfMemory
            | ErrorKind::WouldBlock
            // The program is being written just now.
            | ErrorKind::ExecutableFileBusy
    );
    let unnamed = [Errno::MFILE, Errno::NFILE, Errno::IO];
    by_kind || Errno::from_io_error(error).is_some_and(|errno| unnamed.contains(&errno))
}

#[cfg(test)]
mod tests {
    use pathline_remote::archive;

    use super::*;

    fn unpacking(source: io::Error) -> archive::Error {
        archive::Error::Io {
            action: "unpack",
            path: "a".into(),
            source,
        }
    }

    #[test]
    fn hole_8_only_what_the_machine_lacks_passes() {
        for errno in [Errno::NOSPC, Errno::AGAIN, Errno::MFILE, Errno::IO] {
            assert!(is_shortage(&unpacking(errno.into())), "{errno}");
        }
        for errno in [Errno::NOENT, Errno::ACCESS, Errno::NOEXEC, Errno::TOOBIG] {
            assert!(!is_shortage(&unpacking(errno.into())), "{errno}");
        }
        let malformed = io::Error::new(ErrorKind::InvalidData, "no archive");
        assert!(!is_shortage(&unpacking(malformed)));
    }

    #[test]
    fn hole_8_what_a_library_wrapped_is_looked_into() {
        let full = unpacking(Errno::MFILE.into());
        assert!(is_shortage(&unpacking(io::Error::other(full))));
        let full = io::Error::new(ErrorKind::StorageFull, "no room");
        assert!(is_shortage(&unpacking(full)));
    }
}
