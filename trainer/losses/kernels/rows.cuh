// What the kernels of losses share; it stands before the text of each. A kernel replaces rows of scores [1 + N], positives first, by the
// derivatives of the losses by them times a scale, and writes the losses: the twins of trainer/losses/src/fused. A block makes a row; sums over a
// row are of doubles, always in the same tree.
//
// Bytes: each score is read twice and written once; 1,024 rows of 1,001 are 12 MB, 3 us at 4.8 TB/s.

#define SMALLEST -87.33654f // below, the exponential of a float is 0

__device__ __forceinline__ float* row_of(float* scores, unsigned width) { return scores + (size_t)blockIdx.x * width; }

__device__ void leave(float* row, double positive, double loss, float scale, float* losses) {
    if (threadIdx.x == 0) {
        row[0] = (float)positive * scale;
        losses[blockIdx.x] = (float)loss;
    }
}

// log(1 + exp(x)), and its derivative
__device__ __forceinline__ float softplus(float x, float* slope) {
    float small = expf(-fabsf(x));
    *slope = (x < 0.0f ? small : 1.0f) / (1.0f + small);
    return fmaxf(x, 0.0f) + log1pf(small);
}
