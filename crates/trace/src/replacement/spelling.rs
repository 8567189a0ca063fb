//! The type that a new value gets: that of the old one where it can have it, else a text.

use pathline_document::{Data, Document, Format, Node, Scalar};

/// Says that a value is a list or a map.
pub(super) struct NotAScalar;

/// Returns what takes the place of a value, or nothing if it says the same already.
///
/// Events carry texts. `1.10` stays a text where there was one, in quotes if the format needs them; where there was
/// a number or a boolean, another one stays what it is.
pub(super) fn replacing(old: &Node, value: &str) -> Result<Option<Document>, NotAScalar> {
    let Data::Scalar(scalar, text) = &old.data else {
        return Err(NotAScalar);
    };
    if text == value && *scalar != Scalar::Null {
        return Ok(None);
    }
    let scalar = match scalar {
        Scalar::Integer | Scalar::Float | Scalar::Boolean => of_same_type(*scalar, value),
        Scalar::Text | Scalar::Null | Scalar::Datetime | Scalar::Binary => Scalar::Text,
    };
    Ok(Some(Document::scalar(scalar, value)))
}

fn of_same_type(old: Scalar, value: &str) -> Scalar {
    // As JSON has them: `yes`, `0x1F` and `1_000` mean other things elsewhere.
    let read = Format::Json.read(value).ok();
    let read = read.as_deref().and_then(<[Document]>::first);
    let new = match read.map(|it| &it.node(it.root()).data) {
        Some(Data::Scalar(new, _)) => *new,
        _ => return Scalar::Text,
    };
    let is_number = |it: Scalar| matches!(it, Scalar::Integer | Scalar::Float);
    let is_same = old == new || (is_number(old) && is_number(new));
    if is_same { new } else { Scalar::Text }
}
