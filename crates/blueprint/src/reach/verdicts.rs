//! The verdicts on resources and options: which can be reached.

use serde_json::Value;

use super::sat::{Answer, Literal};
use super::{Analysis, Question, Reach, Verdict, Why, example, order, why};

/// Answers for every resource and option.
pub(super) fn analyse(question: &mut Question<'_>) -> Analysis {
    let admission = question.circuit.admission.are_met;
    match question.ask(&[admission]) {
        Answer::Yes => {}
        Answer::No => return unreachable(question),
        Answer::Unknown => return unknown(question),
    }
    let mut survey = Survey::new(question);
    survey.take_in();
    survey.ask_for_much();
    let order: Vec<usize> = survey.question.plan.order().to_vec();
    for resource in order {
        survey.resource(resource);
    }
    survey.order_of_options();
    survey.finish()
}

/// The answers so far, while one question after the other is asked.
struct Survey<'q, 'b> {
    question: &'q mut Question<'b>,
    resources: Vec<Option<Verdict>>,
    options: Vec<Vec<Option<Verdict>>>,
    /// By resource: an owner for which the order of options matters.
    examples: Vec<Option<Value>>,
    order_unknown: Vec<usize>,
}

impl<'q, 'b> Survey<'q, 'b> {
    fn new(question: &'q mut Question<'b>) -> Self {
        let choices = question.circuit.resources.iter();
        Self {
            resources: choices.clone().map(|_| None).collect(),
            options: choices
                .map(|choice| vec![None; choice.chosen.len()])
                .collect(),
            examples: vec![None; question.circuit.resources.len()],
            order_unknown: Vec::new(),
            question,
        }
    }

    /// Takes in everything that the last answer shows to be reachable.
    fn take_in(&mut self) {
        let solver = self.question.gates.answer();
        let mut owner = None;
        for (resource, choice) in self.question.circuit.resources.iter().enumerate() {
            if solver.is_true(choice.is_selected) {
                self.resources[resource] = Some(Verdict::Reachable);
            }
            for (known, chosen) in self.options[resource].iter_mut().zip(&choice.chosen) {
                if solver.is_true(*chosen) {
                    *known = Some(Verdict::Reachable);
                }
            }
            if self.examples[resource].is_none() && solver.is_true(choice.order_decides) {
                let owner = owner.get_or_insert_with(|| example::build(self.question));
                self.examples[resource] = Some(owner.clone());
            }
        }
    }

    /// Asks for owners that reach as much as possible at once, as long as each shows much that is new.
    fn ask_for_much(&mut self) {
        let admission = self.question.circuit.admission.are_met;
        let mut open = self.open_targets();
        while !open.is_empty() {
            self.question.gates.prefer(open.iter().copied());
            if self.question.ask(&[admission]) != Answer::Yes {
                return;
            }
            self.take_in();
            let left = self.open_targets();
            if open.len() - left.len() <= open.len() / 32 {
                return;
            }
            open = left;
        }
    }

    fn open_targets(&self) -> Vec<Literal> {
        let choices = self.question.circuit.resources.iter().enumerate();
        choices
            .flat_map(|(resource, choice)| {
                let options = choice.chosen.iter().zip(&self.options[resource]);
                let open = options
                    .filter(|(_, known)| known.is_none())
                    .map(|(chosen, _)| *chosen);
                let own = self.resources[resource]
                    .is_none()
                    .then_some(choice.is_selected);
                own.into_iter().chain(open)
            })
            .collect()
    }

    fn resource(&mut self, resource: usize) {
        if self.resources[resource].is_none() {
            let target = self.question.circuit.resources[resource].is_selected;
            let verdict = self.verdict(target, |question| why::resource(question, resource));
            if let Verdict::Unreachable(why) = &verdict {
                self.question.dead[resource] = Some(why.clone());
            }
            self.resources[resource] = Some(verdict);
        }
        for option in 0..self.options[resource].len() {
            if self.options[resource][option].is_some() {
                continue;
            }
            let target = self.question.circuit.resources[resource].chosen[option];
            let verdict = match &self.resources[resource] {
                Some(Verdict::Unreachable(why)) => Verdict::Unreachable(why.clone()),
                _ => self.verdict(target, |question| why::option(question, resource, option)),
            };
            self.options[resource][option] = Some(verdict);
        }
    }

    /// Finds out whether an owner makes this true; if none does, nothing needs to consider it again.
    fn verdict(&mut self, target: Literal, why: impl FnOnce(&mut Question<'_>) -> Why) -> Verdict {
        let admission = self.question.circuit.admission.are_met;
        match self.question.ask(&[admission, target]) {
            Answer::Yes => {
                self.take_in();
                Verdict::Reachable
            }
            Answer::No => {
                let why = why(self.question);
                self.question.gates.imply(admission, !target);
                Verdict::Unreachable(why)
            }
            Answer::Unknown => Verdict::Unknown,
        }
    }

    fn order_of_options(&mut self) {
        let admission = self.question.circuit.admission.are_met;
        for resource in 0..self.examples.len() {
            if self.examples[resource].is_some() {
                continue;
            }
            let target = self.question.circuit.resources[resource].order_decides;
            if target == !self.question.gates.truth() {
                continue;
            }
            match self.question.ask(&[admission, target]) {
                Answer::Yes => self.take_in(),
                Answer::No => {}
                Answer::Unknown => self.order_unknown.push(resource),
            }
        }
    }

    fn finish(self) -> Analysis {
        let mut order_decides = Vec::new();
        let mut order_unknown = self.order_unknown;
        for (resource, owner) in self.examples.into_iter().enumerate() {
            let Some(owner) = owner else { continue };
            match order::decides(self.question, resource, owner) {
                Ok(found) => order_decides.extend(found),
                Err(order::Exhausted) => order_unknown.push(resource),
            }
        }
        let settled = |verdict: Option<Verdict>| verdict.unwrap_or(Verdict::Unknown);
        let resources = self.resources.into_iter().zip(self.options);
        let resources = resources.map(|(resource, options)| Reach {
            resource: settled(resource),
            options: options.into_iter().map(settled).collect(),
        });
        Analysis {
            resources: resources.collect(),
            order_decides,
            order_unknown,
        }
    }
}

/// The blueprint is for nobody.
fn unreachable(question: &mut Question<'_>) -> Analysis {
    let why = why::admission(question);
    everywhere(question, &Verdict::Unreachable(why), Vec::new())
}

fn unknown(question: &Question<'_>) -> Analysis {
    let all = (0..question.circuit.resources.len()).collect();
    everywhere(question, &Verdict::Unknown, all)
}

fn everywhere(question: &Question<'_>, verdict: &Verdict, order_unknown: Vec<usize>) -> Analysis {
    let choices = question.circuit.resources.iter();
    Analysis {
        resources: choices
            .map(|choice| Reach {
                resource: verdict.clone(),
                options: vec![verdict.clone(); choice.chosen.len()],
            })
            .collect(),
        order_decides: Vec::new(),
        order_unknown,
    }
}
