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
