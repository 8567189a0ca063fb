//! Examples from which nothing can be dropped.

use serde_json::Value;

/// Drops from an example whatever `still` does not need, until nothing can be dropped any more.
///
/// Parts are dropped many at a time as long as that works, so that what is needed decides about the
/// effort. `still` gives up by saying nothing; then this returns `None`, and there may be more to drop.
pub(super) fn minimise(
    example: &mut Value,
    mut still: impl FnMut(&Value) -> Option<bool>,
) -> Option<()> {
    loop {
        let mut has_changed = false;
        let mut ahead = vec![droppable(example, &[])];
        while let Some(mut places) = ahead.pop() {
            if places.is_empty() {
                continue;
            }
            let mut smaller = example.clone();
            for place in &places {
                remove(&mut smaller, place);
            }
            if still(&smaller)? {
                *example = smaller;
                has_changed = true;
            } else if let [place] = &places[..] {
                ahead.push(droppable(example, place));
            } else {
                let rest = places.split_off(places.len() / 2);
                ahead.extend([rest, places]);
            }
        }
        if !has_changed {
            return Some(());
        }
    }
}

/// One step from a value to a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Field(String),
    Item(usize),
}

/// Returns the parts of a value that an owner can be without; of a list, the last item first.
fn droppable(example: &Value, place: &[Part]) -> Vec<Vec<Part>> {
    let below = |part: Part| place.iter().cloned().chain([part]).collect::<Vec<Part>>();
    match find(example, place) {
        Some(Value::Object(fields)) if !place.iter().any(|part| matches!(part, Part::Item(_))) => {
            let fields = fields.keys().map(|name| below(Part::Field(name.clone())));
            let (kept, free): (Vec<_>, Vec<_>) = fields.partition(|place| is_kept(place));
            let inside = kept.iter().flat_map(|place| droppable(example, place));
            inside.chain(free).collect()
        }
        Some(Value::Array(items)) => (0..items.len())
            .rev()
            .map(|index| below(Part::Item(index)))
            .collect(),
        _ => Vec::new(),
    }
}

/// Says whether a field belongs to every owner.
fn is_kept(place: &[Part]) -> bool {
    let names: Vec<&str> = place
        .iter()
        .map(|part| match part {
            Part::Field(name) => name.as_str(),
            Part::Item(_) => "",
        })
        .collect();
    matches!(
        names[..],
        ["apiVersion" | "kind" | "metadata" | "spec"] | ["metadata", "name"]
    )
}

fn find<'v>(value: &'v Value, place: &[Part]) -> Option<&'v Value> {
    place.iter().try_fold(value, |value, part| match part {
        Part::Field(name) => value.get(name),
        Part::Item(index) => value.get(index),
    })
}

fn remove(value: &mut Value, place: &[Part]) {
    let Some((last, parents)) = place.split_last() else {
        return;
    };
    let holder = parents.iter().try_fold(value, |value, part| match part {
        Part::Field(name) => value.get_mut(name),
        Part::Item(index) => value.get_mut(index),
    });
    match (holder, last) {
        (Some(Value::Object(fields)), Part::Field(name)) => {
            fields.remove(name);
        }
        (Some(Value::Array(items)), Part::Item(index)) => {
            items.remove(*index);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_needed_is_dropped_and_the_rest_is_kept() {
        let mut example = json!({
            "kind": "Workload",
            "metadata": {"name": "x", "labels": {"a": "1", "b": "2"}},
            "spec": {"image": "i", "source": {"git": {"url": "u"}}, "params": [{"name": "p"}, {"name": "q"}]},
        });
        let is_done = minimise(&mut example, |example| {
            let is_there = |pointer: &str| example.pointer(pointer).is_some();
            let params = example["spec"]["params"].as_array();
            let has_q = params.is_some_and(|params| params.contains(&json!({"name": "q"})));
            Some(is_there("/metadata/labels/b") && is_there("/spec/source") && has_q)
        });
        assert!(is_done.is_some());
        assert_eq!(
            example,
            json!({
                "kind": "Workload",
                "metadata": {"name": "x", "labels": {"b": "2"}},
                "spec": {"source": {}, "params": [{"name": "q"}]},
            })
        );
    }

    #[test]
    fn a_part_that_must_go_with_another_goes_with_it() {
        let mut example = json!({"spec": {"source": {"image": "i"}}});
        let is_done = minimise(&mut example, |example| {
            let source = example.pointer("/spec/source");
            Some(source.is_none_or(|source| source.get("image").is_some()))
        });
        assert!(is_done.is_some());
        assert_eq!(example, json!({"spec": {}}));
    }

    #[test]
    fn giving_up_is_told() {
        let mut example = json!({"spec": {"image": "i"}});
        assert_eq!(minimise(&mut example, |_| None), None);
        assert_eq!(example, json!({"spec": {"image": "i"}}));
    }
}
