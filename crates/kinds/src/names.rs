//! Names and labels: what Kubernetes accepts, in its words.
//!
//! Each rule returns what is wrong with a text; nothing, if it keeps the rule.

const LABEL_MAX: usize = 63;
const SUBDOMAIN_MAX: usize = 253;
const LABEL_FORM: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const QUALIFIED_FORM: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

/// Returns what keeps `name` from being a DNS subdomain (RFC 1123), the rule for most names.
pub fn dns_subdomain(name: &str) -> Vec<String> {
    let mut problems = too_long(name, SUBDOMAIN_MAX, "characters");
    if !name.split('.').all(is_dns_label) {
        let message = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric \
            characters, '-' or '.', and must start and end with an alphanumeric character";
        let form = format!(r"{LABEL_FORM}(\.{LABEL_FORM})*");
        problems.push(with_examples(message, &["example.com"], &form));
    }
    problems
}

/// Returns what keeps `name` from being a DNS label (RFC 1123), the rule for namespaces.
pub fn dns_label(name: &str) -> Vec<String> {
    let mut problems = too_long(name, LABEL_MAX, "characters");
    if !is_dns_label(name) {
        let dotted = name.contains('.') && name.split('.').all(is_dns_label);
        let message = "a lowercase RFC 1123 label must consist of lower case alphanumeric \
            characters or '-', and must start and end with an alphanumeric character";
        problems.push(if dotted {
            "must not contain dots".to_owned()
        } else {
            with_examples(message, &["my-name", "123-abc"], LABEL_FORM)
        });
    }
    problems
}

/// Returns what keeps `name` from being a DNS label of RFC 1035, the rule for services.
pub fn dns_1035_label(name: &str) -> Vec<String> {
    let mut problems = too_long(name, LABEL_MAX, "characters");
    if !(is_dns_label(name) && name.starts_with(|c: char| c.is_ascii_lowercase())) {
        let message = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', \
            start with an alphabetic character, and end with an alphanumeric character";
        let form = "[a-z]([-a-z0-9]*[a-z0-9])?";
        problems.push(with_examples(message, &["my-name", "abc-123"], form));
    }
    problems
}

/// Returns what keeps `name` from being one segment of a URL, the rule for RBAC names.
pub fn path_segment(name: &str) -> Vec<String> {
    if matches!(name, "." | "..") {
        return vec![format!("may not be '{name}'")];
    }
    let banned = ['/', '%']
        .into_iter()
        .filter(|&character| name.contains(character));
    banned
        .map(|character| format!("may not contain '{character}'"))
        .collect()
}

/// Returns what keeps `key` from being a label's key, or an annotation's.
pub fn label_key(key: &str) -> Vec<String> {
    let parts: Vec<&str> = key.split('/').collect();
    let mut problems = Vec::new();
    let name = match parts.as_slice() {
        [name] => name,
        ["", name] => {
            problems.push("prefix part must be non-empty".to_owned());
            name
        }
        [prefix, name] => {
            let mut of_prefix = too_long(prefix, SUBDOMAIN_MAX, "bytes");
            if of_prefix.is_empty() {
                of_prefix = dns_subdomain(prefix);
            }
            problems.extend(
                of_prefix
                    .iter()
                    .map(|problem| format!("prefix part {problem}")),
            );
            name
        }
        _ => {
            return vec![format!(
                "a valid label key {} with an optional DNS subdomain prefix and '/' (e.g. \
                 'example.com/MyName')",
                qualified_rule()
            )];
        }
    };
    if name.is_empty() {
        problems.push("name part must be non-empty".to_owned());
    }
    problems.extend(
        too_long(name, LABEL_MAX, "bytes")
            .iter()
            .map(|problem| format!("name part {problem}")),
    );
    if !is_qualified(name) {
        problems.push(format!("name part {}", qualified_rule()));
    }
    problems
}

/// Returns what keeps `value` from being a label's value.
pub fn label_value(value: &str) -> Vec<String> {
    let mut problems = too_long(value, LABEL_MAX, "bytes");
    if !value.is_empty() && !is_qualified(value) {
        let message = "a valid label must be an empty string or consist of alphanumeric \
            characters, '-', '_' or '.', and must start and end with an alphanumeric character";
        let form = format!("({QUALIFIED_FORM})?");
        problems.push(with_examples(
            message,
            &["MyValue", "my_value", "12345"],
            &form,
        ));
    }
    problems
}

/// Returns what keeps `key` from being a key of a ConfigMap or a Secret.
pub fn config_key(key: &str) -> Vec<String> {
    let mut problems = too_long(key, SUBDOMAIN_MAX, "characters");
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    if key.is_empty() || !key.bytes().all(allowed) {
        let message = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
        let examples = ["key.name", "KEY_NAME", "key-name"];
        problems.push(with_examples(message, &examples, "[-._a-zA-Z0-9]+"));
    }
    if matches!(key, "." | "..") {
        problems.push(format!("must not be '{key}'"));
    } else if key.starts_with("..") {
        problems.push("must not start with '..'".to_owned());
    }
    problems
}

fn is_dns_label(name: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !name.is_empty() && name.bytes().all(inner) && !name.starts_with('-') && !name.ends_with('-')
}

fn is_qualified(name: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let outer = |c: char| c.is_ascii_alphanumeric();
    name.bytes().all(inner) && name.starts_with(outer) && name.ends_with(outer)
}

fn qualified_rule() -> String {
    let message = "must consist of alphanumeric characters, '-', '_' or '.', and must start and \
        end with an alphanumeric character";
    with_examples(message, &["MyName", "my.name", "123-abc"], QUALIFIED_FORM)
}

/// The API server counts bytes in either case, but calls them so only in labels.
fn too_long(text: &str, limit: usize, unit: &str) -> Vec<String> {
    let problem = || format!("must be no more than {limit} {unit}");
    if text.len() > limit {
        vec![problem()]
    } else {
        Vec::new()
    }
}

fn with_examples(message: &str, examples: &[&str], form: &str) -> String {
    let examples: Vec<String> = examples
        .iter()
        .map(|example| format!("'{example}'"))
        .collect();
    let examples = examples.join(",  or ");
    format!("{message} (e.g. {examples}, regex used for validation is '{form}')")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_their_rules() {
        type Rule = fn(&str) -> Vec<String>;
        let long = "a".repeat(64);
        let cases: [(Rule, &str, bool); 22] = [
            (dns_subdomain, "a.b-c.1", true),
            (dns_subdomain, &long, true),
            (dns_subdomain, "", false),
            (dns_subdomain, "a..b", false),
            (dns_subdomain, "A", false),
            (dns_subdomain, "a\0b", false),
            (dns_label, "a-1", true),
            (dns_label, &long, false),
            (dns_label, "-a", false),
            (dns_1035_label, "a1", true),
            (dns_1035_label, "1a", false),
            (path_segment, "system:admin", true),
            (path_segment, "a/b", false),
            (path_segment, "..", false),
            (label_key, "app.kubernetes.io/name", true),
            (label_key, "a/b/c", false),
            (label_key, "/b", false),
            (label_key, "A_b", true),
            (label_value, "", true),
            (label_value, "a b", false),
            (config_key, "a_b.C", true),
            (config_key, "..a", false),
        ];
        for (rule, name, accepted) in cases {
            assert_eq!(rule(name).is_empty(), accepted, "{name}: {:?}", rule(name));
        }
        assert!(!dns_subdomain(&"a".repeat(254)).is_empty());
    }

    #[test]
    fn messages_are_those_of_the_api_server() {
        assert_eq!(
            dns_subdomain("A"),
            [
                "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, \
              '-' or '.', and must start and end with an alphanumeric character (e.g. \
              'example.com', regex used for validation is \
              '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
            ]
        );
        assert_eq!(dns_label("a.b"), ["must not contain dots"]);
    }
}
