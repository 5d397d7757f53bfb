// softplus(-s+) + sum_j softplus(s_j)
extern "C" __global__ void weigh_bce(float* scores, unsigned width, float scale, float* losses) {
    float* row = row_of(scores, width);
    float pull, own = softplus(-row[0], &pull);
    double loss = 0.0;
    for (unsigned j = 1 + threadIdx.x; j < width; j += blockDim.x) {
        float slope;
        loss += softplus(row[j], &slope);
        row[j] = slope * scale;
    }
    loss = block_sum(loss);
    leave(row, -pull, own + loss, scale, losses);
}
