//! The change set between two versions of a deployment's configuration, and back again.
#![expect(clippy::print_stdout, reason = "an example prints")]

use pathline_keys::document::{self, Format};
use pathline_keys::{ChangeKind, KeySet};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let old = document::read(
        Format::Yaml,
        "image: app:1.0\nreplicas: 2\nenv:\n- LOG=debug\n",
    )?;
    let new = document::read(
        Format::Yaml,
        "image: app:1.1\nreplicas: 2\nenv:\n- LOG=debug\n- TRACE=on\n",
    )?;

    let changes = KeySet::diff(&old, &new, None);
    for change in changes.iter() {
        let sign = match change.kind() {
            ChangeKind::Added => '+',
            ChangeKind::Removed => '-',
            ChangeKind::Modified => '~',
        };
        println!("{sign} {}", change.name());
    }
    let undone = changes.reverse().apply(&new)?;
    assert_eq!(undone, old);
    print!("{}", document::write(Format::Yaml, &undone)?);
    Ok(())
}
