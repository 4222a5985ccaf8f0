// Traces of memory: what one run allocated, in its order, a step a line.
//
//     alloc ID BYTES           free ID            reserve ID BYTES ALIGN
//     boundary                 once: start-up is over, from here on runs must agree
//     begin GRAPH … end        SAVE: what capturing this graph allocates, its window
//     load GRAPH               LOAD: that graph's window of SAVE is replayed
//
// A # begins a comment, where a word begins. IDs and graphs are words without blanks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "suite/base/describe.hpp"

namespace assay::foundry {

enum class Step : std::uint8_t { alloc, free, reserve, boundary, begin, end, load };
ASSAY_NAMES(Step, alloc, free, reserve, boundary, begin, end, load)

struct TraceEvent {
    Step step = Step::boundary;
    std::string name{};           ///< ID or graph; empty: boundary, end
    std::uint64_t bytes = 0;      ///< of an alloc or reserve, not rounded; > 0
    std::uint64_t alignment = 0;  ///< of a reserve, a power of two
    std::size_t line = 0;         ///< in its file, from 1
};

struct Trace {
    std::string file;  ///< what errors call it
    std::vector<TraceEvent> events;
};

/// Both throw UserError, "FILE:LINE: …", for a line that is no step, no boundary or a second one,
/// an ID or graph that stands twice, a window left open, freeing what is not allocated.
Trace read_save_trace(std::istream& in, const std::string& name);
/// Its loaded windows are those of `save`: what they allocate can be freed here, too.
Trace read_load_trace(std::istream& in, const std::string& name, const Trace& save);

}  // namespace assay::foundry
