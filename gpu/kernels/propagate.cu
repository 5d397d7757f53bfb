// A layer of LightGCN's propagation, `Z = S + D^-1 R Z` with `S = D^-1/2 E`, for the users and items of a graph at once: a warp pulls a row.
//
// Nodes are the users and then the items; a node's neighbours are rows of the other side. The first layer reads E in the place of Z and weighs a
// neighbour by the inverse root of its degree; S is formed where it is added; the last layer gives P = D^1/2 Z / (L + 1).
// The order of a sum: neighbours one after another, from zero. More than PIECE are cut into pieces of PIECE by the place in the list: each is
// summed from zero by a warp of its own, and the sums are added in order. So a popular item does not leave one warp alone.
// What moves: a row of the other side for each edge, twice: for a million edges and 64 numbers 512 MB a layer. Up to 190,000 rows of those stay in
// the second-level cache of 50 MB, at about 5.5 TB/s 93 us; of more, what misses it comes at 4.8 TB/s.

#define PIECE 256u
#define AHEAD 4u // neighbours that are loaded at once

// The meanings of marks: nothing; that the vectors of all other rows are zero, whatever stands there; that no other rows are wanted.
#define NO_MARKS 0u
#define OTHERS_ARE_ZERO 1u
#define OTHERS_ARE_UNWANTED 2u

struct Layer {
    const unsigned *offsets, *neighbours;
    unsigned users, dim, first, marked;
    const float* scales; // 1 / sqrt(degree), of each node
    float mean;          // 1 / (L + 1) in the last layer, and 0 in others
    const float *user_starts, *item_starts, *user_vectors, *item_vectors;
    const unsigned char *user_marks, *item_marks;
    float *user_out, *item_out;
};

// A node, and the other side as it sees it.
struct Node {
    unsigned row, degree;
    bool marked;
    float scale;
    const float* starts;
    float* out;
    const float *vectors, *scales;
    const unsigned char* marks;
};

__device__ __forceinline__ Node node_of(const Layer& of, unsigned node) {
    unsigned users = of.users, degree = of.offsets[node + 1] - of.offsets[node], item = node - users;
    if (node < users)
        return {node, degree, of.marked == NO_MARKS || of.user_marks[node], of.scales[node], of.user_starts, of.user_out, of.item_vectors,
            of.scales + users, of.item_marks};
    return {item, degree, of.marked == NO_MARKS || of.item_marks[item], of.scales[node], of.item_starts, of.item_out, of.user_vectors,
        of.scales, of.user_marks};
}

// The sum of the vectors of some neighbours, in the columns from `column` on.
template <unsigned V>
__device__ Part<V> sum_neighbours(const Layer& layer, const Node& node, unsigned from, unsigned to, unsigned column) {
    Part<V> sum = {};
    const float* columns = node.vectors + min(column, layer.dim - V); // lanes beyond the columns read the last ones, for nothing
    bool some_are_zero = layer.first && layer.marked == OTHERS_ARE_ZERO;
    for (unsigned base = from; base < to; base += WARP_SIZE) {
        bool within = base + lane() < to;
        unsigned neighbour = within ? layer.neighbours[base + lane()] : 0;
        float weight = within && layer.first ? node.scales[neighbour] : 1;
        unsigned left = __ballot_sync(ALL, within && (!some_are_zero || node.marks[neighbour]));
        while (left != 0) {
            Part<V> loaded[AHEAD];
            float by[AHEAD];
            unsigned ahead = left;
            UNROLL
            for (unsigned k = 0; k < AHEAD; k++) {
                unsigned next = ahead != 0 ? __ffs(ahead) - 1 : 0;
                loaded[k] = load<V>(columns + (size_t)__shfl_sync(ALL, neighbour, next) * layer.dim);
                by[k] = __shfl_sync(ALL, weight, next);
                ahead &= ahead - 1;
            }
            UNROLL
            for (unsigned k = 0; k < AHEAD; k++) {
                if (left == 0) continue;
                UNROLL
                for (unsigned v = 0; v < V; v++) sum.of[v] = fmaf(by[k], loaded[k].of[v], sum.of[v]);
                left &= left - 1;
            }
        }
    }
    return sum;
}

// Some columns of a node after the layer, from the sum over its neighbours.
template <unsigned V>
__device__ void finish(const Layer& layer, const Node& node, unsigned column, const Part<V>& sum) {
    float degree = max(1u, node.degree), inverse = 1 / degree, last = layer.mean * sqrtf(degree);
    size_t at = (size_t)node.row * layer.dim + column;
    Part<V> start = {}, value;
    if (layer.marked != OTHERS_ARE_ZERO || node.marked) start = load<V>(node.starts + at);
    UNROLL
    for (unsigned v = 0; v < V; v++) {
        value.of[v] = fmaf(inverse, sum.of[v], node.scale * start.of[v]);
        if (layer.mean != 0) value.of[v] *= last;
    }
    store<V>(node.out + at, value);
}

// The neighbours of a node from one place in the list to another: a piece, or all of them.
template <unsigned V>
__device__ void pull(const Layer& layer, const Node& node, unsigned from, unsigned to, float* piece) {
    for (unsigned first = 0; first < layer.dim; first += V * WARP_SIZE) {
        unsigned column = first + V * lane();
        Part<V> sum = sum_neighbours<V>(layer, node, from, to, column);
        if (column >= layer.dim) continue;
        if (piece) store<V>(piece + column, sum);
        else finish<V>(layer, node, column, sum);
    }
}

// A warp for each of the `number` pieces (`pieces [number, 3]`: node, from, to), into `parts [number, dim]`; then one for each node of one piece.
extern "C" __global__ void propagate_pull(const unsigned* __restrict__ offsets, const unsigned* __restrict__ neighbours, unsigned users,
    unsigned dim, const float* __restrict__ scales, unsigned first, unsigned marked, float mean,
    const float* __restrict__ user_starts, const float* __restrict__ item_starts, const float* __restrict__ user_vectors,
    const float* __restrict__ item_vectors, const unsigned char* __restrict__ user_marks, const unsigned char* __restrict__ item_marks,
    float* __restrict__ user_out, float* __restrict__ item_out, const unsigned* __restrict__ pieces, unsigned number, unsigned nodes,
    float* __restrict__ parts) {
    unsigned warp = grid_warp(), node, from, to;
    float* piece = nullptr;
    if (warp < number) {
        node = pieces[3 * warp], from = pieces[3 * warp + 1], to = pieces[3 * warp + 2];
        piece = parts + (size_t)warp * dim;
    } else {
        node = warp - number;
        if (node >= nodes) return; // the whole warp, here and below
        from = offsets[node], to = offsets[node + 1];
        if (to - from > PIECE) return;
    }
    Layer layer = {offsets, neighbours, users, dim, first, marked, scales, mean, user_starts, item_starts, user_vectors, item_vectors,
        user_marks, item_marks, user_out, item_out};
    Node own = node_of(layer, node);
    if (marked == OTHERS_ARE_UNWANTED && !own.marked) return;
    BY_WIDTH(dim, pull, layer, own, from, to, piece);
}

// Adds the pieces of each of the `number` nodes that have several (`longs [number, 3]`: node, first piece, pieces), in order: a warp.
extern "C" __global__ void propagate_pieces(const unsigned* __restrict__ offsets, const unsigned* __restrict__ neighbours, unsigned users,
    unsigned dim, const float* __restrict__ scales, unsigned first, unsigned marked, float mean,
    const float* __restrict__ user_starts, const float* __restrict__ item_starts, const float* __restrict__ user_vectors,
    const float* __restrict__ item_vectors, const unsigned char* __restrict__ user_marks, const unsigned char* __restrict__ item_marks,
    float* __restrict__ user_out, float* __restrict__ item_out, const unsigned* __restrict__ longs, unsigned number, const float* parts) {
    unsigned at = grid_warp();
    if (at >= number) return; // the whole warp, here and below
    Layer layer = {offsets, neighbours, users, dim, first, marked, scales, mean, user_starts, item_starts, user_vectors, item_vectors,
        user_marks, item_marks, user_out, item_out};
    Node node = node_of(layer, longs[3 * at]);
    if (marked == OTHERS_ARE_UNWANTED && !node.marked) return;
    const float* own = parts + (size_t)longs[3 * at + 1] * dim;
    for (unsigned column = lane(); column < dim; column += WARP_SIZE) {
        Part<1> sum = {own[column]};
        for (unsigned piece = 1; piece < longs[3 * at + 2]; piece++) sum.of[0] += own[(size_t)piece * dim + column];
        finish<1>(layer, node, column, sum);
    }
}

// Marks all rows.
extern "C" __global__ void propagate_mark(unsigned char* marks, unsigned rows) {
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) marks[row] = 1;
}
