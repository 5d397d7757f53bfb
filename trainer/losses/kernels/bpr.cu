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
