//! `pathline blueprint lint`: what an author should know, with the lines meant.

mod text;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use pathline_blueprint::lint::{self, Finding, LocatedFinding, Severity};
use pathline_blueprint::reach::Budget;
use pathline_document::{Lines, ReadError};
use serde::Serialize;

use super::source::{self, Error, SourceFile};
use crate::cli::{LintArgs, LintFormat};
use crate::terminal::output::{Format, print_bytes, print_data, say};
use crate::terminal::report::{CommandError, Exit};

/// The endings of the files of a directory that are checked.
const ENDINGS: [&str; 2] = [".yaml", ".yml"];
/// Files with tests are no objects.
const TEST_ENDINGS: [&str; 2] = [".test.yaml", ".test.yml"];

/// Everything that was found, sorted by place.
#[derive(Debug, Serialize)]
struct LintReport {
    findings: Vec<Located>,
    #[serde(skip)]
    texts: Vec<String>,
}

/// A finding, and its place in a text.
#[derive(Debug, Serialize)]
struct Located {
    #[serde(flatten)]
    finding: LocatedFinding,
    /// The index of the text it is in.
    #[serde(skip)]
    text: usize,
    #[serde(skip)]
    place: Range<usize>,
}

pub(super) fn run(args: &LintArgs) -> Result<Exit, CommandError> {
    let mut report = LintReport {
        findings: Vec::new(),
        texts: Vec::new(),
    };
    let mut files: Vec<_> = files(&args.files)?
        .iter()
        .map(|path| File::read(path))
        .collect::<Result<_, _>>()?;
    find_together(&mut files);
    for file in files {
        report.add_file(file, args.format == LintFormat::Text);
    }
    match args.format {
        LintFormat::Text => print_data(Format::Text, &report, |out| text::write(&report, out))?,
        LintFormat::Json => print_data(Format::Json, &report, |_| Ok(()))?,
        LintFormat::Yaml => print_data(Format::Yaml, &report, |_| Ok(()))?,
        LintFormat::Sarif => print_bytes(report.sarif().as_bytes())?,
    }
    Ok(if report.has_errors() {
        Exit::No
    } else {
        Exit::Yes
    })
}

fn files(given: &[PathBuf]) -> Result<Vec<PathBuf>, CommandError> {
    let mut files = Vec::new();
    for path in given {
        let below = source::files_below(path, &ENDINGS).map_err(Error::from)?;
        let is_test = |file: &PathBuf| {
            let name = file.to_string_lossy();
            path.is_dir() && TEST_ENDINGS.iter().any(|ending| name.ends_with(ending))
        };
        files.extend(below.into_iter().filter(|file| !is_test(file)));
    }
    if files.is_empty() {
        return Err(
            CommandError::new("there are no YAML files in what was given")
                .with_hint(
                    "files of a directory are checked if their names end in `.yaml` or `.yml`",
                )
                .with_exit(Exit::Usage),
        );
    }
    Ok(files)
}

/// A file, and what was found in its documents together with those of other files.
struct File {
    source: Result<SourceFile, (String, String, ReadError)>,
    /// With the index of the document.
    together: Vec<(usize, Finding)>,
}

impl File {
    fn read(path: &Path) -> Result<Self, Error> {
        let (name, text) = source::read_text(path)?;
        Ok(Self {
            source: SourceFile::parse(name, text),
            together: Vec::new(),
        })
    }
}

/// Finds what follows from the documents of all files together.
fn find_together(files: &mut [File]) {
    let mut places = Vec::new();
    let mut objects = Vec::new();
    for (index, file) in files.iter().enumerate() {
        let documents = file.source.iter().flat_map(|it| &it.documents);
        for (document, it) in documents.enumerate() {
            places.push((index, document));
            objects.push(&it.value);
        }
    }
    for (object, finding) in lint::lint_together(&objects) {
        let (file, document) = places[object];
        files[file].together.push((document, finding));
    }
}

impl LintReport {
    fn add_file(&mut self, file: File, tell: bool) {
        let mut findings = match file.source {
            Ok(source) => {
                let findings = self.lint_file(&source, &file.together, tell);
                self.texts.push(source.text);
                findings
            }
            Err((name, text, error)) => {
                let found = self.syntax(name, &text, &error);
                self.texts.push(text);
                vec![found]
            }
        };
        findings.sort_by(|left, right| {
            let place = |found: &Located| (found.place.start, found.finding.option);
            place(left).cmp(&place(right))
        });
        self.findings.extend(findings);
    }

    fn lint_file(
        &self,
        file: &SourceFile,
        together: &[(usize, Finding)],
        tell: bool,
    ) -> Vec<Located> {
        let lines = Lines::new(&file.text);
        let mut findings = Vec::new();
        let mut left_alone: BTreeMap<&str, usize> = BTreeMap::new();
        for (index, document) in file.documents.iter().enumerate() {
            let Some(mut found) = lint::lint(&document.value, Budget::default()) else {
                let kind = source::kind(document).unwrap_or("something without a kind");
                *left_alone.entry(kind).or_default() += 1;
                continue;
            };
            let together = together.iter().filter(|(it, _)| *it == index);
            found.extend(together.map(|(_, finding)| finding.clone()));
            findings.extend(found.into_iter().map(|finding| {
                let place = if finding.is_about_key {
                    document.key_span(&finding.path)
                } else {
                    document.span(&finding.path)
                };
                self.locate(&file.name, &lines, place, finding)
            }));
        }
        if tell && !left_alone.is_empty() {
            let kinds = left_alone
                .iter()
                .map(|(kind, count)| format!("{count} {kind}"));
            let kinds: Vec<String> = kinds.collect();
            say(&format!(
                "note: {} is not checked in {}",
                kinds.join(", "),
                file.name
            ));
        }
        findings
    }

    fn locate(
        &self,
        file: &str,
        lines: &Lines<'_>,
        place: Range<usize>,
        finding: Finding,
    ) -> Located {
        let (start, end) = (lines.position(place.start), lines.position(place.end));
        Located {
            finding: LocatedFinding {
                severity: match finding.severity {
                    Severity::Error => "error",
                    Severity::Warning => "warning",
                },
                code: finding.code,
                resource: finding.resource,
                option: finding.option,
                message: finding.message,
                file: file.to_owned(),
                line: start.line,
                column: start.column,
                end_line: end.line,
                end_column: end.column,
            },
            text: self.texts.len(),
            place,
        }
    }

    fn syntax(&self, name: String, text: &str, error: &ReadError) -> Located {
        let start = text.floor_char_boundary(error.offset);
        let end = text[start..]
            .chars()
            .next()
            .map_or(start, |next| start + next.len_utf8());
        let last = Lines::new(text).position(end);
        Located {
            finding: LocatedFinding {
                severity: "error",
                code: "syntax",
                resource: None,
                option: None,
                message: error.kind.to_string(),
                file: name,
                line: error.position.line,
                column: error.position.column,
                end_line: last.line,
                end_column: last.column,
            },
            text: self.texts.len(),
            place: start..end,
        }
    }

    fn sarif(&self) -> String {
        let findings = self.findings.iter().map(|it| &it.finding);
        format!("{}\n", lint::sarif(findings, env!("CARGO_PKG_VERSION")))
    }

    fn has_errors(&self) -> bool {
        self.findings.iter().any(Located::is_error)
    }
}

impl Located {
    fn is_error(&self) -> bool {
        self.finding.severity == "error"
    }
}
