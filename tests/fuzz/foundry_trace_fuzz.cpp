// Traces of memory: any text is placed inside its region, or refused with its file and line. What
// SAVE placed, a LOAD that loads SAVE's windows instead of capturing has again. A form feed parts a
// trace of SAVE from one of LOAD.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>

#include "impls/foundry/method/memory/replay.hpp"
#include "suite/base/error.hpp"

namespace {

using namespace assay::foundry;

void require(bool fact) {
    if (!fact) std::abort();
}

void check(const SavedMemory& memory) {
    const Range region = memory.settings.range();
    require(region.lo <= memory.final && memory.final <= region.hi);
    std::uint64_t below = region.lo, live_bytes = 0;
    bool first = true;
    for (const Range& range : memory.live) {
        require(range.lo < range.hi && (first ? below <= range.lo : below < range.lo));
        below = range.hi;
        live_bytes += range.hi - range.lo;
        first = false;
    }
    require(below <= memory.final && live_bytes <= memory.peak_bytes);
}

/// The same run, its windows loaded.
std::string load_of(const Trace& save) {
    std::ostringstream text;
    bool in_window = false;
    for (const TraceEvent& event : save.events) {
        if (event.step == Step::begin) text << "load " << event.name << '\n';
        in_window = (in_window || event.step == Step::begin) && event.step != Step::end;
        if (in_window || event.step == Step::end) continue;
        text << to_string(event.step) << ' ' << event.name;
        if (event.bytes > 0) text << ' ' << event.bytes;
        if (event.alignment > 0) text << ' ' << event.alignment;
        text << '\n';
    }
    return text.str();
}

LoadVerdict verdict_of(const std::string& text, const Trace& save, const SavedMemory& memory) {
    std::istringstream in(text);
    return replay_load(read_load_trace(in, "load", save), memory);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::size_t part = std::min(text.find('\f'), size);
    try {
        std::istringstream in{std::string(text.substr(0, part))};
        const Trace save = read_save_trace(in, "save");
        const SavedMemory memory = replay_save(save, {});
        check(memory);
        const LoadVerdict again = verdict_of(load_of(save), save, memory);
        require(again.verdict == Verdict::equal && again.cursor_equal && !again.line);
        if (part == size) return 0;
        const LoadVerdict load = verdict_of(std::string(text.substr(part + 1)), save, memory);
        const bool whole = load.verdict == Verdict::equal || load.verdict == Verdict::drift;
        require(load.line.has_value() != whole);
        require(load.verdict != Verdict::equal || load.cursor_equal);
    } catch (const assay::UserError& error) {
        const std::string_view what(error.what());
        require(what.starts_with("save:") || what.starts_with("load:"));
        require(what.size() > 5 && what[5] >= '1' && what[5] <= '9');
    }
    return 0;
}
