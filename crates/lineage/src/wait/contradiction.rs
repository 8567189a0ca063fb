//! Wishes of which no state can make all true.

use serde_json::Value;

use super::WaitFor;
use super::verdict::Impossible;
use super::wait_for::ParseWaitForError;
use crate::artifact::Kind;
use crate::revision;
use crate::state::State;

/// Checks that no two things that are waited for name different values of one param or field.
///
/// # Errors
/// If two do: no path can make both true.
pub fn check(awaited: &[WaitFor]) -> Result<(), ParseWaitForError> {
    let contradict = |one: &WaitFor, other: &WaitFor| match (one, other) {
        (
            WaitFor::Param { name, value },
            WaitFor::Param {
                name: same,
                value: other,
            },
        )
        | (
            WaitFor::Field { path: name, value },
            WaitFor::Field {
                path: same,
                value: other,
            },
        ) => name == same && !can_be_one_value(value, other),
        _ => false,
    };
    match find(awaited, contradict) {
        Some((one, other)) => Err(ParseWaitForError::Contradiction(one, other)),
        None => Ok(()),
    }
}

/// Returns why what is waited for can't all be true on the path of an owner: they name different revisions, and
/// there is one source.
pub(super) fn on_path(awaited: &[WaitFor], state: &State) -> Option<Impossible> {
    let fixed = state.owner().get("source");
    let sources = state.entry_points(Kind::Source).len() + usize::from(fixed.is_some());
    if sources != 1 {
        return None;
    }
    let contradict = |one: &WaitFor, other: &WaitFor| match (one, other) {
        (WaitFor::Source(one), WaitFor::Source(other)) => {
            !revision::matches(one, other) && !revision::matches(other, one)
        }
        _ => false,
    };
    let (one, other) = find(awaited, contradict)?;
    Some(Impossible::Contradiction { one, other })
}

fn find(
    awaited: &[WaitFor],
    contradict: impl Fn(&WaitFor, &WaitFor) -> bool,
) -> Option<(String, String)> {
    let mut pairs = awaited.iter().enumerate().flat_map(|(index, one)| {
        let others = awaited[index + 1..].iter();
        others.map(move |other| (one, other))
    });
    let (one, other) = pairs.find(|(one, other)| contradict(one, other))?;
    Some((one.to_string(), other.to_string()))
}

/// Tells whether two written values can be one: each may be JSON or plain text.
fn can_be_one_value(one: &str, other: &str) -> bool {
    let readings = |text: &str| {
        let json = serde_json::from_str::<Value>(text).ok();
        [Some(Value::from(text)), json]
    };
    let (one, other) = (readings(one), readings(other));
    let mut one = one.iter().flatten();
    one.any(|value| other.iter().flatten().any(|it| it == value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(texts: &[&str]) -> Result<(), String> {
        let awaited: Vec<WaitFor> = texts.iter().map(|it| it.parse().expect(it)).collect();
        check(&awaited).map_err(|error| error.to_string())
    }

    #[test]
    fn point_15_different_values_of_one_param_or_field_are_refused() {
        let error = checked(&["param:a=1", "current", "param:a=2"]).unwrap_err();
        assert!(
            error.contains("param:a=1") && error.contains("param:a=2"),
            "{error}"
        );
        assert!(checked(&["field:spec.a=x", "field:spec.a=y"]).is_err());
        for fine in [
            ["param:a=1", "param:b=2"],
            ["param:a=on", "param:a=\"on\""],
            ["param:a={\"x\": 1}", "param:a={\"x\":1}"],
            ["param:a=1", "field:a=2"],
            ["source=1111111", "source=2222222"],
        ] {
            assert_eq!(checked(&fine), Ok(()), "{fine:?}");
        }
    }
}
