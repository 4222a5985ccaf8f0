// Kernels whose parameters lie in every way that images_test.cpp reads; build.sh compiles them.
struct Shape {  // 24 bytes
    float* data;
    int rows, columns;
    double scale;
};
struct alignas(64) Map {  // as large and as aligned as a tensor map
    unsigned long long word[16];
};

__device__ __noinline__ float no_kernel(float x, int n) { return n ? x * x : x; }

extern "C" __global__ void shaped(float* x, int n, Shape shape) { x[n] = shape.data[shape.rows]; }

extern "C" __global__ void apart(const float* __restrict__ a, float* __restrict__ b, bool c,
                                 short d, char e) {
    b[d] = a[e] + c;
}

extern "C" __global__ void map_first(const __grid_constant__ Map map, int n) {
    reinterpret_cast<unsigned long long*>(map.word[0])[n] = map.word[n];
}

extern "C" __global__ void map_behind(int n, const __grid_constant__ Map map, char last) {
    reinterpret_cast<unsigned long long*>(map.word[0])[n] = map.word[last];
}

extern "C" __global__ void no_params() {}

template <class T>
__global__ void mangled(T* out, T value) {
    out[0] = no_kernel(value, threadIdx.x);
}
template __global__ void mangled<double>(double*, double);

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
extern "C" __global__ void __cluster_dims__(4, 2, 1) clustered(int* out) { out[blockIdx.x] = 1; }
#endif
