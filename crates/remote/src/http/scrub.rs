//! Scrubbing: no secret comes back out of what a host says.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use zeroize::Zeroizing;

use crate::Secret;

/// The most bytes of an upstream's words that are shown.
const MAX_EXCERPT: usize = 200;
/// The shortest piece of base64 that is looked for: shorter ones are in ordinary words.
const MIN_ENCODED: usize = 6;
/// The words in the place of a secret.
const REDACTED: &str = "[redacted]";

/// Removes secrets from text, in every form in which a host may repeat them.
#[derive(Clone, Default)]
pub(crate) struct Scrubber {
    /// The longest first, so that no part of one is left by a shorter one.
    forms: Vec<Zeroizing<String>>,
}

impl Scrubber {
    pub(crate) fn new(secrets: &[Secret]) -> Self {
        let mut forms: Vec<_> = secrets.iter().flat_map(|it| forms(it.reveal())).collect();
        forms.retain(|it| !it.is_empty());
        forms.sort_by(|one, other| (other.len(), other.as_str()).cmp(&(one.len(), one.as_str())));
        forms.dedup();
        Self { forms }
    }

    /// Returns a text without the secrets.
    pub(crate) fn scrub(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for form in &self.forms {
            if text.contains(form.as_str()) {
                text = text.replace(form.as_str(), REDACTED);
            }
        }
        text
    }

    /// Returns the beginning of what a host says, without secrets and in one line. Of a text that is cut, the end may be
    /// the beginning of a secret, and is left out.
    pub(crate) fn excerpt(&self, said: &[u8], is_cut: bool) -> String {
        let longest = self.forms.iter().map(|it| it.len()).max().unwrap_or(0);
        let unsure = if is_cut { longest } else { 0 };
        let said = &said[..said.len().saturating_sub(unsure)];
        let text = self.scrub(&String::from_utf8_lossy(said));
        let line: String = text
            .chars()
            .map(|it| if it.is_control() { ' ' } else { it })
            .collect();
        let line = line.trim();
        let end = (0..=MAX_EXCERPT.min(line.len()))
            .rev()
            .find(|&end| line.is_char_boundary(end));
        line[..end.unwrap_or(0)].to_owned()
    }
}

impl fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

/// Returns the forms of a secret: itself, as JSON and as a part of a URL, and in base64 wherever it begins in it.
fn forms(secret: &str) -> Vec<Zeroizing<String>> {
    let mut forms = vec![Zeroizing::new(secret.to_owned())];
    let quoted: String = secret
        .chars()
        .flat_map(|it| match it {
            '"' | '\\' => vec!['\\', it],
            it => vec![it],
        })
        .collect();
    forms.push(Zeroizing::new(quoted));
    let encoded = url::form_urlencoded::byte_serialize(secret.as_bytes());
    forms.push(Zeroizing::new(encoded.collect()));
    for before in 0..3 {
        let mut bytes = Zeroizing::new(vec![0; before]);
        bytes.extend_from_slice(secret.as_bytes());
        // Characters that are made of what comes before or after the secret are not the same everywhere.
        let (first, bits) = ((before * 8).div_ceil(6), bytes.len() * 8);
        for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
            let whole = Zeroizing::new(engine.encode(&*bytes));
            let sure = whole.get(first..bits / 6).unwrap_or_default();
            if sure.len() >= MIN_ENCODED {
                forms.push(Zeroizing::new(sure.to_owned()));
            }
        }
    }
    forms
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    const SECRET: &str = "ghp_S3cr\"et+/~token?!0";

    fn scrubber() -> Scrubber {
        Scrubber::new(&[Secret::new(SECRET)])
    }

    /// Asserts that neither the secret nor a long piece of it is in a text.
    fn assert_clean(text: &str) {
        for form in forms(SECRET) {
            let half = &form[form.len() / 4..form.len() * 3 / 4];
            assert!(!text.contains(half), "{text} has {half}");
        }
    }

    #[test]
    fn secret_is_removed_in_every_form() {
        let json = serde_json::to_string(SECRET).unwrap();
        let encoded: String = url::form_urlencoded::byte_serialize(SECRET.as_bytes()).collect();
        let mut said = vec![SECRET.to_owned(), json, encoded];
        for user in ["", "b", "bo", "x-access-token:"] {
            said.push(STANDARD.encode(format!("{user}{SECRET}")));
            said.push(URL_SAFE_NO_PAD.encode(format!("{user}{SECRET} and more")));
        }
        for said in said {
            let text = scrubber().scrub(&format!("you sent {said}, which is wrong"));
            assert_clean(&text);
            assert!(text.starts_with("you sent ") && text.ends_with(", which is wrong"));
            assert!(text.contains(REDACTED), "{text}");
        }
    }

    #[test]
    fn excerpt_is_short_and_ends_before_a_secret_that_is_cut() {
        let said = format!("{}{}", "\u{e4}".repeat(150), SECRET);
        let text = scrubber().excerpt(said.as_bytes(), false);
        assert_eq!(text.len(), MAX_EXCERPT);
        let said = format!("{}{}", "ab\r\n".repeat(10), &SECRET[..12]);
        assert_clean(&scrubber().excerpt(said.as_bytes(), true));
        let many = format!("{}{}", SECRET.repeat(40), &SECRET[..20]);
        assert_clean(&scrubber().excerpt(many.as_bytes(), true));
    }

    #[test]
    fn nothing_is_changed_where_there_is_no_secret() {
        let none = Scrubber::new(&[Secret::new("")]);
        assert_eq!(none.excerpt(b" not found\n", false), "not found");
        assert_eq!(none.scrub("a b"), "a b");
    }
}
