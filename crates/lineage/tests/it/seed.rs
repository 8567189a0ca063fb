//! The example of RFC 0014, literally.

use std::collections::BTreeMap;

use pathline_lineage::{Artifact, Chain, Kind, Origin, State};
use serde_json::json;

use crate::paths::{done, resource, stamp};

#[test]
fn image_shows_the_source_it_is_made_of_and_where_both_passed() {
    let chain = Chain::new(vec![
        resource("image-builder", &["unit-tester"], &[]),
        resource("unit-tester", &["source-cloner"], &[]),
        resource("source-cloner", &[], &["source"]),
    ]);
    let mut state = State::new(chain.expect("a path"));
    let source = Artifact::source("https://git.example/app", Some("def567"));
    let image = Artifact::value(Kind::Image, &json!("abc123"));
    state.own(BTreeMap::from([("source".to_owned(), source.clone())]));
    let mut make = |name: &str, input: Origin, from: &Artifact, output: &Artifact| {
        let stamped = state.stamped(name, stamp(name, 1, [(input, from.clone())]));
        stamped.expect("it is on the path");
        let seen = state.seen(name, &done(name, 1, Some(output.clone())));
        seen.expect("it is on the path");
    };
    make("source-cloner", Origin::owner("source"), &source, &source);
    make(
        "unit-tester",
        Origin::resource("source-cloner"),
        &source,
        &source,
    );
    make(
        "image-builder",
        Origin::resource("unit-tester"),
        &source,
        &image,
    );

    let outputs = serde_json::to_value(state.outputs("workload", 100)).expect("JSON");
    assert_eq!(
        outputs,
        json!([{
            "type": "image",
            "value": "abc123",
            "passed": ["image-builder"],
            "from": [{
                "type": "source",
                "value": "def567",
                "url": "https://git.example/app",
                "evidence": "generation",
                "passed": ["workload", "source-cloner", "unit-tester"],
            }],
        }])
    );
}

#[test]
fn what_does_not_fit_is_cut_and_says_so() {
    let chain = Chain::new(vec![resource("build", &[], &["param:a", "param:b"])]);
    let mut state = State::new(chain.expect("a path"));
    let param = |name: &str| (Origin::owner(name), Artifact::param(name, &json!("on")));
    let stamped = stamp("build", 1, [param("param:a"), param("param:b")]);
    state.stamped("build", stamped).expect("it is on the path");
    let image = Artifact::value(Kind::Image, &json!("i"));
    let seen = state.seen("build", &done("build", 1, Some(image)));
    seen.expect("it is on the path");
    let outputs = state.outputs("workload", 2);
    assert_eq!(outputs[0].from.len(), 1);
    assert!(outputs[0].cut);
    assert!(!state.outputs("workload", 3)[0].cut);
}
