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
