// Headers of transfers and of their chunks. What is read is what was written: a header that is
// taken encodes to the same bytes again, and its lengths are within their limits.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "suite/cluster/transfers/wire.hpp"

namespace {

using namespace assay::cluster;

template <class Encoded>
void expect_same(std::span<const std::byte> read, const Encoded& written) {
    if (!std::equal(read.begin(), read.end(), written.begin(), written.end())) std::abort();
}

void read_header(std::span<const std::byte> bytes) {
    if (const auto header = parse_transfer_header(bytes))
        expect_same(bytes, encode_transfer_header(*header));
}

void read_chunk_header(std::span<const std::byte> bytes) {
    const auto header = parse_chunk_header(bytes);
    if (!header) return;
    const bool data = header->kind == ChunkKind::data;
    if (header->bytes > (data ? kMostChunkBytes : kMostReasonBytes)) std::abort();
    if (data && header->bytes == 0) std::abort();
    expect_same(bytes, encode_chunk_header(*header));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    read_header(bytes);
    read_chunk_header(bytes);
    // As a connection reads them: a header, then one of a chunk, whatever comes behind.
    read_header(bytes.first(std::min(size, kTransferHeaderBytes)));
    if (size < kTransferHeaderBytes) return 0;
    const auto rest = bytes.subspan(kTransferHeaderBytes);
    read_chunk_header(rest.first(std::min(rest.size(), kChunkHeaderBytes)));
    return 0;
}
