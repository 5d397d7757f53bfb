//! A sweep as the command line names it: by its file, or by its name alone.

use super::{SweepFile, environment, error::Result, parse::events};
use granit_parser::Event;
use std::path::Path;

/// A sweep by its file or its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Its name.
    pub name: String,
    /// Its file, where the command line has one.
    pub file: Option<String>,
}

impl Named {
    /// An argument that is a file, or could be no name: of a file nothing is read but its name, so that what the rest of it needs, such as
    /// variables of the environment, need not be there.
    ///
    /// # Errors
    /// A file that cannot be read or has no name.
    pub fn of(argument: &str) -> Result<Self> {
        let is_file = Path::new(argument).is_file() || argument.contains(['/', '.']);
        if !is_file {
            return Ok(Self { name: argument.to_owned(), file: None });
        }
        let text = SweepFile::read(argument)?;
        let name = match name_in(&text) {
            Some(name) => name,
            None => SweepFile::parse(&text, argument)?.name.value, // which says what is wrong
        };
        Ok(Self { name, file: Some(argument.to_owned()) })
    }
}

/// The value of the key `name` of the mapping that the file is.
fn name_in(text: &str) -> Option<String> {
    let (mut depth, mut key) = (0, None);
    for event in events(text) {
        match event.ok()?.0 {
            Event::SequenceStart(..) if depth == 0 => return None,
            Event::MappingStart(..) | Event::SequenceStart(..) => {
                depth += 1;
                key = None;
            }
            Event::MappingEnd | Event::SequenceEnd => {
                depth -= 1;
                key = None;
            }
            Event::Scalar(value, ..) if depth == 1 => match key.take() {
                Some(true) => return environment::expanded(&value).ok(),
                Some(false) => {}
                None => key = Some(value == "name"),
            },
            Event::Alias(..) if depth == 1 => key = None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_found_whatever_else_the_file_needs() {
        let text = "storage: \"${NO_SUCH_VARIABLE}\"\ndatasets: [{name: other}]\nname: \"s\"\ngrid: []\n";
        assert_eq!(name_in(text).as_deref(), Some("s"));
        assert_eq!(name_in("a: name\nb: {name: x}\nname: y\n").as_deref(), Some("y"));
        assert_eq!(name_in("datasets: [{name: other}]\n"), None);
        assert_eq!(name_in("[name, x]\n").as_deref(), None);
    }

    #[test]
    fn what_is_no_file_is_a_name() {
        assert_eq!(Named::of("quickstart").unwrap(), Named { name: "quickstart".to_owned(), file: None });
        let error = Named::of("nowhere.yaml").unwrap_err().to_string();
        assert!(error.starts_with("cannot read the sweep file `nowhere.yaml`: "), "{error}");
    }
}
