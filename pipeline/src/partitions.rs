//! Rated pairs as they are read, by partitions of the users.
//!
//! A partition holds the users whose codes have the same remainder, so it can be sorted on its own, in cache.

/// The number of partitions.
pub(crate) const PARTITIONS: usize = 256;
/// Rows of a chunk.
pub(crate) const CHUNK: usize = 1_024;
/// Bytes of a full chunk.
pub(crate) const CHUNK_BYTES: usize = CHUNK * size_of::<Row>();

/// A pair of codes, and its time; 0 where the source has none.
pub(crate) type Row = (u64, f64);

/// Rows in chunks, by partition.
pub(crate) struct Partitions {
    chunks: Vec<Vec<Vec<Row>>>,
}

impl Default for Partitions {
    fn default() -> Self {
        Self { chunks: (0..PARTITIONS).map(|_| Vec::new()).collect() }
    }
}

impl Partitions {
    /// Takes a row of the user with this code; whether a new chunk was begun for it.
    pub(crate) fn push(&mut self, user: u32, row: Row) -> bool {
        let chunks = &mut self.chunks[user as usize % PARTITIONS];
        match chunks.last_mut() {
            Some(chunk) if chunk.len() < CHUNK => {
                chunk.push(row);
                false
            }
            _ => {
                let mut chunk = Vec::with_capacity(CHUNK);
                chunk.push(row);
                chunks.push(chunk);
                true
            }
        }
    }

    /// Merges several, partition by partition.
    pub(crate) fn merged(all: Vec<Self>) -> impl Iterator<Item = Vec<Vec<Row>>> {
        let mut all: Vec<_> = all.into_iter().map(|partitions| partitions.chunks.into_iter()).collect();
        (0..PARTITIONS).map(move |_| all.iter_mut().flat_map(|chunks| chunks.next().unwrap_or_default()).collect())
    }
}
