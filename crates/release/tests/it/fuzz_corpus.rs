//! The fuzz targets, run over their corpus: a crash that was fixed stays fixed.

use std::fs;
use std::path::Path;

#[path = "../../fuzz/checks/file.rs"]
mod file;
#[path = "../../fuzz/checks/range.rs"]
mod range;

fn run(target: &str, check: fn(&[u8])) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/corpus")
        .join(target);
    let inputs = fs::read_dir(&directory).expect("a corpus");
    let mut count = 0;
    for input in inputs {
        let path = input.expect("an input").path();
        check(&fs::read(&path).expect("an input"));
        count += 1;
    }
    assert!(count > 0, "{} is empty", directory.display());
}

#[test]
fn ranges_of_the_corpus_are_read_or_refused() {
    run("range", range::check);
}

#[test]
fn files_of_the_corpus_are_read_or_refused() {
    run("file", file::check);
}
