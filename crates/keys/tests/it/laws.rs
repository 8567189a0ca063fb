//! Laws, against the naive model.

use pathline_keys::name::escape_part;
use pathline_keys::{KeySet, Name};
use pathline_testkit::cases;
use proptest::prelude::*;

use crate::model::{Two, any_name, any_step};

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn a_diff_equals_the_naive_diff_however_the_sets_came_to_share_nodes(
        count in prop_oneof![2 => Just(0), 4 => Just(200u32), 1 => Just(3000)],
        steps in proptest::collection::vec(any_step(), 0..300),
        below in proptest::option::of(any_name()),
    ) {
        let mut two = Two::new(count);
        for step in steps {
            two.take(step);
        }
        let [old, new] = &two.sets;
        prop_assert!(two.models[0].matches(old));
        prop_assert!(two.models[1].matches(new));
        for below in [None, below.as_ref()] {
            let naive = two.models[0].diff(&two.models[1], below);
            prop_assert_eq!(KeySet::diff(old, new, below), naive);
        }
        prop_assert_eq!(old == new, old.iter().eq(new.iter()));
    }

    #[test]
    fn composing_reversing_and_applying_are_lawful(
        steps in proptest::collection::vec(any_step(), 0..200),
        cuts in (0..200usize, 0..200usize),
    ) {
        let mut two = Two::new(100);
        let mut snapshots = vec![two.sets[0].clone()];
        for (at, step) in steps.into_iter().enumerate() {
            two.take(step);
            if at == cuts.0 || at == cuts.1 {
                snapshots.push(two.sets[0].clone());
            }
        }
        snapshots.resize(3, two.sets[1].clone());
        let [a, b, c] = &snapshots[..] else { unreachable!("resized to three") };
        let (ab, bc, ac) = (KeySet::diff(a, b, None), KeySet::diff(b, c, None), KeySet::diff(a, c, None));
        let composed = ab.compose(&bc);
        prop_assert_eq!(composed.as_ref(), Ok(&ac));
        prop_assert_eq!(ab.reverse(), KeySet::diff(b, a, None));
        prop_assert!(ab.compose(&ab.reverse()).expect("they follow").is_empty());
        let applied = ac.apply(a).expect("it was made for a");
        prop_assert!(KeySet::diff(&applied, c, None).is_empty());
        let undone = ac.reverse().apply(c).expect("it leads back");
        prop_assert!(KeySet::diff(&undone, a, None).is_empty());
    }

    #[test]
    fn a_cut_change_set_and_its_rest_are_the_whole(
        steps in proptest::collection::vec(any_step(), 0..100),
        below in any_name(),
    ) {
        let mut two = Two::new(50);
        for step in steps {
            two.take(step);
        }
        let whole = KeySet::diff(&two.sets[0], &two.sets[1], None);
        let mut rest = whole.clone();
        let cut = rest.cut(&below);
        prop_assert_eq!(&cut, &KeySet::diff(&two.sets[0], &two.sets[1], Some(&below)));
        prop_assert_eq!(rest.compose(&cut).expect("they are about different keys"), whole);
    }

    #[test]
    fn names_survive_printing(name in any_name()) {
        prop_assert_eq!(Name::parse(name.escaped()), Ok(name));
    }

    #[test]
    fn parts_survive_escaping(raw in proptest::collection::vec(1..=255u8, 0..12)) {
        let base = Name::parse("user:/x").expect("a name");
        let joined = base.join(escape_part(&raw)).expect("an escaped part is valid");
        prop_assert_eq!(joined.base_name(), Some(&raw[..]));
        prop_assert_eq!(base.with_part(&raw), Ok(joined));
    }

    #[test]
    fn any_bytes_are_a_stable_name_or_none(bytes in r"(user:|/)[a/.%#\\0-9_]{0,12}") {
        if let Ok(name) = Name::parse(&bytes) {
            let canonical = name.escaped();
            prop_assert_eq!(Name::parse(&canonical).expect("canonical").escaped(), canonical);
        }
    }
}
