// Marks of rows that have a gradient, where gradients of several ranks meet.

// Writes out the zeros of rows without a mark, and the marks as numbers, 0 or 1. A warp makes a row.
extern "C" __global__ void write_zeros(const unsigned char* marks, unsigned rows, unsigned dim, float* gradients, float* numbers) {
    unsigned row = grid_warp();
    if (row >= rows) return; // the whole warp
    bool marked = marks[row] != 0;
    for (unsigned d = lane(); !marked && d < dim; d += WARP_SIZE) gradients[(size_t)row * dim + d] = 0.0f;
    if (lane() == 0) numbers[row] = marked ? 1.0f : 0.0f;
}

// Marks the rows whose number is above 0.
extern "C" __global__ void marks_of_numbers(const float* numbers, unsigned rows, unsigned char* marks) {
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) marks[row] = numbers[row] > 0.0f;
}

// The listed rows of a table, `number[0]` of them, at the front of `values [room, dim]`; their numbers in `keys [room]`, which is filled up. A warp
// makes a row.
extern "C" __global__ void pack_rows(const unsigned* listed, const unsigned* number, const float* table, unsigned most, unsigned room, unsigned dim,
    unsigned* keys, float* values) {
    unsigned at = grid_warp();
    if (at >= room) return; // the whole warp
    bool is_listed = at < most && at < number[0];
    unsigned row = is_listed ? listed[at] : 0;
    for (unsigned d = lane(); is_listed && d < dim; d += WARP_SIZE) values[(size_t)at * dim + d] = table[(size_t)row * dim + d];
    if (lane() == 0) keys[at] = is_listed ? row : 0xffffffffu;
}

// Marks the listed rows, `number[0]` of them.
extern "C" __global__ void mark_rows(const unsigned* listed, const unsigned* number, unsigned most, unsigned char* marks) {
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < most && at < number[0]) marks[listed[at]] = 1;
}
