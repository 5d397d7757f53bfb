// The K-th largest score of each user's list, which is the user's train items and items that were drawn.
//
// A block makes a user's scores and selects among them by their bits, eight at a time from the highest. 29,858 users with 1,000 drawn items and 27 of
// their own read 7.9 GB of vectors of 64 numbers, from the second-level cache; the scores, 4 KB of a user, stay in the first.

#define DIGITS 256u // threads of a block, and values of eight bits

// Narrows `prefix`, the bits from `shift + 8` on of the number of a rank, by the next eight: those of the digit among whose numbers, counted from the
// largest, the rank falls; `rank` becomes that among them. For one warp.
__device__ void narrow(const unsigned* numbers_of, unsigned shift, unsigned* prefix, unsigned* rank) {
    unsigned wanted = *rank, own = 0;
    for (unsigned digit = 8 * lane(); digit < 8 * lane() + 8; digit++) own += numbers_of[digit];
    unsigned from_here = own; // of this lane's digits and larger ones
    for (unsigned distance = 1; distance < WARP_SIZE; distance *= 2) {
        unsigned behind = __shfl_down_sync(ALL, from_here, distance);
        if (lane() + distance < WARP_SIZE) from_here += behind;
    }
    unsigned above = from_here - own;
    if (wanted <= above || wanted > from_here) return;
    unsigned digit = 8 * lane() + 7;
    for (; wanted > above + numbers_of[digit]; digit--) above += numbers_of[digit];
    *prefix |= digit << shift;
    *rank = wanted - above;
}

// `out [rows]` of the users `who [rows]`: the k-th largest score of each, the smallest where there are fewer, less the user's own norm. Drawn items are
// `drawn [rows, draws]`; `work [rows, stride]` has room for the longest list.
extern "C" __global__ void kth_of_lists(const float* users, const float* items, const float* norms, float factor, unsigned dim, const float* user_norms,
    const unsigned* who, const unsigned* starts, const unsigned* train, const unsigned* drawn, unsigned draws, unsigned k, unsigned stride, float* work,
    float* out) {
    __shared__ unsigned numbers_of[DIGITS], prefix, rank;
    unsigned row = blockIdx.x, user = who[row], from = starts[user], own = starts[user + 1] - from, length = own + draws;
    float* scores = work + (size_t)row * stride;
    Sides sides = {users, items, norms, factor, dim, 0};
    for (unsigned at = threadIdx.x; at < length; at += DIGITS) {
        unsigned item = at < own ? train[from + at] : drawn[(size_t)row * draws + at - own];
        scores[at] = score_of(sides, user, item);
    }
    if (threadIdx.x == 0) {
        prefix = 0;
        rank = min(k, length);
    }
    for (unsigned shift = 32; shift > 0;) {
        shift -= 8;
        numbers_of[threadIdx.x] = 0;
        __syncthreads();
        for (unsigned at = threadIdx.x; at < length; at += DIGITS) {
            unsigned bits = ordered(scores[at]);
            if ((u64)(bits ^ prefix) >> (shift + 8) == 0) atomicAdd(&numbers_of[bits >> shift & (DIGITS - 1)], 1u);
        }
        __syncthreads();
        if (threadIdx.x < WARP_SIZE) narrow(numbers_of, shift, &prefix, &rank);
        __syncthreads();
    }
    if (threadIdx.x == 0) out[row] = float_of(prefix) - (user_norms ? user_norms[user] : 0.0f);
}
