//! Names of owners: the object of a tracker in the namespace of an environment.

use sha2::{Digest, Sha256};

use crate::name::TrackerName;
use crate::release::hex;

/// The longest name: what controllers append to it, such as the hash of a replica set, still makes a label.
const MAX_LENGTH: usize = 52;

/// The number of hexadecimal digits that tell names apart which were cut.
const DIGITS: usize = 8;

/// Returns the name of the owner of a tracker in Kubernetes: `group-name`, as a label of DNS (RFC 1123).
///
/// Several trackers can have the same, as `a.b-c` and `a-b.c` have; names that differ only in case always do.
pub fn owner_name(tracker: &TrackerName) -> String {
    let key = tracker.key();
    let name = key.replace(['.', '_'], "-");
    if name.len() <= MAX_LENGTH {
        return name;
    }
    let hash = hex(&Sha256::digest(&key));
    // Names are ASCII, so any byte is where a character begins.
    let kept = name[..MAX_LENGTH - DIGITS - 1].trim_end_matches('-');
    format!("{kept}-{}", &hash[..DIGITS])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner_of(name: &str) -> String {
        owner_name(&name.parse().unwrap())
    }

    #[test]
    fn owner_is_named_by_group_and_name() {
        for (tracker, owner) in [
            ("shop.cart", "shop-cart"),
            ("Shop.Cart_API", "shop-cart-api"),
            ("a.b-c", "a-b-c"),
            ("a-b.c", "a-b-c"),
            ("0.1", "0-1"),
        ] {
            assert_eq!(owner_of(tracker), owner);
        }
    }

    #[test]
    fn long_name_is_cut_and_told_apart_by_its_hash() {
        let fits = format!("{}.{}", "g".repeat(25), "n".repeat(26));
        assert_eq!(owner_of(&fits), fits.replace('.', "-"));
        let long = format!("{}.{}", "g".repeat(25), "n".repeat(27));
        let other = format!("{}.{}o", "g".repeat(25), "n".repeat(26));
        let (long, other) = (owner_of(&long), owner_of(&other));
        assert_eq!((long.len(), other.len()), (52, 52));
        assert_eq!(long[..43], other[..43]);
        assert_ne!(long, other);
    }

    #[test]
    fn long_name_is_the_same_however_it_is_spelled() {
        let lower = format!("{}.{}", "g".repeat(63), "n".repeat(63));
        assert_eq!(owner_of(&lower), owner_of(&lower.to_uppercase()));
    }

    #[test]
    fn cut_leaves_no_two_dashes_at_the_seam() {
        let name = format!("{}.n{}n", "g".repeat(40), "_".repeat(30));
        let owner = owner_of(&name);
        assert_eq!(owner[..43], format!("{}-n-", "g".repeat(40)));
        assert_eq!(owner.len(), 51);
    }
}
