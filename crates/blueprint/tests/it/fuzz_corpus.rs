//! The fuzz target, run over its corpus: a crash that was fixed stays fixed.

use std::fs;
use std::path::Path;

#[path = "../../fuzz/checks/path.rs"]
mod path;

#[test]
fn the_path_corpus_holds() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/path");
    let files = fs::read_dir(&corpus).expect("the corpus is part of the repository");
    let mut count = 0;
    for file in files {
        let file = file.expect("a directory entry").path();
        eprintln!("{}", file.display());
        path::check(&fs::read(file).expect("a file"));
        count += 1;
    }
    assert!(count > 0, "no corpus");
}
