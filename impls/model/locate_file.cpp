#include "impls/model/locate_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace assay::model {
namespace {

std::string known_ids(data::Kind kind) {
    std::string ids;
    for (const data::Entry& entry : data::catalog())
        if (entry.kind == kind) ids += (ids.empty() ? "" : ", ") + entry.id;
    return ids;
}

}  // namespace

std::filesystem::path locate_file(const std::string& name, data::Kind kind) {
    std::error_code ignored;
    if (std::filesystem::exists(name, ignored)) return name;
    const auto& entries = data::catalog();
    const auto entry = std::find_if(entries.begin(), entries.end(),
                                    [&](const data::Entry& each) { return each.id == name; });
    const char* const what = kind == data::Kind::model
                                 ? "a GGUF or safetensors file, a folder of Hugging Face's layout"
                                 : "a text file";
    if (entry == entries.end())
        throw UserError(fmt::format("{}: no such file; give {} or a data set ({})", name, what,
                                    known_ids(kind)));
    if (entry->kind != kind)
        throw UserError(fmt::format("{} is a {}; give {} or one of {}", name,
                                    data::to_string(entry->kind), what, known_ids(kind)));
    if (const auto path = data::locate(name)) return *path;
    throw UserError(fmt::format("{} has not been fetched; run: assay data fetch {}{}", name, name,
                                entry->debian ? "" : " --from FILE"));
}

}  // namespace assay::model
