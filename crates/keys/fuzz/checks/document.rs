//! Any text is a document that survives being keys, or an error inside of the text.

use pathline_keys::document::{self, Format};

pub(crate) fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    for format in [Format::Json, Format::Toml, Format::Yaml] {
        match document::read(format, text) {
            Ok(keys) => {
                let written = document::write(format, &keys).expect("what was read can be written");
                let again = document::read(format, &written).expect("what was written can be read");
                assert_eq!(again, keys, "{format:?}: {written}");
            }
            Err(error) => assert!(error.at.line <= text.matches('\n').count() + 1),
        }
    }
}
