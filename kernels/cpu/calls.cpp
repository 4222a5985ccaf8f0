#include <chrono>
#include <cstdint>
#include <cstring>
#include <new>

#include "kernels/cpu/context.hpp"
#include "kernels/cpu/streamed_memory.hpp"

namespace assay::kernels {

AssayStatus check_batch(AssayContext& context, int batch) {
    if (batch < 1)
        return refuse(context, ASSAY_BAD_ARGUMENT,
                      "batch must be at least 1, not " + std::to_string(batch));
    if (batch > largest_batch)
        return refuse(context, ASSAY_UNSUPPORTED,
                      "batch is " + std::to_string(batch) + ", at most " +
                          std::to_string(largest_batch) + " are computed at once; split it");
    return ASSAY_OK;
}

void aligned_tokens(AssayContext& context, const float* x, int batch, int columns,
                    const float* (&rows)[largest_batch]) {
    constexpr int floats = vector_alignment / static_cast<int>(sizeof(float));
    const bool aligned = reinterpret_cast<std::uintptr_t>(x) % vector_alignment == 0 &&
                         (columns % floats == 0 || batch == 1);
    int stride = columns;
    if (!aligned) {
        stride = (columns + floats - 1) / floats * floats;
        float* const copy = context.aligned_floats(static_cast<std::size_t>(stride) *
                                                   static_cast<std::size_t>(batch));
        for (int t = 0; t < batch; ++t)
            std::memcpy(copy + static_cast<std::ptrdiff_t>(t) * stride,
                        x + static_cast<std::ptrdiff_t>(t) * columns,
                        static_cast<std::size_t>(columns) * sizeof(float));
        x = copy;
    }
    for (int t = 0; t < batch; ++t) rows[t] = x + static_cast<std::ptrdiff_t>(t) * stride;
}

void* allocate(AssayContext*, std::size_t bytes) {
    try {
        return allocate_streamed(bytes ? bytes : 1).release();
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

void release(AssayContext*, void* memory) { FreeStreamedMemory()(static_cast<std::byte*>(memory)); }

AssayStatus copy(AssayContext* context, void* to, const void* from, std::size_t bytes) {
    if (!context) return ASSAY_BAD_ARGUMENT;
    if (bytes == 0) return ASSAY_OK;
    if (!to || !from) return refuse(*context, ASSAY_BAD_ARGUMENT, "copy: an address is null");
    std::memcpy(to, from, bytes);
    return ASSAY_OK;
}

AssayStatus gather(AssayContext* context, void* to, const void* from, const std::int32_t* ids,
                   std::int32_t count, std::size_t piece_bytes) {
    if (!context) return ASSAY_BAD_ARGUMENT;
    if (count < 0 || piece_bytes % 16 != 0 || (count > 0 && (!to || !from || !ids)))
        return refuse(*context, ASSAY_BAD_ARGUMENT,
                      "gather: addresses must not be null, pieces a multiple of 16 bytes");
    for (std::int32_t i = 0; i < count; ++i)
        std::memcpy(
            static_cast<std::byte*>(to) + static_cast<std::size_t>(i) * piece_bytes,
            static_cast<const std::byte*>(from) + static_cast<std::size_t>(ids[i]) * piece_bytes,
            piece_bytes);
    return ASSAY_OK;
}

AssayStatus read_pass(AssayContext* context, const void* from, std::size_t bytes) {
    if (!context) return ASSAY_BAD_ARGUMENT;
    if (!from || bytes % streamed_read_piece != 0)
        return refuse(*context, ASSAY_BAD_ARGUMENT,
                      "read_pass: the address must not be null, the bytes a multiple of 256 KiB");
    streamed_read_seconds(context->pool, context->instructions, static_cast<const std::byte*>(from),
                          bytes);
    return ASSAY_OK;
}

AssayStatus begin_timing(AssayContext* context) {
    if (!context) return ASSAY_BAD_ARGUMENT;
    context->timing_began = std::chrono::steady_clock::now();
    return ASSAY_OK;
}

AssayStatus end_timing(AssayContext* context, double* seconds) {
    if (!context) return ASSAY_BAD_ARGUMENT;
    if (!seconds) return refuse(*context, ASSAY_BAD_ARGUMENT, "end_timing: seconds is null");
    *seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - context->timing_began)
            .count();
    return ASSAY_OK;
}

}  // namespace assay::kernels
