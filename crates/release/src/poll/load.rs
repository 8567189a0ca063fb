//! Load: the requests that hosts are sent in an interval.

use std::collections::{BTreeMap, HashMap};

use super::sharing::{ImageKey, SourceKey};

/// A number of requests, by host.
pub type Requests = BTreeMap<String, u64>;

/// A question that is asked once an interval, however many trackers ask it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Question {
    /// A question to a repository.
    Source(SourceKey),
    /// A question to a registry.
    Image(ImageKey),
}

/// The requests of polls that find nothing new, by host. All changes are as cheap as what one tracker asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// The questions of each tracker.
    trackers: HashMap<String, Vec<Question>>,
    questions: HashMap<Question, Asked>,
    hosts: HashMap<String, u64>,
}

/// A question that is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Asked {
    /// The number of trackers that do.
    trackers: usize,
    requests: Requests,
}

/// Queries
impl Load {
    /// Returns the requests that a host is sent in an interval.
    pub fn requests(&self, host: &str) -> u64 {
        self.hosts.get(host).copied().unwrap_or_default()
    }

    /// Returns the hosts that the questions of a tracker lead to, some of them perhaps twice.
    pub fn hosts_of(&self, uid: &str) -> impl Iterator<Item = &str> {
        let questions = self.trackers.get(uid).into_iter().flatten();
        let asked = questions.filter_map(|it| self.questions.get(it));
        asked.flat_map(|it| it.requests.keys().map(String::as_str))
    }
}

/// Transitions
impl Load {
    /// Sets what a tracker asks. The requests are an estimate, for questions that nobody has asked yet.
    pub fn ask(&mut self, uid: &str, questions: Vec<(Question, Requests)>) {
        // First the new ones: whatever is asked before and after is not forgotten in between.
        for (question, requests) in &questions {
            match self.questions.get_mut(question) {
                Some(asked) => asked.trackers += 1,
                None => {
                    add(&mut self.hosts, requests);
                    let requests = requests.clone();
                    let asked = Asked {
                        trackers: 1,
                        requests,
                    };
                    self.questions.insert(question.clone(), asked);
                }
            }
        }
        self.remove(uid);
        let questions = questions.into_iter().map(|(question, _)| question);
        self.trackers.insert(uid.to_owned(), questions.collect());
    }

    /// Forgets a tracker, and whatever it alone has asked.
    pub fn remove(&mut self, uid: &str) {
        for question in self.trackers.remove(uid).unwrap_or_default() {
            let Some(asked) = self.questions.get_mut(&question) else {
                continue;
            };
            asked.trackers -= 1;
            if asked.trackers == 0 {
                take_away(&mut self.hosts, &asked.requests);
                self.questions.remove(&question);
            }
        }
    }

    /// Notes the requests that a question took when there was nothing new.
    pub fn learn(&mut self, question: &Question, requests: Requests) {
        if let Some(asked) = self.questions.get_mut(question)
            && asked.requests != requests
        {
            take_away(&mut self.hosts, &asked.requests);
            add(&mut self.hosts, &requests);
            asked.requests = requests;
        }
    }
}

fn add(hosts: &mut HashMap<String, u64>, requests: &Requests) {
    for (host, count) in requests {
        *hosts.entry(host.clone()).or_default() += count;
    }
}

fn take_away(hosts: &mut HashMap<String, u64>, requests: &Requests) {
    for (host, count) in requests {
        if let Some(sum) = hosts.get_mut(host) {
            *sum = sum.saturating_sub(*count);
            if *sum == 0 {
                hosts.remove(host);
            }
        }
    }
}
