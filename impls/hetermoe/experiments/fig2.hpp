// Fig. 2's samples: settings, and who times them.
#pragma once

#include <cstdint>

#include "impls/tensors/part.hpp"
#include "suite/base/describe.hpp"

namespace assay::hetermoe {

/// Which generations the parts stand for.
enum class GpuPair { a40_v100, l40s_t4 };
ASSAY_NAMES(GpuPair, (a40_v100, "a40-v100"), (l40s_t4, "l40s-t4"))
enum class TimedModule { attention, experts };
ASSAY_NAMES(TimedModule, attention, experts)

struct Fig2 {
    GpuPair pair{};
    std::int64_t sequence_k = 4;  ///< thousands (1,024) of tokens
    TimedModule module{};
    std::uint64_t seed = 1;
};

/// modules/module_timing.cpp; where parts_lack() says nothing.
inline const tensors::Part<void(const Fig2&, Recorder&)> time_modules{"hetermoe/fig2"};

}  // namespace assay::hetermoe
