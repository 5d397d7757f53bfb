// Vectors that are prepared so that every similarity is a dot product, and the way back from the gradients of prepared vectors. A warp makes a row.
//
// Bytes: the table once, the prepared rows and norms once; the floor of 41,000 rows of 64 is 21 MB, 5 us at 4.8 TB/s.

#define COSINE 1u
#define DISTANCE 2u
#define LEAST_NORM 1e-12f

__device__ float squared_norm(const float* row, unsigned dim) {
    float sum = 0.0f;
    for (unsigned d = lane(); d < dim; d += WARP_SIZE) sum += row[d] * row[d];
    return warp_sum(sum);
}

// Rows `ids` of a table, or its first ones: unit vectors and norms for cosines; vectors as they are, and squared norms for distances. Vectors are
// `kept` where the table itself does not serve.
extern "C" __global__ void prepare_rows(const float* table, const unsigned* ids, unsigned chosen, unsigned rows, unsigned dim, unsigned similarity,
    unsigned kept, float* vectors, float* norms) {
    unsigned row = grid_warp();
    if (row >= rows) return; // the whole warp
    const float* from = table + (size_t)(chosen ? ids[row] : row) * dim;
    float square = similarity == 0 ? 1.0f : squared_norm(from, dim);
    float norm = similarity == COSINE ? fmaxf(sqrtf(square), LEAST_NORM) : square;
    float scale = similarity == COSINE ? 1.0f / norm : 1.0f;
    for (unsigned d = lane(); kept && d < dim; d += WARP_SIZE) vectors[(size_t)row * dim + d] = from[d] * scale;
    if (lane() == 0) norms[row] = norm;
}

// The gradients of original rows, in place, from sums of weights times prepared partners, and the sums of the weights; of marked rows alone.
extern "C" __global__ void finish_gradients(const float* vectors, const float* norms, const float* totals, const unsigned char* marks, unsigned marked,
    unsigned rows, unsigned dim, unsigned similarity, float* gradients) {
    unsigned row = grid_warp();
    if (row >= rows || (marked && !marks[row])) return; // the whole warp
    const float* vector = vectors + (size_t)row * dim;
    float* gradient = gradients + (size_t)row * dim;
    if (similarity == COSINE) {
        float along = 0.0f, scale = 1.0f / norms[row];
        for (unsigned d = lane(); d < dim; d += WARP_SIZE) along += gradient[d] * vector[d];
        along = warp_sum(along);
        for (unsigned d = lane(); d < dim; d += WARP_SIZE) gradient[d] = (gradient[d] - along * vector[d]) * scale;
    } else if (similarity == DISTANCE) {
        float total = totals[row];
        for (unsigned d = lane(); d < dim; d += WARP_SIZE) gradient[d] = 2.0f * (gradient[d] - total * vector[d]);
    }
}
