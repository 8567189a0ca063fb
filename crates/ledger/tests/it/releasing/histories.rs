//! Random histories: queues that are restored for each action, from what has to be restored, go on as those that have
//! everything in memory.

mod flows;
mod twins;

use pathline_testkit::{Dice, is_nightly};

use self::twins::Twins;
use crate::home::Home;

on_both!(queues_go_on_as_if_they_were_never_stored);

const STEPS: usize = 90;

async fn queues_go_on_as_if_they_were_never_stored(home: &Home) -> anyhow::Result<()> {
    let seeds = if is_nightly() { 60 } else { 5 };
    let mut moved = 0;
    for seed in 0..seeds {
        let mut twins = Twins::new(home, Dice::new(seed), &format!("shop.app{seed}")).await?;
        for step in 0..STEPS {
            let told = twins.step().await?;
            twins
                .compare(&format!("seed {seed}, step {step}: {told}"))
                .await?;
        }
        moved += twins.moved();
        // Nothing of it waits any more for the ticks of the next one.
        twins.delete().await?;
    }
    // A model in which nothing happens would be noticed.
    assert!(moved > 25 * usize::try_from(seeds)?, "{moved} moves");
    Ok(())
}
