//! What those who wait are told, compared with the truth.

use super::check::{self, Fault};
use super::world::{Part, World};
use crate::artifact::Artifact;
use crate::origin::Origin;
use crate::track::Track;
use crate::wait::{self, Never, Options, Verdict, Wish};

/// Checks that nobody is told that what the owner has now has arrived before it has, or that it
/// can't happen while it still can. Somebody else is asked at each step. Returns how often
/// somebody was told that it has.
pub(super) fn told(world: &mut World, step: usize) -> Result<u64, Fault> {
    let mut asked = wishes(world);
    let wishes = asked.swap_remove(step % asked.len());
    let verdict = judge(world, &wishes);
    match verdict {
        Verdict::Holds(_) => holds(world, &wishes).map(|()| 1),
        Verdict::Never(Never::Superseded { .. } | Never::NotOnPath { .. }) => {
            Err(fault(&wishes, &verdict, "is what the owner has now"))
        }
        Verdict::Unproven(_) if world.parts.iter().all(|it| will_be_proven(world, it)) => {
            Err(fault(&wishes, &verdict, "will be proven"))
        }
        Verdict::Never(_) | Verdict::Unproven(_) | Verdict::Waiting(_) => Ok(0),
    }
}

/// Checks that what well-behaved controllers have settled ends every waiting.
pub(super) fn ended(world: &mut World) -> Result<(), Fault> {
    let verdict = judge(world, &[Wish::Current]);
    match verdict {
        Verdict::Holds(_) => Ok(()),
        other => Err(fault(&[Wish::Current], &other, "has arrived")),
    }
}

/// Tells whether proof is to come. That an object was replaced, and the new one will prove what the
/// old one never could, nobody can know before it is seen.
fn will_be_proven(world: &World, part: &Part) -> bool {
    let memory = world.state.recollect(&part.name);
    let applied = memory.and_then(|it| it.last_apply()).map(|it| &it.uid);
    check::is_certain(part) && applied == part.objects.last().map(|it| &it.uid)
}

/// Each param for itself, and all of them together.
fn wishes(world: &World) -> Vec<Vec<Wish>> {
    let wish = |(name, value): (&&str, &Artifact)| -> Wish {
        let wish = format!("{name}={}", value.shown());
        wish.parse().expect("a wish")
    };
    let each: Vec<_> = world.owner.iter().map(wish).collect();
    let alone = each.iter().map(|it| vec![it.clone()]);
    alone.chain([vec![Wish::Current]]).collect()
}

fn judge(world: &mut World, wishes: &[Wish]) -> Verdict {
    let mut track = Track {
        state: std::mem::take(&mut world.state),
        ..Track::default()
    };
    let verdict = wait::judge(&track, wishes, Options::default());
    world.state = std::mem::take(&mut track.state);
    verdict
}

fn holds(world: &World, wishes: &[Wish]) -> Result<(), Fault> {
    let asked = |name: &str| {
        let named = format!("{name}=");
        wishes
            .iter()
            .any(|it| *it == Wish::Current || it.to_string().starts_with(&named))
    };
    for (name, value) in world.owner.iter().filter(|(name, _)| asked(name)) {
        check::really_arrived(world, &Origin::owner(*name), value)?;
    }
    Ok(())
}

fn fault(wishes: &[Wish], verdict: &Verdict, truth: &str) -> Fault {
    Fault::new(format!(
        "{wishes:?} {truth}, and who waits is told {verdict:?}"
    ))
}
