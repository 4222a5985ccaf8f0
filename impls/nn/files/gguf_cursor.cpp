#include "impls/nn/files/gguf_cursor.hpp"

#include <fmt/format.h>

#include <array>

#include "impls/nn/files/malformed.hpp"

namespace assay::nn {
namespace {

enum ValueType : std::uint32_t {
    u8,
    i8,
    u16,
    i16,
    u32,
    i32,
    f32,
    boolean,
    text,
    list,
    u64,
    i64,
    f64,
    value_types
};
// The least a value of each type takes; an array: type and count.
constexpr std::array<std::size_t, value_types> least_bytes{1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8};
constexpr int deepest_array = 8;

}  // namespace

void GgufCursor::refuse(std::string_view what) const {
    malformed(file_, fmt::format("{} (at byte {})", what, at_));
}

const std::byte* GgufCursor::take(std::uint64_t bytes, std::string_view what) {
    if (bytes > bytes_.size() - at_)
        refuse(fmt::format("the GGUF file ends inside {}; it is cut off or damaged", what));
    const std::byte* const here = bytes_.data() + at_;
    at_ += bytes;
    return here;
}

std::uint64_t GgufCursor::count(std::string_view what, std::size_t least) {
    const auto count = number<std::uint64_t>(what);
    if (count > (bytes_.size() - at_) / least)
        refuse(
            fmt::format("{} is {}, more than the rest of the file can hold; it is cut off or "
                        "damaged",
                        what, count));
    return count;
}

std::string GgufCursor::string(std::string_view what) {
    const auto length = number<std::uint64_t>(what);
    const auto* const letters = reinterpret_cast<const char*>(take(length, what));
    return {letters, static_cast<std::size_t>(length)};
}

nlohmann::json GgufCursor::value(std::string_view what) {
    return value_of(number<std::uint32_t>(what), what, 0);
}

nlohmann::json GgufCursor::value_of(std::uint32_t type, std::string_view what, int depth) {
    switch (type) {
        case u8:
            return number<std::uint8_t>(what);
        case i8:
            return number<std::int8_t>(what);
        case u16:
            return number<std::uint16_t>(what);
        case i16:
            return number<std::int16_t>(what);
        case u32:
            return number<std::uint32_t>(what);
        case i32:
            return number<std::int32_t>(what);
        case f32:
            return number<float>(what);
        case boolean: {
            const auto flag = number<std::uint8_t>(what);
            if (flag > 1) refuse(fmt::format("{} is a truth value of {}, not 0 or 1", what, flag));
            return flag == 1;
        }
        case text:
            return string(what);
        case list:
            return array(what, depth + 1);
        case u64:
            return number<std::uint64_t>(what);
        case i64:
            return number<std::int64_t>(what);
        case f64:
            return number<double>(what);
        default:
            refuse(fmt::format("{} has the value type {}, which GGUF does not define", what, type));
    }
}

nlohmann::json GgufCursor::array(std::string_view what, int depth) {
    if (depth > deepest_array) refuse(fmt::format("{} has arrays nested too deeply", what));
    const auto type = number<std::uint32_t>(what);
    if (type >= value_types)
        refuse(fmt::format("{} has the value type {}, which GGUF does not define", what, type));
    const std::uint64_t length = count(fmt::format("the length of {}", what), least_bytes[type]);
    nlohmann::json::array_t values;
    values.reserve(length);
    for (std::uint64_t i = 0; i < length; ++i) values.push_back(value_of(type, what, depth));
    return values;
}

}  // namespace assay::nn
