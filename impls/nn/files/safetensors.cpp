#include "impls/nn/files/safetensors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "impls/nn/files/gguf.hpp"
#include "impls/nn/files/untrusted_file.hpp"

namespace assay::nn {
namespace {

constexpr std::size_t length_bytes = 8;

std::optional<TensorType> float_type(std::string_view name) {
    if (name == "F32") return TensorType::f32;
    if (name == "F16") return TensorType::f16;
    if (name == "BF16") return TensorType::bf16;
    return std::nullopt;
}

/// Bytes of an element of integers and truth values; nullopt: the type is none of these.
std::optional<std::size_t> count_or_flag_bytes(std::string_view name) {
    if (name == "BOOL" || name == "U8" || name == "I8") return 1;
    if (name == "U16" || name == "I16") return 2;
    if (name == "U32" || name == "I32") return 4;
    if (name == "U64" || name == "I64") return 8;
    return std::nullopt;
}

struct Listed {
    TensorEntry tensor;
    std::string type;
    std::uint64_t begin = 0, end = 0;  ///< in the data
};

std::vector<std::int64_t> integers(std::string_view file, const std::string& tensor,
                                   const nlohmann::json& entry, const char* key) {
    std::vector<std::int64_t> numbers;
    const auto found = entry.find(key);
    if (found == entry.end() || !found->is_array())
        malformed(file, fmt::format("tensor {} has no list \"{}\"", shown(tensor), key));
    for (const nlohmann::json& item : *found) {
        // Numbers beyond 2^63 wrap to negative ones, which are refused as well.
        if (!item.is_number_unsigned() || item.get<std::int64_t>() < 0)
            malformed(file,
                      fmt::format("\"{}\" of tensor {} holds what is no size", key, shown(tensor)));
        numbers.push_back(item.get<std::int64_t>());
    }
    return numbers;
}

Listed read_entry(std::string_view file, const std::string& name, const nlohmann::json& entry) {
    Listed listed;
    listed.tensor.name = name;
    if (!entry.is_object()) malformed(file, fmt::format("{} is no tensor", shown(name)));
    const auto type = entry.find("dtype");
    if (type == entry.end() || !type->is_string())
        malformed(file, fmt::format("tensor {} has no \"dtype\"", shown(name)));
    listed.type = type->get<std::string>();
    listed.tensor.shape = integers(file, name, entry, "shape");
    const auto offsets = integers(file, name, entry, "data_offsets");
    if (offsets.size() != 2 || offsets[0] > offsets[1])
        malformed(file, fmt::format("\"data_offsets\" of tensor {} are not a begin and an end",
                                    shown(name)));
    listed.begin = static_cast<std::uint64_t>(offsets[0]);
    listed.end = static_cast<std::uint64_t>(offsets[1]);
    return listed;
}

/// nullopt: it does not begin as safetensors.
std::optional<std::uint64_t> header_bytes(const UntrustedFile& file) {
    std::array<std::byte, length_bytes + 1> head;
    if (file.size() < head.size()) return std::nullopt;
    file.read(0, head);
    const auto length = little_endian<std::uint64_t>(head.data());
    if (head.back() != std::byte{'{'} || length > file.size() - length_bytes) return std::nullopt;
    return length;
}

// The format leaves no byte without an owner, so tensors in order of their place must touch.
void check_gapless(std::string_view file, const std::vector<Listed>& listed, std::uint64_t size) {
    std::uint64_t end = 0;
    for (const Listed& entry : listed) {
        if (entry.begin != end)
            malformed(file, fmt::format("tensor {} begins at byte {} of the data, where {} was "
                                        "expected: tensors {}",
                                        shown(entry.tensor.name), entry.begin, end,
                                        entry.begin < end ? "overlap" : "leave a gap"));
        end = entry.end;
    }
    if (end > size)
        malformed(file, fmt::format("its tensors need {} bytes, it holds {}; it is cut off or "
                                    "damaged",
                                    end, size));
    if (end < size) malformed(file, fmt::format("{} bytes behind the last tensor", size - end));
}

}  // namespace

bool begins_as_safetensors(const UntrustedFile& file) { return header_bytes(file).has_value(); }

SafetensorsContent parse_safetensors(const UntrustedFile& opened) {
    const std::string& file = opened.name();
    const auto length = header_bytes(opened);
    if (!length) malformed(file, "not a safetensors file, or one cut off inside its header");
    if (*length > most_json_bytes)
        malformed(file, fmt::format("its header has {} bytes; the format allows {}", *length,
                                    most_json_bytes));
    std::string text(*length, '\0');
    opened.read(length_bytes, std::as_writable_bytes(std::span(text)));
    const nlohmann::json header = strict_json(fmt::format("{}: its header", file), text);
    if (!header.is_object()) malformed(file, "its header is no JSON object");
    const std::uint64_t data = length_bytes + *length;

    SafetensorsContent content;
    std::vector<Listed> listed;
    for (const auto& [name, entry] : header.items()) {
        if (name == "__metadata__")
            content.metadata = entry;
        else
            listed.push_back(read_entry(file, name, entry));
    }
    std::sort(listed.begin(), listed.end(), [](const Listed& a, const Listed& b) {
        return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    check_gapless(file, listed, opened.size() - data);

    for (Listed& entry : listed) {
        TensorEntry& tensor = entry.tensor;
        const std::uint64_t size = entry.end - entry.begin;
        const auto type = float_type(entry.type);
        const auto left_out = count_or_flag_bytes(entry.type);
        if (!type && !left_out)
            malformed(file, fmt::format("tensor {} has the type {}; F32, F16 and BF16 are read",
                                        shown(tensor.name), shown(entry.type)));
        tensor.type = type.value_or(tensor.type);
        // Elements are at most two per byte of the file: the product cannot overflow.
        const std::uint64_t expected =
            type ? checked_bytes(file, tensor, opened.size())
                 : static_cast<std::uint64_t>(checked_elements(file, tensor, opened.size())) *
                       *left_out;
        if (size != expected)
            malformed(file,
                      fmt::format("tensor {} has {} bytes, its shape [{}] and type {} need {}",
                                  shown(tensor.name), size, fmt::join(tensor.shape, ", "),
                                  entry.type, expected));
        if (!type) {
            content.left_out.emplace(tensor.name, entry.type);
            continue;
        }
        tensor.file = &opened;
        tensor.offset = data + entry.begin;
        tensor.bytes = size;
        content.tensors.push_back(std::move(tensor));
    }
    return content;
}

namespace {

namespace fs = std::filesystem;

constexpr const char* index_name = "model.safetensors.index.json";
constexpr const char* generation_config = "generation_config";

nlohmann::json json_file(const fs::path& path) {
    const UntrustedFile file(path);
    return strict_json(file.name(), file.text(most_json_bytes));
}

// The index comes from elsewhere and must not lead out of its folder.
bool is_plain_file_name(const std::string& name) {
    return !name.empty() && name != "." && name != ".." &&
           name.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos;
}

/// "config" … with the JSON files of those names, those that are there.
std::map<std::string, fs::path> companions_in(const fs::path& folder) {
    std::map<std::string, fs::path> companions;
    for (const char* const name : {"config", generation_config, "tokenizer", "tokenizer_config"}) {
        const fs::path path = folder / fmt::format("{}.json", name);
        std::error_code ignored;
        if (fs::exists(path, ignored)) companions.emplace(name, path);
    }
    return companions;
}

}  // namespace

SafetensorsParts parts_of_index(const fs::path& index) {
    const nlohmann::json content = json_file(index);
    const std::string file = index.string();
    const auto map = content.is_object() ? content.find("weight_map") : content.end();
    if (map == content.end() || !map->is_object() || map->empty())
        malformed(file, "not an index of safetensors files: it has no \"weight_map\"");
    SafetensorsParts parts;
    std::set<fs::path> files;
    for (const auto& [tensor, part] : map->items()) {
        if (!part.is_string() || !is_plain_file_name(part.get_ref<const std::string&>()))
            malformed(file, fmt::format("the part of tensor {} is no file name", shown(tensor)));
        const fs::path path = index.parent_path() / part.get<std::string>();
        files.insert(path);
        parts.expected.emplace(tensor, path);
    }
    parts.files.assign(files.begin(), files.end());
    return parts;
}

SafetensorsParts safetensors_parts(const fs::path& folder) {
    std::error_code ignored;
    if (const fs::path single = folder / "model.safetensors"; fs::exists(single, ignored))
        return {{single}, {}};
    if (const fs::path index = folder / index_name; fs::exists(index, ignored))
        return parts_of_index(index);
    malformed(folder.string(),
              "a folder without model.safetensors or model.safetensors.index.json; name a .gguf or "
              ".safetensors file, or a folder with one of these");
}

nlohmann::json companion_files(const fs::path& folder) {
    nlohmann::json companions = nlohmann::json::object();
    for (const auto& [name, path] : companions_in(folder)) companions[name] = json_file(path);
    return companions;
}

std::vector<fs::path> files_of_model(const fs::path& path) {
    std::error_code ignored;
    const bool folder = fs::is_directory(path, ignored);
    std::vector<fs::path> files{path};
    if (folder) {
        files = safetensors_parts(path).files;
        if (const fs::path index = path / index_name; fs::exists(index, ignored))
            files.push_back(index);
    } else if (path.extension() == ".json") {
        const SafetensorsParts parts = parts_of_index(path);
        files.insert(files.end(), parts.files.begin(), parts.files.end());
    } else if (begins_as_gguf(UntrustedFile(path))) {
        return files;
    }
    for (const auto& [name, companion] : companions_in(folder ? path : path.parent_path()))
        if (name != generation_config) files.push_back(companion);
    return files;
}

}  // namespace assay::nn
