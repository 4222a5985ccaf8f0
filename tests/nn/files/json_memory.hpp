// How much memory a JSON value takes.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

namespace assay::nn {

/// Bytes of it and all inside it, without what the allocator adds.
inline std::size_t memory_of(const nlohmann::json& value) {
    using nlohmann::json;
    std::size_t bytes = sizeof value;
    if (const auto* const text = value.get_ptr<const std::string*>())
        return bytes + sizeof *text + text->capacity();
    if (const auto* const binary = value.get_ptr<const json::binary_t*>())
        return bytes + sizeof *binary + binary->capacity();
    if (const auto* const list = value.get_ptr<const json::array_t*>()) {
        bytes += sizeof *list + (list->capacity() - list->size()) * sizeof value;
        for (const json& each : *list) bytes += memory_of(each);
    } else if (const auto* const table = value.get_ptr<const json::object_t*>()) {
        constexpr std::size_t tree_node = 4 * sizeof(void*);
        bytes += sizeof *table;
        for (const auto& [key, each] : *table)
            bytes += tree_node + sizeof key + key.capacity() + memory_of(each);
    }
    return bytes;
}

}  // namespace assay::nn
