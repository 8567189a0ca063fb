//! This test executable as the keeper above the commands of workers.

use pathline_workers::{Keeper, keep};

/// In a process that workers start it is a keeper; in any other it is refused.
#[test]
fn nobody_but_pathline_starts_a_keeper() {
    let is_started = std::env::var_os("PATHLINE_KEEPER").is_some();
    assert_eq!(keep().is_ok(), is_started);
}

/// Returns a keeper that is this test executable.
pub(crate) fn keeper() -> Keeper {
    let test = "keeper::nobody_but_pathline_starts_a_keeper";
    Keeper {
        arguments: ["--exact", test].map(Into::into).to_vec(),
        ..Keeper::default()
    }
}
