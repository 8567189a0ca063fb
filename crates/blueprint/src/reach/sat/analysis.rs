//! The analysis of a conflict: what follows from it.

use super::{Literal, Solver};

impl Solver {
    /// Learns the clause that would have prevented a conflict, and returns to where it says something.
    pub(super) fn learn_from(&mut self, conflict: usize) {
        let learnt = self.first_unique_implication(conflict);
        self.activities.decay();
        if let [unit] = learnt[..] {
            self.backtrack(0);
            self.assign(unit, None);
            return;
        }
        self.backtrack(self.levels[learnt[1].variable().index()]);
        let clause = self.store(&learnt);
        self.assign(learnt[0], Some(clause));
    }

    /// Resolves a conflict until one literal of the current level is left. That one comes first, then
    /// one of the next highest level.
    fn first_unique_implication(&mut self, conflict: usize) -> Vec<Literal> {
        let mut below = Vec::new();
        let mut marked = Vec::new();
        let mut open = 0;
        let mut clause = conflict;
        let mut resolved = None;
        let mut place = self.trail.len();
        let asserting = loop {
            for literal in self.antecedents(clause, resolved) {
                let variable = literal.variable();
                let level = self.levels[variable.index()];
                if self.marks[variable.index()] || level == 0 {
                    continue;
                }
                self.marks[variable.index()] = true;
                marked.push(literal);
                self.activities.bump(variable);
                if level == self.level() {
                    open += 1;
                } else {
                    below.push(literal);
                }
            }
            let literal = loop {
                place -= 1;
                if self.marks[self.trail[place].variable().index()] {
                    break self.trail[place];
                }
            };
            open -= 1;
            match self.reasons[literal.variable().index()] {
                Some(reason) if open > 0 => {
                    clause = reason;
                    resolved = Some(literal);
                }
                _ => break !literal,
            }
        };
        below.retain(|literal| !self.is_redundant(*literal));
        for literal in marked {
            self.marks[literal.variable().index()] = false;
        }
        let highest = below
            .iter_mut()
            .max_by_key(|literal| self.levels[literal.variable().index()]);
        let highest = highest.map(|literal| *literal);
        below.sort_unstable_by_key(|literal| Some(*literal) != highest);
        below.insert(0, asserting);
        below
    }

    /// Returns the literals of a clause but the one it implied.
    fn antecedents(&self, clause: usize, implied: Option<Literal>) -> Vec<Literal> {
        let literals = self.literals(clause).iter();
        literals
            .filter(|literal| Some(**literal) != implied)
            .copied()
            .collect()
    }

    fn literals(&self, clause: usize) -> &[Literal] {
        let span = self.clauses[clause];
        &self.pool[span.start..span.start + span.length]
    }

    /// Says whether the other marked literals imply this one.
    fn is_redundant(&self, literal: Literal) -> bool {
        let reason = self.reasons[literal.variable().index()];
        reason.is_some_and(|reason| {
            self.literals(reason).iter().all(|other| {
                let variable = other.variable().index();
                *other == !literal || self.marks[variable] || self.levels[variable] == 0
            })
        })
    }

    /// Returns the assumptions that exclude this one, with it.
    pub(super) fn excluders(&mut self, assumption: Literal) -> Vec<Literal> {
        let mut core = vec![assumption];
        let mut marked = vec![assumption.variable()];
        let first = self
            .level_starts
            .first()
            .copied()
            .unwrap_or(self.trail.len());
        self.marks[assumption.variable().index()] = true;
        for place in (first..self.trail.len()).rev() {
            let literal = self.trail[place];
            if !self.marks[literal.variable().index()] {
                continue;
            }
            match self.reasons[literal.variable().index()] {
                None => core.push(literal),
                Some(reason) => {
                    for other in self.antecedents(reason, Some(literal)) {
                        let variable = other.variable();
                        if !self.marks[variable.index()] && self.levels[variable.index()] > 0 {
                            self.marks[variable.index()] = true;
                            marked.push(variable);
                        }
                    }
                }
            }
        }
        for variable in marked {
            self.marks[variable.index()] = false;
        }
        core
    }
}
