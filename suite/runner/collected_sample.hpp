// Gathers what one sample's process says into a row for the store, and tells the listener.
#pragma once

#include <functional>

#include "suite/runner/hardware_watch.hpp"
#include "suite/runner/runner.hpp"
#include "suite/runner/sample_process.hpp"

namespace assay::runner {

/// Who looks at the machine meanwhile.
struct Watched {
    HardwareWatch* watch = nullptr;  ///< null: nobody
    bool on_gpus = false;            ///< the sample computes on them
};

/// A fresh scratch folder, a fresh process; returns the sample with everything it recorded that can
/// be stored, its status and reason; what cannot be stored (a metric recorded twice) makes it
/// failed. `id` goes into the sample and its notices; `tell` gets notices of kind event and
/// progress as they come. The watch adds its readings and may mark the sample.
store::Sample collect_sample(SampleSpec spec, const std::string& id,
                             const std::function<void(std::string kind, nlohmann::json body)>& tell,
                             const Interruption& interruption, const SampleProgram& program = {},
                             const Watched& watched = {});

}  // namespace assay::runner
