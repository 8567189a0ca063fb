//! The inputs that a stamped object carried before, while its generation was the same.
//!
//! What an object is made of when only its metadata changed, its generation does not tell. Who
//! remembers all applies knows that there were two. Applies that were never written down, for the
//! ledger was away until Pathline ended, are told by the object itself.

use pathline_blueprint::stamp::INPUTS_ANNOTATION;
use pathline_lineage::InputsId;
use serde_json::{Value, json};

/// Holds a generation, the uid of the object, and, after a colon, the ids of the inputs that it carried
/// before. The uid tells a note that a new object was created with, for the one that it was meant for
/// had just been deleted.
const ANNOTATION: &str = "pathline.dev/inputs-before";
/// The number of ids that are noted.
const MAX_IDS: usize = 8;
/// Stands for ids that are not noted: nobody knows it.
const OTHERS: &str = "others";

/// Returns the ids of the inputs that an object carried before at the generation it has.
pub fn read(object: &Value) -> Vec<InputsId> {
    ids(object).into_iter().map(InputsId::read).collect()
}

/// Returns what was rendered with a note of what the object carries that it is written to; none if
/// there is nothing to note.
pub fn note(rendered: &Value, live: &Value) -> Option<Value> {
    let generation = generation(live)?;
    let mut before = ids(live);
    let carried = annotation(live, INPUTS_ANNOTATION);
    if carried != annotation(rendered, INPUTS_ANNOTATION) {
        before.extend(carried.filter(|it| !before.contains(it)));
    }
    if before.is_empty() {
        return None;
    }
    if before.len() > MAX_IDS {
        before.drain(..=before.len() - MAX_IDS);
        before.insert(0, OTHERS);
    }
    let mut noted = rendered.clone();
    let uid = live["metadata"]["uid"].as_str().unwrap_or_default();
    let note = format!("{generation}/{uid}:{}", before.join(","));
    noted["metadata"]["annotations"][ANNOTATION] = json!(note);
    Some(noted)
}

fn ids(object: &Value) -> Vec<&str> {
    let note = annotation(object, ANNOTATION).and_then(|it| it.split_once(':'));
    // Notes of old have no uid.
    let of_now = |noted: &str| {
        let (noted, of) = match noted.split_once('/') {
            Some((noted, of)) => (noted, Some(of)),
            None => (noted, None),
        };
        let is_same = of.is_none_or(|of| object["metadata"]["uid"].as_str() == Some(of));
        is_same && noted.parse().ok() == generation(object)
    };
    match note {
        Some((noted, ids)) if of_now(noted) => ids.split(',').collect(),
        _ => Vec::new(),
    }
}

fn generation(object: &Value) -> Option<i64> {
    object["metadata"]["generation"].as_i64()
}

fn annotation<'v>(object: &'v Value, name: &str) -> Option<&'v str> {
    object["metadata"]["annotations"][name].as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(generation: i64, inputs: &str, before: Option<&str>) -> Value {
        let mut object = json!({"metadata": {
            "generation": generation,
            "uid": "u",
            "annotations": {INPUTS_ANNOTATION: inputs},
        }});
        if let Some(before) = before {
            object["metadata"]["annotations"][ANNOTATION] = json!(before);
        }
        object
    }

    fn noted(inputs: &str, live: &Value) -> Option<String> {
        let rendered = json!({"metadata": {"annotations": {INPUTS_ANNOTATION: inputs}}});
        let noted = note(&rendered, live)?;
        annotation(&noted, ANNOTATION).map(str::to_owned)
    }

    #[test]
    fn inputs_of_the_same_generation_are_kept() {
        assert_eq!(noted("b", &object(5, "a", None)).as_deref(), Some("5/u:a"));
        let before = object(5, "b", Some("5/u:a"));
        assert_eq!(noted("a", &before).as_deref(), Some("5/u:a,b"));
        assert_eq!(noted("b", &before).as_deref(), Some("5/u:a"));
        assert_eq!(read(&before), [InputsId::read("a")]);
    }

    #[test]
    fn inputs_of_older_generations_do_not_matter() {
        let before = object(6, "b", Some("5/u:a"));
        assert_eq!(noted("b", &before), None);
        assert_eq!(noted("c", &before).as_deref(), Some("6/u:b"));
        assert_eq!(read(&before), []);
    }

    #[test]
    fn inputs_of_the_object_that_was_there_before_do_not_matter() {
        assert_eq!(read(&object(1, "b", Some("1/gone:a"))), []);
        assert_eq!(
            noted("c", &object(1, "b", Some("1/gone:a"))).as_deref(),
            Some("1/u:b")
        );
    }

    #[test]
    fn notes_of_old_without_a_uid_count() {
        assert_eq!(read(&object(5, "b", Some("5:a"))), [InputsId::read("a")]);
    }

    #[test]
    fn many_inputs_are_told_as_others() {
        let before: Vec<_> = (0..MAX_IDS).map(|it| format!("id{it}")).collect();
        let live = object(5, "last", Some(&format!("5/u:{}", before.join(","))));
        let noted = noted("next", &live).expect("a note");
        assert!(noted.starts_with("5/u:others,id2,"), "{noted}");
        assert!(noted.ends_with(",last"), "{noted}");
        assert_eq!(noted.split(',').count(), MAX_IDS);
    }

    #[test]
    fn notes_that_nobody_wrote_so_say_nothing() {
        for note in ["", "5", ":a", "five:a", "a:5"] {
            assert_eq!(read(&object(5, "b", Some(note))), [], "{note}");
        }
    }
}
