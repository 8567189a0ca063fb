//! Patterns of paths: which files of a repository are an application's.

use regex::Regex;

/// The longest pattern that is read.
const MAX_LENGTH: usize = 1_000;

/// Patterns as in `.dockerignore`, each of which matches files, or directories with everything below; of several
/// that match, the last one counts, and one with `!` before it takes files out again.
///
/// `*` and `?` stand for anything but `/`, `**` for any number of directories, `[a-z]` for one of a range.
///
/// ```
/// use pathline_trace::paths::Patterns;
///
/// let patterns = Patterns::read(&["charts/*", "docs", "!docs/README.md"])?;
/// assert!(patterns.is_match("charts/web/values.yaml"));
/// assert!(patterns.is_match("docs/a/b.md"));
/// assert!(!patterns.is_match("docs/README.md"));
/// # Ok::<(), pathline_trace::paths::NotAPattern>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Patterns(Vec<Pattern>);

#[derive(Clone, Debug)]
struct Pattern {
    is_exception: bool,
    regex: Regex,
}

impl Patterns {
    /// Reads patterns.
    ///
    /// # Errors
    /// Names the first one that is none.
    pub fn read<S: AsRef<str>>(patterns: &[S]) -> Result<Self, NotAPattern> {
        let read = patterns.iter().map(|it| Pattern::read(it.as_ref()));
        Ok(Self(read.collect::<Result<_, _>>()?))
    }

    /// Tells whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Tells whether a file is matched.
    #[must_use]
    pub fn is_match(&self, path: &str) -> bool {
        let last = self.0.iter().rev().find(|it| it.regex.is_match(path));
        last.is_some_and(|it| !it.is_exception)
    }
}

impl Pattern {
    fn read(text: &str) -> Result<Self, NotAPattern> {
        let refuse = || NotAPattern(text.chars().take(MAX_LENGTH).collect());
        let (is_exception, body) = match text.trim().strip_prefix('!') {
            Some(body) => (true, body),
            None => (false, text.trim()),
        };
        let body = body.trim_start_matches("./").trim_matches('/');
        if body.is_empty() || text.len() > MAX_LENGTH {
            return Err(refuse());
        }
        let regex = Regex::new(&expression(body).ok_or_else(refuse)?).map_err(|_| refuse())?;
        Ok(Self {
            is_exception,
            regex,
        })
    }
}

/// Returns a pattern as a regular expression.
fn expression(pattern: &str) -> Option<String> {
    let mut expression = String::from("^");
    let mut rest = pattern;
    while let Some(next) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("**/") {
            expression.push_str("(?:.*/)?");
            rest = after;
            continue;
        }
        if let Some(after) = rest.strip_prefix("**") {
            expression.push_str(".*");
            rest = after;
            continue;
        }
        rest = &rest[next.len_utf8()..];
        match next {
            '*' => expression.push_str("[^/]*"),
            '?' => expression.push_str("[^/]"),
            '[' => {
                let end = rest.char_indices().skip(1).find(|(_, it)| *it == ']')?.0;
                let (negation, range) = match rest[..end].strip_prefix(['^', '!']) {
                    Some(range) => ("^/", range),
                    None => ("", &rest[..end]),
                };
                let range = range
                    .replace('\\', "\\\\")
                    .replace('[', "\\[")
                    .replace("&&", "&\\&");
                expression.push_str(&format!("[{negation}{range}]"));
                rest = &rest[end + 1..];
            }
            '\\' => {
                let escaped = rest.chars().next()?;
                expression.push_str(&regex::escape(escaped.encode_utf8(&mut [0; 4])));
                rest = &rest[escaped.len_utf8()..];
            }
            other => expression.push_str(&regex::escape(other.encode_utf8(&mut [0; 4]))),
        }
    }
    // What is below a directory that matches matches, too.
    expression.push_str("(?:/.*)?$");
    Some(expression)
}

/// Says that a text is not a pattern of paths.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a pattern of paths, like `charts/*` or `docs/**`")]
pub struct NotAPattern(String);

/// The files of an application in its repository.
#[derive(Clone, Debug, Default)]
pub struct ApplicationPaths {
    /// Its directory; the root, if it is empty.
    pub directory: String,
    /// More files that it is made of.
    pub includes: Patterns,
    /// Files that count for nothing.
    pub ignores: Patterns,
}

impl ApplicationPaths {
    /// Tells whether a change of files touches the application: at least one of them is its own, and is not
    /// ignored. Ignored files do not hide the others.
    pub fn is_touched<'p>(&self, files: impl IntoIterator<Item = &'p str>) -> bool {
        files.into_iter().any(|file| {
            let is_own = self.is_below(file) || self.includes.is_match(file);
            is_own && !self.ignores.is_match(file)
        })
    }

    fn is_below(&self, file: &str) -> bool {
        let directory = self.directory.trim_start_matches("./").trim_matches('/');
        if directory.is_empty() || directory == "." {
            return true;
        }
        let rest = file.strip_prefix(directory);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}
