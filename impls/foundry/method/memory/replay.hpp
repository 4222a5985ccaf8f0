// The memory of a saved run, placed without a GPU, and a LOAD run held against it (specification
// 3.2, 3.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "impls/foundry/method/memory/region.hpp"
#include "impls/foundry/method/memory/trace.hpp"

namespace assay::foundry {

struct PlacedId {
    std::string id;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;  ///< whole granules
    std::size_t line = 0;
    bool after_boundary = false;
    bool in_window = false;
    bool reserved = false;  ///< no allocation: never live, not in the peak
    bool freed = false;     ///< by a later line

    Range range() const { return {address, address + bytes}; }
};

/// What capturing a graph allocated.
struct Window {
    std::string graph;
    std::size_t line = 0;
    bool after_boundary = false;
    Region::Position start{}, end{};
    std::size_t first_event = 0, last_event = 0;  ///< of the trace, last_event excluded: its steps
};

struct SavedMemory {
    RegionSettings settings;
    std::vector<PlacedId> ids{};    ///< in the order of the trace
    std::vector<Window> windows{};  ///< in the order of the trace
    std::uint64_t final = 0;        ///< the cursor at the end
    std::vector<Range> live{};      ///< allocations never freed, rising, touching ones merged
    std::uint64_t peak_bytes = 0;   ///< the most that was allocated at once
};

/// Throws UserError, "FILE:LINE: …", where the region is full or the scratch exceeded.
SavedMemory replay_save(const Trace& save, const RegionSettings& settings);

/// What LOAD comes to: from the best to the worst that is looked for first.
enum class Verdict : std::uint8_t { equal, drift, missing, differs, overrun };
ASSAY_NAMES(Verdict, equal, drift, missing, differs, overrun)

struct LoadVerdict {
    Verdict verdict = Verdict::equal;
    std::optional<std::size_t> line;  ///< of LOAD: overrun, differs; of SAVE: missing
    bool cursor_equal = true;         ///< both end at the same cursor
    std::string name;                 ///< the ID or graph
    bool is_window = false;           ///< missing: `name` is a graph
    /// differs: where the ID lies. overrun, in `lo`: the window's start, LOAD's cursor. drift, in
    /// `lo`: the final cursors.
    Range saved, loaded;
};

/// `load` was read beside the trace that `saved` is of. Throws UserError as replay_save() does.
LoadVerdict replay_load(const Trace& load, const SavedMemory& saved);

}  // namespace assay::foundry
