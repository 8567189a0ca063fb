//! Any text is a document that survives being keys, or an error inside of the text.

use pathline_keys::document::Format;

pub(crate) fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    for format in [Format::Json, Format::Toml, Format::Yaml] {
        match format.read(text) {
            Ok(keys) => {
                let written = format.write(&keys).expect("what was read can be written");
                let again = format.read(&written).expect("what was written can be read");
                assert_eq!(again, keys, "{format:?}: {written}");
            }
            Err(error) => assert!(error.at.line <= text.matches('\n').count() + 1),
        }
    }
}
