//! Any text is documents that survive being written, each value inside of the text, or an error inside of it.

use pathline_document::{Document, Format};

pub(crate) fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    for format in [Format::Json, Format::Toml, Format::Yaml] {
        match format.read(text) {
            Ok(documents) => documents
                .iter()
                .for_each(|it| check_document(format, text, it)),
            Err(error) => assert!(error.offset <= text.len(), "{format:?}: {error}"),
        }
    }
}

fn check_document(format: Format, text: &str, document: &Document) {
    let mut open = vec![document.root()];
    while let Some(id) = open.pop() {
        let node = document.node(id);
        assert!(text.get(node.span.clone()).is_some(), "{node:?}");
        for child in node.children() {
            assert!(text.get(child.span.clone()).is_some(), "{child:?}");
        }
        // What aliases repeat is there once.
        open.extend(
            node.children()
                .map(|child| child.id)
                .filter(|child| *child > id),
        );
    }
    if let Ok(written) = format.write(document) {
        let again = format.read(&written).expect("what was written can be read");
        assert_eq!(&again[0], document, "{format:?}: {written}");
    }
}
