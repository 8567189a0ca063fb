//! The steps of a path, if they are of the common sorts.

use serde_json::Value;

use crate::JsonPath;
use crate::parse::{Block, Step};

/// One step of a path, of a sort that can be made true in an object.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum SimpleStep<'p> {
    /// A field of an object.
    Field(&'p str),
    /// One item of a list, by its index.
    Index(usize),
    /// All items of a list.
    Wildcard,
    /// The items of a list of which a field has this value: `[?(@.name=='x')]`.
    Filter(&'p str, &'p Value),
}

impl JsonPath {
    /// Returns the steps of a path that has one block and takes none but simple steps.
    ///
    /// ```
    /// use pathline_jsonpath::{JsonPath, SimpleStep};
    ///
    /// let path: JsonPath = "spec.env[2]".parse()?;
    /// let steps = [SimpleStep::Field("spec"), SimpleStep::Field("env"), SimpleStep::Index(2)];
    /// assert_eq!(path.simple_steps().as_deref(), Some(&steps[..]));
    /// assert_eq!(JsonPath::parse("spec..name")?.simple_steps(), None);
    /// # Ok::<(), pathline_jsonpath::Error>(())
    /// ```
    pub fn simple_steps(&self) -> Option<Vec<SimpleStep<'_>>> {
        match &self.blocks[..] {
            [Block::Steps(steps)] => steps.iter().map(simple).collect(),
            _ => None,
        }
    }

    /// Returns the names of a path that takes none but fields, such as `spec` and `image`.
    pub fn names(&self) -> Option<Vec<&str>> {
        let name = |step| match step {
            SimpleStep::Field(name) => Some(name),
            SimpleStep::Index(_) | SimpleStep::Wildcard | SimpleStep::Filter(..) => None,
        };
        self.simple_steps()?.into_iter().map(name).collect()
    }
}

fn simple(step: &Step) -> Option<SimpleStep<'_>> {
    match step {
        Step::Field(name) => Some(SimpleStep::Field(name)),
        Step::Wildcard => Some(SimpleStep::Wildcard),
        Step::Slice(slice) if slice.end_is_derived => {
            usize::try_from(slice.start).ok().map(SimpleStep::Index)
        }
        Step::Slice(slice) if slice.start == 0 && slice.end.is_none() && slice.step.is_none() => {
            Some(SimpleStep::Wildcard)
        }
        Step::Compare {
            left,
            operator,
            right,
        } if operator == "==" => match (&left[..], &right[..]) {
            ([Step::Field(name)], [Step::Literal(value)]) => Some(SimpleStep::Filter(name, value)),
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
        let path = |key| JsonPath::parse(key).unwrap();
        assert_eq!(
            path(r"{.spec['a.b'].c\.d}").simple_steps(),
            Some(["spec", "a", "b", "c.d"].map(SimpleStep::Field).to_vec())
        );
        let x = json!("x");
        let [list, name] = ["spec", "value"].map(SimpleStep::Field);
        for (key, step) in [
            ("spec[2].value", SimpleStep::Index(2)),
            ("spec[*].value", SimpleStep::Wildcard),
            ("spec.*.value", SimpleStep::Wildcard),
            ("spec[?(@.name=='x')].value", SimpleStep::Filter("name", &x)),
        ] {
            assert_eq!(
                path(key).simple_steps(),
                Some(vec![list, step, name]),
                "{key}"
            );
        }
        for key in [
            "spec..a",
            "spec[0,1]",
            "spec[1:]",
            "spec[?(@.a)]",
            "spec[-1]",
            "a}{.b",
        ] {
            assert_eq!(path(key).simple_steps(), None, "{key}");
        }
    }
}
