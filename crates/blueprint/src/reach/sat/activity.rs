//! The order of decisions: the variable comes first that took part in conflicts most, and most
//! recently.

use super::Variable;

/// A heap of variables by activity; equally active ones come in the order they were made.
#[derive(Debug)]
pub(super) struct Activities {
    scores: Vec<f64>,
    heap: Vec<Variable>,
    /// By variable: where it stands in the heap.
    places: Vec<Option<usize>>,
    is_input: Vec<bool>,
    step: f64,
}

impl Default for Activities {
    fn default() -> Self {
        Self {
            scores: Vec::new(),
            heap: Vec::new(),
            places: Vec::new(),
            is_input: Vec::new(),
            step: 1.0,
        }
    }
}

const DECAY: f64 = 0.95;
const LARGEST: f64 = 1e100;

impl Activities {
    /// Adds a variable that was just made. Only inputs are decided unless others are offered.
    pub(super) fn add(&mut self, variable: Variable, is_input: bool) {
        self.scores.push(0.0);
        self.places.push(None);
        self.is_input.push(is_input);
        self.restore(variable);
    }

    /// Puts an input back that was popped.
    pub(super) fn restore(&mut self, variable: Variable) {
        if self.is_input[variable.index()] {
            self.offer(variable);
        }
    }

    /// Lets a variable be decided, whether it is an input or not.
    pub(super) fn offer(&mut self, variable: Variable) {
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

    fn rise(&mut self, mut place: usize) {
        let rising = self.heap[place];
        while place > 0 {
            let parent = (place - 1) / 2;
            if !self.is_before(rising, self.heap[parent]) {
                break;
            }
            self.heap[place] = self.heap[parent];
            self.places[self.heap[place].index()] = Some(place);
            place = parent;
        }
        self.heap[place] = rising;
        self.places[rising.index()] = Some(place);
    }

    fn sink(&mut self, mut place: usize) {
        let sinking = self.heap[place];
        loop {
            let mut child = 2 * place + 1;
            if child >= self.heap.len() {
                break;
            }
            let right = child + 1;
            if right < self.heap.len() && self.is_before(self.heap[right], self.heap[child]) {
                child = right;
            }
            if !self.is_before(self.heap[child], sinking) {
                break;
            }
            self.heap[place] = self.heap[child];
            self.places[self.heap[place].index()] = Some(place);
            place = child;
        }
        self.heap[place] = sinking;
        self.places[sinking.index()] = Some(place);
    }
}
