//! Which variable is decided next? The one that took part in conflicts most, and most recently.

use super::Variable;

/// A heap of variables by activity; equally active ones come in the order they were made.
#[derive(Debug)]
pub(super) struct Activities {
    scores: Vec<f64>,
    heap: Vec<Variable>,
    /// By variable: where it stands in the heap.
    places: Vec<Option<usize>>,
    step: f64,
}

impl Default for Activities {
    fn default() -> Self {
        Self {
            scores: Vec::new(),
            heap: Vec::new(),
            places: Vec::new(),
            step: 1.0,
        }
    }
}

const DECAY: f64 = 0.95;
const LARGEST: f64 = 1e100;

impl Activities {
    /// Adds a variable that was just made.
    pub(super) fn add(&mut self, variable: Variable) {
        self.scores.push(0.0);
        self.places.push(None);
        self.restore(variable);
    }

    /// Puts a variable back that was popped.
    pub(super) fn restore(&mut self, variable: Variable) {
        if self.places[variable.index()].is_none() {
            self.heap.push(variable);
            self.places[variable.index()] = Some(self.heap.len() - 1);
            self.rise(self.heap.len() - 1);
        }
    }

    /// Makes a variable more active.
    pub(super) fn bump(&mut self, variable: Variable) {
        self.scores[variable.index()] += self.step;
        if self.scores[variable.index()] > LARGEST {
            for score in &mut self.scores {
                *score /= LARGEST;
            }
            self.step /= LARGEST;
        }
        if let Some(place) = self.places[variable.index()] {
            self.rise(place);
        }
    }

    /// Makes what happened so far count less.
    pub(super) fn decay(&mut self) {
        self.step /= DECAY;
    }

    /// Takes out variables, most active first, until one is wanted.
    pub(super) fn pop_until(&mut self, is_wanted: impl Fn(Variable) -> bool) -> Option<Variable> {
        loop {
            let variable = self.pop()?;
            if is_wanted(variable) {
                return Some(variable);
            }
        }
    }

    fn pop(&mut self) -> Option<Variable> {
        let top = *self.heap.first()?;
        let last = self.heap.pop().expect("the heap has a first");
        self.places[top.index()] = None;
        if top != last {
            self.heap[0] = last;
            self.places[last.index()] = Some(0);
            self.sink(0);
        }
        Some(top)
    }

    fn is_before(&self, left: Variable, right: Variable) -> bool {
        let (a, b) = (self.scores[left.index()], self.scores[right.index()]);
        a > b || (a == b && left < right)
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.heap.swap(a, b);
        for place in [a, b] {
            self.places[self.heap[place].index()] = Some(place);
        }
    }

    fn rise(&mut self, mut place: usize) {
        while place > 0 {
            let parent = (place - 1) / 2;
            if !self.is_before(self.heap[place], self.heap[parent]) {
                return;
            }
            self.swap(place, parent);
            place = parent;
        }
    }

    fn sink(&mut self, mut place: usize) {
        loop {
            let children = [2 * place + 1, 2 * place + 2].into_iter();
            let best = children
                .filter(|child| *child < self.heap.len())
                .reduce(|a, b| {
                    if self.is_before(self.heap[b], self.heap[a]) {
                        b
                    } else {
                        a
                    }
                });
            match best {
                Some(child) if self.is_before(self.heap[child], self.heap[place]) => {
                    self.swap(place, child);
                    place = child;
                }
                _ => return,
            }
        }
    }
}
