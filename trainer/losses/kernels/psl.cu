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
