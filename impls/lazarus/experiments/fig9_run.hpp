// The part of lazarus/fig9 that needs libtorch and Gloo.
#pragma once

#include <filesystem>
#include <string>

#include "suite/experiment/experiment.hpp"
#include "suite/scenario/availability_trace.hpp"

namespace assay::lazarus {

/// `spec` names every axis, those too that series leave out. `routing`: "synthetic" or the file of
/// a routing trace.
void run_fig9(const SampleSpec& spec, const MappedTrace& nodes, const std::string& routing,
              const std::filesystem::path& corpus, Recorder& recorder);

}  // namespace assay::lazarus
