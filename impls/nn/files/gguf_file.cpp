#include "impls/nn/files/gguf_file.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "impls/nn/files/gguf_cursor.hpp"
#include "impls/nn/files/gguf_tensor_type.hpp"
#include "impls/nn/files/malformed.hpp"
#include "impls/nn/files/tensor_layout.hpp"

namespace assay::nn {
namespace {

constexpr char magic[] = {'G', 'G', 'U', 'F'};
constexpr std::uint32_t most_dimensions = 4;  // GGML_MAX_DIMS
// An empty key or name (its length), a type and the shortest value; a number of dimensions, a type
// and an offset.
constexpr std::size_t least_pair_bytes = 8 + 4 + 1;
constexpr std::size_t least_tensor_bytes = 8 + 4 + 4 + 8;

struct Listed {
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

Listed read_entry(GgufCursor& cursor) {
    Listed listed;
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
    if (const auto known = gguf_tensor_type(type))
        tensor.type = *known;
    else
        cursor.refuse(
            fmt::format("tensor {} has the type {}; F32, F16, BF16, Q8_0, Q4_0 and Q4_1 "
                        "are read: convert the model to one of them",
                        shown(tensor.name), gguf_tensor_type_name(type)));
    listed.offset = cursor.number<std::uint64_t>(what);
    return listed;
}

std::uint64_t alignment_of(const GgufCursor& cursor, const nlohmann::json& metadata) {
    const auto found = metadata.find("general.alignment");
    if (found == metadata.end()) return 32;
    if (!found->is_number_unsigned() || !std::has_single_bit(found->get<std::uint64_t>()) ||
        found->get<std::uint64_t>() > std::numeric_limits<std::uint32_t>::max())
        cursor.refuse("general.alignment is not a power of two");
    return found->get<std::uint64_t>();
}

}  // namespace

bool begins_as_gguf(std::span<const std::byte> bytes) {
    return bytes.size() >= sizeof magic && std::memcmp(bytes.data(), magic, sizeof magic) == 0;
}

GgufContent parse_gguf(std::string_view file, std::span<const std::byte> bytes) {
    GgufCursor cursor(file, bytes);
    cursor.number<std::uint32_t>("its first four letters");
    if (!begins_as_gguf(bytes)) cursor.refuse("not a GGUF file");
    check_version(cursor, cursor.number<std::uint32_t>("its version"));
    const std::uint64_t tensors = cursor.count("the number of tensors", least_tensor_bytes);
    const std::uint64_t pairs = cursor.count("the number of metadata values", least_pair_bytes);

    GgufContent content;
    content.metadata = read_pairs(cursor, pairs);
    std::vector<Listed> listed;
    for (std::uint64_t i = 0; i < tensors; ++i) listed.push_back(read_entry(cursor));
    if (listed.empty()) return content;

    const std::uint64_t alignment = alignment_of(cursor, content.metadata);
    const std::uint64_t begin = (cursor.position() + alignment - 1) / alignment * alignment;
    if (begin > bytes.size()) cursor.refuse("the GGUF file ends before the data of its tensors");
    const auto data = bytes.subspan(begin);
    for (Listed& entry : listed) {
        TensorEntry& tensor = entry.tensor;
        const std::size_t size = checked_bytes(file, tensor, bytes.size());
        if (entry.offset % alignment != 0)
            malformed(file, fmt::format("tensor {} lies at offset {}, no multiple of {}",
                                        shown(tensor.name), entry.offset, alignment));
        if (entry.offset > data.size() || size > data.size() - entry.offset)
            malformed(file, fmt::format("tensor {} reaches beyond the end of the file; it is cut "
                                        "off or damaged",
                                        shown(tensor.name)));
        tensor.bytes = data.subspan(entry.offset, size);
        content.tensors.push_back(std::move(tensor));
    }
    check_apart(file, content.tensors);
    return content;
}

}  // namespace assay::nn
