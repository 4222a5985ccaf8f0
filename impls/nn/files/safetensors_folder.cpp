#include "impls/nn/files/safetensors_folder.hpp"

#include <fmt/format.h>

#include <set>
#include <span>

#include "impls/nn/files/gguf_file.hpp"
#include "impls/nn/files/malformed.hpp"
#include "impls/nn/files/mapping.hpp"
#include "impls/nn/files/strict_json.hpp"

namespace assay::nn {
namespace {

namespace fs = std::filesystem;

constexpr const char* index_name = "model.safetensors.index.json";

nlohmann::json json_file(const fs::path& path) {
    const Mapping mapping(path);
    const auto bytes = mapping.bytes();
    return strict_json(path.string(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

// The index comes from elsewhere and must not lead out of its folder.
bool is_plain_file_name(const std::string& name) {
    return !name.empty() && name != "." && name != ".." &&
           name.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos;
}

/// "config" … with the JSON files of those names, those that are there.
std::map<std::string, fs::path> companions_in(const fs::path& folder) {
    std::map<std::string, fs::path> companions;
    for (const char* const name : {"config", "tokenizer", "tokenizer_config"}) {
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
    } else if (begins_as_gguf(Mapping(path).bytes())) {
        return files;
    }
    for (const auto& [name, companion] : companions_in(folder ? path : path.parent_path()))
        files.push_back(companion);
    return files;
}

}  // namespace assay::nn
