//! Any bytes are a name that prints to itself, or none.

use pathline_keys::Name;
use pathline_keys::name::escape_part;

pub(crate) fn check(bytes: &[u8]) {
    if let Ok(name) = Name::parse(bytes) {
        let canonical = name.escaped();
        let again = Name::parse(&canonical).expect("a canonical name is valid");
        assert_eq!(again, name);
        assert_eq!(again.escaped(), canonical);
        if let Some(parent) = name.parent() {
            // The parent of `/%/a` is the root, because `/%` is not a name.
            assert!(name.is_directly_below(&parent) || parent.is_root());
            assert!(name.is_below(&parent));
        }
        if let Some(base) = name.base_name() {
            assert_eq!(name.with_base_name(base), Ok(name.clone()));
        }
    }
    let root = Name::parse("user:/x").expect("a valid name");
    if let Ok(below) = root.with_part(bytes) {
        assert_eq!(below.base_name(), Some(bytes));
        assert_eq!(root.join(escape_part(bytes)), Ok(below));
    }
    let _ = root.join(bytes);
}
