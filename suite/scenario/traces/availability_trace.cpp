// Finding a trace (a file by its ending, a shipped or fetched one by its id), its moments, a part
// of it, and what it looks like in numbers.
#include "suite/scenario/traces/availability_trace.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

#include "suite/base/datasets.hpp"
#include "suite/base/error.hpp"
#include "suite/data/catalog.hpp"

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
        if (entry.format != "node_trace") continue;
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

std::vector<TraceMoment> moments(const AvailabilityTrace& trace) {
    std::vector<TraceMoment> found{{}};
    std::unordered_set<std::string> alive;
    for (const TraceEvent& event : trace.events) {
        if (!(event.t_s >= found.back().t_s))
            throw UserError("trace '" + trace.id + "': its events are not in the order of time");
        if (event.t_s > found.back().t_s) found.push_back({event.t_s, {}, {}});
        TraceMoment& moment = found.back();
        if (event.add ? !alive.insert(event.node).second : alive.erase(event.node) == 0)
            throw UserError(
                "trace '" + trace.id + "': node '" + event.node + "' " +
                (event.add ? "is added while it is there" : "is removed while it is not there"));
        if (event.add) {
            moment.added.push_back(event.node);
            continue;
        }
        const auto arrival = std::find(moment.added.begin(), moment.added.end(), event.node);
        if (arrival == moment.added.end())
            moment.lost.push_back(event.node);
        else
            moment.added.erase(arrival);
    }
    return found;
}

AvailabilityTrace segment(const AvailabilityTrace& trace, double from_s, double to_s) {
    if (!(from_s >= 0 && from_s < to_s && to_s <= trace.duration_s))
        throw UserError(fmt::format(
            "trace '{}': no part from {} s to {} s; give 0 <= from < to <= {} s ({:.1f} min)",
            trace.id, from_s, to_s, trace.duration_s, trace.duration_s / 60));
    AvailabilityTrace part;
    part.id = fmt::format("{}@{:g}-{:g}min", trace.id, from_s / 60, to_s / 60);
    part.says = fmt::format("minutes {:g} to {:g} of: {}", from_s / 60, to_s / 60, trace.says);
    part.duration_s = to_s - from_s;

    std::map<std::size_t, std::string> there;  // by arrival: the order in which they are added at 0
    std::unordered_map<std::string, std::size_t> arrival;
    std::size_t next = 0;
    for (; next < trace.events.size() && trace.events[next].t_s <= from_s; ++next) {
        const TraceEvent& event = trace.events[next];
        if (event.add) {
            arrival[event.node] = next;
            there[next] = event.node;
        } else {
            there.erase(arrival[event.node]);
        }
    }
    for (const auto& [order, node] : there) part.events.push_back({0, true, node});
    for (; next < trace.events.size() && trace.events[next].t_s <= to_s; ++next) {
        part.events.push_back(trace.events[next]);
        part.events.back().t_s -= from_s;
    }
    return part;
}

TraceStatistics trace_statistics(const AvailabilityTrace& trace) {
    const std::vector<TraceMoment> all = moments(trace);
    TraceStatistics found;
    int alive = found.initial = found.most = found.fewest =
        static_cast<int>(all.front().added.size());
    double node_seconds = 0, since_s = 0, first_loss_s = 0, last_loss_s = 0;
    int loss_moments = 0;
    for (std::size_t i = 1; i < all.size(); ++i) {
        const TraceMoment& moment = all[i];
        node_seconds += alive * (moment.t_s - since_s);
        since_s = moment.t_s;
        const int lost = static_cast<int>(moment.lost.size());
        const int added = static_cast<int>(moment.added.size());
        if (lost > 0) {
            if (loss_moments++ == 0) first_loss_s = moment.t_s;
            last_loss_s = moment.t_s;
            found.largest_loss_share =
                std::max(found.largest_loss_share, static_cast<double>(lost) / alive);
        }
        if (lost > found.largest_loss) {
            found.largest_loss = lost;
            found.largest_loss_at_s = moment.t_s;
        }
        found.losses += lost;
        found.additions += added;
        alive += added - lost;
        found.most = std::max(found.most, alive);
        found.fewest = std::min(found.fewest, alive);
    }
    const double end_s = std::max(trace.duration_s, since_s);
    node_seconds += alive * (end_s - since_s);
    found.mean = end_s > 0 ? node_seconds / end_s : found.initial;
    if (loss_moments > 1)
        found.mean_between_losses_s = (last_loss_s - first_loss_s) / (loss_moments - 1);
    return found;
}

}  // namespace assay
