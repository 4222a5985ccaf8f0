#include "impls/foundry/method/memory/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "suite/base/error.hpp"

namespace assay::foundry {
namespace {

/// What the steps outside of windows do to the region.
class Placer {
  public:
    Placer(const Trace& trace, const RegionSettings& settings) : trace_(trace), region_(settings) {}

    PlacedId place(const TraceEvent& event) {
        PlacedId placed{.id = event.name, .line = event.line, .after_boundary = past_boundary_};
        placed.reserved = event.step == Step::reserve;
        with_place(event, [&] {
            placed.address = placed.reserved ? region_.reserve(event.bytes, event.alignment)
                                             : region_.allocate(event.bytes);
        });
        placed.bytes = rounded_bytes(event.bytes);
        return placed;
    }

    void pass_boundary(const TraceEvent& event) {
        with_place(event, [&] { region_.pass_boundary(); });
        past_boundary_ = true;
    }

    bool past_boundary() const { return past_boundary_; }
    Region& region() { return region_; }

  private:
    template <class Action>
    void with_place(const TraceEvent& event, const Action& action) const {
        try {
            action();
        } catch (const RegionRefusal& refusal) {
            throw UserError(fmt::format("{}:{}: {}", trace_.file, event.line, refusal.what()));
        }
    }

    const Trace& trace_;
    Region region_;
    bool past_boundary_ = false;
};

/// The cursor never moves back, so that addresses rise in the order of the trace.
std::vector<Range> live_ranges(const std::vector<PlacedId>& ids) {
    std::vector<Range> live;
    for (const PlacedId& placed : ids) {
        if (placed.reserved || placed.freed) continue;
        const Range range = placed.range();
        if (!live.empty() && live.back().hi == range.lo)
            live.back().hi = range.hi;
        else
            live.push_back(range);
    }
    return live;
}

}  // namespace

SavedMemory replay_save(const Trace& save, const RegionSettings& settings) {
    Placer placer(save, settings);
    SavedMemory memory{.settings = settings};
    std::unordered_map<std::string_view, std::size_t> index_of;
    std::uint64_t allocated = 0;
    bool in_window = false;
    for (std::size_t i = 0; i < save.events.size(); ++i) {
        const TraceEvent& event = save.events[i];
        switch (event.step) {
            case Step::alloc:
            case Step::reserve: {
                index_of.emplace(event.name, memory.ids.size());
                PlacedId& placed = memory.ids.emplace_back(placer.place(event));
                placed.in_window = in_window;
                if (!placed.reserved) allocated += placed.bytes;
                memory.peak_bytes = std::max(memory.peak_bytes, allocated);
                break;
            }
            case Step::free: {
                PlacedId& placed = memory.ids[index_of.at(event.name)];
                placed.freed = true;
                allocated -= placed.bytes;
                break;
            }
            case Step::boundary:
                placer.pass_boundary(event);
                break;
            case Step::begin:
                in_window = true;
                memory.windows.push_back({.graph = event.name,
                                          .line = event.line,
                                          .after_boundary = placer.past_boundary(),
                                          .start = placer.region().position(),
                                          .first_event = i + 1});
                break;
            case Step::end:
                in_window = false;
                memory.windows.back().end = placer.region().position();
                memory.windows.back().last_event = i;
                break;
            case Step::load:
                throw std::logic_error("a trace of LOAD is no saved run");
        }
    }
    memory.final = placer.region().cursor();
    memory.live = live_ranges(memory.ids);
    return memory;
}

namespace {

class LoadReplay {
  public:
    LoadReplay(const Trace& load, const SavedMemory& saved)
        : load_(load), saved_(saved), placer_(load, saved.settings) {
        for (const PlacedId& placed : saved.ids) saved_ids_.emplace(placed.id, &placed);
        for (const Window& window : saved.windows) saved_windows_.emplace(window.graph, &window);
    }

    LoadVerdict judge() {
        for (const TraceEvent& event : load_.events)
            if (!take(event)) {
                verdict_.cursor_equal = false;
                return verdict_;
            }
        const std::uint64_t final = placer_.region().cursor();
        verdict_.cursor_equal = final == saved_.final;
        if (verdict_.verdict == Verdict::equal) look_for_missing();
        if (verdict_.verdict == Verdict::equal && !verdict_.cursor_equal) {
            verdict_.verdict = Verdict::drift;
            verdict_.saved.lo = saved_.final;
            verdict_.loaded.lo = final;
        }
        return verdict_;
    }

  private:
    /// False: LOAD ends here.
    bool take(const TraceEvent& event) {
        switch (event.step) {
            case Step::alloc:
            case Step::reserve:
                compare(placer_.place(event));
                return true;
            case Step::boundary:
                placer_.pass_boundary(event);
                return true;
            case Step::load:
                return load_window(event);
            default:
                return true;  // what is freed gives no address back
        }
    }

    void compare(const PlacedId& loaded) {
        names_.insert(loaded.id);
        const auto found = saved_ids_.find(loaded.id);
        if (found == saved_ids_.end() || verdict_.verdict != Verdict::equal) return;
        const PlacedId& saved = *found->second;
        if (!saved.after_boundary || !loaded.after_boundary || saved.range() == loaded.range())
            return;
        verdict_.verdict = Verdict::differs;
        verdict_.line = loaded.line;
        verdict_.name = loaded.id;
        verdict_.saved = saved.range();
        verdict_.loaded = loaded.range();
    }

    bool load_window(const TraceEvent& event) {
        const Window& window = *saved_windows_.at(event.name);
        const std::uint64_t cursor = placer_.region().cursor();
        if (cursor <= window.start.cursor) {
            placer_.region().move_to(window.end);
            windows_.insert(event.name);
            return true;
        }
        if (verdict_.verdict == Verdict::equal) {
            verdict_.verdict = Verdict::overrun;
            verdict_.line = event.line;
            verdict_.name = event.name;
            verdict_.saved.lo = window.start.cursor;
            verdict_.loaded.lo = cursor;
        }
        return false;
    }

    /// The first line of SAVE after the boundary that graphs may depend on and LOAD has nowhere.
    void look_for_missing() {
        const auto miss = [&](std::size_t line, const std::string& name, bool is_window) {
            if (verdict_.line && *verdict_.line < line) return;
            verdict_.verdict = Verdict::missing;
            verdict_.line = line;
            verdict_.name = name;
            verdict_.is_window = is_window;
        };
        for (const Window& window : saved_.windows)
            if (window.after_boundary && !windows_.contains(window.graph))
                miss(window.line, window.graph, true);
        for (const PlacedId& placed : saved_.ids)
            if (placed.after_boundary && !placed.in_window && !placed.freed &&
                !names_.contains(placed.id))
                miss(placed.line, placed.id, false);
    }

    const Trace& load_;
    const SavedMemory& saved_;
    Placer placer_;
    std::unordered_map<std::string_view, const PlacedId*> saved_ids_;
    std::unordered_map<std::string_view, const Window*> saved_windows_;
    std::unordered_set<std::string> names_;    ///< that LOAD places itself
    std::unordered_set<std::string> windows_;  ///< that it loaded
    LoadVerdict verdict_;
};

}  // namespace

LoadVerdict replay_load(const Trace& load, const SavedMemory& saved) {
    return LoadReplay(load, saved).judge();
}

}  // namespace assay::foundry
