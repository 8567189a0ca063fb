//! Names, labels and annotations: what Kubernetes accepts, in its words.

mod metadata;

pub(crate) use metadata::{NameRule, validate_metadata};
pub(crate) use pathline_kinds::names::{
    config_key, dns_1035_label, dns_label, dns_subdomain, label_key, label_value, path_segment,
};

/// The most bytes all annotations of an object may take together.
pub(crate) const ANNOTATIONS_LIMIT: usize = 256 * 1024;

const LABEL_MAX: usize = 63;

/// The letters of generated names: no vowels, so that no words arise, and nothing that looks alike.
const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
const GENERATED_LENGTH: usize = 5;
const GENERATED_PREFIX_MAX: usize = LABEL_MAX - GENERATED_LENGTH;

/// Makes a name from a `generateName` and a random number.
pub(crate) fn generate(prefix: &str, mut entropy: u64) -> String {
    let mut end = prefix.len().min(GENERATED_PREFIX_MAX);
    while !prefix.is_char_boundary(end) {
        end -= 1;
    }
    let mut name = prefix[..end].to_owned();
    for _ in 0..GENERATED_LENGTH {
        let letters = ALPHABET.len() as u64;
        let index = usize::try_from(entropy % letters).expect("below the alphabet's length");
        name.push(char::from(ALPHABET[index]));
        entropy /= letters;
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_names_fit_a_label_and_differ() {
        let name = generate("web-", 1_234_567);
        assert!(name.starts_with("web-") && name.len() == 9, "{name}");
        assert_ne!(name, generate("web-", 7_654_321));
        assert_eq!(generate(&"a".repeat(100), 0).len(), LABEL_MAX);
        assert_eq!(
            generate(&"é".repeat(100), 5).chars().count(),
            29 + GENERATED_LENGTH
        );
    }
}
