// Runs CUDA kernels on the CPU, so that they can be tested where there is no GPU.
//
// The kernels are compiled as C++. A block's threads are fibers, which are made once and used for all blocks: each runs until it waits, at a
// barrier of its block or of its warp, and goes on when all others of the block or warp wait there too. Blocks run one after another, so that what only works by chance of their order shows
// on a GPU alone; what the emulator refuses is undefined there: a barrier that some threads of a block or warp have left behind.
#pragma once

#include <cmath>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <ucontext.h>
#include <vector>

namespace emulator {

constexpr unsigned WARP = 32;
constexpr size_t STACK = 256 << 10;

enum class State { Ready, AtBlock, AtWarp, Done };

struct Fiber {
    std::unique_ptr<char[]> stack;
    jmp_buf at;
    State state;
    bool begun;
};

struct Dim {
    unsigned x;
};

struct Block {
    const char* kernel;
    void (*call)(void**);
    void** arguments;
    jmp_buf scheduler;
    std::vector<Fiber> fibers;
    std::vector<unsigned long long> exchanged; // what each thread shows its warp
    std::vector<double> dynamic;               // dynamic shared memory, aligned
    unsigned current;
};

inline thread_local Block block;
inline thread_local Dim thread_index, block_index, block_size, grid_size;

[[noreturn]] inline void refuse(const char* what) {
    std::fprintf(stderr, "kernel %s, block %u: %s\n", block.kernel, block_index.x, what);
    std::abort();
}

// Goes back to the scheduler until it has this thread go on. Unlike swapcontext, a jump asks nothing of the kernel.
inline void wait(State state) {
    Fiber& self = block.fibers[block.current];
    self.state = state;
    if (_setjmp(self.at) == 0) _longjmp(block.scheduler, 1);
}

// What a fiber does: the thread of one block after the other.
inline void work() {
    for (;;) {
        block.call(block.arguments);
        wait(State::Done);
    }
}

// Runs a thread until it waits.
inline void resume(unsigned thread) {
    Fiber& fiber = block.fibers[thread];
    block.current = thread;
    thread_index.x = thread;
    if (_setjmp(block.scheduler) != 0) return;
    if (fiber.begun) _longjmp(fiber.at, 1);
    fiber.begun = true;
    fiber.stack.reset(new char[STACK]);
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = fiber.stack.get();
    context.uc_stack.ss_size = STACK;
    context.uc_link = nullptr;
    makecontext(&context, work, 0);
    setcontext(&context);
}

// Lets the threads from `first` to before `end` go on if all of them wait in the same way.
inline bool release(unsigned first, unsigned end, State at) {
    for (unsigned thread = first; thread < end; thread++)
        if (block.fibers[thread].state != at) return false;
    for (unsigned thread = first; thread < end; thread++) block.fibers[thread].state = State::Ready;
    return true;
}

inline void run_block() {
    unsigned threads = block_size.x;
    for (unsigned thread = 0; thread < threads; thread++) block.fibers[thread].state = State::Ready;
    for (unsigned done = 0; done < threads;) {
        bool moved = false;
        for (unsigned thread = 0; thread < threads; thread++) {
            if (block.fibers[thread].state != State::Ready) continue;
            moved = true;
            resume(thread);
            if (block.fibers[thread].state == State::Done) done++;
        }
        for (unsigned first = 0; first < threads; first += WARP)
            moved |= release(first, first + WARP < threads ? first + WARP : threads, State::AtWarp);
        moved |= release(0, threads, State::AtBlock);
        if (!moved && done < threads) refuse("its threads wait at different barriers, or some have returned before one");
    }
}

inline void run(const char* kernel, void (*call)(void**), unsigned blocks, unsigned threads, size_t shared, void** arguments) {
    block.kernel = kernel;
    block.call = call;
    block.arguments = arguments;
    if (block.fibers.size() < threads) block.fibers.resize(threads);
    block.exchanged.assign(threads, 0);
    block.dynamic.resize(shared / sizeof(double) + 1);
    block_size.x = threads;
    grid_size.x = blocks;
    for (unsigned at = 0; at < blocks; at++) {
        block_index.x = at;
        std::memset(block.dynamic.data(), 0xff, block.dynamic.size() * sizeof(double)); // NaN: nobody may rely on zeros
        run_block();
    }
}

// Calls a kernel with arguments that are given as CUDA's driver takes them: the address of each.
template <class... A, size_t... I>
void call(void (*kernel)(A...), void** arguments, std::index_sequence<I...>) {
    kernel(*static_cast<A*>(arguments[I])...);
}

template <class... A>
void call(void (*kernel)(A...), void** arguments) {
    call(kernel, arguments, std::index_sequence_for<A...>());
}

inline void whole_warp(unsigned mask) {
    if (mask != 0xffffffffu) refuse("an operation of a part of a warp; the emulator knows whole warps alone");
    if (block_size.x % WARP != 0) refuse("an operation of a warp in a block that does not consist of whole warps");
}

template <class T>
T exchange(unsigned mask, T value, unsigned lane) {
    static_assert(sizeof(T) <= sizeof(unsigned long long));
    whole_warp(mask);
    unsigned self = block.current;
    std::memcpy(&block.exchanged[self], &value, sizeof(T));
    wait(State::AtWarp);
    T other;
    std::memcpy(&other, &block.exchanged[self / WARP * WARP + lane % WARP], sizeof(T));
    wait(State::AtWarp);
    return other;
}

} // namespace emulator

#define __global__
#define __device__ static
#define __forceinline__ inline
#define __noinline__
#define __restrict__
#define __launch_bounds__(...)
#define __shared__ static thread_local
#define DYNAMIC_SHARED(type, name) type* name = reinterpret_cast<type*>(emulator::block.dynamic.data())

#define threadIdx emulator::thread_index
#define blockIdx emulator::block_index
#define blockDim emulator::block_size
#define gridDim emulator::grid_size

inline void __syncthreads() { emulator::wait(emulator::State::AtBlock); }
inline void __syncwarp() { emulator::whole_warp(0xffffffffu), emulator::wait(emulator::State::AtWarp); }
inline unsigned lane_of_emulator() { return emulator::block.current % emulator::WARP; }

template <class T>
T __shfl_sync(unsigned mask, T value, unsigned lane) { return emulator::exchange(mask, value, lane); }
template <class T>
T __shfl_xor_sync(unsigned mask, T value, unsigned bits) { return emulator::exchange(mask, value, lane_of_emulator() ^ bits); }
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned by) {
    unsigned lane = lane_of_emulator();
    return emulator::exchange(mask, value, lane + by < emulator::WARP ? lane + by : lane);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned by) {
    unsigned lane = lane_of_emulator();
    return emulator::exchange(mask, value, lane >= by ? lane - by : lane);
}

template <class T>
unsigned __match_any_sync(unsigned mask, T value) {
    emulator::whole_warp(mask);
    unsigned self = emulator::block.current, first = self / emulator::WARP * emulator::WARP, same = 0;
    emulator::block.exchanged[self] = value;
    emulator::wait(emulator::State::AtWarp);
    for (unsigned lane = 0; lane < emulator::WARP; lane++) same |= unsigned(emulator::block.exchanged[first + lane] == value) << lane;
    emulator::wait(emulator::State::AtWarp);
    return same;
}
inline unsigned __ballot_sync(unsigned mask, int condition) {
    emulator::whole_warp(mask);
    unsigned self = emulator::block.current, first = self / emulator::WARP * emulator::WARP, votes = 0;
    emulator::block.exchanged[self] = condition != 0;
    emulator::wait(emulator::State::AtWarp);
    for (unsigned lane = 0; lane < emulator::WARP; lane++) votes |= unsigned(emulator::block.exchanged[first + lane]) << lane;
    emulator::wait(emulator::State::AtWarp);
    return votes;
}
inline int __any_sync(unsigned mask, int condition) { return __ballot_sync(mask, condition) != 0; }
inline int __all_sync(unsigned mask, int condition) { return __ballot_sync(mask, condition) == 0xffffffffu; }

template <class T, class U>
T atomicAdd(T* to, U value) {
    static_assert(std::is_integral<T>::value, "sums of floats would depend on the order of the threads");
    T before = *to;
    *to += value;
    return before;
}
template <class T>
T atomicMax(T* to, T value) {
    T before = *to;
    if (value > before) *to = value;
    return before;
}
template <class T>
T atomicMin(T* to, T value) {
    T before = *to;
    if (value < before) *to = value;
    return before;
}
inline unsigned atomicOr(unsigned* to, unsigned bits) {
    unsigned before = *to;
    *to |= bits;
    return before;
}

inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline int __ffs(int bits) { return __builtin_ffs(bits); }
inline int __clz(int bits) { return bits == 0 ? 32 : __builtin_clz(unsigned(bits)); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
inline unsigned __float_as_uint(float value) {
    unsigned bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}
inline float __uint_as_float(unsigned bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}
template <class T>
T __ldg(const T* from) { return *from; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fsqrt_rn(float a) { return std::sqrt(a); }
inline float rsqrtf(float value) { return 1.0f / std::sqrt(value); }
template <class T>
T min(T a, T b) { return b < a ? b : a; }
template <class T>
T max(T a, T b) { return a < b ? b : a; }

struct float4 {
    float x, y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
using std::isfinite;
