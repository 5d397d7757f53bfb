//! The fast way through text without quotes, with a separator of one byte.
//!
//! Separators and line ends are marked eight bytes at a time. A row is usable when its marks are so many separators and then a line end;
//! its fields lie between them. Any other line, and any value that is not plainly good, is left to the careful way.

use super::row::Rows;

/// Bytes that are marked at a time.
const WINDOW: usize = 8 << 10;
/// The digits of a whole number that is exact as a float.
const DIGITS: usize = 15;

/// The shape of a usable row: the number of fields, and which of them hold what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape<'h> {
    pub(crate) separator: u8,
    pub(crate) width: usize,
    pub(crate) user: usize,
    pub(crate) item: usize,
    pub(crate) rating: Option<usize>,
    pub(crate) time: Option<usize>,
    /// What the header calls the user's column: a row that has it may be the header once more, and is left to the careful way.
    pub(crate) header: Option<&'h str>,
}

/// Usable rows by columns, between two lines that are not.
#[derive(Default)]
pub(crate) struct ColumnBuffers<'t> {
    users: Vec<&'t str>,
    items: Vec<&'t str>,
    ratings: Vec<f64>,
    times: Vec<f64>,
}

/// What stands next in a text.
pub(crate) enum Piece<'p, 't> {
    Rows(Rows<'p>),
    /// A line, with its end, for the careful way; and where it starts.
    Other(&'t str, usize),
}

/// Gives the text piece by piece, in order.
pub(crate) fn pieces<'t, E>(text: &'t str, shape: Shape<'_>, mut give: impl FnMut(Piece<'_, 't>) -> Result<(), E>) -> Result<(), E> {
    let bytes = text.as_bytes();
    let (mut marks, mut columns) = (Vec::with_capacity(WINDOW), ColumnBuffers::default());
    let (mut marked, mut start) = (0, 0);
    while marked < bytes.len() {
        let window = &bytes[marked..bytes.len().min(marked + WINDOW)];
        mark(window, marked, shape.separator, &mut marks);
        marked += window.len();
        if marked == bytes.len() && bytes[marked - 1] != b'\n' {
            marks.push(marked as u32);
        }
        let mut used = 0;
        while let Some(line) = line(bytes, &marks[used..], shape) {
            match line {
                Line::Usable if columns.take(text, start, &marks[used..used + shape.width], shape).is_some() => used += shape.width,
                Line::Usable | Line::Other(_) => {
                    columns.flush(shape, &mut give)?;
                    used += if let Line::Other(marks) = line { marks } else { shape.width };
                    let end = bytes.len().min(marks[used - 1] as usize + 1);
                    give(Piece::Other(&text[start..end], start))?;
                }
            }
            start = marks[used - 1] as usize + 1;
        }
        marks.drain(..used);
        columns.flush(shape, &mut give)?;
    }
    Ok(())
}

/// The next line by its marks.
enum Line {
    Usable,
    /// So many marks up to its end.
    Other(usize),
}

/// `None` when the end of the line is not marked yet.
fn line(bytes: &[u8], marks: &[u32], shape: Shape<'_>) -> Option<Line> {
    let is_end = |&mark: &u32| bytes.get(mark as usize).is_none_or(|&byte| byte == b'\n');
    match marks.get(..shape.width) {
        Some([separators @ .., end]) if is_end(end) && !separators.iter().any(is_end) => Some(Line::Usable),
        _ => marks.iter().position(is_end).map(|end| Line::Other(end + 1)),
    }
}

impl<'t> ColumnBuffers<'t> {
    /// Takes a row; `None`, and nothing is taken, when a value is not plainly good.
    fn take(&mut self, text: &'t str, start: usize, marks: &[u32], shape: Shape<'_>) -> Option<()> {
        let field = |index: usize| {
            let from = if index == 0 { start } else { marks[index - 1] as usize + 1 };
            let field = text.get(from..marks[index] as usize)?;
            if index + 1 == shape.width { Some(field.strip_suffix('\r').unwrap_or(field)) } else { Some(field) }
        };
        let id = |index: usize| field(index).filter(|id| !id.trim_ascii_start().is_empty());
        let (user, item) = (id(shape.user)?, id(shape.item)?);
        if shape.header.is_some_and(|header| user.trim_ascii_end().ends_with(header)) {
            return None;
        }
        let rating = shape.rating.map(|index| number(field(index)?)).map_or(Some(0.0), |rating| rating)?;
        let time = shape.time.map(|index| number(field(index)?)).map_or(Some(0.0), |time| time)?;
        self.users.push(user);
        self.items.push(item);
        self.ratings.push(rating);
        self.times.push(time);
        Some(())
    }

    fn flush<E>(&mut self, shape: Shape<'_>, give: &mut impl FnMut(Piece<'_, 't>) -> Result<(), E>) -> Result<(), E> {
        if !self.users.is_empty() {
            let ratings = shape.rating.map(|_| &self.ratings[..]);
            let times = shape.time.map(|_| &self.times[..]);
            give(Piece::Rows(Rows { users: &self.users, items: &self.items, ratings, times }))?;
        }
        self.users.clear();
        self.items.clear();
        self.ratings.clear();
        self.times.clear();
        Ok(())
    }
}

/// A finite number.
pub(crate) fn number(text: &str) -> Option<f64> {
    let digits = text.as_bytes();
    if (1..=DIGITS).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit) {
        return Some(digits.iter().fold(0, |number: u64, digit| number * 10 + u64::from(digit - b'0')) as f64);
    }
    text.trim_ascii().parse().ok().filter(|number: &f64| number.is_finite())
}

/// Appends the places of separators and line ends; `offset` is that of the first byte.
fn mark(bytes: &[u8], offset: usize, separator: u8, marks: &mut Vec<u32>) {
    let (words, rest) = bytes.as_chunks::<8>();
    for (word, place) in words.iter().zip((offset as u32..).step_by(8)) {
        let word = u64::from_le_bytes(*word);
        let mut found = equal(word, separator) | equal(word, b'\n');
        while found != 0 {
            marks.push(place + found.trailing_zeros() / 8);
            found &= found - 1;
        }
    }
    let rest_at = offset + words.len() * 8;
    let is_mark = |byte: u8| byte == separator || byte == b'\n';
    marks.extend((rest_at as u32..).zip(rest).filter(|(_, byte)| is_mark(**byte)).map(|(place, _)| place));
}

/// The highest bit of each byte of a word that has a value.
fn equal(word: u64, value: u8) -> u64 {
    const LOW: u64 = u64::from_ne_bytes([0x7F; 8]);
    let differing = word ^ u64::from_ne_bytes([value; 8]);
    !(((differing & LOW) + LOW) | differing | LOW)
}
