// The table of functions that assay_cpu_kernels() hands out, once for each set of instructions.
#include <algorithm>
#include <exception>
#include <new>
#include <string_view>

#include "kernels/assay_kernels.h"
#include "kernels/cpu/context.hpp"
#include "kernels/cpu/instruction_set.hpp"

namespace assay::kernels {
namespace {

constexpr int most_threads = 1024;

template <Vectors vectors>
AssayContext* create(std::int32_t threads, std::int32_t, void*) {
    try {
        return new AssayContext(instruction_set(vectors), std::clamp(threads, 0, most_threads));
    } catch (const std::exception&) {  // no memory, no threads
        return nullptr;
    }
}

void destroy(AssayContext* context) { delete context; }

const char* last_error(const AssayContext* context) {
    return context ? context->error.c_str() : "the context could not be created";
}

AssayStatus synchronise(AssayContext* context) {
    return context ? ASSAY_OK : ASSAY_BAD_ARGUMENT;  // every call has finished when it returns
}

/// A C function around one of the calls.
template <class Call, AssayStatus (*function)(AssayContext&, const Call&)>
AssayStatus checked(AssayContext* context, const Call* call) {
    if (!context) return ASSAY_BAD_ARGUMENT;
    if (!call) return refuse(*context, ASSAY_BAD_ARGUMENT, "the call's description is null");
    try {
        return function(*context, *call);
    } catch (const std::bad_alloc&) {
        return refuse(*context, ASSAY_DEVICE_ERROR,
                      "no memory is left for what the call needs besides");
    }
}

std::size_t workspace(const AssayFfn* ffn, std::int32_t batch) {
    return ffn ? sparse_ffn_workspace(*ffn, batch) : 0;
}

std::size_t scores_workspace(const AssayRowScores* call) {
    return call ? row_scores_workspace(*call) : 0;
}

template <Vectors vectors>
const AssayKernels* kernels() {
    static const AssayKernels table{ASSAY_KERNELS_VERSION,
                                    instruction_set(vectors).name,
                                    create<vectors>,
                                    destroy,
                                    last_error,
                                    synchronise,
                                    checked<AssayGemv, gemv>,
                                    checked<AssayRouter, router>,
                                    workspace,
                                    checked<AssaySparseFfn, sparse_ffn>,
                                    allocate,
                                    release,
                                    copy,  // to and from the caller is no different here
                                    copy,
                                    copy,
                                    gather,
                                    read_pass,
                                    begin_timing,
                                    end_timing,
                                    nullptr,
                                    nullptr,
                                    nullptr,
                                    nullptr,
                                    checked<AssayDispatch, dispatch>,
                                    checked<AssayRowMove, shuffle>,
                                    checked<AssayRowMove, unshuffle>,
                                    nullptr,
                                    nullptr,
                                    scores_workspace,
                                    checked<AssayRowScores, row_scores>,
                                    checked<AssayWeightGradient, weight_gradient>};
    return &table;
}

}  // namespace
}  // namespace assay::kernels

const AssayKernels* assay_cpu_kernels(const char* limit) {
    using namespace assay::kernels;
    const Vectors widest = widest_vectors(processor_bits());
    const std::string_view wanted = limit ? limit : instruction_set(widest).name;
    if (wanted == "cpu/portable") return kernels<Vectors::portable>();
    if (wanted == "cpu/avx2" && widest >= Vectors::avx2) return kernels<Vectors::avx2>();
    if (wanted == "cpu/avx512" && widest >= Vectors::avx512) return kernels<Vectors::avx512>();
    return nullptr;
}
