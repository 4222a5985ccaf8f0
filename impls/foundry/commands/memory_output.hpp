// What `assay plan foundry --memory` prints of a trace, of a LOAD beside it, and of the addresses
// in graphs: for programs and for people. And the settings of the region as they are typed.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>

#include "impls/foundry/method/memory/audit.hpp"
#include "impls/foundry/method/memory/replay.hpp"

namespace assay::foundry {

/// --base, --size, --scratch as typed; empty: the default. UserError for what is no number, or no
/// region.
RegionSettings region_settings(const std::string& base, const std::string& size,
                               const std::string& scratch);

/// [[lo,hi]]
nlohmann::ordered_json to_json(std::span<const Range> ranges);

/// {"address":{id:n},"final","live":[[lo,hi]],"peak_bytes","load":null|{"verdict","line",
/// "cursor_equal"}}, IDs in the order of the trace.
nlohmann::ordered_json to_json(const SavedMemory& saved, const std::optional<LoadVerdict>& load);

/// [{"batch","node","offset","range":null|[lo,hi]}]
nlohmann::ordered_json to_json(std::span<const AuditItem> audit);

/// The names that messages call the two traces.
struct TraceNames {
    std::string save, load;
};
/// Tables of at most `columns`.
std::string to_text(const SavedMemory& saved, const std::optional<LoadVerdict>& load,
                    const TraceNames& names, std::size_t columns);
std::string to_text(std::span<const AuditItem> audit, std::size_t columns);

/// One sentence: what LOAD comes to, why that matters, what to do.
std::string sentence(const LoadVerdict& load, const TraceNames& names);

}  // namespace assay::foundry
