// The part of lazarus/tab2 that needs libtorch and Gloo: one reconfiguration of paced workers.
#pragma once

#include <filesystem>
#include <string>

#include "suite/experiment/experiment.hpp"

namespace assay::lazarus {

/// Kills `lost` of ten paced workers at once, after they have planned for the loads of `step`.
void run_tab2(const SampleSpec& spec, int lost, std::int64_t step, const std::string& routing,
              const std::filesystem::path& corpus, Recorder& recorder);

}  // namespace assay::lazarus
