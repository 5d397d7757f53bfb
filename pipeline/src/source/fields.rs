//! The fields of one record of delimited text.
//!
//! Quoting is that of RFC 4180: a field that begins with `"` ends at the next single `"`, and `""` inside it is a quote. Whatever
//! follows the closing quote must be a separator or the end of the record. A quote elsewhere is an ordinary character.

/// The fields of a record, in a buffer that is used again.
#[derive(Default)]
pub(crate) struct Fields {
    text: Vec<u8>,
    ends: Vec<usize>,
}

/// How a record ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// All fields are complete.
    Complete,
    /// A quoted field is still open: it goes on in the next line.
    Open,
    /// There is text between a closing quote and the next separator.
    Malformed,
}

impl Fields {
    /// Number of fields.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The field at an index.
    pub(crate) fn get(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.text[start..self.ends[index]]
    }

    /// All fields.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Splits a record, without its line end, at a separator of one or more bytes.
    pub(crate) fn split(&mut self, record: &[u8], separator: &[u8]) -> Ending {
        self.text.clear();
        self.ends.clear();
        let mut rest = record;
        loop {
            let (ending, after) = match rest.first() {
                Some(b'"') => self.quoted(&rest[1..], separator),
                _ => self.plain(rest, separator),
            };
            self.ends.push(self.text.len());
            match after {
                Some(after) if ending == Ending::Complete => rest = after,
                _ => return ending,
            }
        }
    }

    /// Takes a field up to a separator; what comes after that, if it is there.
    fn plain<'a>(&mut self, rest: &'a [u8], separator: &[u8]) -> (Ending, Option<&'a [u8]>) {
        let end = find(rest, separator);
        self.text.extend_from_slice(&rest[..end.unwrap_or(rest.len())]);
        (Ending::Complete, end.map(|end| &rest[end + separator.len()..]))
    }

    /// Takes a field up to a separator, after its opening quote; what comes after that, if it is there.
    fn quoted<'a>(&mut self, mut rest: &'a [u8], separator: &[u8]) -> (Ending, Option<&'a [u8]>) {
        loop {
            let Some(quote) = rest.iter().position(|&byte| byte == b'"') else { return (Ending::Open, None) };
            self.text.extend_from_slice(&rest[..quote]);
            rest = &rest[quote + 1..];
            match rest {
                [b'"', after @ ..] => {
                    self.text.push(b'"');
                    rest = after;
                }
                [] => return (Ending::Complete, None),
                _ => {
                    let after = rest.strip_prefix(separator);
                    return (if after.is_some() { Ending::Complete } else { Ending::Malformed }, after);
                }
            }
        }
    }
}

/// Where the separator first stands.
fn find(text: &[u8], separator: &[u8]) -> Option<usize> {
    match separator {
        [byte] => text.iter().position(|other| other == byte),
        _ => text.windows(separator.len()).position(|window| window == separator),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(record: &str, separator: &str) -> (Ending, Vec<String>) {
        let mut fields = Fields::default();
        let ending = fields.split(record.as_bytes(), separator.as_bytes());
        (ending, fields.iter().map(|field| String::from_utf8(field.to_vec()).unwrap()).collect())
    }

    fn complete(fields: &[&str]) -> (Ending, Vec<String>) {
        (Ending::Complete, fields.iter().map(|&field| field.to_owned()).collect())
    }

    #[test]
    fn separators_of_any_length() {
        assert_eq!(split("1::1193::5::978300760", "::"), complete(&["1", "1193", "5", "978300760"]));
        assert_eq!(split("a\t\tb\t", "\t"), complete(&["a", "", "b", ""]));
        assert_eq!(split("", ","), complete(&[""]));
    }

    #[test]
    fn quoted_fields() {
        assert_eq!(split("\"a,\"\"b\"\"\",\"\",c", ","), complete(&["a,\"b\"", "", "c"]));
        assert_eq!(split("\"a::b\"::\"c\nd\"", "::"), complete(&["a::b", "c\nd"]));
        assert_eq!(split("5\" nail,2", ","), complete(&["5\" nail", "2"]));
    }

    #[test]
    fn open_and_malformed_records() {
        assert_eq!(split("1,\"abc", ",").0, Ending::Open);
        assert_eq!(split("1,\"abc\"\"", ",").0, Ending::Open);
        assert_eq!(split("\"abc\"d,2", ",").0, Ending::Malformed);
    }

    proptest! {
        /// The csv crate writes, we read.
        #[test]
        fn agrees_with_the_csv_crate(record in prop::collection::vec("[ab,\"\n]{0,5}", 1..6)) {
            let mut writer = csv::Writer::from_writer(Vec::new());
            writer.write_record(&record).unwrap();
            let line = String::from_utf8(writer.into_inner().unwrap()).unwrap();
            prop_assert_eq!(split(line.strip_suffix('\n').unwrap(), ","), (Ending::Complete, record));
        }
    }
}
