//! Digests of manifests and configurations.

use sha2::{Digest as _, Sha256, Sha512};

/// Tells whether a text is a digest that can be held against content.
pub(super) fn is_digest(text: &str) -> bool {
    let is_hex = |hex: &str| {
        hex.bytes()
            .all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
    };
    match text.split_once(':') {
        Some(("sha256", hex)) => hex.len() == 64 && is_hex(hex),
        Some(("sha512", hex)) => hex.len() == 128 && is_hex(hex),
        _ => false,
    }
}

/// Returns the digest that registries give to content.
pub(super) fn sha256(content: &[u8]) -> String {
    format!("sha256:{}", hex(&Sha256::digest(content)))
}

/// Tells whether content has that digest.
pub(super) fn agrees(digest: &str, content: &[u8]) -> bool {
    match digest.split_once(':') {
        Some(("sha256", _)) => sha256(content) == digest,
        Some(("sha512", expected)) => hex(&Sha512::digest(content)) == expected,
        _ => false,
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_is_checked_in_form_and_content() {
        let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256(b""), empty);
        assert!(is_digest(empty) && agrees(empty, b"") && !agrees(empty, b"x"));
        let long = format!("sha512:{}", hex(&Sha512::digest(b"x")));
        assert!(is_digest(&long) && agrees(&long, b"x") && !agrees(&long, b"y"));
        for text in [
            "sha256:",
            "sha256:e3b0",
            "md5:e3b0",
            "latest",
            &empty.to_uppercase(),
        ] {
            assert!(!is_digest(text) && !agrees(text, b""), "{text}");
        }
    }
}
