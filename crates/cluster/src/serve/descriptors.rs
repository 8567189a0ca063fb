//! The limit of open file descriptors (`RLIMIT_NOFILE`).

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// As many as are of use here. Not all that the system would give: children inherit the limit, and
/// some look at every number below it when they start.
const ENOUGH: u64 = 32_768;

/// The limit that is assumed where the system sets none.
const UNLIMITED: u64 = ENOUGH;

/// The part of all descriptors that one port may use. Two ports then leave half of them to the
/// databases, to git and to the pipes of children.
const PART: u64 = 4;

/// Lets the process have as many descriptors as are of use, if the system allows it: shells often
/// begin with 256 or 1,024.
pub fn raise_descriptor_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.unwrap_or(ENOUGH).min(ENOUGH);
    if current.is_none_or(|current| current >= wanted) {
        return;
    }
    let raised = Rlimit {
        current: Some(wanted),
        maximum,
    };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => tracing::debug!(from = ?current, to = wanted, "raised the limit of open files"),
        Err(error) => tracing::debug!(%error, "cannot raise the limit of open files"),
    }
}

/// Returns how many connections one port may have.
pub(super) fn share() -> usize {
    let allowed = getrlimit(Resource::Nofile).current.unwrap_or(UNLIMITED);
    usize::try_from(allowed / PART).unwrap_or(usize::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_doors_leave_half_of_the_descriptors_to_others() {
        let allowed = getrlimit(Resource::Nofile).current.unwrap_or(UNLIMITED);
        let ports = 2 * u64::try_from(share()).unwrap();
        assert!(ports > 2 && ports <= allowed / 2, "{ports} of {allowed}");
    }
}
