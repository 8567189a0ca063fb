//! Words that mean nothing, and those that may have been meant.

/// The most letters that may differ in a word that is misspelt.
const MAX_MISSPELT: usize = 2;

/// The longest word that is repeated, in characters.
const MAX_REPEATED: usize = 64;

/// Says that a key means nothing: the one that may have been meant, or all there are.
pub(crate) fn unknown(key: &str, known: &[&str]) -> String {
    let word: String = key.chars().take(MAX_REPEATED).collect();
    match nearest(key, known.iter().copied()) {
        Some(known) => format!("`{word}` means nothing here; did you mean `{known}`?"),
        None => format!("`{word}` means nothing here; there is {}", known.join(", ")),
    }
}

/// Returns the word that was meant, if one is near.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A word that is much longer than all that is known is nobody's slip, and costs time.
    if word.chars().count() > MAX_REPEATED {
        return None;
    }
    // Of a word of which no letter is left, nothing is known.
    let max = MAX_MISSPELT.min(word.chars().count().saturating_sub(1));
    let distances = known.into_iter().map(|it| (distance(word, it), it));
    let nearest = distances.min().filter(|(it, _)| *it <= max);
    nearest.map(|(_, known)| known)
}

/// Counts the letters that have to be added, removed or replaced to make a word of another; their case does not count.
fn distance(word: &str, other: &str) -> usize {
    let lower = |it: &str| it.to_lowercase().chars().collect::<Vec<_>>();
    let (word, other) = (lower(word), lower(other));
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, letter) in word.iter().enumerate() {
        let mut before = row[0];
        row[0] = index + 1;
        for (at, it) in other.iter().enumerate() {
            let replaced = before + usize::from(letter != it);
            before = row[at + 1];
            row[at + 1] = replaced.min(before + 1).min(row[at] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_word_is_named_and_far_ones_are_listed() {
        let known = ["soak", "freezes"];
        assert!(unknown("Freeze", &known).ends_with("did you mean `freezes`?"));
        assert!(unknown("colour", &known).ends_with("there is soak, freezes"));
        assert_eq!(nearest("", ["GB", "ha"]), None);
        assert_eq!(nearest("xy", ["GB", "ha"]), None);
        let long = "x".repeat(1000);
        assert!(unknown(&long, &known).len() < 200);
    }
}
