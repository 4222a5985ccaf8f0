// What the module of tensors computes for Lazarus (impls/tensors/module.hpp): trainings across
// processes, for experiments and for the live campaign.
#pragma once

#include <filesystem>
#include <string>

#include "impls/lazarus/campaign/live_schedule.hpp"
#include "impls/tensors/module.hpp"
#include "suite/scenario/availability_trace.hpp"

namespace assay::lazarus {

/// Documented where they are declared: experiments/fig9_run.hpp and its neighbours.
struct TensorFunctions {
    static constexpr const char* symbol = "assay_lazarus_tensors";
    void (*run_fig9)(const SampleSpec&, const MappedTrace& nodes, const std::string& routing,
                     const std::filesystem::path& corpus, Recorder&);
    void (*run_tab2)(const SampleSpec&, int lost, std::int64_t step, const std::string& routing,
                     const std::filesystem::path& corpus, Recorder&);
    void (*run_x_live)(const SampleSpec&, const std::filesystem::path& corpus, Recorder&);
    LiveScheduleResult (*run_live_schedule)(std::uint64_t seed, const std::filesystem::path& corpus,
                                            const std::filesystem::path& scratch);
};

inline const TensorFunctions& tensor_functions() { return tensors::functions<TensorFunctions>(); }

}  // namespace assay::lazarus
