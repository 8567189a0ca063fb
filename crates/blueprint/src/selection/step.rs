//! The decision for one resource.

use std::collections::HashSet;

use crate::blueprint::{Blueprint, Input, TemplateOption, Templates};
use crate::selector;

/// The decision for one resource of a blueprint. Everything is named by index.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// The resource is stamped, or hands an input on; see [`Blueprint::selected`].
    Selected {
        /// The option that was chosen, if there were several.
        option: Option<usize>,
    },
    /// The resource is not on the path of this owner. Only resources of multi-path blueprints are skipped.
    Skipped(Skip),
    /// No choice can be made.
    Failed(NoTemplate),
}

/// Says why a resource is not on the path of an owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Skip {
    /// Something the resource itself asks for is not so.
    Unmet(Unmet),
    /// None of its options is selected; for each, what is not so.
    NoOption(Vec<Unmet>),
}

/// The first thing that is not as a resource or an option asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unmet {
    /// The selector does not match.
    Selector {
        /// The one of [`crate::selector::requirements`] that does not hold.
        requirement: usize,
    },
    /// The producer of an input is not selected.
    Producer {
        /// The index of the input among its own.
        input: usize,
        /// The index of the resource of the blueprint that produces it.
        producer: usize,
    },
}

/// Says why no template could be chosen for a resource.
#[derive(Debug, Clone, PartialEq)]
pub enum NoTemplate {
    /// No option, or several, match best.
    Matches(Vec<String>),
    /// The selector of an option cannot be evaluated.
    Selector {
        /// The option, by the name of its template.
        option: String,
        /// The fault in its selector.
        reason: selector::Error,
    },
    /// The selector of the resource itself cannot be evaluated.
    OwnSelector(selector::Error),
}

/// The way in which a resource is realized.
#[derive(Debug, Clone, PartialEq)]
pub struct Selected<'b> {
    /// The option that was chosen, if there were several.
    pub option: Option<usize>,
    /// The action.
    pub action: Action<'b>,
    /// The inputs of the resource: its own, then those of the option; each once.
    pub inputs: Vec<&'b Input>,
}

/// The action for a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action<'b> {
    /// Stamp the template of this name.
    Stamp(&'b str),
    /// Hand on the input of this name.
    PassThrough(&'b str),
}

impl Step {
    /// Returns whether the resource is stamped, or hands an input on.
    pub fn is_selected(&self) -> bool {
        matches!(self, Self::Selected { .. })
    }
}

impl Blueprint {
    /// Returns how a resource is realized if this option of it, or its one template, was chosen.
    ///
    /// # Panics
    ///
    /// If the resource has no such option.
    pub fn selected(&self, resource: usize, option: Option<usize>) -> Selected<'_> {
        let resource = &self.resources[resource];
        let chosen = option.map(|option| &resource.options()[option]);
        let action = match (chosen, &resource.templates) {
            (Some(option), _) => action(option),
            (None, Templates::One(name)) => Action::Stamp(name),
            (None, Templates::Options(_)) => panic!("one of several options must be chosen"),
        };
        let of_option = chosen.iter().flat_map(|option| &option.inputs);
        let mut known = HashSet::new();
        let mut inputs: Vec<&Input> = resource.inputs.iter().chain(of_option).collect();
        inputs.retain(|input| known.insert((input.kind, &input.name, &input.producer)));
        Selected {
            option,
            action,
            inputs,
        }
    }
}

fn action(option: &TemplateOption) -> Action<'_> {
    match (&option.name, &option.pass_through) {
        (Some(name), _) => Action::Stamp(name),
        (None, Some(input)) => Action::PassThrough(input),
        (None, None) => Action::Stamp(""),
    }
}
