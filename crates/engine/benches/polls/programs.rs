//! The cost of the programs that people poll with: `git ls-remote` and `crane digest`.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use pathline_testkit::go_tool;

use crate::fleet::{Addresses, Member};
use crate::meter::cpu_of_children;

/// Returns the CPU time of one poll by programs, in seconds, over so many of the same repositories and images; nothing
/// where there is no `crane`.
pub(crate) fn cpu_of_a_poll(
    addresses: &Addresses,
    trackers: usize,
    samples: usize,
) -> Result<Option<[f64; 2]>> {
    let Some(crane) = go_tool("polls by programs", "crane") else {
        return Ok(None);
    };
    let directory = tempfile::tempdir()?;
    let samples = samples.min(trackers);
    let members = Member::all(trackers).step_by(trackers / samples);
    let members: Vec<_> = members.take(samples).collect();
    let begin = cpu_of_children()?;
    for member in &members {
        let mut git = Command::new("git");
        git.args(["ls-remote", &member.url(addresses), "HEAD"])
            .current_dir(directory.path());
        run(&mut git)?;
    }
    let after_git = cpu_of_children()?;
    for member in &members {
        let mut digest = Command::new(&crane);
        digest
            .args(["digest", "--insecure", &member.image(addresses)])
            .env("DOCKER_CONFIG", directory.path());
        run(&mut digest)?;
    }
    let after_crane = cpu_of_children()?;
    let count = members.len() as f64;
    Ok(Some([
        (after_git - begin) / count,
        (after_crane - after_git) / count,
    ]))
}

fn run(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("{command:?}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}: {said}");
    Ok(())
}
