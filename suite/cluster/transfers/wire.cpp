#include "suite/cluster/transfers/wire.hpp"

#include <sys/random.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <type_traits>

#include "suite/base/file_descriptor.hpp"
#include "suite/cluster/collectives/checksum_layer.hpp"

namespace assay::cluster {
namespace {

constexpr std::string_view kTransferMagic = "ASSAYTR1";

template <class Number>
void put_number(std::byte* at, Number number) {
    for (std::size_t i = 0; i < sizeof number; ++i) at[i] = std::byte(number >> (8 * i) & 0xff);
}

template <class Number>
Number number_at(const std::byte* at) {
    Number number = 0;
    for (std::size_t i = 0; i < sizeof number; ++i)
        number |= std::to_integer<Number>(at[i]) << (8 * i);
    return number;
}

}  // namespace

std::string draw_transfer_token() {
    constexpr std::string_view letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    std::array<unsigned char, kTransferTokenBytes> drawn;
    check_call(int(::getrandom(drawn.data(), drawn.size(), 0)), "random bytes for a token");
    std::string token;
    for (const unsigned char byte : drawn) token.push_back(letters[byte % letters.size()]);
    return token;
}

std::array<std::byte, kTransferHeaderBytes> encode_transfer_header(const TransferHeader& header) {
    if (header.token.size() != kTransferTokenBytes)
        throw std::logic_error("the token of a transfer has 16 bytes");
    std::array<std::byte, kTransferHeaderBytes> bytes;
    const auto as_byte = [](char letter) { return std::byte(letter); };
    std::transform(kTransferMagic.begin(), kTransferMagic.end(), bytes.begin(), as_byte);
    put_number(bytes.data() + 8, header.id);
    std::transform(header.token.begin(), header.token.end(), bytes.begin() + 16, as_byte);
    return bytes;
}

std::optional<TransferHeader> parse_transfer_header(std::span<const std::byte> bytes) {
    if (bytes.size() != kTransferHeaderBytes) return std::nullopt;
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (!text.starts_with(kTransferMagic)) return std::nullopt;
    return TransferHeader{number_at<std::uint64_t>(bytes.data() + 8), std::string(text.substr(16))};
}

std::array<std::byte, kChunkHeaderBytes> encode_chunk_header(const ChunkHeader& header) {
    std::array<std::byte, kChunkHeaderBytes> bytes;
    put_number(bytes.data(), static_cast<std::uint32_t>(header.kind));
    put_number(bytes.data() + 4, header.bytes);
    put_number(bytes.data() + 8, header.checksum);
    return bytes;
}

std::optional<ChunkHeader> parse_chunk_header(std::span<const std::byte> bytes) {
    if (bytes.size() != kChunkHeaderBytes) return std::nullopt;
    const ChunkHeader header{ChunkKind(number_at<std::uint32_t>(bytes.data())),
                             number_at<std::uint32_t>(bytes.data() + 4),
                             number_at<std::uint64_t>(bytes.data() + 8)};
    const bool data =
        header.kind == ChunkKind::data && header.bytes > 0 && header.bytes <= kMostChunkBytes;
    const bool end = header.kind == ChunkKind::end && header.bytes <= kMostReasonBytes;
    if (!data && !end) return std::nullopt;
    return header;
}

std::uint64_t chunk_checksum(const TransferOrder& order, std::uint64_t before,
                             std::span<const std::byte> content) {
    return message_checksum(
        content.data(), content.size(),
        {.group = order.id, .from = order.from, .to = order.to, .sequence = order.offset + before});
}

}  // namespace assay::cluster
