#include "impls/nn/files/gguf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "impls/nn/files/untrusted_file.hpp"

namespace assay::nn {
namespace {

// The numbers by which the format tells tensor types (enum ggml_type). Empty: withdrawn ones.
constexpr std::array<std::string_view, 40> type_names{
    "F32",     "F16",    "Q4_0",    "Q4_1",  "",       "",      "Q5_0",  "Q5_1",
    "Q8_0",    "Q8_1",   "Q2_K",    "Q3_K",  "Q4_K",   "Q5_K",  "Q6_K",  "Q8_K",
    "IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL", "IQ3_S", "IQ2_S", "IQ4_XS",
    "I8",      "I16",    "I32",     "I64",   "F64",    "IQ1_M", "BF16",  "",
    "",        "",       "TQ1_0",   "TQ2_0", "",       "",      "",      "MXFP4"};

/// nullopt: one we do not read.
std::optional<TensorType> tensor_type(std::uint32_t number) {
    switch (number) {
        case 0:
            return TensorType::f32;
        case 1:
            return TensorType::f16;
        case 2:
            return TensorType::q4_0;
        case 3:
            return TensorType::q4_1;
        case 8:
            return TensorType::q8_0;
        case 30:
            return TensorType::bf16;
        default:
            return std::nullopt;
    }
}

/// "Q4_K", or "number 99" when GGUF does not define it.
std::string tensor_type_name(std::uint32_t number) {
    if (number < type_names.size() && !type_names[number].empty())
        return std::string(type_names[number]);
    return "number " + std::to_string(number);
}

// Walks through the header of a GGUF file; no read goes beyond its end.
class GgufCursor {
  public:
    explicit GgufCursor(const UntrustedFile& file) : file_(file) {}

    std::uint64_t position() const { return at_; }

    /// `what` says what is being read, for the UserError of a file that ends before it.
    template <class Number>
    Number number(std::string_view what) {
        std::byte bytes[sizeof(Number)];
        take(bytes, what);
        return little_endian<Number>(bytes);
    }
    std::string string(std::string_view what);
    /// A value of a key-value pair: its type, then the value.
    nlohmann::json value(std::string_view what);
    /// A count of things that take at least `least_bytes` each; refused when the rest of the file
    /// cannot hold them, so that nothing is ever allocated for a count alone.
    std::uint64_t count(std::string_view what, std::size_t least_bytes);

    [[noreturn]] void refuse(std::string_view what) const;

  private:
    std::uint64_t left() const { return file_.size() - at_; }
    void check_left(std::uint64_t bytes, std::string_view what) const;
    void take(std::span<std::byte> out, std::string_view what);
    nlohmann::json value_of(std::uint32_t type, std::string_view what, int depth);
    nlohmann::json array(std::string_view what, int depth);

    nlohmann::json bytes(std::uint32_t type, std::uint64_t length, std::string_view what);

    const UntrustedFile& file_;
    std::uint64_t at_ = 0;
    std::vector<std::byte> ahead_;          ///< read in one piece
    std::span<const std::byte> not_taken_;  ///< what of it is not taken: the bytes from at_ on
};

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

void GgufCursor::refuse(std::string_view what) const {
    malformed(file_.name(), fmt::format("{} (at byte {})", what, at_));
}

void GgufCursor::check_left(std::uint64_t bytes, std::string_view what) const {
    if (bytes > left())
        refuse(fmt::format("the GGUF file ends inside {}; it is cut off or damaged", what));
}

void GgufCursor::take(std::span<std::byte> out, std::string_view what) {
    check_left(out.size(), what);
    while (!out.empty()) {
        if (not_taken_.empty()) {
            ahead_.resize(std::min<std::uint64_t>(left(), 64 * 1024));
            file_.read(at_, ahead_);
            not_taken_ = ahead_;
        }
        const std::size_t part = std::min(out.size(), not_taken_.size());
        std::memcpy(out.data(), not_taken_.data(), part);
        out = out.subspan(part);
        not_taken_ = not_taken_.subspan(part);
        at_ += part;
    }
}

std::uint64_t GgufCursor::count(std::string_view what, std::size_t least) {
    const auto count = number<std::uint64_t>(what);
    if (count > left() / least)
        refuse(
            fmt::format("{} is {}, more than the rest of the file can hold; it is cut off or "
                        "damaged",
                        what, count));
    return count;
}

std::string GgufCursor::string(std::string_view what) {
    const auto length = number<std::uint64_t>(what);
    check_left(length, what);
    std::string letters(length, '\0');
    take(std::as_writable_bytes(std::span(letters)), what);
    return letters;
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
    if (least_bytes[type] == 1) return bytes(type, length, what);
    nlohmann::json::array_t values;
    values.reserve(length);
    for (std::uint64_t i = 0; i < length; ++i) values.push_back(value_of(type, what, depth));
    return values;
}

nlohmann::json GgufCursor::bytes(std::uint32_t type, std::uint64_t length, std::string_view what) {
    std::vector<std::uint8_t> values(length);
    take(std::as_writable_bytes(std::span(values)), what);
    const auto is_no_flag = [](std::uint8_t value) { return value > 1; };
    if (type == boolean && std::any_of(values.begin(), values.end(), is_no_flag))
        refuse(fmt::format("{} holds a truth value that is not 0 or 1", what));
    return nlohmann::json::binary(std::move(values), type);
}

constexpr char magic[] = {'G', 'G', 'U', 'F'};
constexpr std::uint32_t most_dimensions = 4;  // GGML_MAX_DIMS
// An empty key or name (its length), a type and the shortest value; a number of dimensions, a type
// and an offset.
constexpr std::size_t least_pair_bytes = 8 + 4 + 1;
constexpr std::size_t least_tensor_bytes = 8 + 4 + 4 + 8;

struct GgufTensor {
    TensorEntry tensor;
    std::uint64_t offset;  ///< from the start of the data
};

void check_version(const GgufCursor& cursor, std::uint32_t version) {
    if (version == 2 || version == 3) return;
    if (version == 0x02000000u || version == 0x03000000u)
        cursor.refuse("a big-endian GGUF file; only little-endian ones are read");
    cursor.refuse(fmt::format("GGUF version {}; versions 2 and 3 are read", version));
}

nlohmann::json read_pairs(GgufCursor& cursor, std::uint64_t pairs) {
    nlohmann::json metadata = nlohmann::json::object();
    for (std::uint64_t i = 0; i < pairs; ++i) {
        std::string key = cursor.string("a metadata key");
        const std::string what = "the metadata value " + shown(key);
        nlohmann::json value = cursor.value(what);
        if (!metadata.emplace(std::move(key), std::move(value)).second)
            cursor.refuse(what + " is given twice");
    }
    return metadata;
}

GgufTensor read_tensor(GgufCursor& cursor) {
    GgufTensor listed;
    TensorEntry& tensor = listed.tensor;
    tensor.name = cursor.string("a tensor's name");
    const std::string what = "the entry of tensor " + shown(tensor.name);
    const auto dimensions = cursor.number<std::uint32_t>(what);
    if (dimensions > most_dimensions)
        cursor.refuse(
            fmt::format("{} has {} dimensions; GGUF allows {}", what, dimensions, most_dimensions));
    tensor.shape.resize(dimensions);
    for (auto extent = tensor.shape.rbegin(); extent != tensor.shape.rend(); ++extent) {
        const auto stored = cursor.number<std::uint64_t>(what);
        if (stored > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
            cursor.refuse(what + " has an impossible extent");
        *extent = static_cast<std::int64_t>(stored);
    }
    const auto type = cursor.number<std::uint32_t>(what);
    if (const auto known = tensor_type(type))
        tensor.type = *known;
    else
        cursor.refuse(
            fmt::format("tensor {} has the type {}; F32, F16, BF16, Q8_0, Q4_0 and Q4_1 "
                        "are read: convert the model to one of them",
                        shown(tensor.name), tensor_type_name(type)));
    listed.offset = cursor.number<std::uint64_t>(what);
    return listed;
}

std::uint64_t alignment_of(const GgufCursor& cursor, const nlohmann::json& metadata) {
    const auto found = metadata.find("general.alignment");
    if (found == metadata.end()) return 32;
    const auto refuse = [&](const char* why) {
        cursor.refuse(fmt::format("general.alignment is {}, {}", value_text(*found), why));
    };
    if (!found->is_number_integer()) refuse("no whole number");
    const auto alignment =
        number_below(std::int64_t{std::numeric_limits<std::uint32_t>::max()} + 1, *found);
    if (!alignment || !std::has_single_bit(static_cast<std::uint64_t>(*alignment)))
        refuse("no power of two below 2^32");
    return static_cast<std::uint64_t>(*alignment);
}

}  // namespace

bool begins_as_gguf(const UntrustedFile& file) {
    std::array<std::byte, sizeof magic> letters;
    if (file.size() < letters.size()) return false;
    file.read(0, letters);
    return std::memcmp(letters.data(), magic, sizeof magic) == 0;
}

GgufContent parse_gguf(const UntrustedFile& file) {
    GgufCursor cursor(file);
    cursor.number<std::uint32_t>("its first four letters");
    if (!begins_as_gguf(file)) cursor.refuse("not a GGUF file");
    check_version(cursor, cursor.number<std::uint32_t>("its version"));
    const std::uint64_t tensors = cursor.count("the number of tensors", least_tensor_bytes);
    const std::uint64_t pairs = cursor.count("the number of metadata values", least_pair_bytes);

    GgufContent content;
    content.metadata = read_pairs(cursor, pairs);
    std::vector<GgufTensor> listed;
    for (std::uint64_t i = 0; i < tensors; ++i) listed.push_back(read_tensor(cursor));
    if (listed.empty()) return content;

    const std::uint64_t alignment = alignment_of(cursor, content.metadata);
    const std::uint64_t begin = (cursor.position() + alignment - 1) / alignment * alignment;
    if (begin > file.size()) cursor.refuse("the GGUF file ends before the data of its tensors");
    const std::uint64_t data_bytes = file.size() - begin;
    for (GgufTensor& entry : listed) {
        TensorEntry& tensor = entry.tensor;
        tensor.bytes = checked_bytes(file.name(), tensor, file.size());
        if (entry.offset % alignment != 0)
            malformed(file.name(), fmt::format("tensor {} lies at offset {}, no multiple of {}",
                                               shown(tensor.name), entry.offset, alignment));
        if (entry.offset > data_bytes || tensor.bytes > data_bytes - entry.offset)
            malformed(file.name(),
                      fmt::format("tensor {} reaches beyond the end of the file; it is cut "
                                  "off or damaged",
                                  shown(tensor.name)));
        tensor.file = &file;
        tensor.offset = begin + entry.offset;
        content.tensors.push_back(std::move(tensor));
    }
    check_apart(file.name(), content.tensors);
    return content;
}

}  // namespace assay::nn
