//! Any text is a label or refused; what a label chooses is a tag that is there, and no other order of tags changes it.

use pathline_release::Version;
use pathline_release::label::{Kind, Label};

pub(crate) fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    // The first line is the label, the others are tags.
    let (label, tags) = text
        .split_once('\n')
        .unwrap_or((text, "1.0.0\nv1.0.0\n1.0.1-rc.1"));
    let Ok(label) = Label::parse(label) else {
        return;
    };
    let mut tags: Vec<&str> = tags.lines().collect();
    let chosen = label.choose(tags.iter().copied(), None);
    assert!(
        chosen.is_none_or(|tag| tags.contains(&tag)),
        "{label}: {chosen:?}"
    );
    if label.kind() == Kind::Follow {
        assert!(
            chosen.is_none_or(|tag| Version::parse(tag).is_some()),
            "{label}: {chosen:?}"
        );
    } else {
        assert!(
            chosen.is_none_or(|tag| tag == label.as_str()),
            "{label}: {chosen:?}"
        );
    }
    tags.reverse();
    assert_eq!(label.choose(tags.iter().copied(), None), chosen, "{label}");
    let again = Label::parse(label.as_str());
    assert_eq!(again.as_ref(), Ok(&label));
}
