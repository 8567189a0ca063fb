//! The order of keys: naturally, so that `a2` stands before `a10`.

use std::cmp::Ordering;

/// Orders two keys of a map.
pub(super) fn order(left: &str, right: &str) -> Ordering {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let Some(at) = left
        .iter()
        .zip(&right)
        .position(|(left, right)| left != right)
    else {
        return left.len().cmp(&right.len());
    };
    let after_digit = at > 0 && left[at - 1].is_numeric();
    match (left[at].is_alphabetic(), right[at].is_alphabetic()) {
        (true, true) => left[at].cmp(&right[at]),
        (true, false) => {
            if after_digit {
                Ordering::Less
            } else {
                Ordering::Greater
            }
        }
        (false, true) => {
            if after_digit {
                Ordering::Greater
            } else {
                Ordering::Less
            }
        }
        (false, false) => {
            let seed = leading_digit(&left, &right, at);
            let (left_number, left_end) = number(&left, at, seed);
            let (right_number, right_end) = number(&right, at, seed);
            let numbers = left_number
                .cmp(&right_number)
                .then(left_end.cmp(&right_end));
            numbers.then(left[at].cmp(&right[at]))
        }
    }
}

/// Zeros count for nothing at the start of a number, but they do after another digit.
fn leading_digit(left: &[char], right: &[char], at: usize) -> i64 {
    if left[at] != '0' && right[at] != '0' {
        return 0;
    }
    let before = left[..at].iter().rev().take_while(|c| c.is_numeric());
    i64::from(before.into_iter().any(|c| *c != '0'))
}

fn number(text: &[char], start: usize, seed: i64) -> (i64, usize) {
    let digits = text[start..].iter().take_while(|c| c.is_numeric());
    digits.fold((seed, start), |(number, end), digit| {
        let digit = i64::from(u32::from(*digit)) - i64::from(u32::from('0'));
        (number.wrapping_mul(10).wrapping_add(digit), end + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_keys_count_as_numbers() {
        let mut keys = vec!["a10", "a2", "b", "a", "a1b", "a1", "_x", "B", "a02"];
        keys.sort_by(|left, right| order(left, right));
        assert_eq!(keys, ["_x", "B", "a", "a1", "a1b", "a2", "a02", "a10", "b"]);
    }
}
