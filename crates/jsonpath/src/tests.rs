//! Cases of every step, filter and error.

use std::borrow::Cow;

use pathline_testkit::cases;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn store() -> Value {
    json!({
        "name": "jsonpath",
        "empty": [],
        "nothing": null,
        "open": true,
        "books": [
            {"category": "reference", "author": "Nigel Rees", "price": 8.95, "copies": 5},
            {"category": "fiction", "author": "Evelyn Waugh", "price": 12.99, "copies": 5},
            {"category": "fiction", "author": "Herman Melville", "price": 8.99, "isbn": "0-553"},
        ],
        "labels": {"app.kubernetes.io/name": "web", "web/html": 15, "k8s": {"deep": "yes"}},
        "nodes": [
            {"name": "127.0.0.1", "metadata": {"name": "one"}, "ready": true},
            {"name": "127.0.0.2", "metadata": {"name": "two"}, "ready": false},
        ],
    })
}

fn all(template: &str) -> Result<Vec<Value>, String> {
    let template = Template::parse(template).map_err(|error| error.to_string())?;
    let data = store();
    let blocks = template.find(&data).map_err(|error| error.to_string())?;
    Ok(blocks.into_iter().flatten().map(Cow::into_owned).collect())
}

fn values<const N: usize>(values: [Value; N]) -> Result<Vec<Value>, String> {
    Ok(Vec::from(values))
}

#[test]
fn steps_lead_to_values() {
    let cases: &[(&str, Vec<Value>)] = &[
        ("plain", vec![json!("plain")]),
        ("{.name}", vec![json!("jsonpath")]),
        ("{$.name}", vec![json!("jsonpath")]),
        ("{@.name}", vec![json!("jsonpath")]),
        ("{ .name }", vec![json!("jsonpath")]),
        (
            "is {.name}!",
            vec![json!("is "), json!("jsonpath"), json!("!")],
        ),
        ("{.nothing}", vec![Value::Null]),
        ("{.nothing.more}", vec![]),
        ("{.absent}", vec![]),
        ("{.absent.more[3]}", vec![]),
        ("{.name.more}", vec![]),
        ("{.}", vec![]),
        ("{['name']}", vec![json!("jsonpath")]),
        ("{.labels.web/html}", vec![json!(15)]),
        (r"{.labels.app\.kubernetes\.io/name}", vec![json!("web")]),
        (r"{.labels['app\.kubernetes\.io/name']}", vec![json!("web")]),
        ("{.labels['k8s.deep']}", vec![json!("yes")]),
        ("{.books[0].author}", vec![json!("Nigel Rees")]),
        ("{.books[-1].author}", vec![json!("Herman Melville")]),
        ("{.books[0:2].copies}", vec![json!(5), json!(5)]),
        (
            "{.books[1:].author}",
            vec![json!("Evelyn Waugh"), json!("Herman Melville")],
        ),
        ("{.books[:-1].copies}", vec![json!(5), json!(5)]),
        ("{.books[::2].price}", vec![json!(8.95), json!(8.99)]),
        ("{.books[1:1]}", vec![]),
        ("{.empty[*]}", vec![]),
        (
            "{.nodes[*].name}",
            vec![json!("127.0.0.1"), json!("127.0.0.2")],
        ),
        (
            "{.nodes.*.name}",
            vec![json!("127.0.0.1"), json!("127.0.0.2")],
        ),
        ("{.nodes[0,1].ready}", vec![json!(true), json!(false)]),
        (
            "{.nodes[0]['name', 'metadata.name']}",
            vec![json!("127.0.0.1"), json!("one")],
        ),
        (
            "{.nodes..name}",
            vec![
                json!("127.0.0.1"),
                json!("one"),
                json!("127.0.0.2"),
                json!("two"),
            ],
        ),
        ("{..isbn}", vec![json!("0-553")]),
        (
            "{5}{1.5}{true}{'x'}",
            vec![json!(5), json!(1.5), json!(true), json!("x")],
        ),
        (
            r"{'it\'s'}{'\t\x41\u00e9\101'}",
            vec![json!("it's"), json!("\tA\u{e9}A")],
        ),
    ];
    for (template, expected) in cases {
        assert_eq!(all(template).as_ref(), Ok(expected), "{template}");
    }
}

#[test]
fn filters_keep_what_they_match() {
    let author = |filter: &str| all(&format!("{{.books[?({filter})].author}}"));
    assert_eq!(author("@.isbn"), values([json!("Herman Melville")]));
    assert_eq!(
        author("@.isbn == '0-553'"),
        values([json!("Herman Melville")])
    );
    assert_eq!(
        author("@.category=='reference'"),
        values([json!("Nigel Rees")])
    );
    assert_eq!(
        author(r#"@.category!="fiction""#),
        values([json!("Nigel Rees")])
    );
    assert_eq!(author("@.price > 12.5"), values([json!("Evelyn Waugh")]));
    assert_eq!(author("@.price <= 8.95"), values([json!("Nigel Rees")]));
    assert_eq!(author("@.price >= 12.99"), values([json!("Evelyn Waugh")]));
    assert_eq!(
        author("@.copies<6"),
        values([json!("Nigel Rees"), json!("Evelyn Waugh")])
    );
    assert_eq!(
        all("{.nodes[?(@.ready==true)].name}"),
        values([json!("127.0.0.1")])
    );
    assert_eq!(all("{.nodes[?(@.name=='a)b')].name}"), values([]));
    assert_eq!(all("{.absent[?(@.x=='y')]}"), values([]));
}

#[test]
fn what_cannot_be_evaluated_is_an_error() {
    let cases = [
        (
            "{.books[3]}",
            "array index out of bounds: index 3, length 3",
        ),
        (
            "{.books[-4]}",
            "array index out of bounds: index -1, length 3",
        ),
        (
            "{.books[0:4]}",
            "array index out of bounds: index 3, length 3",
        ),
        (
            "{.books[2:1]}",
            "starting index 2 is greater than ending index 1",
        ),
        ("{.books[::0]}", "step must be > 0"),
        (
            "{.empty[0]}",
            "array index out of bounds: index 0, length 0",
        ),
        ("{.name[0]}", "string is not array or slice"),
        (
            "{.labels[0]}",
            "map[string]interface {} is not array or slice",
        ),
        ("{.open[0]}", "bool is not array or slice"),
        (
            "{.nothing[?(@.x)]}",
            "<nil> is not array or slice and cannot be filtered",
        ),
        (
            "{.name[?(@.x)]}",
            "jsonpath is not array or slice and cannot be filtered",
        ),
        (
            "{.books[?(@.price > 9)]}",
            "incompatible types for comparison",
        ),
        (
            "{.nodes[?(@.metadata == 'x')]}",
            "invalid type for comparison",
        ),
        ("{.nodes[?(@.ready < true)]}", "invalid type for comparison"),
        (
            "{.nodes[?(@..name == 'x')]}",
            "can only compare one element at a time",
        ),
        (
            "{.books[?(@.copies => 5)]}",
            "unrecognized filter operator =>",
        ),
        ("{hello}", "unrecognized identifier hello"),
    ];
    for (template, message) in cases {
        assert_eq!(all(template), Err(message.to_owned()), "{template}");
    }
}

#[test]
fn what_is_no_path_is_refused() {
    let cases = [
        ("{.name", "unclosed action"),
        ("{.a\n}", "unclosed action"),
        ("{[0}", "unterminated array"),
        ("{[a]}", "invalid array index a"),
        ("{[-]}", "array index - is not a number"),
        (
            "{[99999999999999999999]}",
            "array index 99999999999999999999 is not a number",
        ),
        ("{[?(@.a)}", "unclosed array expect ]"),
        ("{[?(@.a}", "unterminated filter"),
        ("{....a}", "invalid multiple recursive descent"),
        ("{'a}", "unterminated quoted string"),
        (r"{'\q'}", r"unquote string '\q' error invalid syntax"),
        (r"{'x\\'y'}", r"unquote string 'x\\'y' error invalid syntax"),
        ("{.a}{^}", "unrecognized character in action: U+005E '^'"),
        ("{1.2.3}", "cannot parse number 1.2.3"),
    ];
    for (template, message) in cases {
        let error = Template::parse(template).map_err(|error| error.to_string());
        assert_eq!(error, Err(message.to_owned()), "{template}");
    }
}

#[test]
fn braces_and_dot_may_be_left_out() {
    for spelling in [
        "labels.k8s.deep",
        ".labels.k8s.deep",
        "{.labels.k8s.deep}",
        "{labels.k8s.deep}",
    ] {
        assert_eq!(
            one(spelling, &store()).unwrap().as_deref(),
            Some(&json!("yes")),
            "{spelling}"
        );
    }
}

#[test]
fn one_value_is_not_none_nor_many() {
    let data = store();
    assert_eq!(
        one("nothing", &data).unwrap().as_deref(),
        Some(&Value::Null)
    );
    assert_eq!(one("absent", &data), Ok(None));
    assert_eq!(one("nodes[*].name", &data), Err(Error::TooManyResults));
    assert_eq!(one("{.name}{.name}", &data), Err(Error::TooManyQueries));
    assert_eq!(one("", &data), Err(Error::Empty));
    assert_eq!(
        one("a[", &data).unwrap_err().to_string(),
        "failed to parse jsonpath '{.a[}': unterminated array"
    );
}

#[test]
fn a_descent_that_multiplies_is_cut_off() {
    let mut tree = json!({"a": "leaf"});
    for _ in 0..60 {
        tree = json!({"a": tree});
    }
    let path = Template::parse("{..a..a..a..a..a..a}").unwrap();
    assert_eq!(path.find(&tree), Err(EvalError::TooManyResults));
}

#[test]
fn a_path_of_names_leads_where_its_steps_lead() {
    let data = store();
    for path in [
        "name",
        "nothing",
        "nothing.more",
        "name.more",
        "books.category",
        "labels.k8s.deep",
    ] {
        let path = JsonPath::parse(path).unwrap();
        assert_eq!(path.one(&data).unwrap(), path.find(&data).unwrap().pop());
        assert!(path.plain(&data).is_some());
    }
    for path in ["books[0].price", "books[*]", "..price"] {
        assert_eq!(JsonPath::parse(path).unwrap().plain(&data), None);
    }
}

#[test]
fn paths_and_templates_are_strings_to_serde() {
    for text in ["spec.image", ".spec.image", "{.spec.image}", "a}{.b"] {
        let path: JsonPath = serde_json::from_value(json!(text)).unwrap();
        assert_eq!(serde_json::to_value(&path).unwrap(), json!(text));
        assert_eq!(path.to_string().parse(), Ok(path), "{text}");
    }
    for text in ["", "plain", "is {$.name}!", "{range .a[*]}{.b}{end}"] {
        let template: Template = serde_json::from_value(json!(text)).unwrap();
        assert_eq!(serde_json::to_value(&template).unwrap(), json!(text));
        assert_eq!(template.to_string().parse(), Ok(template), "{text}");
    }
    let refused = serde_json::from_value::<JsonPath>(json!("a[")).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "failed to parse jsonpath '{.a[}': unterminated array"
    );
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn any_text_is_parsed_or_refused(text in "[-{}\\[\\]().?@$*,:'\"\\\\ a-c0-2<>=!~é]{0,40}") {
        if let Ok(template) = Template::parse(&text) {
            let _ = template.find(&json!({"a": [{"b": 1}, {"c": "x"}], "b": {"a": null}}));
        }
    }
}
