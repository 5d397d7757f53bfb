// A stable sort of places by key, least significant digit first: eight bits a pass.
//
// A tile is a block's: 4,096 keys in their order, 512 for each warp. A pass counts each tile's keys by digit, finds what stands before each tile's
// share of a digit, and puts the tile's keys there, in order. Keys of at least `rows` are taken for `rows`, so that they come last.
// What moves: 4 bytes a key to count, 4 to 8 to read and 8 to write. A tile's keys are brought into their order in shared memory first, so that
// keys of one digit, about 16, are written side by side. A million keys stay in the second-level cache.

#define DIGITS 256u // as many as threads: a thread for each
#define ROUNDS 16u  // keys of a thread
#define TILE (DIGITS * ROUNDS)
#define WARPS (DIGITS / WARP_SIZE)

__device__ __forceinline__ unsigned digit_of(unsigned key, unsigned shift) { return key >> shift & (DIGITS - 1); }

// Where a thread's key of a round stands.
__device__ __forceinline__ unsigned place_of(unsigned round) {
    return blockIdx.x * TILE + (threadIdx.x / WARP_SIZE * ROUNDS + round) * WARP_SIZE + lane();
}

// The sum of the values of the threads before this one, and of all.
__device__ unsigned sum_before(unsigned value, unsigned* all) {
    __shared__ unsigned parts[WARPS];
    unsigned sum = value;
    for (unsigned distance = 1; distance < WARP_SIZE; distance *= 2) {
        unsigned other = __shfl_up_sync(ALL, sum, distance);
        if (lane() >= distance) sum += other;
    }
    __syncthreads();
    if (lane() == WARP_SIZE - 1) parts[threadIdx.x / WARP_SIZE] = sum;
    __syncthreads();
    *all = 0;
    unsigned before = sum - value;
    for (unsigned warp = 0; warp < WARPS; warp++) {
        if (warp < threadIdx.x / WARP_SIZE) before += parts[warp];
        *all += parts[warp];
    }
    return before;
}

// `counts [DIGITS, tiles]`: a block counts its tile.
extern "C" __global__ void radix_count(const unsigned* keys, unsigned count, unsigned rows, unsigned shift, unsigned* counts) {
    __shared__ unsigned found[DIGITS];
    found[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned place = place_of(round);
        if (place < count) atomicAdd(&found[digit_of(min(keys[place], rows), shift)], 1u);
    }
    __syncthreads();
    counts[threadIdx.x * gridDim.x + blockIdx.x] = found[threadIdx.x];
}

// Counts to sums of the counts of the tiles before, and their `totals [DIGITS]`: a block for each digit.
extern "C" __global__ void radix_scan(unsigned* counts, unsigned tiles, unsigned* totals) {
    unsigned* own = counts + (size_t)blockIdx.x * tiles;
    unsigned before = 0;
    for (unsigned first = 0; first < tiles; first += DIGITS) {
        unsigned tile = first + threadIdx.x, all;
        unsigned within = sum_before(tile < tiles ? own[tile] : 0, &all);
        if (tile < tiles) own[tile] = before + within;
        before += all;
    }
    if (threadIdx.x == 0) totals[blockIdx.x] = before;
}

// Puts a tile's keys where they belong. In the first pass (`first`) a key's place is where it stands. One tile alone needs no counts.
extern "C" __global__ void radix_move(const unsigned* __restrict__ keys, const unsigned* __restrict__ places, unsigned first, unsigned count,
    unsigned rows, unsigned shift, const unsigned* __restrict__ counts, const unsigned* __restrict__ totals, unsigned* __restrict__ keys_out,
    unsigned* __restrict__ places_out) {
    __shared__ unsigned found[WARPS][DIGITS]; // by a warp: how many so far; then how many of the warps before
    __shared__ unsigned starts[DIGITS];       // of a digit in the tile
    __shared__ unsigned targets[DIGITS];      // of a digit's first key, less its start
    __shared__ unsigned tile_keys[TILE], tile_places[TILE];
    unsigned warp = threadIdx.x / WARP_SIZE, before = (1u << lane()) - 1, all;
    unsigned own[ROUNDS], ranks[ROUNDS];
    for (unsigned other = 0; other < WARPS; other++) found[other][threadIdx.x] = 0;
    __syncthreads();
    UNROLL
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned place = place_of(round);
        if (place - lane() >= count) continue; // the whole warp
        own[round] = place < count ? min(keys[place], rows) : 0;
        unsigned digit = digit_of(own[round], shift);
        unsigned same = __match_any_sync(ALL, place < count ? digit : DIGITS), so_far = found[warp][digit];
        ranks[round] = so_far + __popc(same & before);
        __syncwarp();
        if (place < count && (same & before) == 0) found[warp][digit] = so_far + __popc(same);
        __syncwarp();
    }
    __syncthreads();
    unsigned digit = threadIdx.x, sum = 0;
    for (unsigned other = 0; other < WARPS; other++) {
        unsigned here = found[other][digit];
        found[other][digit] = sum;
        sum += here;
    }
    starts[digit] = sum_before(sum, &all);
    unsigned target = starts[digit];
    if (gridDim.x > 1) target = sum_before(totals[digit], &all) + counts[digit * gridDim.x + blockIdx.x];
    targets[digit] = target - starts[digit];
    __syncthreads();
    UNROLL
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned place = place_of(round);
        if (place >= count) continue;
        unsigned key = own[round], at = starts[digit_of(key, shift)] + found[warp][digit_of(key, shift)] + ranks[round];
        tile_keys[at] = key;
        tile_places[at] = first ? place : places[place];
    }
    __syncthreads();
    for (unsigned at = threadIdx.x; at < TILE && blockIdx.x * TILE + at < count; at += DIGITS) {
        unsigned to = targets[digit_of(tile_keys[at], shift)] + at;
        keys_out[to] = tile_keys[at];
        places_out[to] = tile_places[at];
    }
}
