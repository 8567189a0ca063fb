//! The places of an object at which a path looks.

use crate::parse::{Block, Step};
use crate::{FieldPath, JsonPath};

/// Alternatives multiply; beyond this the path is said to look at what they are alternatives of.
const MAX_PLACES: usize = 64;

impl JsonPath {
    /// Returns the places at which the path looks, whatever is there, or not.
    ///
    /// Names and items are followed one by one. Where a step looks at several values (`*`, `..`, a
    /// slice, a filter) the path ends, and looks at all that is below.
    ///
    /// ```
    /// let path: pathline_jsonpath::JsonPath = "spec.env[?(@.name=='x')].value".parse()?;
    /// assert_eq!(path.places()[0].to_string(), "spec.env");
    /// # Ok::<(), pathline_jsonpath::Error>(())
    /// ```
    pub fn places(&self) -> Vec<FieldPath> {
        let blocks = self.blocks.iter().filter_map(|block| match block {
            Block::Steps(steps) => Some(steps),
            Block::Text(_) => None,
        });
        blocks
            .flat_map(|steps| follow(steps, vec![FieldPath::default()]).places)
            .collect()
    }
}

/// The places that a path has reached.
struct Reached {
    places: Vec<FieldPath>,
    /// Whether it could be followed to its end.
    is_exact: bool,
}

fn follow(steps: &[Step], from: Vec<FieldPath>) -> Reached {
    let mut places = from;
    for step in steps {
        let Some(reached) = take(step, &places) else {
            return Reached {
                places,
                is_exact: false,
            };
        };
        places = reached.places;
        if !reached.is_exact {
            return Reached {
                places,
                is_exact: false,
            };
        }
    }
    Reached {
        places,
        is_exact: true,
    }
}

/// Takes one step from each place, unless it looks at several values.
fn take(step: &Step, places: &[FieldPath]) -> Option<Reached> {
    let each = |next: &dyn Fn(&FieldPath) -> FieldPath| Reached {
        places: places.iter().map(next).collect(),
        is_exact: true,
    };
    match step {
        Step::Field(name) => Some(each(&|place| place.field(name))),
        Step::Slice(slice) if slice.end_is_derived => {
            let index = usize::try_from(slice.start).ok()?;
            Some(each(&|place| place.index(index)))
        }
        Step::Union(alternatives) if alternatives.len() * places.len() <= MAX_PLACES => {
            let mut reached = each(&FieldPath::clone);
            reached.places.clear();
            for alternative in alternatives {
                let more = follow(alternative, places.to_vec());
                reached.is_exact &= more.is_exact;
                reached.places.extend(more.places);
            }
            Some(reached)
        }
        Step::Union(_)
        | Step::Slice(_)
        | Step::Wildcard
        | Step::Descend
        | Step::Exists(_)
        | Step::Compare { .. }
        | Step::Literal(_)
        | Step::Identifier(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(expression: &str) -> Vec<String> {
        let path = JsonPath::parse(expression).unwrap();
        path.places().iter().map(FieldPath::to_string).collect()
    }

    #[test]
    fn a_path_looks_where_it_leads_or_at_all_of_what_it_searches() {
        let rows: &[(&str, &[&str])] = &[
            ("params.debug", &["params.debug"]),
            ("{.params['a.b']}", &["params.a.b"]),
            (r"labels['a\.b']", &["labels.a.b"]),
            ("spec.env[2].name", &["spec.env[2].name"]),
            ("spec.env[-1].name", &["spec.env"]),
            ("spec.env[0:1].name", &["spec.env"]),
            ("spec.env[*].name", &["spec.env"]),
            ("spec.*.name", &["spec"]),
            ("spec.env[?(@.name=='x')].value", &["spec.env"]),
            ("spec.env[?(@.name)]", &["spec.env"]),
            ("spec..name", &["spec"]),
            ("..name", &[""]),
            ("spec['a','b.c'].d", &["spec.a.d", "spec.b.c.d"]),
            ("spec[0,1].d", &["spec[0].d", "spec[1].d"]),
            ("a}{.b", &["a", "b"]),
            ("a}{range .b}{.c}{end", &["a", "", "c", ""]),
        ];
        for (expression, expected) in rows {
            assert_eq!(places(expression), *expected, "{expression}");
        }
    }

    #[test]
    fn alternatives_of_alternatives_end_somewhere() {
        let many = format!("a{}", "[0,1]".repeat(40));
        assert!(places(&many).len() <= MAX_PLACES);
    }
}
