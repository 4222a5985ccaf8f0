// Scores and gradients of rows beside cuBLAS, which makes the matrix products that are in them and
// nothing else, in turns (of_cublas: the medians' ratio, 1 where we are as fast). Names end in the
// map's size, rows and tokens; one target row, half of the rows chosen, 64 x 64 compressed. Goal:
// 0.8.
#include <cublas_v2.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "kernels/cuda/harness/bench_layers.hpp"

namespace assay::kernels::cuda::harness {
namespace {

struct Shape {
    int out, in, rows, tokens;
};

class Products {
  public:
    explicit Products(AssayType type) : type_(type == ASSAY_F32 ? CUDA_R_32F : CUDA_R_16BF) {
        must_blas(cublasCreate(&handle_));
        must_blas(cublasSetStream(handle_, BenchDevice::get().stream));
    }
    ~Products() { cublasDestroy(handle_); }
    Products(const Products&) = delete;
    Products& operator=(const Products&) = delete;

    /// to[rows][columns] = a[rows][terms] · b[columns][terms]ᵀ
    void of_rows(const void* a, const void* b, float* to, int rows, int columns, int terms) {
        run(CUBLAS_OP_T, CUBLAS_OP_N, b, terms, a, terms, to, columns, rows, terms);
    }
    /// to[rows][columns] = a[terms][rows]ᵀ · b[terms][columns]
    void of_columns(const void* a, const void* b, float* to, int rows, int columns, int terms) {
        run(CUBLAS_OP_N, CUBLAS_OP_T, b, columns, a, rows, to, columns, rows, terms);
    }

  private:
    static void must_blas(cublasStatus_t status) {
        if (status != CUBLAS_STATUS_SUCCESS)
            throw std::runtime_error(cublasGetStatusString(status));
    }
    // cuBLAS counts by columns: what we call rows are its columns.
    void run(cublasOperation_t first, cublasOperation_t second, const void* a, int a_line,
             const void* b, int b_line, float* to, int m, int n, int k) {
        const float one = 1, zero = 0;
        must_blas(cublasGemmEx(handle_, first, second, m, n, k, &one, a, type_, a_line, b, type_,
                               b_line, &zero, to, CUDA_R_32F, m, CUBLAS_COMPUTE_32F,
                               CUBLAS_GEMM_DEFAULT));
    }
    cublasHandle_t handle_ = nullptr;
    cudaDataType_t type_;
};

void in_turns(benchmark::State& state, double flops, const std::function<void()>& ours,
              const std::function<void()>& products) {
    BenchDevice& device = BenchDevice::get();
    device.seconds(ours);  // what is done once
    device.seconds(products);
    std::vector<double> mine, theirs;
    for (auto _ : state) {
        mine.push_back(device.seconds(ours));
        theirs.push_back(device.seconds(products));
        state.SetIterationTime(mine.back());
    }
    const auto median = [](std::vector<double>& values) {
        std::nth_element(values.begin(), values.begin() + std::ssize(values) / 2, values.end());
        return values[values.size() / 2];
    };
    const double our_time = median(mine), their_time = median(theirs);
    state.counters["TFLOP/s"] = flops / our_time / 1e12;
    state.counters["cublas_TFLOP/s"] = flops / their_time / 1e12;
    state.counters["of_cublas"] = their_time / our_time;
}

/// Random bf16 numbers serve as either type: pairs of them are fp32 of the same size.
struct Memory {
    DeviceArray<std::byte> x, go, target_x, target_go;
    DeviceArray<float> gradient, tokens, other_tokens, scores;

    Memory(const Shape& shape, std::size_t element) {
        BenchDevice& device = BenchDevice::get();
        const auto bytes = [&](int rows, int width) {
            return element * static_cast<std::size_t>(rows) *
                   static_cast<std::size_t>(shape.tokens) * static_cast<std::size_t>(width);
        };
        x = device.weights(bytes(shape.rows, shape.in));
        go = device.weights(bytes(shape.rows, shape.out));
        target_x = device.weights(bytes(1, shape.in));
        target_go = device.weights(bytes(1, shape.out));
        const auto wide = [](int size) { return static_cast<std::size_t>(size); };
        gradient = DeviceArray<float>(wide(shape.out) * wide(shape.in));
        const std::size_t widest = wide(std::max({shape.out, shape.in, shape.tokens}));
        tokens = DeviceArray<float>(wide(shape.rows) * wide(shape.tokens) * widest);
        other_tokens = DeviceArray<float>(tokens.size());
        scores = DeviceArray<float>(wide(shape.rows));
    }
};

double product_flops(double rows, double columns, double terms) {
    return 2 * rows * columns * terms;
}

AssayRowScores scores_call(AssayScoring scoring, AssayType type, const Shape& shape,
                           const Memory& memory) {
    AssayRowScores call{};
    call.scoring = scoring;
    call.out = shape.out;
    call.in = shape.in;
    call.tokens = shape.tokens;
    call.rows = shape.rows;
    call.target_rows = 1;
    call.type = type;
    call.x = memory.x.data();
    call.go = memory.go.data();
    call.target_x = memory.target_x.data();
    call.target_go = memory.target_go.data();
    call.scores = memory.scores.data();
    return call;
}

void scores(benchmark::State& state, AssayScoring scoring, AssayType type, Shape shape) {
    BenchDevice& device = BenchDevice::get();
    const Memory memory(shape, type == ASSAY_F32 ? 4 : 2);
    AssayRowScores call = scores_call(scoring, type, shape, memory);
    const DeviceArray<std::byte> workspace(device.kernels.row_scores_workspace(&call));
    call.workspace = workspace.data();
    call.workspace_bytes = workspace.bytes();
    Products products(type);
    const int all = shape.rows * shape.tokens;
    const bool pip = scoring == ASSAY_PIP;
    const double flops = pip ? product_flops(shape.out, shape.in, shape.tokens) +
                                   product_flops(all, shape.out, shape.in)
                             : product_flops(all, shape.tokens, shape.out) +
                                   product_flops(all, shape.tokens, shape.in);
    in_turns(
        state, flops,
        [&] { device.must_be_ok(device.kernels.row_scores(device.context.get(), &call)); },
        [&] {
            if (pip) {
                products.of_columns(memory.target_go.data(), memory.target_x.data(),
                                    memory.gradient.data(), shape.out, shape.in, shape.tokens);
                // The gradient would be in `type` for cuBLAS: x in its place has as many terms.
                products.of_columns(memory.go.data(), memory.x.data(), memory.tokens.data(),
                                    shape.out, shape.in, all);
            } else {
                products.of_rows(memory.go.data(), memory.target_go.data(), memory.tokens.data(),
                                 all, shape.tokens, shape.out);
                products.of_rows(memory.x.data(), memory.target_x.data(),
                                 memory.other_tokens.data(), all, shape.tokens, shape.in);
            }
        });
}

/// Between projections to 64 x 64 numbers.
void compressed(benchmark::State& state, AssayType type, Shape shape) {
    constexpr int width = 64;
    BenchDevice& device = BenchDevice::get();
    const std::size_t element = type == ASSAY_F32 ? 4 : 2;
    const Memory memory(shape, element);
    const auto projection = [&](int size) {
        return device.weights(element * width * static_cast<std::size_t>(size));
    };
    const DeviceArray<std::byte> of_out = projection(shape.out), of_in = projection(shape.in);
    AssayRowScores call = scores_call(ASSAY_COMPRESSED, type, shape, memory);
    call.projected_out = call.projected_in = width;
    call.project_out = of_out.data();
    call.project_in = of_in.data();
    const DeviceArray<std::byte> workspace(device.kernels.row_scores_workspace(&call));
    call.workspace = workspace.data();
    call.workspace_bytes = workspace.bytes();
    Products products(type);
    const int rows = shape.rows * shape.tokens, all = rows + shape.tokens;
    const double flops = product_flops(all, width, shape.out) +
                         product_flops(all, width, shape.in) + product_flops(all, width, width);
    in_turns(
        state, flops,
        [&] { device.must_be_ok(device.kernels.row_scores(device.context.get(), &call)); },
        [&] {
            const auto project = [&](const void* from, const void* by, float* to, int tokens,
                                     int size) {
                products.of_rows(from, by, to, tokens, width, size);
            };
            project(memory.go.data(), of_out.data(), memory.tokens.data(), rows, shape.out);
            project(memory.target_go.data(), of_out.data(), memory.tokens.data(), shape.tokens,
                    shape.out);
            project(memory.x.data(), of_in.data(), memory.other_tokens.data(), rows, shape.in);
            project(memory.target_x.data(), of_in.data(), memory.other_tokens.data(), shape.tokens,
                    shape.in);
            // The rows' gradients between projections, as one product of as many terms.
            products.of_columns(memory.go.data(), memory.x.data(), memory.gradient.data(), width,
                                width, all);
        });
}

void gradient(benchmark::State& state, AssayType type, Shape shape) {
    BenchDevice& device = BenchDevice::get();
    const Memory memory(shape, type == ASSAY_F32 ? 4 : 2);
    std::vector<float> chosen(static_cast<std::size_t>(shape.rows));
    for (std::size_t row = 0; row < chosen.size(); row += 2) chosen[row] = 1;
    const DeviceArray<float> weights(chosen);
    const AssayWeightGradient call{shape.out,        shape.in,       shape.tokens,
                                   shape.rows,       type,           memory.x.data(),
                                   memory.go.data(), weights.data(), memory.gradient.data()};
    Products products(type);
    const int terms = (shape.rows + 1) / 2 * shape.tokens;
    in_turns(
        state, product_flops(shape.out, shape.in, terms),
        [&] { device.must_be_ok(device.kernels.weight_gradient(device.context.get(), &call)); },
        [&] {
            products.of_columns(memory.go.data(), memory.x.data(), memory.gradient.data(),
                                shape.out, shape.in, terms);
        });
}

}  // namespace

void add_row_scores() {
    for (const Shape& shape :
         {Shape{2560, 960, 8, 512}, Shape{5632, 2048, 8, 512}, Shape{8192, 3072, 8, 512}})
        for (const AssayType type : {ASSAY_F32, ASSAY_BF16}) {
            const std::string end = std::string(type == ASSAY_F32 ? "/f32/" : "/bf16/") +
                                    std::to_string(shape.out) + "x" + std::to_string(shape.in) +
                                    "/" + std::to_string(shape.rows) + "/" +
                                    std::to_string(shape.tokens);
            add("row_scores/pip" + end, scores, ASSAY_PIP, type, shape);
            add("row_scores/gip" + end, scores, ASSAY_GIP, type, shape);
            add("row_scores/compressed" + end, compressed, type, shape);
            add("row_scores/gradient" + end, gradient, type, shape);
        }
}

}  // namespace assay::kernels::cuda::harness
