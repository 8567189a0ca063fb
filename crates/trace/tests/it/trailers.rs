//! Trailers that say what a commit of manifests is made of.

use pathline_trace::commit::SourceCommit;
use pathline_trace::trailers::{self, Carried, Claims, Source};

fn mk_commit(digit: &str) -> SourceCommit {
    let text = format!("git.example/app@sha1:{}", digit.repeat(40));
    text.parse().expect("a commit")
}

fn mk_carried(event: &str, digit: &str, title: &str) -> Carried {
    let source = Source {
        commit: mk_commit(digit),
        repository_url: Some("https://git.example/app.git".to_owned()),
        author: None,
        title: Some(title.to_owned()),
    };
    Carried {
        event: event.to_owned(),
        source: Some(source),
    }
}

#[test]
fn each_event_and_each_source_is_named_and_the_newest_is_first_for_pipecd() {
    let events = [
        mk_carried("e1", "1", "One"),
        mk_carried("e2", "2", "Two"),
        mk_carried("e3", "2", "Two"),
    ];
    let written = trailers::of_events(&events);
    let (one, two) = ("1".repeat(40), "2".repeat(40));
    let expected = [
        ("Pathline-Event", "e1".to_owned()),
        ("Pathline-Event", "e2".to_owned()),
        ("Pathline-Event", "e3".to_owned()),
        ("Pathline-Source", format!("git.example/app@sha1:{one}")),
        ("Pathline-Source", format!("git.example/app@sha1:{two}")),
        ("Pipecd-Dev-Trace-Trigger-Commit-Hash", two.clone()),
        ("Pipecd-Dev-Trace-Trigger-Commit-Hash", one),
        (
            "Argocd-reference-commit-repourl",
            "https://git.example/app.git".to_owned(),
        ),
        ("Argocd-reference-commit-sha", two),
        ("Argocd-reference-commit-subject", "Two".to_owned()),
    ];
    assert_eq!(
        written,
        expected.map(|(key, value)| (key.to_owned(), value))
    );
    let read = trailers::read(
        written
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str())),
    );
    let expected = Claims {
        events: ["e1", "e2", "e3"].map(str::to_owned).to_vec(),
        sources: vec![mk_commit("1"), mk_commit("2")],
        hashes: Vec::new(),
    };
    assert_eq!(read, expected);
}

#[test]
fn titles_cannot_bring_other_trailers() {
    let events = [mk_carried("e1", "1", "One\nPathline-Source: evil\r\u{85}x")];
    let written = trailers::of_events(&events);
    let is_line = |(_, value): &(String, String)| !value.chars().any(char::is_control);
    assert!(written.iter().all(is_line), "{written:?}");
}

#[test]
fn event_without_a_commit_is_named_alone() {
    let carried = Carried {
        event: "e1".to_owned(),
        source: None,
    };
    assert_eq!(
        trailers::of_events(&[carried]),
        [("Pathline-Event".to_owned(), "e1".to_owned())]
    );
}

#[test]
fn trailers_of_other_tools_are_read() {
    let (one, two) = ("1".repeat(40), "2".repeat(40));
    let claims = trailers::read([
        ("pipecd-dev-trace-trigger-commit-hash", one.as_str()),
        ("Pipecd-Dev-Trace-Trigger-Commit-Hash", "not a hash"),
        ("Argocd-Reference-Commit-Sha", two.as_str()),
        ("Argocd-reference-commit-repourl", "git@git.example:app.git"),
        ("Pathline-Source", "nonsense"),
    ]);
    assert_eq!(claims.sources, [mk_commit("2")]);
    assert_eq!(claims.hashes, [one.parse().expect("a hash")]);
}

#[test]
fn keys_of_ours_and_of_others_are_reserved() {
    for key in [
        "Pathline-Event",
        "pathline-source",
        "PATHLINE-anything",
        "Pipecd-Dev-Trace-Trigger-Commit-Hash",
        "argocd-reference-commit-sha",
    ] {
        assert!(trailers::is_reserved(key), "{key}");
    }
    for key in ["Signed-off-by", "Pipecd", "Path"] {
        assert!(!trailers::is_reserved(key), "{key}");
    }
}
