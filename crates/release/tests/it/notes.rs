//! Notes about deployments, which move nothing.

use pathline_release::queue::{Queues, Report};

use crate::support::{mk_flow, mk_queues, mk_release, report, second, tick};

fn message(queues: &Queues) -> Option<&str> {
    let entry = queues.entry("dev", 1).expect("it is there");
    entry.message.as_deref()
}

fn note(queues: &mut Queues, attempt: u32, text: &str) {
    queues.note(("dev", 1), attempt, Some(text.to_owned()));
}

#[test]
fn deployment_under_way_has_the_last_note_about_it() {
    let flow = mk_flow(&[("dev", 0)]);
    let mut queues = mk_queues();
    queues.enter(&flow, &mk_release(1, "1.0.0"), second(1));
    note(&mut queues, 0, "nothing was begun");
    assert_eq!(message(&queues), None, "it is queued");
    tick(&mut queues, &flow, &["dev"], second(60));
    note(&mut queues, 0, "no path");
    assert_eq!(message(&queues), Some("no path"));
    note(&mut queues, 1, "of another attempt");
    assert_eq!(message(&queues), Some("no path"));
    queues.note(("dev", 1), 0, None);
    assert_eq!(message(&queues), None);
    queues.note(("dev", 2), 0, Some("of nothing".to_owned()));
    assert_eq!(queues.entry("dev", 2), None);
}

#[test]
fn what_is_deployed_has_only_notes_that_came_after_it() {
    let flow = mk_flow(&[("dev", 0)]);
    let mut queues = mk_queues();
    queues.enter(&flow, &mk_release(1, "1.0.0"), second(1));
    tick(&mut queues, &flow, &["dev"], second(60));
    note(&mut queues, 0, "waiting");
    report(&mut queues, &flow, "dev", Report::Ready, second(61));
    assert_eq!(message(&queues), None);
    note(&mut queues, 0, "nothing reads `config`");
    assert_eq!(message(&queues), Some("nothing reads `config`"));
}

#[test]
fn reason_of_a_failure_is_not_written_over() {
    let flow = mk_flow(&[("dev", 0)]);
    let mut queues = mk_queues();
    queues.enter(&flow, &mk_release(1, "1.0.0"), second(1));
    tick(&mut queues, &flow, &["dev"], second(60));
    let failed = Report::Failed("crash loop".to_owned());
    report(&mut queues, &flow, "dev", failed, second(61));
    note(&mut queues, 0, "waiting");
    assert_eq!(message(&queues), Some("crash loop"));
}
