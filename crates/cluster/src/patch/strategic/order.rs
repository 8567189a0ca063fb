//! The order of a merged list: that of `$setElementOrder`, or of the patch itself.

use serde_json::Value;

/// Returns `items` in the wanted order, with those it does not name where the server had them.
pub(super) fn arrange(
    items: Vec<Value>,
    wanted: &[Value],
    server: &[Value],
    key: Option<&str>,
) -> Vec<Value> {
    let place = |list: &[Value], item: &Value| {
        list.iter()
            .position(|other| id(other, key) == id(item, key))
    };
    let (mut named, mut others): (Vec<Value>, Vec<Value>) = items
        .into_iter()
        .partition(|item| place(wanted, item).is_some());
    named.sort_by_key(|item| place(wanted, item));
    others.sort_by_key(|item| place(server, item).unwrap_or(usize::MAX));

    let mut arranged = Vec::with_capacity(named.len() + others.len());
    let (mut named, mut others) = (named.into_iter().peekable(), others.into_iter().peekable());
    while let (Some(ours), Some(theirs)) = (named.peek(), others.peek()) {
        let theirs_first = match (place(server, theirs), place(server, ours)) {
            (Some(theirs), Some(ours)) => theirs < ours,
            _ => false,
        };
        arranged.extend(if theirs_first {
            others.next()
        } else {
            named.next()
        });
    }
    arranged.extend(named);
    arranged.extend(others);
    arranged
}

fn id<'a>(item: &'a Value, key: Option<&str>) -> Option<&'a Value> {
    match key {
        Some(key) => item.get(key),
        None => Some(item),
    }
}
