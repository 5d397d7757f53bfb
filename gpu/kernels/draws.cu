// Draws of negatives, with the bits of the CPU's: a warp makes a row.
//
// A row's numbers come from SplitMix64, whose k-th number needs no number before it. The lanes look at 32 numbers at once, and what they accept is
// kept in the order of the numbers, as a loop that takes one after another would have it.

__device__ __forceinline__ u64 splitmix(u64 state) {
    state = (state ^ state >> 30) * 0xbf58476d1ce4e5b9ull;
    state = (state ^ state >> 27) * 0x94d049bb133111ebull;
    return state ^ state >> 31;
}

#define GOLDEN 0x9e3779b97f4a7c15ull

// The k-th number, from 0, of a generator that starts at `seed`.
__device__ __forceinline__ u64 number_of(u64 seed, u64 k) { return splitmix(seed + (k + 1) * GOLDEN); }

// Where the generator of a row of a step starts; `key` has taken in seed, purpose and epoch.
__device__ __forceinline__ u64 start_of(u64 key, unsigned step, unsigned row) { return number_of(key ^ ((u64)step << 32 | row), 0); }

// The item of a rank among those that are not the user's: with k of the user's below it, it is rank + k.
__device__ unsigned other_of_rank(const unsigned* items, unsigned from, unsigned to, unsigned rank) {
    unsigned first = from;
    while (from < to) {
        unsigned middle = from + (to - from) / 2;
        if (items[middle] - (middle - first) <= rank) from = middle + 1;
        else to = middle;
    }
    return rank + from - first;
}

// What 64 bits say of an integer below a bound (Lemire 2019): the integer, a fraction of 2^32, and whether they say anything.
__device__ __forceinline__ bool below(u64 bits, unsigned bound, unsigned* integer, unsigned* fraction) {
    u64 wide = bound, low = bits * wide;
    *integer = (unsigned)__umul64hi(bits, wide);
    *fraction = (unsigned)(low >> 32);
    return low >= wide || low >= (0 - wide) % wide;
}

// Draws from the whole catalogue that are tried in a row before the user's own law is made, as on the CPU.
#define TRIALS 64u

// An item by the weights of those that are not the user's, from a number of the generator: where the running sum passes a part of the total. One
// lane looks at the whole catalogue, in order, so that the sums are the CPU's; hardly any user ever needs it.
__device__ unsigned exact_draw(const double* weights, unsigned items, const unsigned* train, unsigned from, unsigned to, u64 bits) {
    double total = 0.0, sum = 0.0;
    unsigned own = from, last = 0;
    for (unsigned item = 0; item < items; item++) {
        bool is_own = own < to && train[own] == item;
        own += is_own;
        if (is_own || weights[item] == 0.0) continue;
        total += weights[item];
        last = item;
    }
    double part = (double)(bits >> 11) * (1.0 / 9007199254740992.0) * total; // of 2^53
    own = from;
    for (unsigned item = 0; item < last; item++) {
        bool is_own = own < to && train[own] == item;
        own += is_own;
        if (!is_own) sum += weights[item];
        if (sum > part) return item;
    }
    return last;
}

// `out [rows, width]` from column `first` on: `draws` items that are not the user's, each as likely as any other. With columns of an alias table
// ([2 items]: a fraction of 2^32 and an alias), by its `weights [items]`. Rows are counted from `first_row` of the whole batch.
extern "C" __global__ void draw_items(const unsigned* users, unsigned rows, unsigned first_row, const unsigned* starts, const unsigned* train,
    const unsigned* columns, const double* weights, unsigned weighted, unsigned items, u64 key, unsigned step, unsigned by_user, unsigned* out,
    unsigned width, unsigned first, unsigned draws) {
    unsigned row = grid_warp();
    if (row >= rows) return; // the whole warp
    unsigned user = users[row], from = starts[user], to = starts[user + 1];
    u64 seed = start_of(key, step, by_user ? user : first_row + row);
    unsigned others = items - (to - from);
    bool by_rank = !weighted && others < items / 2; // most items are the user's own: they are not drawn at all
    unsigned* target = out + (size_t)row * width + first;
    unsigned made = 0, tried = 0; // for the next item
    for (u64 base = 0; made < draws; base += WARP_SIZE) {
        unsigned item, fraction;
        bool accepted = below(number_of(seed, base + lane()), by_rank ? others : items, &item, &fraction);
        if (by_rank) {
            item = other_of_rank(train, from, to, item);
        } else {
            if (weighted && fraction >= columns[2 * item]) item = columns[2 * item + 1];
            accepted = accepted && !is_own(train, from, to, item);
        }
        unsigned votes = __ballot_sync(ALL, accepted), rejected = votes == 0 ? WARP_SIZE : __ffs((int)votes) - 1;
        if (weighted && tried + rejected >= TRIALS) {
            u64 next = base + (TRIALS - tried); // the number after the last trial
            if (lane() == 0) target[made] = exact_draw(weights, items, train, from, to, number_of(seed, next));
            made++;
            tried = 0;
            base = next + 1 - WARP_SIZE; // to which the loop adds a warp
            continue;
        }
        unsigned place = made + __popc(votes & ((1u << lane()) - 1));
        if (accepted && place < draws) target[place] = item;
        made += __popc(votes);
        tried = votes == 0 ? tried + WARP_SIZE : __clz((int)votes);
    }
}
