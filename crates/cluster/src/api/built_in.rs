//! The server's own kinds, as resources.

use super::columns::Column;
use super::resource::{Origin, Resource, Scale};
use super::rules::Rules;
use super::selectable;
use crate::builtin::{self, BuiltinKind};
use crate::store::Collection;

/// Returns every built-in resource.
pub(crate) fn resources() -> Vec<Resource> {
    builtin::kinds().iter().map(resource).collect()
}

fn resource(kind: &'static BuiltinKind) -> Resource {
    let rules = Rules::built_in(kind.group, kind.plural);
    let texts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let group = if rules.is_converted_event {
        ""
    } else {
        kind.group
    };
    Resource {
        group: kind.group.to_owned(),
        version: kind.version.to_owned(),
        kind: kind.kind.to_owned(),
        list_kind: format!("{}List", kind.kind),
        plural: kind.plural.to_owned(),
        singular: kind.singular.to_owned(),
        short_names: texts(kind.short_names),
        categories: texts(kind.categories),
        namespaced: kind.namespaced,
        collection: Collection::new(group, kind.plural),
        schema: kind.schema().clone(),
        has_status: kind.has_status,
        has_generation: kind.has_generation,
        scale: kind.has_scale.then(replicas),
        columns: kind.columns.iter().map(Column::BuiltIn).collect(),
        selectable: selectable::built_in(kind.group, kind.plural),
        rules,
        origin: Origin::BuiltIn,
    }
}

fn replicas() -> Scale {
    let path = |first: &str, second: &str| vec![first.to_owned(), second.to_owned()];
    Scale {
        spec_replicas: path("spec", "replicas"),
        status_replicas: path("status", "replicas"),
        selector: Some(path("spec", "selector")),
    }
}
