// What goes over the connection of a transfer. From the sender: one header, then chunks. From the
// receiver: one byte, once it has reported how the transfer ended.
//
// A header is 8 bytes "ASSAYTR1", the transfer's id (64 bits) and its token. A chunk is a header of
// 16 bytes, its kind and the length of what follows (32 bits each) and a checksum (64 bits), and
// that many bytes. Numbers are little endian. Parsers are pure functions: bytes in, fields or
// nothing out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "suite/cluster/transfers/transfer_port.hpp"

namespace assay::cluster {

constexpr std::size_t kTransferHeaderBytes = 8 + 8 + kTransferTokenBytes;
constexpr std::size_t kChunkHeaderBytes = 16;
constexpr std::size_t kMostChunkBytes = std::size_t{128} << 10;
constexpr std::size_t kMostReasonBytes = 1024;
constexpr std::byte kReportedByte{'R'};

struct TransferHeader {
    std::uint64_t id = 0;
    std::string token;  ///< kTransferTokenBytes
};
std::array<std::byte, kTransferHeaderBytes> encode_transfer_header(const TransferHeader&);
/// Nothing unless `bytes` are exactly a header.
std::optional<TransferHeader> parse_transfer_header(std::span<const std::byte> bytes);

enum class ChunkKind : std::uint32_t {
    data = 1,
    /// Nothing more comes. The text says why; without text all has been sent, which is only said of
    /// an empty range: any other ends with its last byte.
    end = 2,
};
struct ChunkHeader {
    ChunkKind kind = ChunkKind::data;
    std::uint32_t bytes = 0;  ///< data: 1 to kMostChunkBytes; end: up to kMostReasonBytes
    std::uint64_t checksum = 0;
};
std::array<std::byte, kChunkHeaderBytes> encode_chunk_header(const ChunkHeader&);
/// Nothing unless `bytes` are exactly the header of a chunk whose length is allowed.
std::optional<ChunkHeader> parse_chunk_header(std::span<const std::byte> bytes);

/// Of the content of a chunk of `order`, after `before` bytes of its range.
std::uint64_t chunk_checksum(const TransferOrder& order, std::uint64_t before,
                             std::span<const std::byte> content);

}  // namespace assay::cluster
