//! The table of the state machine: cases of polls, ticks and reports, each with what there is after it.

use pathline_release::simulate::simulate;
use pathline_testkit::{shared_dir, skip};
use serde_json::{Value, json};

/// The rows: id, title, steps, omitted environments, and then releases, the pending configuration, conditions and
/// entries.
const ROWS: &str = "\
S01 | first ingestion, container exists | p r=latest:D1 g=C1@latest | - | 1:C1/latest@D1:initial | - | - | dev.1=queued
S02 | first ingestion, container absent | p r=0 g=C1@latest | - | - | C1 | AwaitingContainer,ImageNotFound | -
S04 | container exists, config file missing | p r=latest:D1 g=0 | - | - | - | ConfigMissing | -
S05 | config fixed later | p r=latest:D1 g=? ; p r== g=C1@latest | - | 1:C1/latest@D1:initial | - | - | dev.1=queued
S07 | config change alone is queued | p r=latest:D1 g=C1@latest ; p g=C2@latest | - | 1:C1/latest@D1:initial | C2 | ConfigQueued | dev.1=queued
S08 | second config change replaces the first | p r=latest:D1 g=C1@latest ; p g=C2@latest ; p g=C3@latest | - | 1:C1/latest@D1:initial | C3 | ConfigQueued | dev.1=queued
S10 | invalid config keeps earlier pending | p r=latest:D1 g=C1@latest ; p g=C2@latest ; p g=? | - | 1:C1/latest@D1:initial | C2 | ConfigInvalid,ConfigQueued | dev.1=queued
S11 | config deleted upstream keeps earlier pending | p r=latest:D1 g=C1@latest ; p g=C2@latest ; p g=0 | - | 1:C1/latest@D1:initial | C2 | ConfigMissing,ConfigQueued | dev.1=queued
S13 | container updated alone | p r=latest:D1 g=C1@latest ; p r=latest:D2 | - | 1:C1/latest@D1:initial 2:C1/latest@D2:container_updated | - | - | dev.1=superseded dev.2=queued
S14 | queued config released by container update | p r=latest:D1 g=C1@latest ; p g=C2@latest ; p r=latest:D2 | - | 1:C1/latest@D1:initial 2:C2/latest@D2:container_updated | - | - | dev.1=superseded dev.2=queued
S16 | two config changes then container: only newest ships | p r=latest:D1 g=C1@latest ; p g=C2@latest ; p g=C3@latest ; p r=latest:D2 | - | 1:C1/latest@D1:initial 2:C3/latest@D2:container_updated | - | - | dev.1=superseded dev.2=queued
S17 | digest flaps back: a new release, not a duplicate of 1 | p r=latest:D1 g=C1@latest ; p r=latest:D2 ; p r=latest:D1 | - | 1:C1/latest@D1:initial 2:C1/latest@D2:container_updated 3:C1/latest@D1:container_updated | - | - | dev.1=superseded dev.2=superseded dev.3=queued
S19 | then config readable again: no event lost | p r=latest:D1 g=C1@latest ; p r=latest:D2 g=! ; p r== g== | - | 1:C1/latest@D1:initial 2:C1/latest@D2:container_updated | - | - | dev.1=superseded dev.2=queued
S20 | registry error: no release, config still queued | p r=latest:D1 g=C1@latest ; p r=! g=C2@latest | - | 1:C1/latest@D1:initial | C2 | ConfigQueued,RegistryError | dev.1=queued
S22 | label returns with same digest: nothing | p r=latest:D1 g=C1@latest ; p r=other:D9 ; p r=latest:D1 | - | 1:C1/latest@D1:initial | - | - | dev.1=queued
S23 | pinned version re-pushed | p r=1.2.3:D1 g=C1@1.2.3 ; p r=1.2.3:D2 | - | 1:C1/1.2.3@D1:initial 2:C1/1.2.3@D2:container_updated | - | - | dev.1=superseded dev.2=queued
S25 | new version outside range ignored | p r=1.0.0:D1 g=C1@1.0.x ; p r=1.0.0:D1,1.1.0:D2 | - | 1:C1/1.0.0@D1:initial | - | - | dev.1=queued
S26 | queued config released by new version | p r=1.0.0:D1 g=C1@1.0.x ; p g=C2@1.0.x ; p r=1.0.0:D1,1.0.1:D2 | - | 1:C1/1.0.0@D1:initial 2:C2/1.0.1@D2:version_created | - | - | dev.1=superseded dev.2=queued
S28 | highest tag deleted: no downgrade | p r=1.0.0:D1,1.0.1:D2 g=C1@1.0.x ; p r=1.0.0:D1 | - | 1:C1/1.0.1@D2:initial | - | VersionRegressed | dev.1=queued
S29 | pre-release ignored by plain range | p r=1.0.0:D1 g=C1@1.x ; p r=1.0.0:D1,1.1.0-rc.1:D2 | - | 1:C1/1.0.0@D1:initial | - | - | dev.1=queued
S31 | v-twin of the running version pushed: nothing | p r=1.0.0:D1 g=C1@1.x ; p r=1.0.0:D1,v1.0.0:D2 | - | 1:C1/1.0.0@D1:initial | - | - | dev.1=queued
S32 | short hash tag is not a version | p r=1.2.4:D1 g=C1@>=1.2.3 ; p r=1.2.4:D1,917005:D2 | - | 1:C1/1.2.4@D1:initial | - | - | dev.1=queued
S34 | ... container built | p r=1.2.3:D1 g=C1@1.2.3 ; p g=C2@1.2.4 ; p r=1.2.3:D1,1.2.4:D2 | - | 1:C1/1.2.3@D1:initial 2:C2/1.2.4@D2:version_created | - | - | dev.1=superseded dev.2=queued
S35 | container built before the config bump | p r=1.2.3:D1 g=C1@1.2.3 ; p r=1.2.3:D1,1.2.4:D2 ; p g=C2@1.2.4 | - | 1:C1/1.2.3@D1:initial 2:C2/1.2.4@D2:version_created | - | - | dev.1=superseded dev.2=queued
S37 | config moves label back: explicit downgrade allowed | p r=1.2.3:D1,1.2.4:D2 g=C1@1.2.4 ; p g=C2@1.2.3 | - | 1:C1/1.2.4@D2:initial 2:C2/1.2.3@D1:label_changed | - | - | dev.1=superseded dev.2=queued
S38 | config switches fixed label | p r=latest:D1,stable:D5 g=C1@latest ; p g=C2@stable | - | 1:C1/latest@D1:initial 2:C2/stable@D5:label_changed | - | - | dev.1=superseded dev.2=queued
S40 | dev tick deploys | p r=latest:D1 g=C1@latest ; t dev | - | 1:C1/latest@D1:initial | - | - | dev.1=deploying
S41 | ready in dev queues ha | p r=latest:D1 g=C1@latest ; t dev ; k dev | - | 1:C1/latest@D1:initial | - | - | dev.1=deployed ha.1=queued
S43 | tick before anything queued is a no-op | p r=latest:D1 g=C1@latest ; t ha ; t prod | - | 1:C1/latest@D1:initial | - | - | dev.1=queued
S44 | simultaneous ticks never move one release two steps | p r=latest:D1 g=C1@latest ; t dev ; k dev ; t dev ha preprod prod | - | 1:C1/latest@D1:initial | - | - | dev.1=deployed ha.1=deploying
S46 | failed in dev never reaches ha | p r=latest:D1 g=C1@latest ; t dev ; x dev ; t ha | - | 1:C1/latest@D1:initial | - | - | dev.1=failed
S47 | failed release is not retried by later ticks | p r=latest:D1 g=C1@latest ; t dev ; x dev ; t dev ; t dev | - | 1:C1/latest@D1:initial | - | - | dev.1=failed
S49 | new release while dev is deploying waits for next tick | p r=latest:D1 g=C1@latest ; t dev ; p r=latest:D2 ; t dev ; k dev | - | 1:C1/latest@D1:initial 2:C1/latest@D2:container_updated | - | - | dev.1=deployed dev.2=queued ha.1=queued
S50 | ha slow: newest ready wins, older is superseded | p r=latest:D1 g=C1@latest ; t dev ; k dev ; p r=latest:D2 ; t dev ; k dev ; t ha ; k ha | - | 1:C1/latest@D1:initial 2:C1/latest@D2:container_updated | - | - | dev.1=deployed dev.2=deployed ha.1=superseded ha.2=deployed preprod.2=queued
S52 | failure in ha stops that release only | p r=latest:D1 g=C1@latest ; t dev ; k dev ; t ha ; x ha ; p r=latest:D2 ; t dev ; k dev ; t ha ; k ha | - | 1:C1/latest@D1:initial 2:C1/latest@D2:container_updated | - | - | dev.1=deployed dev.2=deployed ha.1=failed ha.2=deployed preprod.2=queued
S53 | omitted environment is skipped | p r=latest:D1 g=C1@latest ; t dev ; k dev | ha | 1:C1/latest@D1:initial | - | - | dev.1=deployed ha.1=skipped preprod.1=queued
S55 | restart while deploying: same attempt, no second entry | p r=latest:D1 g=C1@latest ; t dev ; restart ; t dev ; k dev | - | 1:C1/latest@D1:initial | - | - | dev.1=deployed ha.1=queued
S56 | duplicate ready report | p r=latest:D1 g=C1@latest ; t dev ; k dev ; k dev | - | 1:C1/latest@D1:initial | - | - | dev.1=deployed ha.1=queued
S58 | delete while deploying: finishes, does not advance | p r=latest:D1 g=C1@latest ; t dev ; del ; k dev | - | 1:C1/latest@D1:initial | - | - | dev.1=deployed
S59 | delete drops queued config and stops polling | p r=latest:D1 g=C1@latest ; p g=C2@latest ; del ; p r=latest:D2 | - | 1:C1/latest@D1:initial | - | - | dev.1=cancelled
";

/// Checks the answer to a case.
fn check(case: &Value, expected: &Value) {
    let answer = simulate(case).expect("a case");
    let answer = serde_json::to_value(answer).expect("an answer");
    for field in ["releases", "pending", "conditions", "environments"] {
        assert_eq!(answer[field], expected[field], "{field} of {case}");
    }
}

#[test]
fn cases_of_the_table_end_as_it_says() {
    for row in ROWS.lines() {
        let columns: Vec<&str> = row.split(" | ").collect();
        let [
            id,
            title,
            steps,
            omitted,
            releases,
            pending,
            conditions,
            environments,
        ] = columns[..]
        else {
            panic!("{row}");
        };
        let steps: Vec<&str> = steps.split(" ; ").collect();
        let omitted: Vec<&str> = omitted.split(',').filter(|it| *it != "-").collect();
        let case = json!({"id": id, "title": title, "steps": steps, "options": {"omit": omitted}});
        let expected = json!({"releases": releases, "pending": pending, "conditions": conditions,
                              "environments": environments});
        check(&case, &expected);
    }
    assert_eq!(ROWS.lines().count(), 40);
}

#[test]
fn cases_end_as_the_shared_ones_say() {
    let Some(shared) = shared_dir() else {
        return skip("shared cases of trackers", "there is no shared directory");
    };
    let cases = std::fs::read(shared.join("cases/tracker-state-machine.json")).expect("the cases");
    let cases: Vec<Value> = serde_json::from_slice(&cases).expect("they are JSON");
    for case in &cases {
        check(case, case);
    }
}

/// Returns what is answered to steps and options.
fn answer(steps: &[&str], options: &Value) -> Value {
    let answer = simulate(&json!({"steps": steps, "options": options})).expect("a case");
    serde_json::to_value(answer).expect("an answer")
}

#[test]
fn image_that_moves_while_the_configuration_cannot_be_read_waits_for_it() {
    let first = "p r=latest:D1 g=C1@latest";
    for (read, expected) in [
        ("g=!", "SourceError,WaitingForConfig"),
        ("g=?", "ConfigInvalid,WaitingForConfig"),
        ("g=0", "ConfigMissing,WaitingForConfig"),
    ] {
        let answer = answer(&[first, &format!("p r=latest:D2 {read}")], &json!({}));
        assert_eq!(answer["releases"], "1:C1/latest@D1:initial");
        assert_eq!(answer["conditions"], expected);
    }
    // What is not valid stays so for as long as nothing changes.
    let answer = answer(&[first, "p g=?", "p r=latest:D2"], &json!({}));
    assert_eq!(answer["conditions"], "ConfigInvalid,WaitingForConfig");
}

#[test]
fn registry_that_answers_nonsense_has_failed() {
    let steps = ["p r=latest:D1 g=C1@latest", "p r=?"];
    let answer = answer(&steps, &json!({}));
    assert_eq!(answer["conditions"], "RegistryError");
}

#[test]
fn vetos_are_written_as_in_an_application_file_or_in_short() {
    let steps = ["p r=latest:D1 g=C1@latest"];
    for options in [
        json!({"autoDeploy": false}),
        json!({"veto": true}),
        json!({"vetos": {"autoDeploy": false}}),
    ] {
        let answer = answer(&steps, &options);
        assert_eq!(answer["environments"], "dev.1=held", "{options}");
    }
    let omitted = json!({"vetos": {"omitFromNamespaces": ["dev"]}});
    let answer = answer(&steps, &omitted);
    assert_eq!(answer["environments"], "dev.1=skipped ha.1=queued");
}

#[test]
fn tag_that_is_gone_is_told_and_nothing_happens() {
    let first = "p r=latest:D1 g=C1@latest";
    let gone = answer(&[first, "p r=other:D9"], &json!({}));
    assert_eq!(
        (&gone["conditions"], &gone["environments"]),
        (&json!("SelectedTagGone"), &json!("dev.1=queued"))
    );
    let nowhere = answer(&[first, "p r=0"], &json!({}));
    assert_eq!(nowhere["conditions"], "ImageNotFound,SelectedTagGone");
    let error = answer(&[first, "p r=!"], &json!({}));
    assert_eq!(error["conditions"], "RegistryError");
}

#[test]
fn configuration_that_goes_back_to_what_is_released_waits_no_longer() {
    let answer = answer(
        &[
            "p r=latest:D1 g=C1@latest",
            "p g=C2@latest",
            "p g=C1@latest",
        ],
        &json!({}),
    );
    assert_eq!(
        (&answer["pending"], &answer["conditions"]),
        (&json!("-"), &json!("-"))
    );
}

#[test]
fn old_label_goes_on_while_the_new_one_waits_for_its_image() {
    let answer = answer(
        &["p r=1.2.3:D1 g=C1@1.2.3", "p g=C2@1.2.4", "p r=1.2.3:D9"],
        &json!({}),
    );
    assert_eq!(
        answer["releases"],
        "1:C1/1.2.3@D1:initial 2:C1/1.2.3@D9:container_updated"
    );
    assert_eq!(
        (&answer["pending"], &answer["conditions"]),
        (&json!("C2"), &json!("AwaitingContainer"))
    );
}

#[test]
fn digest_waits_until_its_manifest_exists() {
    let digest = format!("sha256:{}", "a".repeat(64));
    let configure = format!("p r=latest:D1 g=C1@{digest}");
    let waiting = answer(&[&configure], &json!({}));
    assert_eq!(
        (&waiting["releases"], &waiting["conditions"]),
        (&json!("-"), &json!("AwaitingContainer"))
    );
    for pushed in [format!("p r=latest:{digest}"), format!("p r={digest}")] {
        let released = answer(&[&configure, &pushed], &json!({}));
        assert_eq!(
            released["releases"],
            format!("1:C1/{digest}@{digest}:initial")
        );
    }
}

#[test]
fn label_with_blanks_and_a_label_that_is_none_are_read() {
    let spaced = answer(&["p r=1.2.3:D1,4.0.0:D2 g=C1@>=1.1 <2 || > 5"], &json!({}));
    assert_eq!(spaced["releases"], "1:C1/1.2.3@D1:initial");
    let wrong = answer(&["p r=1.2.3:D1 g=C1@>="], &json!({}));
    assert_eq!(wrong["conditions"], "ConfigInvalid");
}

#[test]
fn vetoed_release_is_held_in_every_environment_until_it_is_promoted() {
    let options = json!({"autoDeploy": false});
    let held = answer(&["p r=latest:D1 g=C1@latest", "t dev"], &options);
    assert_eq!(held["environments"], "dev.1=held");
    let steps = [
        "p r=latest:D1 g=C1@latest",
        "promote dev",
        "t dev",
        "k dev",
        "t ha",
    ];
    assert_eq!(
        answer(&steps, &options)["environments"],
        "dev.1=deployed ha.1=held"
    );
    let steps = ["p r=latest:D1 g=C1@latest", "promote", "t dev"];
    assert_eq!(answer(&steps, &options)["environments"], "dev.1=deploying");
}

#[test]
fn accepted_levels_of_a_case_are_kept() {
    let options = json!({"accepts": {"dev": "patch"}});
    let steps = [
        "p r=1.0.0:D1 g=C1@1.x",
        "t dev",
        "k dev",
        "p r=1.1.0:D2",
        "t dev",
    ];
    assert!(
        answer(&steps, &options)["environments"]
            .as_str()
            .is_some_and(|it| it.contains("dev.2=held"))
    );
}

#[test]
fn cases_that_are_none_are_refused_with_the_part_that_is_wrong() {
    for (case, expected) in [
        (json!(1), "case: an object with `steps` is expected"),
        (json!({}), "case: the field `steps` is missing"),
        (json!({"steps": "p"}), "steps: a list of texts is expected"),
        (json!({"steps": [1]}), "steps[0]: a text is expected"),
        (
            json!({"steps": ["fly"]}),
            "steps[0]: no such step; there are p, t, k, x, promote, del and restart",
        ),
        (
            json!({"steps": ["p", "t"]}),
            "steps[1]: `t` takes the name of an environment",
        ),
        (
            json!({"steps": ["k moon"]}),
            "steps[0]: there is no environment `moon`",
        ),
        (
            json!({"steps": ["p r=a"]}),
            "steps[0]: a poll is `p r=TAG:DIGEST,… g=CONFIG@LABEL`",
        ),
        (
            json!({"steps": ["p r=a:b r=c:d"]}),
            "steps[0]: `r=` is there twice",
        ),
        (
            json!({"steps": ["p r=a:b,a:c"]}),
            "steps[0]: `r=` has a tag twice",
        ),
        (
            json!({"steps": ["p g=@latest"]}),
            "steps[0]: a poll is `p r=TAG:DIGEST,… g=CONFIG@LABEL`",
        ),
        (
            json!({"steps": [], "options": {"environments": []}}),
            "options.environments: at least one is expected",
        ),
        (
            json!({"steps": ["promote dev ha"]}),
            "steps[0]: `promote` takes an environment and the number of a release",
        ),
        (
            json!({"steps": [], "options": {"omit": ["moon"]}}),
            "options: there is no environment `moon`",
        ),
        (
            json!({"steps": [], "options": {"colour": 1}}),
            "options.colour: no such option; there are omit, autoDeploy, vetos, accepts and environments",
        ),
        (
            json!({"steps": [], "options": {"accepts": {"dev": "all"}}}),
            "options.accepts.dev: a level is digest, patch, minor or major",
        ),
        (
            json!({"steps": [], "options": {"environments": ["a", "a"]}}),
            "options.environments: there are two environments `a`",
        ),
    ] {
        let refused = simulate(&case).expect_err("it is refused");
        assert_eq!(refused.to_string(), expected, "{case}");
    }
}
