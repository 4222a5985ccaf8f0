#include "suite/data/catalog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "suite/experiment/datasets.hpp"
#include "suite/experiment/nearest_id.hpp"

namespace assay::data {

namespace {

std::vector<Entry> read_catalog() {
    const auto file = datasets_dir() / "catalog.toml";
    std::ifstream in(file, std::ios::binary);
    if (!in) throw DataError(fmt::format("{} cannot be read", file.string()));
    const std::string text(std::istreambuf_iterator<char>(in), {});
    return parse_catalog(text, file.string());
}

}  // namespace

std::string_view to_string(Kind kind) {
    switch (kind) {
        case Kind::corpus:
            return "corpus";
        case Kind::trace:
            return "trace";
        case Kind::model:
            return "model";
    }
    return "?";
}

std::string_view to_string(Format format) {
    switch (format) {
        case Format::text:
            return "text";
        case Format::expert_loads:
            return "expert_loads";
        case Format::node_trace:
            return "node_trace";
        case Format::gguf:
            return "gguf";
    }
    return "?";
}

std::string fetch_command(const Entry& entry) {
    if (entry.debian) return "assay data fetch " + entry.id;
    return fmt::format("assay data fetch {} --from {}", entry.id,
                       entry.smartmoe_logs ? "FOLDER" : "FILE");
}

const std::vector<Entry>& catalog() {
    static const std::vector<Entry> entries = read_catalog();
    return entries;
}

const Entry& find(std::string_view id) {
    const auto& entries = catalog();
    const auto found = std::find_if(entries.begin(), entries.end(),
                                    [&](const Entry& entry) { return entry.id == id; });
    if (found != entries.end()) return *found;
    std::vector<std::string> ids;
    for (const Entry& entry : entries) ids.push_back(entry.id);
    const auto nearest = nearest_id(id, ids);
    throw DataError(fmt::format("no data set is called \"{}\"{} (`assay data list` shows all)", id,
                                nearest ? fmt::format(", did you mean \"{}\"?", *nearest) : ""));
}

}  // namespace assay::data
