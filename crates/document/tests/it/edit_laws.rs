//! Laws of edits, for any text and any edit.

use pathline_document::{Document, Format, Path, Reason, Segment};
use pathline_testkit::cases;
use proptest::prelude::*;
use serde_json::{Map, Value};

use crate::edit::check_touched;
use crate::{fuzz_corpus, rough};

const FORMATS: [Format; 3] = [Format::Json, Format::Toml, Format::Yaml];

fn any_text() -> impl Strategy<Value = String> {
    let words = [
        "",
        "a",
        "b c",
        "no",
        "~",
        "1",
        "1.10",
        "- a",
        "a: b",
        "#",
        "<<",
        "---",
        "x #y",
        "it's",
        "\"",
        "\\",
        "a\nb\n",
        "é",
        "\t",
        "null",
        "key:",
        "[",
        "2001-01-01",
        "\u{2028}",
        "app:1.2",
    ];
    proptest::sample::select(words.to_vec()).prop_map(str::to_owned)
}

pub(crate) fn any_value(depth: u32) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-9_i64..99).prop_map(Value::from),
        (0_u8..9).prop_map(|tenths| Value::from(f64::from(tenths) / 10.0)),
        any_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(depth, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(any_key(), inner, 0..4)
                .prop_map(|map| map.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

fn any_key() -> impl Strategy<Value = String> {
    proptest::sample::select(vec!["a", "b", "c", "d e", "1", "x"]).prop_map(str::to_owned)
}

pub(crate) fn any_path() -> impl Strategy<Value = Path> {
    let segment = prop_oneof![
        3 => any_key().prop_map(Segment::Key),
        1 => (0_usize..4).prop_map(Segment::Index),
    ];
    proptest::collection::vec(segment, 0..4).prop_map(|segments| segments.into_iter().collect())
}

/// Makes a text less tidy: comments, blank lines, line ends, spread brackets.
fn roughened(format: Format, text: &str, marks: &[u8]) -> String {
    let mut out = String::new();
    let mut marks = marks.iter().cycle();
    for line in text.lines() {
        let mark = marks.next().copied().unwrap_or_default();
        let can_comment = format != Format::Json && !line.contains(['"', '|']);
        if mark & 1 != 0 && can_comment && !line.is_empty() {
            out.push_str("# above\n");
        }
        out.push_str(line);
        if mark & 2 != 0 && can_comment && !line.is_empty() {
            out.push_str(" # behind");
        }
        out.push('\n');
        if mark & 4 != 0 && can_comment {
            out.push('\n');
        }
    }
    out
}

/// Edits JSON as an edit of a text should.
fn edited(mut value: Value, path: &Path, new: Option<&Value>) -> Option<Value> {
    let mut at = &mut value;
    for (depth, segment) in path.segments().iter().enumerate() {
        let is_last = depth + 1 == path.segments().len();
        if at.is_null() && new.is_some() {
            *at = match segment {
                Segment::Key(_) => Map::new().into(),
                Segment::Index(_) => Vec::<Value>::new().into(),
            };
        }
        at = match (at, segment) {
            (Value::Object(map), Segment::Key(key)) => {
                if is_last && new.is_none() {
                    map.remove(key);
                    return Some(value);
                }
                if new.is_none() && !map.contains_key(key) {
                    return Some(value);
                }
                map.entry(key.clone()).or_insert(Value::Null)
            }
            (Value::Array(items), Segment::Index(index)) => {
                if new.is_none() && *index >= items.len() {
                    return Some(value);
                }
                if is_last && new.is_none() {
                    items.remove(*index);
                    return Some(value);
                }
                if *index == items.len() {
                    items.push(Value::Null);
                }
                items.get_mut(*index)?
            }
            (Value::Null, _) => return Some(value),
            _ => return None,
        };
    }
    *at = new?.clone();
    Some(value)
}

fn check(
    format: Format,
    text: &str,
    path: &Path,
    new: Option<&Value>,
) -> Result<bool, TestCaseError> {
    let Ok(documents) = format.read(text) else {
        return Ok(false);
    };
    let before = documents.first().map_or(Value::Null, Document::to_json);
    let edits = [(path.clone(), new.map(Document::from))];
    let result = match format.edit(text, &edits) {
        Ok(result) => result,
        Err(refused) => {
            prop_assert!(!refused.to_string().is_empty());
            return Ok(false);
        }
    };
    check_touched(text, &result);
    let after = format
        .read(&result.text)
        .expect("it was read when it was made");
    let after = after.first().map_or(Value::Null, Document::to_json);
    let expected = edited(before, path, new);
    prop_assert_eq!(
        Some(&after),
        expected.as_ref(),
        "{:?} became {:?}",
        text,
        &result.text
    );
    let removes_item = new.is_none() && matches!(path.segments().last(), Some(Segment::Index(_)));
    if !removes_item {
        let again = format
            .edit(&result.text, &edits)
            .expect("there is nothing to do");
        prop_assert_eq!(&again.text, &result.text);
        prop_assert_eq!(again.touched.len(), 0);
    }
    Ok(true)
}

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn an_edit_is_that_of_the_value_and_leaves_all_other_bytes(
        value in any_value(3),
        marks in proptest::collection::vec(any::<u8>(), 1..8),
        path in any_path(),
        new in proptest::option::of(any_value(2)),
        spread in any::<bool>(),
        carriage in any::<bool>(),
    ) {
        for format in FORMATS {
            let document = Document::from(&value);
            let Ok(mut text) = format.write(&document) else { continue };
            if spread && format == Format::Json {
                text = serde_json::to_string_pretty(&value).expect("a value");
            }
            let mut text = roughened(format, &text, &marks);
            if carriage {
                text = text.replace('\n', "\r\n");
            }
            check(format, &text, &path, new.as_ref())?;
        }
    }

    #[test]
    fn yaml_of_any_style_is_edited_or_left_alone(
        value in any_value(4),
        choices in proptest::collection::vec(any::<u8>(), 1..40),
        path in any_path(),
        new in proptest::option::of(any_value(2)),
        carriage in any::<bool>(),
    ) {
        let mut text = rough::yaml(&value, &choices);
        if carriage {
            text = text.replace('\n', "\r\n");
        }
        fuzz_corpus::read::check(text.as_bytes());
        check(Format::Yaml, &text, &path, new.as_ref())?;
    }

    #[test]
    fn any_text_is_edited_or_left_alone(
        text in "[ \\n:\\[\\]{},&*!ab#\"'<0-9.|>=-]{0,40}",
        path in any_path(),
        new in proptest::option::of(any_value(1)),
    ) {
        for format in FORMATS {
            check(format, &text, &path, new.as_ref())?;
        }
    }

    #[test]
    fn several_edits_are_those_one_after_the_other(
        value in any_value(3),
        edits in proptest::collection::vec((any_path(), proptest::option::of(any_value(1))), 0..4),
    ) {
        for format in FORMATS {
            let Ok(text) = format.write(&Document::from(&value)) else { continue };
            let edits: Vec<_> = edits
                .iter()
                .map(|(path, new)| (path.clone(), new.as_ref().map(Document::from)))
                .collect();
            let mut one_by_one = Ok(text.clone());
            for edit in &edits {
                one_by_one = one_by_one.and_then(|text| {
                    Ok::<_, Reason>(format.edit(&text, std::slice::from_ref(edit)).map_err(|it| it.reason)?.text)
                });
            }
            let together = format.edit(&text, &edits);
            if let Ok(together) = &together {
                check_touched(&text, together);
            }
            prop_assert_eq!(together.map(|it| it.text).map_err(|it| it.reason), one_by_one);
        }
    }
}

#[test]
fn most_edits_are_made() {
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    for (format, least) in [(Format::Json, 95), (Format::Toml, 95), (Format::Yaml, 95)] {
        let (mut made, mut tried) = (0, 0);
        while tried < 300 {
            let mut take = |strategy: BoxedStrategy<Value>| {
                strategy.new_tree(&mut runner).expect("a value").current()
            };
            let (value, new) = (take(any_value(3).boxed()), take(any_value(1).boxed()));
            let path = any_path().new_tree(&mut runner).expect("a path").current();
            let Ok(text) = format.write(&Document::from(&value)) else {
                continue;
            };
            let expected = edited(value, &path, Some(&new)).map(Document::from);
            if expected.is_none_or(|expected| format.write(&expected).is_err()) {
                continue;
            }
            tried += 1;
            let edits = [(path, Some(Document::from(&new)))];
            match format.edit(&text, &edits) {
                Ok(_) => made += 1,
                Err(refused) => println!("{format:?}: {refused}: {new} in {text:?}"),
            }
        }
        assert!(made * 100 >= least * tried, "{format:?}: {made} of {tried}");
    }
}

/// Texts that no reader takes, or edits that are all refused, would prove nothing.
#[test]
fn most_edits_of_rough_yaml_are_made() {
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let strategy = (
        any_value(4),
        proptest::collection::vec(any::<u8>(), 1..40),
        any_path(),
        any_value(2),
    );
    let (mut read, mut made, mut tried) = (0, 0, 0);
    for _ in 0..1000 {
        let drawn = strategy.new_tree(&mut runner).expect("a case").current();
        let (value, choices, path, new) = drawn;
        let text = rough::yaml(&value, &choices);
        let Ok(documents) = Format::Yaml.read(&text) else {
            continue;
        };
        read += 1;
        let before = documents.first().map_or(Value::Null, Document::to_json);
        if edited(before, &path, Some(&new)).is_none() {
            continue;
        }
        tried += 1;
        match Format::Yaml.edit(&text, &[(path, Some(Document::from(&new)))]) {
            Ok(_) => made += 1,
            Err(refused) => println!("{refused}: {new} in\n{text}\n"),
        }
    }
    assert!(read > 900, "{read} of 1000 were read");
    assert!(made * 100 > tried * 90, "{made} of {tried} were made");
}
