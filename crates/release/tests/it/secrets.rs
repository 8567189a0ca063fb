//! Secrets of the application file: wherever they stand, they are kept apart, and can be put back.

use pathline_release::application::{Application, Secrets};
use pathline_testkit::cases;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::applications::mk_name;

/// A value that is nowhere but in secrets, and is `bot:sentinel` in base64.
const SENTINEL: &str = "Ym90OnNlbnRpbmVs";

fn split(text: &str) -> (Value, Secrets) {
    let application = Application::read(text, &mk_name("shop.web"));
    let application = application.unwrap_or_else(|error| panic!("{error}\n{text}"));
    application.split()
}

#[test]
fn secrets_are_taken_out_wherever_they_stand() {
    let file =
        |rest: &str| format!("{{mountPath: /k, data: [{{name: a, value: {SENTINEL}}}]{rest}}}");
    let file = file("");
    for settings in [
        // Of the application, its group, and an environment.
        format!("web: {{version: a, environment: {{file: {{secret: {{key: {file}}}}}}}}}"),
        format!(
            "group: {{environment: {{file: {{secret: {{key: {file}}}}}}}}}, web: {{version: a}}"
        ),
        format!(
            "web: {{version: a, in: {{prod: {{environment: {{file: {{secret: {{key: {file}}}}}}}}}}}}}"
        ),
        format!(
            "group: {{in: {{prod: {{environment: {{file: {{secret: {{key: {file}}}}}}}}}}}}}, web: {{version: a}}"
        ),
        // Credentials of the registry.
        format!("web: {{version: a, repository: {{image: {{auth: {SENTINEL}}}}}}}"),
        format!("group: {{repository: {{image: {{auth: {SENTINEL}}}}}}}, web: {{version: a}}"),
        format!("web: {{version: a, repository: {{auth: {SENTINEL}}}}}"),
        // The older words, in both dialects.
        format!("web: {{imageTag: a, secrets: {{key: {file}}}, authRepository: {SENTINEL}}}"),
        format!(
            "group: {{secrets: {{key: {file}}}}}, web: {{imageTag: a, in: {{prod: {{secrets: {{key: {file}}}}}}}}}"
        ),
        format!("web: {{version: a, secrets: {{key: {SENTINEL}}}, authRepository: {SENTINEL}}}"),
        // Keys that mean nothing, where secrets stand.
        format!(
            "web: {{version: a, environment: {{file: {{secret: {{key: {{more: {SENTINEL}}}}}}}}}}}"
        ),
        format!(
            "web: {{version: a, environment: {{file: {{secret: {{key: {{data: [{{name: a, value: '', more: {SENTINEL}}}]}}}}}}}}}}"
        ),
        // Words that are misspelt, or stand elsewhere.
        format!("web: {{version: a, environment: {{file: {{secrets: {{key: {file}}}}}}}}}"),
        format!("web: {{version: a, environment: {{file: {{sekret: {{key: {file}}}}}}}}}"),
        format!("web: {{version: a, environment: {{file: {{more: {SENTINEL}}}}}}}"),
        format!("web: {{version: a, enviroment: {{file: {{sekret: {{key: {file}}}}}}}}}"),
        format!("web: {{version: a, enviroment: {{secret: {{key: {file}}}}}}}"),
        format!("web: {{version: a, file: {{secret: {{key: {file}}}}}}}"),
        format!("web: {{version: a, vetos: {{environment: {{file: {{secret: {SENTINEL}}}}}}}}}"),
        format!(
            "web: {{version: a, repository: {{image: {{auths: {SENTINEL}, user: {SENTINEL}}}}}}}"
        ),
        format!("web: {{version: a, repository: {{login: [{SENTINEL}]}}}}"),
        // Names of secrets, wherever they stand.
        format!("web: {{version: a, environment: {{variable: {{DB_PASSWORD: {SENTINEL}}}}}}}"),
        format!(
            "web: {{version: a, more: [{{apiKey: {SENTINEL}}}, {{a: {{Credentials: {SENTINEL}}}}}]}}"
        ),
        format!(
            "group: {{PRIVATE_KEY: {SENTINEL}}}, web: {{version: a, in: {{prod: {{x: {{api_key: {SENTINEL}}}}}}}}}"
        ),
        format!(
            "web: {{imageTag: a, environment: {{ACCESS_TOKEN: {SENTINEL}, passwd: {SENTINEL}}}}}"
        ),
    ] {
        let text = format!("shop: {{{settings}}}");
        let (public, secrets) = split(&text);
        assert!(!public.to_string().contains(SENTINEL), "{text}\n{public}");
        assert!(secrets.to_json().contains(SENTINEL), "{text}");
        assert!(!format!("{secrets:?}").contains(SENTINEL), "{text}");
        let whole = secrets.merged_into(&public).to_string();
        let count = |text: &str| text.matches(SENTINEL).count();
        assert_eq!(count(&whole), count(&text), "{text}\n{whole}");
    }
}

#[test]
fn names_stay_and_the_rest_is_as_it_was() {
    let (public, secrets) = split(
        "shop: {web: {version: a, environment: {variable: {LOG: shown, AUTHOR: shown, OAUTH: hidden}, \
         file: {config: {app: {data: [{name: a, value: shown}]}}, \
         secret: {key/~: {mountPath: /k, inheritGroup: false, data: [{name: a, value: Zm9v}, {name: b, value: ''}]}}}}}}",
    );
    assert_eq!(
        public,
        json!({"group": {}, "application": {"version": "a", "environment": {
            "variable": {"AUTHOR": "shown", "LOG": "shown"},
            "file": {
                "config": {"app": {"data": [{"name": "a", "value": "shown"}]}},
                "secret": {"key/~": {"mountPath": "/k", "inheritGroup": false, "data": [{"name": "a"}, {"name": "b"}]}},
            },
        }}})
    );
    let pointers: Vec<_> = secrets.pointers().collect();
    let data = "/application/environment/file/secret/key~1~0/data";
    let variable = "/application/environment/variable/OAUTH".to_owned();
    assert_eq!(
        pointers,
        [
            format!("{data}/0/value"),
            format!("{data}/1/value"),
            variable
        ]
    );
    let whole = secrets.merged_into(&public);
    assert_eq!(
        whole.pointer(&format!("{data}/0/value")),
        Some(&json!("Zm9v"))
    );
    assert_eq!(whole.pointer(&format!("{data}/1/value")), Some(&json!("")));
}

#[test]
fn file_without_secrets_has_none() {
    let (public, secrets) = split(crate::applications::SHOP);
    assert!(secrets.is_empty());
    assert_eq!(secrets.merged_into(&public), public);
    assert_eq!(secrets.to_json().as_str(), "{}");
}

#[test]
fn secrets_are_read_as_they_were_written_and_nothing_else_is() {
    let (public, secrets) = split(
        "shop: {web: {version: a, repository: {image: {more: {user: 1, password: [x, null]}}}}}",
    );
    let read = Secrets::from_json(&secrets.to_json()).expect("it was written so");
    assert_eq!(read, secrets);
    let more = "/application/repository/image/more";
    let whole = read.merged_into(&public);
    assert_eq!(
        whole.pointer(more),
        Some(&json!({"user": 1, "password": ["x", null]}))
    );
    for other in ["", "[]", "{\"a\": 1}", "null"] {
        assert!(Secrets::from_json(other).is_err(), "{other}");
    }
}

proptest! {
    #![proptest_config(cases(300))]

    /// Settings of any shape, with words that mean something among others.
    #[test]
    fn whole_is_what_was_split(settings in arbitrary_settings()) {
        let text = format!("shop: {{web: {{version: a, repository: {settings}, environment: {settings}, \
             secrets: {settings}, in: {{prod: {settings}}}}}}}");
        if let Ok(application) = Application::read(&text, &mk_name("shop.web")) {
            let (public, secrets) = application.split();
            let mut whole = secrets.merged_into(&public);
            let again = Secrets::from_json(&secrets.to_json()).expect("it was written so");
            prop_assert_eq!(&again.merged_into(&public), &whole);
            // Without a group, what holds where nothing is overridden is what the application says.
            let own = whole["application"].as_object_mut().expect("a map");
            own.remove("in");
            let effective = application.effective(&json!({}), "no such environment", None);
            prop_assert_eq!(&whole["application"], &effective);
        }
    }
}

fn arbitrary_settings() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "environment",
        "file",
        "secret",
        "secrets",
        "repository",
        "image",
        "auth",
        "authRepository",
        "data",
        "name",
        "value",
        "token",
        "mountPath",
        "in",
        "other",
    ]);
    let leaf = prop::sample::select(vec!["/x", "''", "1", "true", "null", "[]", "{}"]);
    let leaf = leaf.prop_map(str::to_owned);
    leaf.prop_recursive(7, 40, 4, move |inner| {
        let members = prop::collection::btree_map(word.clone(), inner.clone(), 0..4);
        let map = members.prop_map(|members| {
            let members = members
                .into_iter()
                .map(|(key, value)| format!("{key}: {value}"));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        });
        let list = prop::collection::vec(inner, 0..3);
        prop_oneof![4 => map, 1 => list.prop_map(|items| format!("[{}]", items.join(", ")))]
    })
}

#[test]
fn variable_that_repeats_a_secret_or_contains_one_is_a_secret() {
    let file = |variables: &str| {
        format!(
            "shop: {{web: {{version: a, environment: {{variable: {{{variables}}}, file: {{secret: {{key: {{data: [{{name: \
             a, value: {SENTINEL}}}]}}}}}}}}, in: {{prod: {{environment: {{variable: {{{variables}}}}}}}}}}}}}"
        )
    };
    for value in [SENTINEL, "bot:sentinel", "postgres://bot:sentinel@db/shop"] {
        let (shown, secrets) = split(&file(&format!("COPY: '{value}', OTHER: shown")));
        let text = shown.to_string();
        assert!(!text.contains(value), "{text}");
        assert!(text.contains("shown"), "{text}");
        let whole = secrets.merged_into(&shown);
        for place in ["/application", "/application/in/prod"] {
            let copy = whole.pointer(&format!("{place}/environment/variable/COPY"));
            assert_eq!(copy, Some(&json!(value)), "{place}");
        }
    }
    let (shown, _) =
        split("shop: {web: {version: a, environment: {variable: {TOKEN: info, LOG: info}}}}");
    assert!(
        shown.to_string().contains("info"),
        "what is short is nobody's"
    );
}

#[test]
fn file_with_a_datum_named_like_a_secret_or_repeating_one_is_a_secret() {
    let file = |datum: &str| {
        format!(
            "shop: {{web: {{version: a, environment: {{file: {{config: {{plain: {{data: [{{name: a.ini, value: shown}}]}}, \
             app: {{mountPath: /app, data: [{{name: b.ini, value: beside}}, {datum}]}}}}, secret: {{key: {{data: [{{name: \
             a, value: {SENTINEL}}}]}}}}}}}}}}}}"
        )
    };
    for datum in [
        "{name: password, value: hunter2}".to_owned(),
        format!("{{name: c.ini, value: 'login {SENTINEL} here'}}"),
    ] {
        let (shown, secrets) = split(&file(&datum));
        let text = shown.to_string();
        assert!(
            !text.contains("hunter2") && !text.contains(SENTINEL),
            "{text}"
        );
        assert!(text.contains("shown"), "{text}");
        let whole = secrets.merged_into(&shown).to_string();
        assert!(
            whole.contains("beside") && whole.contains("/app"),
            "{whole}"
        );
    }
    let (shown, _) = split(&file("{name: c.ini, value: nothing}"));
    assert!(shown.to_string().contains("beside"));
}
