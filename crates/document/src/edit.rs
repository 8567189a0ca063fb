//! Edits by splicing: everything that is not edited keeps its bytes.

mod flow;
#[cfg(feature = "json")]
mod json;
mod model;
mod operation;
mod refused;
mod splice;
mod steps;
#[cfg(feature = "toml")]
mod toml;
#[cfg(feature = "yaml")]
mod yaml;

pub use self::refused::{Reason, Refused};
pub use self::splice::Touched;

use self::operation::Operation;
use self::splice::{Splice, Touches};
use crate::document::Document;
use crate::format::Format;
use crate::path::Path;

/// A text after edits.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Edited {
    /// The text.
    pub text: String,
    /// The ranges that were replaced, in order, each in the old text and in the new one. Between
    /// them both texts have the same bytes.
    pub touched: Vec<Touched>,
}

impl Format {
    /// Sets values of a text that holds one document, or removes them (`None`), one after the other.
    ///
    /// A value that is set replaces the one that is there, or is added behind the last entry of its map or list; maps that the
    /// path needs are made. Removing what is not there changes nothing. Of a list or map that replaces
    /// another one only the entries that differ are edited.
    ///
    /// Comments, quotes, indentation, line ends and the order of keys stay. After each edit the text
    /// is read again: it has to say what it said before, but for the edit.
    ///
    /// ```
    /// use pathline_document::{Document, Format, Path, Scalar};
    ///
    /// let text = "image: 'app:1.0' # pinned\nreplicas: 2\n";
    /// let image = Path::default().key("image");
    /// let new = Document::scalar(Scalar::Text, "app:1.1");
    /// let edited = Format::Yaml.edit(text, &[(image, Some(new))])?;
    /// assert_eq!(edited.text, "image: 'app:1.1' # pinned\nreplicas: 2\n");
    /// assert_eq!(edited.touched[0].old, 7..16);
    /// # Ok::<(), pathline_document::Refused>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Refuses an edit that cannot be made without changing anything else; then none is made.
    pub fn edit(self, text: &str, edits: &[(Path, Option<Document>)]) -> Result<Edited, Refused> {
        let documents = self.read(text).map_err(Refused::unreadable)?;
        if documents.len() > 1 {
            return Err(Refused::new(&Path::default(), Reason::SeveralDocuments));
        }
        self.edit_document(text, 0, edits)
    }

    /// Edits as [`Format::edit`] does, but one of several documents, by its index.
    ///
    /// # Errors
    ///
    /// Refuses an edit that cannot be made without changing anything else; then none is made.
    pub fn edit_document(
        self,
        text: &str,
        index: usize,
        edits: &[(Path, Option<Document>)],
    ) -> Result<Edited, Refused> {
        let mut editor = Editor::new(self, text, index)?;
        for (path, value) in edits {
            editor.edit(path, value.as_ref())?;
        }
        Ok(Edited {
            text: editor.text,
            touched: editor.touches.into_ranges(),
        })
    }
}

struct Editor {
    format: Format,
    index: usize,
    text: String,
    documents: Vec<Document>,
    touches: Touches,
}

impl Editor {
    fn new(format: Format, text: &str, index: usize) -> Result<Self, Refused> {
        let mut documents = format.read(text).map_err(Refused::unreadable)?;
        if documents.is_empty() {
            // An empty stream says as much as one empty document.
            let mut nothing = Document::default();
            nothing.root.span = text.len()..text.len();
            documents.push(nothing);
        }
        if index >= documents.len() {
            let reason = Reason::NoDocument(documents.len());
            return Err(Refused::new(&Path::default(), reason));
        }
        Ok(Self {
            format,
            index,
            text: text.to_owned(),
            documents,
            touches: Touches::default(),
        })
    }

    fn edit(&mut self, path: &Path, value: Option<&Document>) -> Result<(), Refused> {
        let steps = match value {
            Some(value) => steps::steps(&self.documents[self.index], path, value),
            None => vec![(path.clone(), None)],
        };
        for (path, value) in steps {
            let step = self.step(&path, value.as_ref());
            step.map_err(|reason| Refused::new(&path, reason))?;
        }
        Ok(())
    }

    fn step(&mut self, path: &Path, value: Option<&Document>) -> Result<(), Reason> {
        let document = &self.documents[self.index];
        let Some(operation) = operation::find(document, path, value)? else {
            return Ok(());
        };
        let mut splices = self.plan(document, &operation)?;
        splices.sort_by_key(|splice| (splice.range.start, splice.range.end));
        if splices
            .windows(2)
            .any(|two| two[0].range.end > two[1].range.start)
        {
            return Err(Reason::Unsafe);
        }
        let text = splice::apply(&self.text, &splices);
        let expected = model::edited(document, path, value);
        let documents = self.format.read(&text).map_err(|_| Reason::Unsafe)?;
        let is_same = |(at, before): (usize, &Document)| {
            let before = if at == self.index { &expected } else { before };
            documents.get(at) == Some(before)
        };
        let mut before = self.documents.iter().enumerate();
        if documents.len() != self.documents.len() || !before.all(is_same) {
            return Err(Reason::Unsafe);
        }
        for splice in splices.iter().rev() {
            self.touches.add(splice.range.clone(), splice.text.len());
        }
        self.text = text;
        self.documents = documents;
        Ok(())
    }

    fn plan(&self, document: &Document, operation: &Operation<'_>) -> Result<Vec<Splice>, Reason> {
        let scene = Scene {
            text: &self.text,
            document,
            newline: if self.text.contains("\r\n") {
                "\r\n"
            } else {
                "\n"
            },
        };
        match self.format {
            #[cfg(feature = "json")]
            Format::Json => json::plan(&scene, operation),
            #[cfg(feature = "toml")]
            Format::Toml => toml::plan(&scene, operation),
            #[cfg(feature = "yaml")]
            Format::Yaml => yaml::plan(&scene, operation),
        }
    }
}

/// A text and what it says.
struct Scene<'s> {
    text: &'s str,
    document: &'s Document,
    newline: &'static str,
}
