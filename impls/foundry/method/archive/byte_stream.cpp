#include "impls/foundry/method/archive/byte_stream.hpp"

#include <fmt/format.h>

namespace assay::foundry {

DamagedArchive::DamagedArchive(std::string_view file, std::string_view why)
    : UserError(fmt::format("{}: {}; the archive is damaged: make it again with "
                            "`assay archive pack`",
                            file, why)) {}

void ByteWriter::number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        bytes_.push_back(static_cast<std::byte>(value & 0x7f) | std::byte{0x80});
    bytes_.push_back(static_cast<std::byte>(value));
}

void ByteWriter::text(std::string_view text) {
    number(text.size());
    raw(std::as_bytes(std::span(text)));
}

std::uint64_t ByteReader::long_number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (at_ == end_) refuse("a number does not end");
        const auto byte = static_cast<std::uint64_t>(*at_++);
        const std::uint64_t bits = byte & 0x7f;
        if (shift == 63 && bits > 1) break;
        value |= bits << shift;
        if (byte < 0x80) return value;
    }
    refuse("a number has more than 64 bits");
}

}  // namespace assay::foundry
