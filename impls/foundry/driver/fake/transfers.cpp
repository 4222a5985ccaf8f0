// Copies and fills: as calls, and as the work of graph nodes.
#include <cstring>

#include "impls/foundry/driver/fake/state.hpp"

namespace assay::foundry::fake {
namespace {

/// Where a copy reads or writes: rows of a pitch, slices of a height.
struct Rows {
    CUdeviceptr begin;
    std::size_t pitch, height;
};
bool is_device(CUmemorytype type) {
    return type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_UNIFIED;
}
Rows source(const CUDA_MEMCPY3D& c) {
    const CUdeviceptr base =
        is_device(c.srcMemoryType) ? c.srcDevice : reinterpret_cast<CUdeviceptr>(c.srcHost);
    return {base + (c.srcZ * c.srcHeight + c.srcY) * c.srcPitch + c.srcXInBytes, c.srcPitch,
            c.srcHeight};
}
Rows destination(const CUDA_MEMCPY3D& c) {
    const CUdeviceptr base =
        is_device(c.dstMemoryType) ? c.dstDevice : reinterpret_cast<CUdeviceptr>(c.dstHost);
    return {base + (c.dstZ * c.dstHeight + c.dstY) * c.dstPitch + c.dstXInBytes, c.dstPitch,
            c.dstHeight};
}

template <class Row>
void each_row(const CUDA_MEMCPY3D& c, Row row) {
    const Rows from = source(c), to = destination(c);
    for (std::size_t z = 0; z < c.Depth; ++z)
        for (std::size_t y = 0; y < c.Height; ++y)
            row(to.begin + (z * to.height + y) * to.pitch,
                from.begin + (z * from.height + y) * from.pitch);
}

std::size_t row_bytes(const CUDA_MEMSET_NODE_PARAMS& m) { return m.width * m.elementSize; }

}  // namespace

CUresult check_params(const CUDA_MEMSET_NODE_PARAMS& m) {
    FAKE_NEED((m.elementSize == 1 || m.elementSize == 2 || m.elementSize == 4) && m.width > 0 &&
                  m.height > 0 && m.dst % m.elementSize == 0 &&
                  (m.height == 1 || m.pitch >= row_bytes(m)),
              CUDA_ERROR_INVALID_VALUE);
    for (std::size_t y = 0; y < m.height; ++y)
        FAKE_NEED(is_device_memory(m.dst + y * m.pitch, row_bytes(m)), CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
}

CUresult check_params(const CUDA_MEMCPY3D& c) {
    const auto known = [](CUmemorytype type) {
        return is_device(type) || type == CU_MEMORYTYPE_HOST;
    };
    FAKE_NEED(known(c.srcMemoryType) && known(c.dstMemoryType) && c.WidthInBytes > 0 &&
                  c.Height > 0 && c.Depth > 0 && !c.reserved0 && !c.reserved1,
              CUDA_ERROR_INVALID_VALUE);
    // A pitch counts where there is a second row, a height where there is a second slice.
    const bool rows = c.Height > 1 || c.Depth > 1;
    FAKE_NEED(!rows || (c.srcPitch >= c.WidthInBytes + c.srcXInBytes &&
                        c.dstPitch >= c.WidthInBytes + c.dstXInBytes),
              CUDA_ERROR_INVALID_VALUE);
    FAKE_NEED(
        c.Depth == 1 || (c.srcHeight >= c.Height + c.srcY && c.dstHeight >= c.Height + c.dstY),
        CUDA_ERROR_INVALID_VALUE);
    bool there = true;
    each_row(c, [&](CUdeviceptr to, CUdeviceptr from) {
        if (c.dstMemoryType == CU_MEMORYTYPE_DEVICE) there &= is_device_memory(to, c.WidthInBytes);
        if (c.srcMemoryType == CU_MEMORYTYPE_DEVICE)
            there &= is_device_memory(from, c.WidthInBytes);
    });
    return there ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

void run_memset(const CUDA_MEMSET_NODE_PARAMS& m) {
    for (std::size_t y = 0; y < m.height; ++y)
        for (std::size_t x = 0; x < m.width; ++x)  // little-endian: the low bytes of the value
            std::memcpy(reinterpret_cast<std::byte*>(m.dst) + y * m.pitch + x * m.elementSize,
                        &m.value, m.elementSize);
}

void run_memcpy(const CUDA_MEMCPY3D& copy) {
    each_row(copy, [&](CUdeviceptr to, CUdeviceptr from) {
        std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from),
                     copy.WidthInBytes);
    });
}

namespace {

CUDA_MEMCPY3D copy_of_bytes(CUmemorytype to_type, CUdeviceptr to, CUmemorytype from_type,
                            CUdeviceptr from, std::size_t bytes) {
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = from_type;
    copy.dstMemoryType = to_type;
    if (is_device(from_type))
        copy.srcDevice = from;
    else
        copy.srcHost = reinterpret_cast<const void*>(from);
    if (is_device(to_type))
        copy.dstDevice = to;
    else
        copy.dstHost = reinterpret_cast<void*>(to);
    copy.WidthInBytes = bytes;
    copy.Height = copy.Depth = 1;
    return copy;
}

CUresult fill(CUdeviceptr to, std::size_t pitch, unsigned value, unsigned element_bytes,
              std::size_t width, std::size_t height, CUstream stream) {
    if (width == 0 || height == 0) return CUDA_SUCCESS;
    const CUDA_MEMSET_NODE_PARAMS memset{.dst = to,
                                         .pitch = pitch,
                                         .value = value,
                                         .elementSize = element_bytes,
                                         .width = width,
                                         .height = height};
    if (const CUresult refusal = check_params(memset)) return refusal;
    return give(stream, memset);
}

CUresult copy(CUmemorytype to_type, CUdeviceptr to, CUmemorytype from_type, CUdeviceptr from,
              std::size_t bytes, CUstream stream) {
    if (bytes == 0) return CUDA_SUCCESS;
    const CUDA_MEMCPY3D copy = copy_of_bytes(to_type, to, from_type, from, bytes);
    if (const CUresult refusal = check_params(copy)) return refusal;
    return give(stream, copy);
}
CUresult copy_now(CUmemorytype to_type, CUdeviceptr to, CUmemorytype from_type, CUdeviceptr from,
                  std::size_t bytes) {
    if (const CUresult refusal = forbid_in_capture()) return refusal;
    return copy(to_type, to, from_type, from, bytes, nullptr);
}
CUdeviceptr address(const void* host) { return reinterpret_cast<CUdeviceptr>(host); }

constexpr CUmemorytype on_host = CU_MEMORYTYPE_HOST, on_device = CU_MEMORYTYPE_DEVICE;

}  // namespace
}  // namespace assay::foundry::fake

using namespace assay::foundry::fake;

CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t bytes) {
    FAKE_CALL(cuMemcpyHtoD, context);
    return copy_now(on_device, to, on_host, address(from), bytes);
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t bytes) {
    FAKE_CALL(cuMemcpyDtoH, context);
    return copy_now(on_host, address(to), on_device, from, bytes);
}
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    FAKE_CALL(cuMemcpyDtoD, context);
    return copy_now(on_device, to, on_device, from, bytes);
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
    FAKE_CALL(cuMemcpyHtoDAsync, context);
    return copy(on_device, to, on_host, address(from), bytes, stream);
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    FAKE_CALL(cuMemcpyDtoDAsync, context);
    return copy(on_device, to, on_device, from, bytes, stream);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t n, CUstream stream) {
    FAKE_CALL(cuMemsetD8Async, context);
    return fill(to, 0, value, 1, n, 1, stream);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t n, CUstream stream) {
    FAKE_CALL(cuMemsetD32Async, context);
    return fill(to, 0, value, 4, n, 1, stream);
}
CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                           size_t height, CUstream stream) {
    FAKE_CALL(cuMemsetD2D8Async, context);
    return fill(to, pitch, value, 1, width, height, stream);
}
CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned value, size_t width,
                            size_t height, CUstream stream) {
    FAKE_CALL(cuMemsetD2D32Async, context);
    return fill(to, pitch, value, 4, width, height, stream);
}
