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
