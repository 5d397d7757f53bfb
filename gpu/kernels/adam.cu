// An optimizer's steps, by the formula and the constants of trainer/optimizers/src/kernels.rs, and the catching up of Adam's rows, with the CPU's
// bits: each operation rounds, and none are fused. A row that was left behind has another last bit in its moments: here it leaps and then steps,
// where the CPU rounds the decay of both once.
//
// What moves: a value, its moments and its gradient, 28 bytes a number, of rows that have a gradient; 24 of the others. That is all a step costs:
// 41,000 rows of 64 numbers are 73 MB, 15 us at 4.8 TB/s.

// A number whose operations round one by one. The compiler would make one operation of a * b + c, which the CPU has not.
struct Rounded {
    float value;
};
__device__ __forceinline__ Rounded operator+(Rounded a, Rounded b) { return {__fadd_rn(a.value, b.value)}; }
__device__ __forceinline__ Rounded operator-(Rounded a, Rounded b) { return {__fsub_rn(a.value, b.value)}; }
__device__ __forceinline__ Rounded operator*(Rounded a, Rounded b) { return {__fmul_rn(a.value, b.value)}; }
__device__ __forceinline__ Rounded operator/(Rounded a, Rounded b) { return {__fdiv_rn(a.value, b.value)}; }
__device__ __forceinline__ Rounded root(Rounded a) { return {__fsqrt_rn(a.value)}; }

struct Step {
    Rounded weight_decay, shrinkage, first_decay, first_gain, second_decay, second_gain, second_scale, rate, epsilon;
};

// Some steps without gradient at once: the series of trainer/optimizers/src/catch_up.rs, and what is left of the moments.
struct Leap {
    Rounded scale, weight, a, b, c, d, e, first_decay, second_decay, epsilon;
};

struct Table {
    float *values, *first, *second;
    unsigned dim;
};

// Some numbers of a row.
template <unsigned V>
struct State {
    Part<V> value, first, second;
};

template <unsigned V>
__device__ __forceinline__ State<V> load_state(const Table& table, size_t at) {
    return {load<V>(table.values + at), load<V>(table.first + at), load<V>(table.second + at)};
}

template <unsigned V>
__device__ __forceinline__ void store_state(const Table& table, size_t at, const State<V>& state) {
    store<V>(table.values + at, state.value);
    store<V>(table.first + at, state.first);
    store<V>(table.second + at, state.second);
}

template <unsigned V>
__device__ __forceinline__ void update(State<V>& state, const Part<V>& gradients, const Step& by) {
    UNROLL
    for (unsigned v = 0; v < V; v++) {
        Rounded value = {state.value.of[v]}, first = {state.first.of[v]}, second = {state.second.of[v]}, gradient = {gradients.of[v]};
        gradient = by.weight_decay * value + gradient;
        first = by.first_decay * first + by.first_gain * gradient;
        second = by.second_decay * second + by.second_gain * gradient * gradient;
        value = by.shrinkage * value - by.rate * first / (root(second) * by.second_scale + by.epsilon);
        state.value.of[v] = value.value, state.first.of[v] = first.value, state.second.of[v] = second.value;
    }
}

template <unsigned V>
__device__ __forceinline__ void leap(State<V>& state, const Leap& by) {
    const Rounded one = {1};
    UNROLL
    for (unsigned v = 0; v < V; v++) {
        Rounded value = {state.value.of[v]}, first = {state.first.of[v]}, second = {state.second.of[v]};
        Rounded inverse = one / (by.scale * root(second) + by.epsilon), w = one - by.epsilon * inverse;
        Rounded series = one + w * w * (by.a + w * (by.b + w * (by.c + w * (by.d + w * by.e))));
        state.value.of[v] = (value - first * by.weight * inverse * series).value;
        state.first.of[v] = (first * by.first_decay).value;
        state.second.of[v] = (second * by.second_decay).value;
    }
}

// From the place that a row was left at to now: `leaps [., 8]` by the place, `decays [., 2]` by how far it is.
__device__ __forceinline__ Leap leap_from(unsigned left, unsigned now, const float* leaps, const float* decays, float epsilon) {
    Part<4> head = load<4>(leaps + 8 * (size_t)left), tail = load<4>(leaps + 8 * (size_t)left + 4);
    Part<2> decay = load<2>(decays + 2 * (size_t)(now - left));
    return {{head.of[0]}, {head.of[1]}, {head.of[2]}, {head.of[3]}, {tail.of[0]}, {tail.of[1]}, {tail.of[2]}, {decay.of[0]}, {decay.of[1]}, {epsilon}};
}

template <unsigned V>
__device__ void step_part(const Table& table, const float* gradient, const unsigned char* touched, unsigned parts, unsigned others_move,
    const Step& by) {
    unsigned part = blockIdx.x * blockDim.x + threadIdx.x;
    if (part >= parts) return;
    bool has_gradient = touched[part / (table.dim / V)];
    if (!has_gradient && !others_move) return;
    size_t at = (size_t)part * V;
    State<V> state = load_state<V>(table, at);
    Part<V> own = {};
    if (has_gradient) own = load<V>(gradient + at);
    update<V>(state, own, by);
    store_state<V>(table, at, state);
}

// A thread for each of so many parts of a table, of four numbers where a row consists of such, and of one elsewhere.
extern "C" __global__ void adam_step(float* __restrict__ values, float* __restrict__ first, float* __restrict__ second, unsigned dim,
    const float* __restrict__ gradient, const unsigned char* __restrict__ touched, unsigned parts, unsigned others_move, float weight_decay, float shrinkage,
    float first_decay, float first_gain, float second_decay, float second_gain, float second_scale, float rate, float epsilon) {
    Step by = {{weight_decay}, {shrinkage}, {first_decay}, {first_gain}, {second_decay}, {second_gain}, {second_scale}, {rate}, {epsilon}};
    Table table = {values, first, second, dim};
    if (dim % 4 == 0) step_part<4>(table, gradient, touched, parts, others_move, by);
    else step_part<1>(table, gradient, touched, parts, others_move, by);
}

// A row's leap and then its step, or one of both.
template <unsigned V>
__device__ void move_row(const Table& table, unsigned row, bool leaps, const Leap& way, bool steps, const float* gradient, const Step& by) {
    for (unsigned column = V * lane(); column < table.dim; column += V * WARP_SIZE) {
        size_t at = (size_t)row * table.dim + column;
        State<V> state = load_state<V>(table, at);
        if (leaps) leap<V>(state, way);
        if (steps) update<V>(state, load<V>(gradient + at), by);
        store_state<V>(table, at, state);
    }
}

// Steps of listed rows: a warp for each. The others stay.
extern "C" __global__ void adam_rows(float* __restrict__ values, float* __restrict__ first, float* __restrict__ second, unsigned dim,
    const unsigned* __restrict__ rows, const unsigned* __restrict__ number, const float* __restrict__ gradient, float weight_decay, float shrinkage,
    float first_decay, float first_gain, float second_decay, float second_gain, float second_scale, float rate, float epsilon) {
    unsigned listed = grid_warp();
    if (listed >= *number) return; // the whole warp
    Step by = {{weight_decay}, {shrinkage}, {first_decay}, {first_gain}, {second_decay}, {second_gain}, {second_scale}, {rate}, {epsilon}};
    Table table = {values, first, second, dim};
    BY_WIDTH(dim, move_row, table, rows[listed], false, Leap(), true, gradient, by);
}

// Brings a row to now, and where it `steps` by one step more; `left` is where the row was left, and is `after` then.
__device__ void catch_up_row(const Table& table, unsigned row, unsigned* left, unsigned now, const float* leaps, const float* decays,
    float epsilon, bool steps, const float* gradient, const Step& by, unsigned after) {
    unsigned from = left[row];
    Leap way = leap_from(from, now, leaps, decays, epsilon);
    if (from != now || steps) BY_WIDTH(table.dim, move_row, table, row, from != now, way, steps, gradient, by);
    __syncwarp();
    if (lane() == 0) left[row] = after;
}

// Moves rows where the others are left behind: each row's leap to now comes first.
extern "C" __global__ void adam_move_rows(float* __restrict__ values, float* __restrict__ first, float* __restrict__ second, unsigned dim,
    const unsigned* __restrict__ rows, const unsigned* __restrict__ number, const float* __restrict__ gradient, unsigned* __restrict__ left,
    unsigned now, const float* __restrict__ leaps, const float* __restrict__ decays, float weight_decay, float shrinkage, float first_decay, float first_gain,
    float second_decay, float second_gain, float second_scale, float rate, float epsilon) {
    unsigned listed = grid_warp();
    if (listed >= *number) return; // the whole warp
    Step by = {{weight_decay}, {shrinkage}, {first_decay}, {first_gain}, {second_decay}, {second_gain}, {second_scale}, {rate}, {epsilon}};
    catch_up_row({values, first, second, dim}, rows[listed], left, now, leaps, decays, epsilon, true, gradient, by, now + 1);
}

// Brings listed rows to now: a warp for each.
extern "C" __global__ void adam_current(float* __restrict__ values, float* __restrict__ first, float* __restrict__ second, unsigned dim,
    const unsigned* __restrict__ rows, const unsigned* __restrict__ number, unsigned* __restrict__ left, unsigned now,
    const float* __restrict__ leaps, const float* __restrict__ decays, float epsilon) {
    unsigned listed = grid_warp();
    if (listed >= *number) return; // the whole warp
    catch_up_row({values, first, second, dim}, rows[listed], left, now, leaps, decays, epsilon, false, nullptr, Step(), now);
}

// Brings all rows to now, from where places are counted anew: a warp for each.
extern "C" __global__ void adam_catch_up(float* __restrict__ values, float* __restrict__ first, float* __restrict__ second, unsigned dim,
    unsigned rows, unsigned* __restrict__ left, unsigned now, const float* __restrict__ leaps, const float* __restrict__ decays, float epsilon) {
    unsigned row = grid_warp();
    if (row >= rows) return; // the whole warp
    catch_up_row({values, first, second, dim}, row, left, now, leaps, decays, epsilon, false, nullptr, Step(), 0);
}
