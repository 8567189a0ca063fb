//! The fuzz targets, run over their corpus: a crash that was fixed stays fixed.

use std::fs;
use std::path::Path;

#[path = "../../fuzz/checks/diff.rs"]
mod diff;
#[path = "../../fuzz/checks/document.rs"]
mod document;
#[path = "../../fuzz/checks/name.rs"]
mod name;

fn replay(target: &str, check: impl Fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/corpus")
        .join(target);
    let files = fs::read_dir(&corpus).expect("the corpus is part of the repository");
    let mut count = 0;
    for file in files {
        let path = file.expect("a directory entry").path();
        eprintln!("{}", path.display());
        check(&fs::read(path).expect("a file"));
        count += 1;
    }
    assert!(count > 0, "no corpus for {target}");
}

#[test]
fn the_diff_corpus_holds() {
    replay("diff", diff::check);
}

#[test]
fn the_document_corpus_holds() {
    replay("document", document::check);
}

#[test]
fn the_name_corpus_holds() {
    replay("name", name::check);
}
