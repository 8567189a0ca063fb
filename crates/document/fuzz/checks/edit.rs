//! Any edit of any text leaves all bytes that it has not touched, and made again it has nothing to do.

use pathline_document::{Document, Format, Path, Scalar};

/// The first line is the edit: a path of keys and numbers with dots, `=` and a text, or nothing to remove.
pub(crate) fn check(bytes: &[u8]) {
    let Ok(input) = std::str::from_utf8(bytes) else {
        return;
    };
    let Some((edit, text)) = input.split_once('\n') else {
        return;
    };
    let (path, value) = match edit.split_once('=') {
        Some((path, value)) => (path, Some(value)),
        None => (edit, None),
    };
    let path = path
        .split('.')
        .fold(Path::default(), |path, part| match part.parse::<usize>() {
            Ok(index) => path.index(index),
            Err(_) => path.key(part),
        });
    let edits = [(path, value.map(|text| Document::scalar(Scalar::Text, text)))];
    for format in [Format::Json, Format::Toml, Format::Yaml] {
        let Ok(edited) = format.edit(text, &edits) else {
            continue;
        };
        let (mut old_at, mut new_at) = (0, 0);
        for touched in &edited.touched {
            let kept = &text[old_at..touched.old.start];
            assert_eq!(kept, &edited.text[new_at..touched.new.start]);
            (old_at, new_at) = (touched.old.end, touched.new.end);
        }
        assert_eq!(&text[old_at..], &edited.text[new_at..]);
        if value.is_some() {
            let again = format.edit(&edited.text, &edits).expect("it is so already");
            assert_eq!(again.touched, [], "{format:?}: {}", edited.text);
        }
    }
}
