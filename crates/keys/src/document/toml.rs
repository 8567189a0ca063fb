//! Reading TOML.

use toml_edit::{Document, Item, Key as TomlKey, TableLike, Value};

use super::error::Failure;
use super::number;
use super::tree::{Data, Id, Member, Scalar, Tree};

/// Parses a TOML document. The parser limits how deep it goes, so recursion is safe here.
pub(super) fn parse(text: &str) -> Result<Tree, Failure> {
    let document = Document::parse(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        Failure::syntax(offset, error.message().trim().replace('\n', ", "))
    })?;
    let mut tree = Tree::default();
    tree.root = table(&mut tree, document.as_table(), 0)?;
    Ok(tree)
}

fn table(tree: &mut Tree, table: &dyn TableLike, offset: usize) -> Result<Id, Failure> {
    let id = tree.add(Data::Map(Vec::new()), offset);
    for (name, value) in table.iter() {
        let offset = table
            .key(name)
            .and_then(TomlKey::span)
            .map_or(offset, |span| span.start);
        let member = Member::new(name.to_owned(), Scalar::Text, offset)?;
        let child = item(tree, value, offset)?;
        tree.attach(id, Some(member), child);
    }
    Ok(id)
}

fn item(tree: &mut Tree, item: &Item, offset: usize) -> Result<Id, Failure> {
    match item {
        Item::None => Ok(tree.add(Data::Map(Vec::new()), offset)),
        Item::Value(value) => self::value(tree, value, offset),
        Item::Table(inner) => table(tree, inner, offset),
        Item::ArrayOfTables(tables) => {
            let id = tree.add(Data::List(Vec::new()), offset);
            for inner in tables {
                let child = table(tree, inner, offset)?;
                tree.attach(id, None, child);
            }
            Ok(id)
        }
    }
}

fn value(tree: &mut Tree, value: &Value, offset: usize) -> Result<Id, Failure> {
    let offset = value.span().map_or(offset, |span| span.start);
    let (scalar, text) = match value {
        Value::String(text) => (Scalar::Text, text.value().clone()),
        Value::Integer(integer) => (Scalar::Integer, integer.value().to_string()),
        Value::Float(float) => (Scalar::Float, number::float(*float.value())),
        Value::Boolean(boolean) => (Scalar::Boolean, boolean.value().to_string()),
        Value::Datetime(datetime) => (Scalar::Datetime, datetime.value().to_string()),
        Value::InlineTable(inner) => return table(tree, inner, offset),
        Value::Array(items) => {
            let id = tree.add(Data::List(Vec::new()), offset);
            for item in items {
                let child = self::value(tree, item, offset)?;
                tree.attach(id, None, child);
            }
            return Ok(id);
        }
    };
    Ok(tree.add(Data::Scalar(scalar, text), offset))
}
