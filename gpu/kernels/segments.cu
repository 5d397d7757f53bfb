// Sums by key over entries that are sorted by key: a segment is the entries of one row of a table.
//
// The order of a sum. A segment's entries are added one after another, by fused multiply-adds, from zero. A segment of more than PIECE entries is
// cut into pieces of PIECE by the place in the segment; each is summed from zero, and the sums are added in order, from the first. So a row's
// sum is made of the row's entries alone, whatever stands beside it, and a popular row does not leave one warp alone.
// What moves: 8 bytes of an entry (its place and its weight, of which a whole sector of 32 bytes is read) and its vector. The vectors are those of
// a batch, few enough for the first-level cache, which gives 128 bytes a clock: for a million entries of 64 numbers 15,000 clocks of 132 of them.

#define PIECE 128u
#define TILE 4096u
#define ROUNDS 16u // of 32 keys, for each of the eight warps of a tile
#define WARPS 8u
#define AHEAD 4u // vectors that are loaded at once

// Whether a key begins a segment, or is the last of one.
__device__ __forceinline__ bool is_head(const unsigned* keys, unsigned at, unsigned count, unsigned rows) {
    return at < count && keys[at] < rows && (at == 0 || keys[at - 1] != keys[at]);
}
__device__ __forceinline__ bool is_tail(const unsigned* keys, unsigned at, unsigned count, unsigned rows) {
    return at < count && keys[at] < rows && (at + 1 == count || keys[at + 1] != keys[at]);
}

// The segments that begin in a tile: how many (`heads [tiles]`), and one more than where the last begins, or 0 (`lasts [tiles]`). Sets `counters`
// to zero, for those that follow.
extern "C" __global__ void segment_heads(const unsigned* keys, unsigned count, unsigned rows, unsigned* heads, unsigned* lasts,
    unsigned* counters) {
    __shared__ unsigned found, last;
    if (blockIdx.x == 0 && threadIdx.x < 2) counters[threadIdx.x] = 0;
    if (threadIdx.x == 0) found = last = 0;
    __syncthreads();
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned at = blockIdx.x * TILE + round * blockDim.x + threadIdx.x;
        if (!is_head(keys, at, count, rows)) continue;
        atomicAdd(&found, 1u);
        atomicMax(&last, at + 1);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        heads[blockIdx.x] = found;
        lasts[blockIdx.x] = last;
    }
}

// Notes a segment of more than one piece, and its pieces. Where among the others they are noted is left to chance, and shows in no sum.
__device__ void note_pieces(unsigned row, unsigned from, unsigned to, unsigned* pieces, unsigned* longs, unsigned* counters) {
    unsigned needed = (to - from + PIECE - 1) / PIECE;
    unsigned first = atomicAdd(&counters[0], needed), at = atomicAdd(&counters[1], 1u);
    longs[3 * at] = row;
    longs[3 * at + 1] = first;
    longs[3 * at + 2] = needed;
    for (unsigned piece = 0; piece < needed; piece++) {
        pieces[2 * (first + piece)] = from + piece * PIECE;
        pieces[2 * (first + piece) + 1] = min(from + (piece + 1) * PIECE, to);
    }
}

// The distinct rows, ascending, where the segment of each begins (and one more, where the last ends), how many there are (`number [1]`), and the
// pieces of long segments: `pieces [., 2]` from and to, `longs [., 3]` row, first piece and pieces, `counters [2]` how many of both.
extern "C" __global__ void segment_starts(const unsigned* keys, unsigned count, unsigned rows, const unsigned* heads, const unsigned* lasts,
    unsigned* distinct, unsigned* starts, unsigned* number, unsigned* pieces, unsigned* longs, unsigned* counters) {
    __shared__ unsigned last_of_tiles, warp_heads[WARPS], warp_lasts[WARPS];
    unsigned warp = threadIdx.x / WARP_SIZE, first = blockIdx.x * TILE + warp * ROUNDS * WARP_SIZE, rank = 0;
    if (threadIdx.x == 0) last_of_tiles = 0;
    __syncthreads();
    for (unsigned tile = threadIdx.x; tile < blockIdx.x; tile += blockDim.x) {
        rank += heads[tile];
        atomicMax(&last_of_tiles, lasts[tile]);
    }
    rank = block_sum(rank);
    unsigned votes[ROUNDS], found = 0, last = 0;
    UNROLL
    for (unsigned round = 0; round < ROUNDS; round++) {
        votes[round] = 0;
        unsigned base = first + round * WARP_SIZE;
        if (base >= count) continue; // the whole warp
        votes[round] = __ballot_sync(ALL, is_head(keys, base + lane(), count, rows));
        found += __popc(votes[round]);
        if (votes[round] != 0) last = base + WARP_SIZE - __clz(votes[round]);
    }
    if (lane() == 0) {
        warp_heads[warp] = found;
        warp_lasts[warp] = last;
    }
    __syncthreads();
    last = last_of_tiles;
    for (unsigned other = 0; other < warp; other++) {
        rank += warp_heads[other];
        last = max(last, warp_lasts[other]);
    }
    UNROLL
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned base = first + round * WARP_SIZE, at = base + lane();
        unsigned up_to_here = votes[round] & (ALL >> (WARP_SIZE - 1 - lane())), segments = rank + __popc(up_to_here);
        unsigned begin = up_to_here != 0 ? base + WARP_SIZE - 1 - __clz(up_to_here) : last - 1;
        if (votes[round] >> lane() & 1) {
            distinct[segments - 1] = keys[at];
            starts[segments - 1] = at;
        }
        if (is_tail(keys, at, count, rows)) {
            if (at + 1 - begin > PIECE) note_pieces(keys[at], begin, at + 1, pieces, longs, counters);
            if (at + 1 == count || keys[at + 1] >= rows) {
                starts[segments] = at + 1;
                *number = segments;
            }
        }
        rank += __popc(votes[round]);
        if (votes[round] != 0) last = base + WARP_SIZE - __clz(votes[round]);
    }
    if (blockIdx.x == 0 && threadIdx.x == 0 && (count == 0 || keys[0] >= rows)) *number = 0;
}

struct Entries {
    const unsigned* places;
    const float* weights;
    const float* vectors;
    unsigned width, dim;
};

// The sum of some entries in the columns from `column` on, and of their weights: a warp.
template <unsigned V>
__device__ Part<V> sum_entries(const Entries& entries, unsigned from, unsigned to, unsigned column, float* total) {
    Part<V> sum = {};
    *total = 0;
    const float* vectors = entries.vectors + min(column, entries.dim - V); // lanes beyond the columns read the last ones, for nothing
    for (unsigned base = from; base < to; base += WARP_SIZE) {
        bool within = base + lane() < to;
        unsigned place = within ? entries.places[base + lane()] : 0, vector = place / entries.width, some = min(WARP_SIZE, to - base);
        float weight = within ? entries.weights[place] : 0;
        for (unsigned next = 0; next < some; next += AHEAD) {
            Part<V> loaded[AHEAD];
            float by[AHEAD];
            UNROLL
            for (unsigned k = 0; k < AHEAD; k++) {
                loaded[k] = load<V>(vectors + (size_t)__shfl_sync(ALL, vector, next + k) * entries.dim);
                by[k] = __shfl_sync(ALL, weight, next + k);
            }
            UNROLL
            for (unsigned k = 0; k < AHEAD; k++) {
                if (next + k >= some) continue;
                UNROLL
                for (unsigned v = 0; v < V; v++) sum.of[v] = fmaf(by[k], loaded[k].of[v], sum.of[v]);
                *total += by[k];
            }
        }
    }
    return sum;
}

// The sum of some entries into a row of `dim` numbers.
template <unsigned V>
__device__ void sum_into(const Entries& entries, unsigned from, unsigned to, float* row, float* total) {
    float weights = 0;
    for (unsigned first = 0; first < entries.dim; first += V * WARP_SIZE) {
        unsigned column = first + V * lane();
        Part<V> sum = sum_entries<V>(entries, from, to, column, &weights);
        if (column < entries.dim) store<V>(row + column, sum);
    }
    if (lane() == 0) *total = weights;
}

// A warp for each piece (`most` at most) and then one for each row: pieces into `parts [pieces, dim]` and `part_totals`, rows of one piece into
// `out [rows, dim]` and `totals [rows]`; marks rows as `touched`.
extern "C" __global__ void segment_sums(const unsigned* __restrict__ places, const unsigned* __restrict__ distinct,
    const unsigned* __restrict__ starts, const unsigned* __restrict__ number, const unsigned* __restrict__ pieces,
    const unsigned* __restrict__ counters, unsigned most, const float* __restrict__ weights, const float* __restrict__ vectors, unsigned width,
    unsigned dim, float* __restrict__ parts, float* __restrict__ part_totals, float* __restrict__ out, unsigned char* __restrict__ touched,
    float* __restrict__ totals) {
    unsigned warp = grid_warp(), from, to;
    float *target, *total;
    if (warp < most) {
        if (warp >= counters[0]) return; // the whole warp, here and below
        from = pieces[2 * warp], to = pieces[2 * warp + 1];
        target = parts + (size_t)warp * dim, total = part_totals + warp;
    } else {
        unsigned segment = warp - most;
        if (segment >= *number) return;
        unsigned row = distinct[segment];
        from = starts[segment], to = starts[segment + 1];
        if (lane() == 0) touched[row] = 1;
        if (to - from > PIECE) return;
        target = out + (size_t)row * dim, total = totals + row;
    }
    Entries entries = {places, weights, vectors, width, dim};
    BY_WIDTH(dim, sum_into, entries, from, to, target, total);
}

// Adds the pieces of each long segment, in order: a warp.
extern "C" __global__ void segment_pieces(const unsigned* longs, const unsigned* counters, unsigned dim, const float* __restrict__ parts,
    const float* __restrict__ part_totals, float* __restrict__ out, float* __restrict__ totals) {
    unsigned at = grid_warp();
    if (at >= counters[1]) return; // the whole warp
    unsigned row = longs[3 * at], first = longs[3 * at + 1], pieces = longs[3 * at + 2];
    for (unsigned column = lane(); column < dim; column += WARP_SIZE) {
        float sum = parts[(size_t)first * dim + column];
        for (unsigned piece = 1; piece < pieces; piece++) sum += parts[(size_t)(first + piece) * dim + column];
        out[(size_t)row * dim + column] = sum;
    }
    if (lane() != 0) return;
    float sum = part_totals[first];
    for (unsigned piece = 1; piece < pieces; piece++) sum += part_totals[first + piece];
    totals[row] = sum;
}
