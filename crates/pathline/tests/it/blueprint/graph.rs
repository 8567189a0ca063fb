//! `pathline blueprint graph`.

use insta::assert_snapshot;
use serde_json::json;

use super::{Scratch, chain, example, run_in, workload};
use crate::program::stdout;

fn drawn(arguments: &[&str]) -> String {
    let all: Vec<&str> = ["graph", "-f", "blueprint.yaml"]
        .iter()
        .chain(arguments)
        .copied()
        .collect();
    let output = run_in(&example(), &all);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    stdout(&output)
}

const OWNER: [&str; 2] = ["-w", "tested-workload.yaml"];

#[test]
fn terminal_gets_a_drawing() {
    assert_snapshot!("text", drawn(&[]));
    assert_snapshot!("text_with_a_path", drawn(&OWNER));
}

#[test]
fn mermaid_shows_options_at_edges_and_the_path_taken() {
    assert_snapshot!("mermaid", drawn(&["--format", "mermaid"]));
    assert_snapshot!(
        "mermaid_with_a_path",
        drawn(&[&OWNER[..], &["--format", "mermaid"]].concat())
    );
}

#[test]
fn dot_shows_options_at_edges_and_the_path_taken() {
    assert_snapshot!(
        "dot_with_a_path",
        drawn(&[&OWNER[..], &["--format", "dot"]].concat())
    );
}

#[test]
fn svg_is_xml_with_a_node_for_every_resource_and_the_reasons() {
    let svg = drawn(&[&OWNER[..], &["--format", "svg"]].concat());
    let document = roxmltree::Document::parse(&svg).expect("well-formed XML");
    let root = document.root_element();
    assert_eq!(
        root.tag_name().namespace(),
        Some("http://www.w3.org/2000/svg")
    );
    let with_class = |class: &str| {
        let nodes = document.descendants();
        nodes
            .filter(|node| node.attribute("class") == Some(class))
            .count()
    };
    assert_eq!((with_class("name"), with_class("edge")), (7, 8));
    assert_eq!((with_class("selected"), with_class("skipped")), (5, 2));
    assert_eq!((with_class("taken"), with_class("spared")), (4, 4));
    let notes: Vec<&str> = document
        .descendants()
        .filter(|node| node.attribute("class") == Some("reason"))
        .filter_map(|node| node.text())
        .collect();
    assert_eq!(
        notes[0],
        "image-provider skipped: field [spec.image] does not exist"
    );
    assert_snapshot!("svg_with_a_path", svg);
}

#[test]
fn names_cannot_break_out_of_a_drawing() {
    let resources = r#"
  - name: "a\"]<b>&\\\u0007\u001b[31m`#"
    selector: {matchLabels: {a: "<&\"'"}}
    templateRef: {kind: ClusterTemplate, name: "]]>\"--"}
"#;
    let scratch = Scratch::new(&[
        ("chain.yaml", &chain(resources)),
        ("workload.yaml", &workload(json!({}), json!({}))),
    ]);
    let draw = |format: &str| {
        let output = scratch.run(&[
            "graph",
            "-f",
            "chain.yaml",
            "-w",
            "workload.yaml",
            "--format",
            format,
        ]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        stdout(&output)
    };
    roxmltree::Document::parse(&draw("svg")).expect("well-formed XML");
    for format in ["text", "mermaid", "dot", "svg"] {
        assert!(!draw(format).contains(['\u{7}', '\u{1b}']), "{format}");
    }
    assert!(
        draw("mermaid").contains("#quot;]#lt;b#gt;#amp;"),
        "{}",
        draw("mermaid")
    );
    assert!(draw("dot").contains(r#"a\"]<b>&\\"#), "{}", draw("dot"));
}
