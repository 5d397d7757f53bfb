// What all kernels share. It stands before the text of each file of kernels, as NVRTC has no files to include.
//
// Rules for kernels: threads of a block are whole warps; every thread of a block reaches each of its barriers; floats are never added up by
// atomics, so that sums have an order; integers may be, where the order does not show.

#ifdef __CUDACC_RTC__
#define DYNAMIC_SHARED(type, name) extern __shared__ type name[]
#define INFINITY __int_as_float(0x7f800000)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL
#endif

typedef unsigned long long u64;

#define ALL 0xffffffffu
#define WARP_SIZE 32u

__device__ __forceinline__ unsigned lane() { return threadIdx.x % WARP_SIZE; }
// The number of this thread's warp among those of all blocks: not by that of the thread, which has no 32 bits from 2^27 warps on.
__device__ __forceinline__ unsigned grid_warp() { return blockIdx.x * (blockDim.x / WARP_SIZE) + threadIdx.x / WARP_SIZE; }

// The sum over a warp, in every lane: always the same tree.
template <class T>
__device__ __forceinline__ T warp_sum(T value) {
    for (unsigned distance = WARP_SIZE / 2; distance > 0; distance /= 2) value += __shfl_xor_sync(ALL, value, distance);
    return value;
}

__device__ __forceinline__ float warp_max(float value) {
    for (unsigned distance = WARP_SIZE / 2; distance > 0; distance /= 2) value = fmaxf(value, __shfl_xor_sync(ALL, value, distance));
    return value;
}

// The sum over a block of at most 1,024 threads, in every thread.
template <class T>
__device__ T block_sum(T value) {
    __shared__ T parts[WARP_SIZE];
    value = warp_sum(value);
    __syncthreads();
    if (lane() == 0) parts[threadIdx.x / WARP_SIZE] = value;
    __syncthreads();
    return warp_sum(lane() < blockDim.x / WARP_SIZE ? parts[lane()] : T(0));
}

__device__ float block_max(float value) {
    __shared__ float parts[WARP_SIZE];
    value = warp_max(value);
    __syncthreads();
    if (lane() == 0) parts[threadIdx.x / WARP_SIZE] = value;
    __syncthreads();
    return warp_max(lane() < blockDim.x / WARP_SIZE ? parts[lane()] : -INFINITY);
}

// Some numbers of a row that are moved at once; rows have a multiple of V numbers.
template <unsigned V>
struct alignas(4 * V) Part {
    float of[V];
};

template <unsigned V>
__device__ __forceinline__ Part<V> load(const float* from) {
    return *reinterpret_cast<const Part<V>*>(from);
}

template <unsigned V>
__device__ __forceinline__ void store(float* to, const Part<V>& part) {
    *reinterpret_cast<Part<V>*>(to) = part;
}

// Calls a function of a warp with as many numbers of a row at once as let all lanes take part.
#define BY_WIDTH(dim, function, ...) \
    do { \
        if ((dim) % 4 == 0 && (dim) > 2 * WARP_SIZE) function<4>(__VA_ARGS__); \
        else if ((dim) % 2 == 0 && (dim) > WARP_SIZE) function<2>(__VA_ARGS__); \
        else function<1>(__VA_ARGS__); \
    } while (0)

// Whether an item is among a user's, `items[from..to]`, which ascend.
__device__ bool is_own(const unsigned* items, unsigned from, unsigned to, unsigned item) {
    while (from < to) {
        unsigned middle = from + (to - from) / 2;
        unsigned found = items[middle];
        if (found == item) return true;
        if (found < item) from = middle + 1;
        else to = middle;
    }
    return false;
}

// Bits that are ordered as the floats are; both zeros are one.
__device__ __forceinline__ unsigned ordered(float value) {
    unsigned bits = __float_as_uint(value + 0.0f);
    return bits >> 31 ? ~bits : bits | 0x80000000u;
}
// The float of such bits.
__device__ __forceinline__ float float_of(unsigned bits) { return __uint_as_float(bits >> 31 ? bits & 0x7fffffffu : ~bits); }

// Four numbers of a row; zeros behind its end, and where there is no row.
__device__ __forceinline__ float4 four_of(const float* row, unsigned d, unsigned dim) {
    if (row == 0 || d >= dim) return make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (dim % 4 == 0) return *(const float4*)(row + d);
    return make_float4(row[d], d + 1 < dim ? row[d + 1] : 0.0f, d + 2 < dim ? row[d + 2] : 0.0f, d + 3 < dim ? row[d + 3] : 0.0f);
}

// The sides that scores are made from: factor * (p . q) - norm(q).
struct Sides {
    const float* users;
    const float* items;
    const float* norms; // of items; null where there are none
    float factor;
    unsigned dim;
    unsigned catalogue;
};

// The score of a user and an item: its product is one chain of fused multiply-adds in the order of the dimensions.
__device__ float score_of(const Sides& sides, unsigned user, unsigned item) {
    const float* p = sides.users + (size_t)user * sides.dim;
    const float* q = sides.items + (size_t)item * sides.dim;
    float sum = 0.0f;
    for (unsigned d = 0; d < sides.dim; d += 4) {
        float4 a = four_of(p, d, sides.dim), b = four_of(q, d, sides.dim);
        sum = fmaf(a.w, b.w, fmaf(a.z, b.z, fmaf(a.y, b.y, fmaf(a.x, b.x, sum))));
    }
    return fmaf(sides.factor, sum, sides.norms ? -sides.norms[item] : 0.0f);
}
