// The rows of a batch, and what their losses add up to.

// totals[0] += the sum of the losses; totals[1] = the first step whose sum is no number, 0 while there is none. One block.
extern "C" __global__ void add_losses(const float* losses, unsigned rows, unsigned step, double* totals) {
    double sum = 0.0;
    for (unsigned row = threadIdx.x; row < rows; row += blockDim.x) sum += losses[row];
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        if (!isfinite(sum) && totals[1] == 0.0) totals[1] = step;
        totals[0] += sum;
    }
}

// The users and the positives of a batch: rows `first` and after of an epoch's order. The positives stand first in the rows of `ids [rows, width]`.
extern "C" __global__ void take_batch(const unsigned* order, unsigned first, unsigned rows, const unsigned* pair_users, const unsigned* pair_items,
    unsigned width, unsigned* users, unsigned* ids) {
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    unsigned pair = order[first + row];
    users[row] = pair_users[pair];
    ids[(size_t)row * width] = pair_items[pair];
}
