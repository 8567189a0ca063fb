//! Sentinels: secrets that are looked for in all forms in which somebody could find them.

use std::io::Read as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::{GzDecoder, ZlibDecoder};

/// A secret, in all forms in which somebody could find it.
struct Sentinel {
    name: String,
    /// The forms, with a character for each byte.
    forms: Vec<String>,
}

impl Sentinel {
    fn new(name: &str, secret: &[u8]) -> Self {
        let hex = |is_upper: bool| {
            let digits = secret.iter().map(|byte| match is_upper {
                true => format!("{byte:02X}"),
                false => format!("{byte:02x}"),
            });
            digits.collect::<String>()
        };
        let mut forms = vec![characters(secret), hex(false), hex(true)];
        // Inside of a longer text, base64 depends on where it begins.
        for before in 0..3 {
            let mut padded = vec![0; before];
            padded.extend(secret);
            let encoded = STANDARD.encode(&padded);
            let begin = [0, 2, 3][before];
            let end = padded.len() * 8 / 6;
            let inner = encoded[begin..end].to_owned();
            forms.push(inner.replace('+', "-").replace('/', "_"));
            forms.push(inner);
        }
        Self {
            name: name.to_owned(),
            forms,
        }
    }

    fn is_in(&self, content: &str) -> bool {
        self.forms.iter().any(|it| content.contains(it.as_str()))
    }
}

/// Returns a character for each byte, so that bytes can be searched as fast as text.
fn characters(bytes: &[u8]) -> String {
    bytes.iter().map(|it| char::from(*it)).collect()
}

/// The secrets of a story.
#[derive(Default)]
pub(crate) struct Sentinels(Vec<Sentinel>);

impl Sentinels {
    pub(crate) fn add(&mut self, name: &str, secret: &[u8]) {
        assert!(secret.len() >= 16, "{name} is too short to be looked for");
        self.0.push(Sentinel::new(name, secret));
    }

    /// Fails if a secret is in a content.
    pub(crate) fn assert_none(&self, place: &str, content: &[u8]) {
        let content = characters(content);
        for sentinel in &self.0 {
            if sentinel.is_in(&content) {
                let lines = content.lines().filter(|it| sentinel.is_in(it));
                let lines: Vec<_> = lines.map(|it| &it[..it.len().min(500)]).take(3).collect();
                panic!("{} is in {place}: {lines:#?}", sentinel.name);
            }
        }
    }

    /// Fails if a secret is in the name of a file, in the file, or in what it holds in compressed form.
    pub(crate) fn assert_none_in_file(&self, path: &Path) {
        let place = path.display().to_string();
        self.assert_none("the name of a file", place.as_bytes());
        // Sockets and pipes have no content.
        if !path.is_file() {
            return;
        }
        let content = std::fs::read(path).unwrap_or_default();
        self.assert_none(&place, &content);
        self.assert_none(&format!("{place}, inflated"), &inflated(&content));
    }
}

/// Returns what is in a compressed content, as far as it can be read.
fn inflated(content: &[u8]) -> Vec<u8> {
    let mut inner = Vec::new();
    let _read = match content {
        [0x1f, 0x8b, ..] => GzDecoder::new(content).read_to_end(&mut inner),
        [0x78, ..] => ZlibDecoder::new(content).read_to_end(&mut inner),
        _ => Ok(0),
    };
    inner
}

#[test]
fn sentinel_is_found_in_every_form() {
    let sentinel = Sentinel::new("it", b"0123456789");
    for before in ["", "a", "ab", "abc"] {
        for after in ["", "z", "zy"] {
            let text = format!("{before}0123456789{after}");
            assert!(sentinel.is_in(&text));
            assert!(sentinel.is_in(&STANDARD.encode(&text)), "{text}");
        }
    }
    assert!(sentinel.is_in("30313233343536373839"));
    assert!(!sentinel.is_in("012345678"));
}

#[test]
fn sentinel_is_found_in_compressed_files() {
    use std::io::Write as _;
    let directory = tempfile::tempdir().expect("a scratch directory");
    let path = directory.path().join("object");
    let file = std::fs::File::create(&path).expect("it is writable");
    let mut file = flate2::write::ZlibEncoder::new(file, flate2::Compression::best());
    file.write_all(b"aaaaaaaa 0123456789abcdef aaaaaaaa")
        .expect("it is writable");
    file.finish().expect("it is writable");
    let mut sentinels = Sentinels::default();
    sentinels.add("it", b"0123456789abcdef");
    let found = std::panic::catch_unwind(|| sentinels.assert_none_in_file(&path));
    assert!(found.is_err());
}
