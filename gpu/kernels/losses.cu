// Losses of rows of scores, and their derivatives in the scores' place, times a scale: the twins of trainer/losses/src/fused. A block makes a row
// [1 + N], its positive first; sums over a row are of doubles, always in the same tree.
//
// Bytes: each score is read twice and written once; 1,024 rows of 1,001 are 12 MB, 3 us at 4.8 TB/s.

#define SMALLEST -87.33654f // below, the exponential of a float is 0

__device__ __forceinline__ float* row_of(float* scores, unsigned width) { return scores + (size_t)blockIdx.x * width; }

// log(1 + exp(x)), and its derivative
__device__ __forceinline__ float softplus(float x, float* slope) {
    float small = expf(-fabsf(x));
    *slope = (x < 0.0f ? small : 1.0f) / (1.0f + small);
    return fmaxf(x, 0.0f) + log1pf(small);
}

__device__ void leave(float* row, double positive, double loss, float scale, float* losses) {
    if (threadIdx.x == 0) {
        row[0] = (float)positive * scale;
        losses[blockIdx.x] = (float)loss;
    }
}

// sum_j softplus(s_j - s+)
extern "C" __global__ void weigh_bpr(float* scores, unsigned width, float scale, float* losses) {
    float* row = row_of(scores, width);
    float positive = row[0];
    double loss = 0.0, pull = 0.0;
    for (unsigned j = 1 + threadIdx.x; j < width; j += blockDim.x) {
        float slope, cost = softplus(row[j] - positive, &slope);
        row[j] = slope * scale;
        loss += cost;
        pull += slope;
    }
    loss = block_sum(loss);
    pull = block_sum(pull);
    leave(row, -pull, loss, scale, losses);
}

// factor * log sum_j exp((s_j - s+) sharpness), the positive in the sum if so asked; weighted, if sharpness of the weight is not 0, by
// sigmoid((s+ - quantile of the row's user) * that sharpness), a constant of the gradient if it is detached.
extern "C" __global__ void weigh_softmax(float* scores, unsigned width, float sharpness, unsigned with_positive, float factor, const float* quantiles,
    const unsigned* users, float weight_sharpness, unsigned detached, float scale, float* losses) {
    float* row = row_of(scores, width);
    float positive = row[0], largest = -INFINITY;
    for (unsigned j = 1 + threadIdx.x; j < width; j += blockDim.x) largest = fmaxf(largest, row[j]);
    largest = block_max(largest);
    double sum = 0.0;
    for (unsigned j = 1 + threadIdx.x; j < width; j += blockDim.x) {
        float x = (row[j] - largest) * sharpness, exponential = x < SMALLEST ? 0.0f : expf(x);
        row[j] = exponential;
        sum += exponential;
    }
    sum = block_sum(sum);
    double weight = 1.0, slope = 0.0;
    if (weight_sharpness != 0.0f) {
        weight = 1.0f / (1.0f + expf((quantiles[users[blockIdx.x]] - positive) * weight_sharpness));
        slope = detached ? 0.0 : weight * (1.0 - weight) * weight_sharpness;
    }
    double log_sum = (double)(largest - positive) * sharpness + log(sum), loss = log_sum, share = 1.0;
    if (with_positive) {
        loss = fmax(log_sum, 0.0) + log1p(exp(-fabs(log_sum)));
        share = 1.0 / (1.0 + exp(-log_sum));
    }
    double pull = share * sharpness * weight * factor;
    float each = (float)(pull / sum) * scale;
    for (unsigned j = 1 + threadIdx.x; j < width; j += blockDim.x) row[j] *= each;
    leave(row, slope * loss - pull, weight * factor * loss, scale, losses);
}

// log sum_j (tanh((s_j - s+) / t_s) + 1)^sharpness, with steepness = 2 / t_s: trainer/losses/src/fused/psl.rs has the steps.
extern "C" __global__ void weigh_psl(float* scores, unsigned width, float sharpness, float steepness, float scale, float* losses) {
    float* row = row_of(scores, width);
    float positive = row[0], largest = -INFINITY;
    for (unsigned j = 1 + threadIdx.x; j < width; j += blockDim.x) largest = fmaxf(largest, row[j]);
    largest = block_max(largest);
    float ceiling = fminf(largest, positive), rest = log1pf(expf(-fabsf((largest - positive) * steepness)));
    double weights = 0.0, pulls = 0.0;
    for (unsigned j = 1 + threadIdx.x; j < width; j += blockDim.x) {
        float x = (row[j] - positive) * steepness, small = expf(-fabsf(x)), below = row[j] - ceiling;
        below = below > 0.0f ? 0.0f : below * steepness;
        float power = (below - (log1pf(small) - rest)) * sharpness, weight = power < SMALLEST ? 0.0f : expf(power);
        float pull = weight * (x < 0.0f ? 1.0f : small) / (1.0f + small);
        row[j] = pull;
        weights += weight;
        pulls += pull;
    }
    weights = block_sum(weights);
    pulls = block_sum(pulls);
    double each = (double)(sharpness * steepness) / weights;
    double highest = (double)(ceiling - positive) * steepness - rest + 0.693147180559945309417;
    for (unsigned j = 1 + threadIdx.x; j < width; j += blockDim.x) row[j] *= (float)each * scale;
    leave(row, -pulls * each, highest * sharpness + log(weights), scale, losses);
}

// 1 - s+ + weight / N sum_j max(s_j - margin, 0)
extern "C" __global__ void weigh_ccl(float* scores, unsigned width, float margin, float weight, float scale, float* losses) {
    float* row = row_of(scores, width);
    float positive = row[0];
    double each = (double)weight / (width - 1), sum = 0.0;
    for (unsigned j = 1 + threadIdx.x; j < width; j += blockDim.x) {
        float excess = row[j] - margin;
        row[j] = excess < 0.0f ? 0.0f : (float)each * scale;
        sum += excess < 0.0f ? 0.0f : excess;
    }
    sum = block_sum(sum);
    leave(row, -1.0, 1.0 - positive + each * sum, scale, losses);
}

// weight (s+ - 1)^2 + sum_j s_j^2
extern "C" __global__ void weigh_mse(float* scores, unsigned width, float weight, float scale, float* losses) {
    float* row = row_of(scores, width);
    float error = row[0] - 1.0f;
    double squares = 0.0;
    for (unsigned j = 1 + threadIdx.x; j < width; j += blockDim.x) {
        float score = row[j];
        squares += score * score;
        row[j] = 2.0f * score * scale;
    }
    squares = block_sum(squares);
    leave(row, 2.0 * weight * error, (double)weight * error * error + squares, scale, losses);
}

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
