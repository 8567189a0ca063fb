//! Patterns: the files that are an application's.

use pathline_trace::paths::{ApplicationPaths, Patterns};

fn mk_patterns(patterns: &[&str]) -> Patterns {
    Patterns::read(patterns).expect("patterns")
}

/// 6.6 of the reference; G05 is the other way round here: what is ignored does not hide what is deployed.
#[test]
fn changes_touch_an_application() {
    let charts: &[&str] = &["charts/demo", "charts/bar/*"];
    for (id, includes, ignores, changed, is_touched) in [
        (
            "G01",
            &[][..],
            &[][..],
            &["app/hello.txt", "app/foo/deployment.yaml"][..],
            false,
        ),
        ("G02", &[], &[], &["app/demo-2"], false),
        (
            "G03",
            &[],
            &[],
            &["app/hello.txt", "app/demo/deployment.yaml"],
            true,
        ),
        (
            "G04",
            charts,
            &[],
            &["app/hello.txt", "app/demo/deployment.yaml"],
            true,
        ),
        (
            "G05",
            &[],
            &["*/hello.txt"],
            &["app/hello.txt", "app/demo/deployment.yaml"],
            true,
        ),
        (
            "G06",
            charts,
            &[],
            &["app/hello.txt", "charts/bar/deployment.yaml"],
            true,
        ),
        (
            "G07",
            charts,
            &["foo/*"],
            &["app/hello.txt", "charts/bar/deployment.yaml"],
            true,
        ),
        (
            "G08",
            &[],
            charts,
            &["app/hello.txt", "charts/bar/deployment.yaml"],
            false,
        ),
        (
            "G09",
            &["charts/bar/deployment.yaml"],
            charts,
            &["app/hello.txt", "charts/bar/deployment.yaml"],
            false,
        ),
    ] {
        let paths = ApplicationPaths {
            directory: "app/demo".to_owned(),
            includes: mk_patterns(includes),
            ignores: mk_patterns(ignores),
        };
        assert_eq!(
            paths.is_touched(changed.iter().copied()),
            is_touched,
            "{id}"
        );
    }
}

#[test]
fn root_is_the_directory_of_everything() {
    for directory in ["", ".", "./", "/"] {
        let directory = directory.to_owned();
        let paths = ApplicationPaths {
            directory,
            ..ApplicationPaths::default()
        };
        assert!(paths.is_touched(["a/b"]));
    }
}

/// The globs of 6.6.
#[test]
fn patterns_match_files_and_what_is_below_directories() {
    for (patterns, path, is_match) in [
        (&["**"][..], "dir/file", true),
        (&["dir/**"], "dir/dir2/file", true),
        (&["abc/**"], "abc", false),
        (&["**/foo/bar"], "foo/bar", true),
        (&["**/foo/bar"], "a/b/foo/bar", true),
        (&["a/*.txt"], "a/dir/file.txt", false),
        (&["a[b-d]e"], "ace", true),
        (&["a[^b-d]e"], "ace", false),
        (&["a[^b-d]e"], "a/e", false),
        (&[".*"], "foo", false),
        (&["**/.foo"], "bar.foo", false),
        (&["docs", "!docs/README.md"], "docs/README.md", false),
        (&["docs", "!docs/README.md"], "docs/a.md", true),
        (&["a?c"], "a/c", false),
        (&["a\\*c"], "a*c", true),
        (&["a\\*c"], "abc", false),
        (&["/top"], "top/file", true),
        (&["a(b"], "a(b", true),
    ] {
        assert_eq!(
            mk_patterns(patterns).is_match(path),
            is_match,
            "{patterns:?} {path}"
        );
    }
    for bad in ["!", "[", "", "/", "a[b", "a\\", &"a".repeat(2_000)] {
        assert!(Patterns::read(&[bad]).is_err(), "{bad}");
    }
}
