//! Names of what is written for a release: valid whatever files and trackers are called.

use pathline_kinds::names;
use sha2::{Digest, Sha256};

use crate::name::TrackerName;
use crate::release::hex;

/// The longest part of a name that is taken from that of a file.
const MAX_SLUG: usize = 60;

/// The longest value of a label.
const MAX_LABEL: usize = 63;

/// The number of hexadecimal digits that tell names apart which were cut or changed.
const DIGITS: usize = 8;

/// Returns a part of a name in Kubernetes for a file: itself if it can be one, else like it, with a hash.
pub(super) fn slug(file: &str) -> String {
    let is_label = names::dns_label(file).is_empty();
    if is_label && file.len() <= MAX_SLUG {
        return file.to_owned();
    }
    let like = file.chars().map(|it| match it.to_ascii_lowercase() {
        it if it.is_ascii_lowercase() || it.is_ascii_digit() => it,
        _ => '-',
    });
    let like: String = like.take(MAX_SLUG - DIGITS - 1).collect();
    let hash = short_hash(file);
    match like.trim_matches('-') {
        "" => hash,
        like => format!("{like}-{hash}"),
    }
}

/// Returns a key of a ConfigMap or a Secret for the name of a file: itself if it can be one, else a hash.
pub(super) fn key(name: &str) -> String {
    match names::config_key(name).is_empty() {
        true => name.to_owned(),
        false => format!("file-{}", short_hash(name)),
    }
}

/// Returns the value of the label with a tracker: its name, cut with a hash if it is too long for a label.
pub fn tracker_label(tracker: &TrackerName) -> String {
    let name = tracker.as_str();
    if name.len() <= MAX_LABEL {
        return name.to_owned();
    }
    // Names of trackers are ASCII, so any byte is where a character begins.
    let kept = &name[..MAX_LABEL - DIGITS - 1];
    let kept = kept.trim_end_matches(|it: char| !it.is_ascii_alphanumeric());
    format!("{kept}-{}", short_hash(&tracker.key()))
}

fn short_hash(text: &str) -> String {
    let mut hash = hex(&Sha256::digest(text));
    hash.truncate(DIGITS);
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_file_gives_a_part_of_a_name() {
        assert_eq!(slug("nginx"), "nginx");
        let mut slugs = Vec::new();
        let long = "a".repeat(300);
        for file in [
            "",
            "-",
            "A",
            "a.b",
            "nginx.conf",
            "ä",
            "日本",
            "..",
            "/",
            "a/b",
            "a\0b",
            &long,
        ] {
            let slug = slug(file);
            assert_eq!(names::dns_label(&slug), [""; 0], "{file}");
            assert!(slug.len() <= MAX_SLUG, "{file}");
            slugs.push(slug);
        }
        let all = slugs.len();
        slugs.sort_unstable();
        slugs.dedup();
        assert_eq!(slugs.len(), all, "no two files have one name");
    }

    #[test]
    fn any_name_of_a_file_gives_a_key() {
        for (name, is_kept) in [
            ("app.conf", true),
            ("A_b-1", true),
            ("my file", false),
            ("ä", false),
            ("..a", false),
        ] {
            let key = key(name);
            assert_eq!(names::config_key(&key), [""; 0], "{name}");
            assert_eq!(key == name, is_kept, "{name}");
        }
    }

    #[test]
    fn long_trackers_give_labels() {
        let long = format!("{}.n{}n", "g".repeat(53), "_".repeat(61));
        for name in ["shop.web", "Shop.Web_1", &long] {
            let label = tracker_label(&name.parse().unwrap());
            assert_eq!(names::label_value(&label), [""; 0], "{name}");
        }
        assert_eq!(tracker_label(&"Shop.Web".parse().unwrap()), "Shop.Web");
    }
}
