//! Hashes of configuration that pods carry.

use serde_json::Value;

/// A SHA-256.
pub(super) type Sha = [u8; 32];

/// The most hashes of one pod template that count.
const MAX_HASHES: usize = 64;
/// The number of digits of a hash.
const DIGITS: usize = 64;

/// Returns the SHA-256 hashes, in hexadecimal, that stand in a pod template: anywhere in its
/// annotations or labels, or in variables of its containers.
pub(super) fn hashes(template: &Value) -> Vec<Sha> {
    let metadata = &template["metadata"];
    let marks = ["annotations", "labels"].into_iter();
    let marks = marks.filter_map(|it| metadata[it].as_object());
    let marks = marks.flat_map(|it| it.values());
    let containers = ["initContainers", "containers"].into_iter();
    let containers = containers.filter_map(|it| template["spec"][it].as_array());
    let env = containers.flatten().filter_map(|it| it["env"].as_array());
    let env = env.flatten().map(|it| &it["value"]);
    let texts = marks.chain(env).filter_map(Value::as_str);
    texts.flat_map(in_text).take(MAX_HASHES).collect()
}

/// Returns the runs of exactly as many hexadecimal digits as a hash has.
fn in_text(text: &str) -> impl Iterator<Item = Sha> {
    let runs = text.split(|it: char| !it.is_ascii_hexdigit());
    runs.filter(|it| it.len() == DIGITS).filter_map(read)
}

fn read(digits: &str) -> Option<Sha> {
    let mut sha = Sha::default();
    for (index, byte) in sha.iter_mut().enumerate() {
        let two = digits.get(2 * index..2 * index + 2)?;
        *byte = u8::from_str_radix(two, 16).ok()?;
    }
    Some(sha)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn point_17_hashes_are_found_wherever_a_pod_template_may_carry_them() {
        let hash = |digit: &str| digit.repeat(DIGITS);
        let template = json!({
            "metadata": {
                "annotations": {
                    "a": hash("1"), "b": format!("sha256:{}, and {}", hash("2"), hash("A")),
                    "too-long": hash("3") + "3", "too-short": &hash("4")[1..], "number": 5,
                },
                "labels": {"c": hash("6")},
            },
            "spec": {
                "containers": [{"env": [{"name": "H", "value": hash("7")}, {"name": "N"}]}],
                "initContainers": [{"env": [{"name": "H", "value": hash("8")}]}],
            },
        });
        let found = hashes(&template);
        let wanted = [0x11, 0x22, 0xaa, 0x66, 0x88, 0x77].map(|byte| [byte; 32]);
        assert_eq!(found, wanted);
        assert!(hashes(&json!(null)).is_empty());
    }

    #[test]
    fn point_17_only_so_many_hashes_count() {
        let many = vec!["9".repeat(DIGITS); 1_000].join(" ");
        let template = json!({"metadata": {"annotations": {"many": many}}});
        assert_eq!(hashes(&template).len(), MAX_HASHES);
    }
}
