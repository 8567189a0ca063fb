//! Does an object say which inputs it was made from? Correlation rules, and `observedMatches`.

use pathline_jsonpath::JsonPath;
use pathline_jsonpath::{FieldPath, Segment};
use serde_json::Value;

use crate::blueprint::{Blueprint, Input, Resource};
use crate::evaluate;
use crate::interpolate;
use crate::owner::Owner;
use crate::stamp::Stamp;
use crate::template::{Body, OutputRule, Template};
use crate::template_reads::{Offer, Reads};

/// Returns the inputs that the rules of a template name: no rule can prove any other.
pub fn named(
    owner: &Owner,
    blueprint: &Blueprint,
    resource: &Resource,
    template: &Template,
    inputs: &[&Input],
) -> Reads {
    let offer = Offer {
        owner,
        blueprint,
        resource,
        template,
        inputs,
    };
    let named: Vec<FieldPath> = rules(template).map(|rule| rule.place).collect();
    Reads::at(&named, offer)
}

/// Returns the inputs of which an object says that it used them as they are in `stamp`.
///
/// `rendered` is what was rendered of the stamp, `live` the object as it is now. An input that several
/// rules name is only proven if all of them hold.
pub fn matched(stamp: &Stamp<'_>, rendered: &Value, live: &Value) -> Reads {
    let mut matched = Reads::default();
    let rules: Vec<Rule<'_>> = rules(stamp.template).collect();
    if rules.is_empty() {
        return matched;
    }
    let context = stamp.typed_context();
    let mut refuted = Reads::default();
    for rule in rules {
        let named = stamp.offering(|offer| Reads::at([&rule.place], offer));
        if rule.holds(&context, rendered, live) {
            matched.extend(named);
        } else {
            refuted.extend(named);
        }
    }
    matched.remove(&refuted);
    matched
}

/// Returns the place of the context that a path of names leads to, if comparing what is there
/// proves an input as a whole.
///
/// A part that is equal does not prove the rest. Of a source the revision is enough: it is there to
/// tell sources apart.
pub(crate) fn provable(input: &str) -> Option<FieldPath> {
    let path = JsonPath::parse(input).ok()?;
    let names = path.names()?;
    let fields = names.iter().map(|name| Segment::Field((*name).to_owned()));
    let place: FieldPath = fields.collect();
    let is_whole = match names[..] {
        ["source" | "deployment" | "image" | "config"] => true,
        ["source" | "deployment", "revision"] => true,
        ["sources" | "images" | "configs" | "params", _] => true,
        ["sources", _, "revision"] | ["images", _, "image"] | ["configs", _, "config"] => true,
        ["workload" | "deliverable", ..] => {
            let mut reads = Reads::default();
            reads.look_at_owner(&place.segments()[1..]);
            !reads.is_empty()
        }
        _ => false,
    };
    is_whole.then_some(place)
}

/// One claim: once the object has this value there, it was made from this input.
struct Rule<'t> {
    /// The input, as a place of the context.
    place: FieldPath,
    wanted: Wanted<'t>,
    /// The path at which the object says what it used.
    output: &'t str,
}

/// The path of the value that must be found in the object.
enum Wanted<'t> {
    Context(&'t str),
    Rendered(&'t str),
}

impl Rule<'_> {
    fn holds(&self, context: &Value, rendered: &Value, live: &Value) -> bool {
        // What we wrote there ourselves says nothing about what was used.
        if evaluate::value(self.output, rendered).is_ok() {
            return false;
        }
        let wanted = match self.wanted {
            Wanted::Context(path) => evaluate::present(path, context),
            Wanted::Rendered(path) => evaluate::present(path, rendered),
        };
        let found = evaluate::present(self.output, live);
        matches!((wanted, found), (Ok(wanted), Ok(found)) if wanted == found)
    }
}

fn rules(template: &Template) -> impl Iterator<Item = Rule<'_>> {
    let declared = template.tracing.correlation_rules.iter().flatten();
    let declared = declared.filter_map(|rule| {
        Some(Rule {
            place: provable(&rule.input)?,
            wanted: Wanted::Context(&rule.input),
            output: &rule.output,
        })
    });
    let matches = match &template.output {
        OutputRule::Matches(matches) => matches.as_slice(),
        _ => &[],
    };
    let matches = matches.iter().filter_map(|pair| {
        Some(Rule {
            place: stamped_at(&template.body, &pair.input)?,
            wanted: Wanted::Rendered(&pair.input),
            output: &pair.output,
        })
    });
    declared.chain(matches)
}

/// Returns which input, as a whole, a template stamps at a path of its object.
fn stamped_at(body: &Body, path: &str) -> Option<FieldPath> {
    let Body::Interpolated(body) = body else {
        return None;
    };
    let written = evaluate::value(path, body).ok()?;
    provable(interpolate::whole_tag(written.as_str()?)?)
}
