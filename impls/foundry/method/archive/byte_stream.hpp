// Numbers and texts as a stream of bytes. A number takes seven bits of each byte, the lowest first,
// and ends with the byte whose top bit is clear (LEB128): small ones are short.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "suite/base/error.hpp"

namespace assay::foundry {

/// "DIR/deltas.bin: a number does not end": bytes that no writer of this version leaves.
class DamagedArchive : public UserError {
  public:
    DamagedArchive(std::string_view file, std::string_view why);
};

class ByteWriter {
  public:
    void number(std::uint64_t value);
    void text(std::string_view text);  ///< behind its length
    void raw(std::span<const std::byte> bytes) {
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
    const std::vector<std::byte>& bytes() const { return bytes_; }
    std::size_t size() const { return bytes_.size(); }

  private:
    std::vector<std::byte> bytes_;
};

/// Reads what ByteWriter wrote. Throws DamagedArchive where the bytes end too early or a number
/// does not fit; what it gives points into the bytes.
class ByteReader {
  public:
    /// `file` is what errors call the bytes, and must stay valid.
    ByteReader(std::span<const std::byte> bytes, std::string_view file)
        : at_(bytes.data()), end_(bytes.data() + bytes.size()), file_(file) {}

    std::uint64_t number() {
        if (at_ != end_ && (*at_ & std::byte{0x80}) == std::byte{0})
            return static_cast<std::uint64_t>(*at_++);
        return long_number();
    }
    /// Of at most `most`.
    std::uint32_t number_32(std::uint64_t most = std::numeric_limits<std::uint32_t>::max()) {
        const std::uint64_t value = number();
        if (value > most) refuse("a number is out of range");
        return static_cast<std::uint32_t>(value);
    }
    std::span<const std::byte> raw(std::uint64_t bytes) {
        if (bytes > static_cast<std::uint64_t>(end_ - at_)) refuse("it ends too early");
        const std::span<const std::byte> taken(at_, static_cast<std::size_t>(bytes));
        at_ += bytes;
        return taken;
    }
    std::string_view text() {
        const auto bytes = raw(number());
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
    bool at_end() const { return at_ == end_; }
    void expect_end() const {
        if (!at_end()) refuse("more bytes follow than are known");
    }
    [[noreturn]] void refuse(std::string_view why) const { throw DamagedArchive(file_, why); }

  private:
    std::uint64_t long_number();

    const std::byte* at_;
    const std::byte* end_;
    std::string_view file_;
};

}  // namespace assay::foundry
