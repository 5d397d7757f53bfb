// Where held-out items stand among all items, by counts of the scores that reach theirs; and the best items of users. No matrix of scores is stored.
//
// The product of a score is one chain of fused multiply-adds in the order of the dimensions, in a tile of scores and alone (`score_of`): whether one
// score reaches another does not depend on where they were made.
//
// 128 users meet tiles of 128 items; a thread has 8 x 8 of their products in registers, and 8 dimensions of both sides at once lie in shared
// memory, twice, so that the next ones come while these are multiplied. 29,858 users and 40,981 items of 64 dimensions are 157 GFLOP: 2.3 ms at the
// H200's 67 TFLOP/s. Items are read once for each block of users, 2.5 GB from the second-level cache, where 10 MB of them stay.

#define TILE 128u    // users of a block, and items of a tile
#define THREADS 256u // of a block: 16 x 16
#define SIDE 8u      // a thread has SIDE x SIDE scores
#define DEPTH 8u     // dimensions in shared memory

// Puts four numbers of a row into its column.
__device__ __forceinline__ void put(float4 (&to)[DEPTH][TILE / 4], unsigned row, unsigned d, float4 four) {
    ((float*)to[d])[row] = four.x;
    ((float*)to[d + 1])[row] = four.y;
    ((float*)to[d + 2])[row] = four.z;
    ((float*)to[d + 3])[row] = four.w;
}

// Adds the products of some dimensions.
__device__ __forceinline__ void multiply(
    const float4 (&users)[DEPTH][TILE / 4], const float4 (&items)[DEPTH][TILE / 4], float (&sums)[SIDE][SIDE]) {
    unsigned column = threadIdx.x % 16, row = threadIdx.x / 16;
#pragma unroll
    for (unsigned d = 0; d < DEPTH; d++) {
        float4 a = users[d][row], b = users[d][16 + row], x = items[d][column], y = items[d][16 + column];
        float p[SIDE] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}, q[SIDE] = {x.x, x.y, x.z, x.w, y.x, y.y, y.z, y.w};
#pragma unroll
        for (unsigned i = 0; i < SIDE; i++) {
#pragma unroll
            for (unsigned j = 0; j < SIDE; j++) sums[i][j] = fmaf(p[i], q[j], sums[i][j]);
        }
    }
}

// The place in the block, or in the tile, of a thread's n-th row or column.
__device__ __forceinline__ unsigned place_of(unsigned thread, unsigned n) { return n / 4 * 64 + thread * 4 + n % 4; }

// Products of the block's users with a tile of items: of each thread's own rows and columns. Threads 2r and 2r + 1 carry row r of both sides into
// shared memory; null where there is no such row.
__device__ __forceinline__ void multiply_tile(const float* user, const float* item, unsigned dim, float (&sums)[SIDE][SIDE]) {
    __shared__ float4 users[2][DEPTH][TILE / 4], items[2][DEPTH][TILE / 4];
    unsigned row = threadIdx.x / 2, half = threadIdx.x % 2 * 4;
#pragma unroll
    for (unsigned i = 0; i < SIDE; i++) {
#pragma unroll
        for (unsigned j = 0; j < SIDE; j++) sums[i][j] = 0.0f;
    }
    float4 of_user = four_of(user, half, dim), of_item = four_of(item, half, dim);
    __syncthreads(); // of the tile before
    for (unsigned first = 0, at = 0; first < dim; first += DEPTH, at ^= 1) {
        put(users[at], row, half, of_user);
        put(items[at], row, half, of_item);
        __syncthreads();
        of_user = four_of(user, first + DEPTH + half, dim);
        of_item = four_of(item, first + DEPTH + half, dim);
        multiply(users[at], items[at], sums);
    }
}

// The scores of a thread's n-th row of products; minus infinity behind the last item. Where one is NaN or infinite, the first such user and item
// are noted.
__device__ __forceinline__ void finish_row(const Sides& sides, const float (&sums)[SIDE], unsigned first_item, unsigned user, u64* not_finite,
    float (&scores)[SIDE]) {
    float check = 0.0f;
#pragma unroll
    for (unsigned j = 0; j < SIDE; j++) {
        unsigned item = first_item + place_of(threadIdx.x % 16, j);
        bool is_item = item < sides.catalogue;
        float score = fmaf(sides.factor, sums[j], sides.norms && is_item ? -sides.norms[item] : 0.0f);
        if (is_item) check = fmaf(score, 0.0f, check); // NaN once a score is not finite
        scores[j] = is_item ? score : -INFINITY;
    }
    if (check == 0.0f) return;
    for (unsigned j = 0; j < SIDE; j++) {
        unsigned item = first_item + place_of(threadIdx.x % 16, j);
        if (item < sides.catalogue && !isfinite(scores[j])) atomicMin(not_finite, (u64)user << 32 | item);
    }
}

// The row of a place in lists that begin at `starts [rows + 1]`.
__device__ unsigned row_of(const unsigned* starts, unsigned rows, unsigned place) {
    unsigned from = 0, to = rows;
    while (to - from > 1) {
        unsigned middle = from + (to - from) / 2;
        if (starts[middle] <= place) from = middle;
        else to = middle;
    }
    return from;
}

// How many of the ascending thresholds each of some scores reaches.
template <unsigned COUNT>
__device__ __forceinline__ void reached_by(const float (&scores)[COUNT], const float* thresholds, unsigned length, unsigned (&reached)[COUNT]) {
#pragma unroll
    for (unsigned j = 0; j < COUNT; j++) reached[j] = 0;
    for (unsigned step = length == 0 ? 0 : 1u << (31 - __clz((int)length)); step > 0; step /= 2) {
#pragma unroll
        for (unsigned j = 0; j < COUNT; j++) {
            unsigned next = reached[j] + step;
            if (next <= length && thresholds[next - 1] <= scores[j]) reached[j] = next;
        }
    }
}

// Each threshold has two counts of the scores that reach it and none above it: of those above it, and of those equal to it.
template <unsigned COUNT>
__device__ __forceinline__ void count_reached(const float (&scores)[COUNT], const float* thresholds, unsigned length, unsigned one, unsigned* counts) {
    unsigned reached[COUNT];
    reached_by(scores, thresholds, length, reached);
#pragma unroll
    for (unsigned j = 0; j < COUNT; j++) {
        if (reached[j] == 0) continue;
        unsigned last = reached[j] - 1;
        atomicAdd(counts + 2 * last + (thresholds[last] == scores[j]), one);
    }
}

// scores[e] of entry e of the lists.
extern "C" __global__ void score_entries(const float* users, const float* items, const float* norms, float factor, unsigned dim,
    const unsigned* starts, const unsigned* list, unsigned rows, unsigned entries, float* scores) {
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= entries) return;
    Sides sides = {users, items, norms, factor, dim, 0};
    scores[at] = score_of(sides, row_of(starts, rows, at), list[at]);
}

// Each list's scores ascending: an entry's place is the number of those before it.
extern "C" __global__ void sort_lists(const float* scores, const unsigned* starts, unsigned rows, unsigned entries, float* sorted) {
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= entries) return;
    unsigned row = row_of(starts, rows, at), from = starts[row], to = starts[row + 1], before = 0;
    float score = scores[at];
    for (unsigned other = from; other < to; other++) before += scores[other] < score || (scores[other] == score && other < at);
    sorted[from + before] = score;
}

// Counts the scores of all items for the thresholds of each user. Block b has the b % user_blocks-th 128 users of `who`, and a part of the tiles of
// items; thresholds and counts lie in shared memory where it has room for `room` thresholds.
extern "C" __global__ void __launch_bounds__(256, 2) count_tiles(const float* users, const float* items, const float* norms, float factor, unsigned dim,
    const unsigned* who, unsigned chosen, unsigned user_blocks, unsigned catalogue, const unsigned* starts, const float* thresholds, unsigned parts,
    unsigned room, unsigned* counts, u64* not_finite) {
    __shared__ unsigned begins[TILE + 1], ids[TILE];
    __shared__ float lowest[TILE];
    DYNAMIC_SHARED(unsigned, memory);
    Sides sides = {users, items, norms, factor, dim, catalogue};
    unsigned first = blockIdx.x % user_blocks * TILE, part = blockIdx.x / user_blocks, present = min(chosen - first, TILE);
    for (unsigned row = threadIdx.x; row <= TILE; row += THREADS) {
        bool is_user = row < present;
        unsigned user = who[first + (is_user ? row : present - 1)], begin = starts[is_user ? user : user + 1];
        begins[row] = begin;
        if (row < TILE) {
            ids[row] = user;
            lowest[row] = is_user ? thresholds[begin] : INFINITY;
        }
    }
    __syncthreads();
    unsigned base = begins[0], length = begins[TILE] - base;
    bool is_shared = length <= room;
    float* own_thresholds = (float*)(memory + 2 * room);
    for (unsigned at = threadIdx.x; is_shared && at < length; at += THREADS) {
        memory[2 * at] = memory[2 * at + 1] = 0;
        own_thresholds[at] = thresholds[base + at];
    }
    unsigned carried = threadIdx.x / 2;
    const float* user = carried < present ? users + (size_t)ids[carried] * dim : 0;
    unsigned tiles = (catalogue + TILE - 1) / TILE;
    unsigned from = (unsigned)((u64)tiles * part / parts), to = (unsigned)((u64)tiles * (part + 1) / parts);
    for (unsigned tile = from; tile < to; tile++) {
        unsigned first_item = tile * TILE;
        float sums[SIDE][SIDE];
        multiply_tile(user, first_item + carried < catalogue ? items + (size_t)(first_item + carried) * dim : 0, dim, sums);
#pragma unroll
        for (unsigned i = 0; i < SIDE; i++) {
            unsigned row = place_of(threadIdx.x / 16, i);
            if (row >= present) continue;
            float scores[SIDE], highest = -INFINITY;
            finish_row(sides, sums[i], first_item, ids[row], not_finite, scores);
#pragma unroll
            for (unsigned j = 0; j < SIDE; j++) highest = fmaxf(highest, scores[j]);
            if (highest < lowest[row]) continue;
            unsigned begin = begins[row], own = begins[row + 1] - begin;
            if (is_shared) count_reached(scores, own_thresholds + (begin - base), own, 1u, memory + 2 * (begin - base));
            else count_reached(scores, thresholds + begin, own, 1u, counts + 2 * begin);
        }
    }
    __syncthreads();
    for (unsigned at = threadIdx.x; is_shared && at < 2 * length; at += THREADS) {
        if (memory[at] > 0) atomicAdd(counts + 2 * base + at, memory[at]);
    }
}

// Takes the items of lists out of the counts of their users.
extern "C" __global__ void leave_out(const float* users, const float* items, const float* norms, float factor, unsigned dim, const unsigned* list_starts,
    const unsigned* list, unsigned rows, unsigned entries, const unsigned* starts, const float* thresholds, unsigned* counts) {
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= entries) return;
    unsigned user = row_of(list_starts, rows, at), begin = starts[user], own = starts[user + 1] - begin;
    if (own == 0) return;
    Sides sides = {users, items, norms, factor, dim, 0};
    float score[1] = {score_of(sides, user, list[at])};
    count_reached(score, thresholds + begin, own, 0u - 1u, counts + 2 * begin);
}

// For each held-out item, how many others have at least its score, and how many are above it.
extern "C" __global__ void add_counts(const float* scores, const unsigned* starts, const float* thresholds, const unsigned* counts, unsigned rows,
    unsigned entries, unsigned* at_least, unsigned* above) {
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= entries) return;
    unsigned row = row_of(starts, rows, at), reaching = 0, equal = 0;
    for (unsigned threshold = starts[row]; threshold < starts[row + 1]; threshold++) {
        if (thresholds[threshold] >= scores[at]) reaching += counts[2 * threshold] + counts[2 * threshold + 1];
        if (thresholds[threshold] == scores[at]) equal += counts[2 * threshold + 1];
    }
    at_least[at] = reaching;
    above[at] = reaching - equal;
}

// A score and an item as one number: higher scores are larger, then smaller items. Both zeros are one. No score is 0.
__device__ __forceinline__ u64 candidate(float score, unsigned item) {
    return (u64)ordered(score) << 32 | ~item;
}
__device__ __forceinline__ float score_in(u64 candidate) {
    return float_of((unsigned)(candidate >> 32));
}

// How many of some descending numbers are larger.
__device__ unsigned larger(const u64* numbers, unsigned length, u64 than) {
    unsigned from = 0;
    while (from < length) {
        unsigned middle = from + (length - from) / 2;
        if (numbers[middle] > than) from = middle + 1;
        else length = middle;
    }
    return from;
}

// A warp puts the best `k` of a list's `kept` numbers, descending, and of others into `best`, descending; the number of them.
__device__ __noinline__ unsigned merge(const u64* list, unsigned kept, const u64* others, unsigned count, unsigned k, u64* best) {
    for (unsigned at = lane(); at < kept + count; at += WARP_SIZE) {
        u64 number = at < kept ? list[at] : others[at - kept];
        unsigned before = at < kept ? at : larger(list, kept, number);
        for (unsigned other = 0; other < count; other++) before += others[other] > number;
        if (before < k) best[before] = number;
    }
    __syncwarp();
    return min(kept + count, k);
}

// The best items of a part of the tiles for each user of a block: blocks are as in `count_tiles`. Beside the last K a user has room for the better
// ones of two tiles, `work [blocks, 128, 2 k + 256]`; when those of a third might not fit they are merged. `best [parts, chosen, k]`, 0 where there
// are fewer.
extern "C" __global__ void __launch_bounds__(256, 2) best_of_tiles(const float* users, const float* items, const float* norms, float factor, unsigned dim,
    const unsigned* who, unsigned chosen, unsigned user_blocks, unsigned catalogue, const unsigned* starts, const unsigned* masked, unsigned parts,
    unsigned k, u64* work, u64* best, u64* not_finite) {
    __shared__ unsigned ids[TILE], kept[TILE], found[TILE], second[TILE]; // `second`: which of its two lists of the best a user has
    __shared__ u64 last[TILE]; // that a newcomer must pass; 0 until there are K
    Sides sides = {users, items, norms, factor, dim, catalogue};
    unsigned first = blockIdx.x % user_blocks * TILE, part = blockIdx.x / user_blocks, present = min(chosen - first, TILE);
    if (threadIdx.x < TILE) {
        ids[threadIdx.x] = who[first + min(threadIdx.x, present - 1)];
        kept[threadIdx.x] = found[threadIdx.x] = second[threadIdx.x] = 0;
        last[threadIdx.x] = 0;
    }
    __syncthreads();
    unsigned carried = threadIdx.x / 2, width = 2 * k + 2 * TILE;
    u64* lists = work + (size_t)blockIdx.x * TILE * width;
    const float* user = carried < present ? users + (size_t)ids[carried] * dim : 0;
    unsigned tiles = (catalogue + TILE - 1) / TILE;
    unsigned from = (unsigned)((u64)tiles * part / parts), to = (unsigned)((u64)tiles * (part + 1) / parts);
    for (unsigned tile = from; tile < to; tile++) {
        unsigned first_item = tile * TILE;
        float sums[SIDE][SIDE];
        multiply_tile(user, first_item + carried < catalogue ? items + (size_t)(first_item + carried) * dim : 0, dim, sums);
#pragma unroll
        for (unsigned i = 0; i < SIDE; i++) {
            unsigned row = place_of(threadIdx.x / 16, i);
            if (row >= present) continue;
            float scores[SIDE], highest = -INFINITY;
            finish_row(sides, sums[i], first_item, ids[row], not_finite, scores);
#pragma unroll
            for (unsigned j = 0; j < SIDE; j++) highest = fmaxf(highest, scores[j]);
            if (candidate(highest, 0) <= last[row]) continue;
#pragma unroll
            for (unsigned j = 0; j < SIDE; j++) {
                unsigned item = first_item + place_of(threadIdx.x % 16, j);
                u64 newcomer = candidate(scores[j], item);
                if (item >= catalogue || newcomer <= last[row]) continue;
                if (starts && is_own(masked, starts[ids[row]], starts[ids[row] + 1], item)) continue;
                lists[(size_t)row * width + 2 * k + atomicAdd(&found[row], 1u)] = newcomer;
            }
        }
        __syncthreads();
        bool ends = tile + 1 == to;
        for (unsigned row = threadIdx.x / WARP_SIZE; row < present; row += THREADS / WARP_SIZE) {
            if (found[row] <= TILE && !ends) continue;
            u64* list = lists + (size_t)row * width;
            u64* target = ends ? best + ((size_t)part * chosen + first + row) * k : list + (1 - second[row]) * k;
            unsigned now = merge(list + second[row] * k, kept[row], list + 2 * k, found[row], k, target);
            for (unsigned at = now + lane(); ends && at < k; at += WARP_SIZE) target[at] = 0;
            if (lane() == 0) {
                kept[row] = now;
                found[row] = 0;
                second[row] = 1 - second[row];
                last[row] = now == k ? target[k - 1] : 0;
            }
            __syncwarp();
        }
    }
}

// For each chosen user the best K of the bests of all parts: `ids [chosen, k]`, all bits where there are fewer, and their scores, less the user's
// own norm. A block makes a user's list.
extern "C" __global__ void best_of_parts(const u64* best, const float* norms, const unsigned* who, unsigned chosen, unsigned parts, unsigned k,
    unsigned* ids, float* scores) {
    unsigned row = blockIdx.x;
    size_t from = (size_t)row * k;
    for (unsigned at = threadIdx.x; at < k; at += blockDim.x) {
        ids[from + at] = ALL;
        scores[from + at] = -INFINITY;
    }
    __syncthreads();
    float norm = norms ? norms[who[row]] : 0.0f;
    for (unsigned at = threadIdx.x; at < parts * k; at += blockDim.x) {
        u64 number = best[((size_t)(at / k) * chosen + row) * k + at % k];
        unsigned before = number == 0 ? k : at % k;
        for (unsigned part = 0; part < parts && before < k; part++) {
            if (part != at / k) before += larger(best + ((size_t)part * chosen + row) * k, k, number);
        }
        if (before >= k) continue;
        ids[from + before] = ~(unsigned)number;
        scores[from + before] = score_in(number) - norm;
    }
}
