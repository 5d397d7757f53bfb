// Marks of rows that have a gradient, where gradients of several ranks meet.

// Writes out the zeros of rows without a mark, and the marks as numbers, 0 or 1. A warp makes a row.
extern "C" __global__ void write_zeros(const unsigned char* marks, unsigned rows, unsigned dim, float* gradients, float* numbers) {
    unsigned row = (blockIdx.x * blockDim.x + threadIdx.x) / WARP_SIZE;
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
