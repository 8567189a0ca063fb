//! A path as seen from outside: which steps does it take, if they are of the common sorts?

use serde_json::Value;

use super::JsonPath;
use super::parse::{Block, Step};

/// One step of a path, of a sort that can be made true in an object.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Outline<'p> {
    /// A field of an object.
    Field(&'p str),
    /// One item of a list, by its place.
    Item(usize),
    /// All items of a list.
    Items,
    /// The items of a list of which a field has this value.
    Where(&'p str, &'p Value),
}

impl JsonPath {
    /// Returns the steps of a path that has one block and takes none but common steps.
    pub(crate) fn outline(&self) -> Option<Vec<Outline<'_>>> {
        match &self.blocks[..] {
            [Block::Steps(steps)] => steps.iter().map(outline).collect(),
            _ => None,
        }
    }
}

fn outline(step: &Step) -> Option<Outline<'_>> {
    match step {
        Step::Field(name) => Some(Outline::Field(name)),
        Step::Wildcard => Some(Outline::Items),
        Step::Slice(slice) if slice.end_is_derived => {
            usize::try_from(slice.start).ok().map(Outline::Item)
        }
        Step::Slice(slice) if slice.start == 0 && slice.end.is_none() && slice.step.is_none() => {
            Some(Outline::Items)
        }
        Step::Compare {
            left,
            operator,
            right,
        } if operator == "==" => match (&left[..], &right[..]) {
            ([Step::Field(name)], [Step::Literal(value)]) => Some(Outline::Where(name, value)),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn common_steps_are_told_and_others_are_not() {
        let path = |key| JsonPath::relaxed(key).unwrap();
        assert_eq!(
            path(r"{.spec['a.b'].c\.d}").outline(),
            Some(["spec", "a", "b", "c.d"].map(Outline::Field).to_vec())
        );
        let x = json!("x");
        let [list, name] = ["spec", "value"].map(Outline::Field);
        for (key, step) in [
            ("spec[2].value", Outline::Item(2)),
            ("spec[*].value", Outline::Items),
            ("spec.*.value", Outline::Items),
            ("spec[?(@.name=='x')].value", Outline::Where("name", &x)),
        ] {
            assert_eq!(path(key).outline(), Some(vec![list, step, name]), "{key}");
        }
        for key in [
            "spec..a",
            "spec[0,1]",
            "spec[1:]",
            "spec[?(@.a)]",
            "spec[-1]",
            "a}{.b",
        ] {
            assert_eq!(path(key).outline(), None, "{key}");
        }
    }
}
