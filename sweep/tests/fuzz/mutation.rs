//! Damage that follows from a number.

/// Bytes and numbers that lengths, signs and limits trip over.
const TOKENS: [&[u8]; 14] = [
    b"\0",
    b"\xff\xff\xff\xff",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
    b"\x80\x80\x80\x80\x08",
    b"-1",
    b"0",
    b"1e308",
    b"4294967295",
    b"18446744073709551615",
    b"\x1b[31m",
    "\u{202e}".as_bytes(),
    b"\"",
    b"[[[[",
    b"NaN",
];

/// SplitMix64: a generator whose whole state is a number.
pub(crate) struct Draws(u64);

impl Draws {
    pub(crate) fn of(input: u64) -> Self {
        Self(input.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below a bound that is not 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub(crate) fn pick<'a, T>(&mut self, among: &'a [T]) -> &'a T {
        &among[self.below(among.len())]
    }
}

/// Damages bytes in one to four places.
pub(crate) fn bytes(whole: &[u8], draws: &mut Draws) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    for _ in 0..=draws.below(4) {
        once(&mut bytes, draws);
    }
    bytes
}

fn once(bytes: &mut Vec<u8>, draws: &mut Draws) {
    let at = draws.below(bytes.len() + 1);
    let end = bytes.len().min(at + 1 + draws.below(40));
    let token = *draws.pick(&TOKENS);
    match draws.below(8) {
        0 => bytes.truncate(at),
        1 => drop(bytes.drain(at..end)),
        2 => drop(bytes.splice(at..at, token.iter().copied())),
        3 => drop(bytes.splice(at..bytes.len().min(at + token.len()), token.iter().copied())),
        4 => {
            let copy = bytes[at..end].repeat(1 + draws.below(9));
            drop(bytes.splice(at..at, copy));
        }
        5 => bytes[at..end].reverse(),
        _ => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << draws.below(8);
            }
        }
    }
}

/// Damages a text: by bytes, or by words and lines that move, double, go, or come from another text.
pub(crate) fn text(texts: &[String], draws: &mut Draws) -> String {
    let whole = draws.pick(texts).clone();
    if draws.below(2) == 0 {
        return String::from_utf8_lossy(&bytes(whole.as_bytes(), draws)).into_owned();
    }
    let is_end = |letter: char| letter.is_whitespace() || ",:[]{}".contains(letter);
    let mut words: Vec<&str> = whole.split_inclusive(is_end).collect();
    let other: Vec<&str> = draws.pick(texts).split_inclusive(is_end).collect();
    for _ in 0..=draws.below(5) {
        let (at, from) = (draws.below(words.len()), draws.below(other.len()));
        match draws.below(5) {
            0 => drop(words.remove(at)),
            1 => words.insert(at, other[from]),
            2 => words[at] = other[from],
            3 => drop(words.splice(at..at, other[from..other.len().min(from + 12)].iter().copied())),
            _ => {
                let to = draws.below(words.len());
                words.swap(at, to);
            }
        }
        if words.is_empty() {
            break;
        }
    }
    words.concat()
}
