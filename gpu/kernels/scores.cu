// Scores of each row of a batch with its own items, and the gradient of the row's vector. No [B, W, D] is ever formed.
//
// Bytes: each score reads one item's vector, and so does each weight on the way back. 1,024 rows of 1,001 items of 64 floats read 262 MB each way,
// from the second-level cache where the table fits (41,000 rows: 10 MB), and leave 4 MB.

#define DISTANCE 2u
#define GROUP 4u    // lanes of a score
#define THREADS 256u // of a block that makes a row's gradient

// scores[b, w] = similarity of query b with item ids[b, w]
extern "C" __global__ void score_items(const float* queries, const float* query_norms, const float* items, const float* item_norms,
    const unsigned* ids, unsigned rows, unsigned width, unsigned dim, unsigned similarity, float* scores) {
    size_t at = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) / GROUP;
    size_t count = (size_t)rows * width;
    bool is_score = at < count;
    unsigned row = is_score ? (unsigned)(at / width) : 0, id = is_score ? ids[at] : 0, part = threadIdx.x % GROUP;
    const float* query = queries + (size_t)row * dim;
    const float* item = items + (size_t)id * dim;
    float sum = 0.0f;
    if (dim % 4 == 0) {
        const float4* query4 = (const float4*)query;
        const float4* item4 = (const float4*)item;
#pragma unroll 4
        for (unsigned d = part; d < dim / 4; d += GROUP) {
            float4 a = query4[d], b = item4[d];
            sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
        }
    } else {
        for (unsigned d = part; d < dim; d += GROUP) sum += query[d] * item[d];
    }
    for (unsigned distance = GROUP / 2; distance > 0; distance /= 2) sum += __shfl_xor_sync(ALL, sum, distance);
    if (similarity == DISTANCE) sum = 2.0f * sum - query_norms[row] - item_norms[id];
    if (is_score && part == 0) scores[at] = sum;
}

// gradients[b] = sum over w of weights[b, w] * items[ids[b, w]], and totals[b] = the sum of the weights. A block makes a row: its threads are so
// many slots of a lane for each four dimensions (or for each one); a slot takes every so manieth item, and the slots are added up in their order.
extern "C" __global__ void gather_gradients(const float* items, const unsigned* ids, const float* weights, unsigned width, unsigned dim,
    float* gradients, float* totals) {
    __shared__ float parts[THREADS * 4];
    unsigned row = blockIdx.x;
    const unsigned* row_ids = ids + (size_t)row * width;
    const float* row_weights = weights + (size_t)row * width;
    unsigned wide = dim % 4 == 0 ? 4 : 1, columns = dim / wide, lanes = columns < THREADS ? columns : THREADS, slots = THREADS / lanes;
    unsigned slot = threadIdx.x / lanes, column = threadIdx.x % lanes;
    for (unsigned first = 0; first < columns; first += lanes) {
        unsigned own = first + column;
        bool works = slot < slots && own < columns;
        float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (works && wide == 4) {
#pragma unroll 4
            for (unsigned w = slot; w < width; w += slots) {
                float weight = row_weights[w];
                float4 value = ((const float4*)(items + (size_t)row_ids[w] * dim))[own];
                sum.x += weight * value.x;
                sum.y += weight * value.y;
                sum.z += weight * value.z;
                sum.w += weight * value.w;
            }
        } else if (works) {
            for (unsigned w = slot; w < width; w += slots) sum.x += row_weights[w] * items[(size_t)row_ids[w] * dim + own];
        }
        float* part = parts + threadIdx.x * 4;
        part[0] = sum.x;
        part[1] = sum.y;
        part[2] = sum.z;
        part[3] = sum.w;
        __syncthreads();
        // Thread t adds up the slots of number t of the lanes' numbers.
        for (unsigned t = threadIdx.x; t < lanes * wide; t += THREADS) {
            unsigned of = t / wide, number = t % wide;
            float total = 0.0f;
            for (unsigned s = 0; s < slots; s++) total += parts[(s * lanes + of) * 4 + number];
            if (first + of < columns) gradients[(size_t)row * dim + (first + of) * wide + number] = total;
        }
        __syncthreads();
    }
    float total = 0.0f;
    for (unsigned w = threadIdx.x; w < width; w += THREADS) total += row_weights[w];
    total = block_sum(total);
    if (threadIdx.x == 0) totals[row] = total;
}
