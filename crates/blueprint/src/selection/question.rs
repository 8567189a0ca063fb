//! The questions of selectors to an owner, each asked once.
//!
//! A blueprint asks the same few questions again and again: its options nest, and their selectors share
//! requirements. [`Questions`] numbers the distinct ones; [`Answers`] answers them for one owner, each
//! when it is first asked and never twice.

use std::borrow::Cow;
use std::collections::HashMap;

use pathline_jsonpath::{self as jsonpath, JsonPath};
use pathline_kinds::carto::{Operator, Selector};
use serde_json::Value;

use super::span::{self, Span};
use crate::owner::Owner;
use crate::selector::{self, Error, Requirement, Subject};

/// All distinct requirements of a blueprint, and its selectors in terms of them.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Questions {
    labels: HashMap<String, usize>,
    fields: Vec<Field>,
    questions: Vec<Question>,
    /// The questions of all selectors, one selector after the other.
    asked: Vec<u32>,
}

/// One distinct requirement.
#[derive(Debug, Clone, PartialEq)]
enum Question {
    Label(usize, Operator, Vec<String>),
    Field(usize, Operator, Vec<String>),
    Broken(Error),
}

/// A field that requirements are about.
#[derive(Debug, Clone, PartialEq)]
struct Field {
    key: String,
    path: Result<JsonPath, jsonpath::Error>,
}

/// Numbers questions while a plan is made.
#[derive(Default)]
pub(super) struct Interner<'b> {
    questions: Questions,
    known: HashMap<Requirement<'b>, u32>,
    fields: HashMap<&'b str, usize>,
}

impl<'b> Interner<'b> {
    /// Takes in a selector, and returns where its questions stand.
    ///
    /// A broken requirement on labels is an error for every owner, so nothing else is asked then.
    pub(super) fn selector(&mut self, selector: &'b Selector) -> Span {
        let start = self.questions.asked.len();
        for requirement in selector::requirements(selector) {
            let number = self.number(requirement);
            let is_broken = matches!(
                self.questions.questions[number as usize],
                Question::Broken(_)
            );
            if is_broken && matches!(requirement.subject, Subject::Label(_)) {
                self.questions.asked.truncate(start);
                self.questions.asked.push(number);
                break;
            }
            self.questions.asked.push(number);
        }
        Span::new(start, self.questions.asked.len())
    }

    /// Returns all questions.
    pub(super) fn finish(self) -> Questions {
        self.questions
    }

    fn number(&mut self, requirement: Requirement<'b>) -> u32 {
        if let Some(number) = self.known.get(&requirement) {
            return *number;
        }
        let question = self.question(requirement);
        let number = span::small(self.questions.questions.len());
        self.questions.questions.push(question);
        self.known.insert(requirement, number);
        number
    }

    fn question(&mut self, requirement: Requirement<'b>) -> Question {
        let operator = match requirement.operator() {
            Ok(operator) => operator,
            Err(error) => return Question::Broken(error),
        };
        let values = requirement.values.to_vec();
        match requirement.subject {
            Subject::Label(key) => {
                let labels = &mut self.questions.labels;
                let next = labels.len();
                let label = *labels.entry(key.to_owned()).or_insert(next);
                Question::Label(label, operator, values)
            }
            Subject::Field(key) => {
                let fields = &mut self.questions.fields;
                let field = *self.fields.entry(key).or_insert_with(|| {
                    fields.push(Field {
                        key: key.to_owned(),
                        path: JsonPath::parse(key),
                    });
                    fields.len() - 1
                });
                Question::Field(field, operator, values)
            }
        }
    }
}

/// The answers of one owner.
pub(super) struct Answers<'p, 'o> {
    questions: &'p Questions,
    object: &'o Value,
    labels: Vec<Option<&'o str>>,
    fields: Vec<Found<'o>>,
    known: Vec<Option<bool>>,
}

/// The content of a field of an owner, as far as it is known.
#[derive(Clone)]
enum Found<'o> {
    NotLooked,
    Value(Option<Cow<'o, Value>>),
    Error(jsonpath::Error),
}

impl<'p, 'o> Answers<'p, 'o> {
    /// Makes ready to ask an owner.
    pub(super) fn new(questions: &'p Questions, owner: &'o Owner) -> Self {
        let mut labels = vec![None; questions.labels.len()];
        for (key, value) in &owner.labels {
            if let Some(label) = questions.labels.get(key) {
                labels[*label] = Some(value.as_str());
            }
        }
        Self {
            questions,
            object: &owner.object,
            labels,
            fields: vec![Found::NotLooked; questions.fields.len()],
            known: vec![None; questions.questions.len()],
        }
    }

    /// Returns which requirement of a selector is the first that does not hold, if any.
    ///
    /// Fields are only looked at if everything before them holds. The error is boxed because it is
    /// rare, and this is asked for every option of every owner.
    #[inline(always)]
    pub(super) fn first_unmet(&mut self, selector: Span) -> Result<Option<usize>, Box<Error>> {
        let asked = selector.of(&self.questions.asked);
        for (requirement, question) in asked.iter().enumerate() {
            let question = *question as usize;
            let holds = match self.known[question] {
                Some(holds) => holds,
                None => self.ask(question)?,
            };
            if !holds {
                return Ok(Some(requirement));
            }
        }
        Ok(None)
    }

    /// Asks what was not asked before. Kept out of line: nearly everything was.
    #[inline(never)]
    fn ask(&mut self, question: usize) -> Result<bool, Box<Error>> {
        let holds = match &self.questions.questions[question] {
            Question::Label(label, operator, values) => {
                selector::holds(*operator, self.labels[*label].map(Some), values)
            }
            Question::Field(field, operator, values) => {
                selector::holds(*operator, self.field(*field)?, values)
            }
            Question::Broken(error) => return Err(Box::new(error.clone())),
        };
        self.known[question] = Some(holds);
        Ok(holds)
    }

    /// Returns what there is to compare at a field.
    fn field(&mut self, field: usize) -> Result<Option<Option<&str>>, Box<Error>> {
        if matches!(self.fields[field], Found::NotLooked) {
            self.fields[field] = self.look(&self.questions.fields[field].path);
        }
        match &self.fields[field] {
            Found::Value(value) => Ok(value.as_deref().and_then(selector::text)),
            Found::Error(reason) => Err(Box::new(Error::Key {
                key: self.questions.fields[field].key.clone(),
                reason: reason.clone(),
            })),
            Found::NotLooked => unreachable!("it was just looked at"),
        }
    }

    fn look(&self, path: &Result<JsonPath, jsonpath::Error>) -> Found<'o> {
        let found = path.as_ref().map_err(Clone::clone);
        match found.and_then(|path| path.one(self.object)) {
            Ok(value) => Found::Value(value),
            Err(reason) => Found::Error(reason),
        }
    }
}
