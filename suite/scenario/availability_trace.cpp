// Finds a trace: a file by its ending, a shipped or fetched one by its id.
#include "suite/scenario/availability_trace.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "suite/data/catalog.hpp"
#include "suite/experiment/datasets.hpp"
#include "suite/experiment/nearest_id.hpp"

namespace assay {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view endings[] = {".csv", ".json", ".toml"};

bool is_file_name(const std::string& text) {
    return std::find(std::begin(endings), std::end(endings), fs::path(text).extension()) !=
               std::end(endings) ||
           text.find('/') != std::string::npos;
}

std::string contents(const fs::path& file) {
    std::error_code ignored;
    if (fs::is_directory(file, ignored))
        throw TraceError(file.string() + ": a folder; give a trace file");
    std::ifstream in(file, std::ios::binary);
    if (!in) throw TraceError(file.string() + ": " + std::strerror(errno));
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

AvailabilityTrace read(const fs::path& file) {
    const std::string ending = file.extension().string(), name = file.string();
    if (ending == ".csv") return read_bamboo_csv(contents(file), name);
    if (ending == ".json") return read_skypilot_json(contents(file), name);
    if (ending == ".toml") return read_trace_toml(contents(file), name);
    throw TraceError(name + ": a trace ends in .csv (Bamboo), .json (SkyPilot) or .toml (ours)");
}

std::vector<std::string> shipped() {
    std::vector<std::string> ids;
    std::error_code ignored;  // no folder: none are shipped
    for (const auto& entry : fs::directory_iterator(datasets_dir() / "traces", ignored))
        if (entry.path().extension() == ".toml") ids.push_back(entry.path().stem().string());
    std::sort(ids.begin(), ids.end());
    return ids;
}

}  // namespace

AvailabilityTrace availability_trace(const std::string& id_or_file) {
    if (is_file_name(id_or_file)) return read(id_or_file);
    std::vector<std::string> ids = shipped();
    if (std::find(ids.begin(), ids.end(), id_or_file) != ids.end())
        return read(datasets_dir() / "traces" / (id_or_file + ".toml"));
    for (const data::Entry& entry : data::catalog()) {
        if (entry.format != data::Format::node_trace) continue;
        if (entry.id == id_or_file) {
            if (const auto file = data::locate(entry.id)) return read(*file);
            throw UserError(
                fmt::format("trace '{}' is not here: {}, then `assay data fetch {} "
                            "--from FILE`",
                            entry.id, entry.obtain, entry.id));
        }
        ids.push_back(entry.id);
    }
    const auto nearest = nearest_id(id_or_file, ids);
    throw UserError(
        fmt::format("no trace '{}'; {}known: {}, or a file that ends in .csv, .json or "
                    ".toml",
                    id_or_file, nearest ? fmt::format("did you mean '{}'? ", *nearest) : "",
                    fmt::join(ids, ", ")));
}

}  // namespace assay
