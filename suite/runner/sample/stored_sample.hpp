// One sample from its beginning in the store to its end there, what every session is made of; or
// outside any store.
#pragma once

#include <functional>
#include <string>

#include "suite/runner/interruption.hpp"
#include "suite/runner/runner.hpp"
#include "suite/runner/sample/hardware_watch.hpp"
#include "suite/runner/sample/sample_process.hpp"
#include "suite/runner/sample/turn.hpp"

namespace assay::runner {

/// Who looks at the machine meanwhile.
struct Watched {
    HardwareWatch* watch = nullptr;  ///< null: nobody
    bool on_gpus = false;            ///< the sample computes on them
};

/// Outside any store: a fresh scratch folder, a fresh process; returns the sample with everything
/// it recorded that can be stored, its status and reason; what cannot be stored (a metric recorded
/// twice) makes it failed. `id` goes into the sample and its notices; `tell` gets notices of kind
/// event and progress as they come. The watch adds its readings and may mark the sample.
store::Sample collect_sample(SampleSpec spec, const std::string& id,
                             const std::function<void(std::string kind, nlohmann::json body)>& tell,
                             const Interruption& interruption, const SampleProgram& program = {},
                             const Watched& watched = {});

/// Numbers that depend on the machine: they need it alone, and carry its fingerprint.
bool depends_on_machine(Provenance provenance);
/// Of any sample of the plan.
bool depends_on_machine(const Plan&);

/// A finished sample will not get better by being run again in the same session; an interrupted one
/// has not been run.
bool is_finished(const std::string& status);

/// Where samples go.
struct SampleHome {
    store::Store& store;
    std::string session;
    std::string fingerprint;         ///< of this machine
    HardwareWatch* watch = nullptr;  ///< of samples that depend on the machine; null: none
    Turn* turn = nullptr;            ///< of samples side by side (run_sample_process())
};

struct StoredSample {
    store::Sample sample;  ///< of its rows the metrics; the rest is in the store
    nlohmann::json body;   ///< of the notice sample_finished, see Notice
};

/// Runs `planned` in a fresh process of `program` and stores what it records, while it runs
/// (LiveRows) and at its end. `tell` gets the
/// notices sample_started, event and progress as they come. A sample whose input files are not
/// those of the plan is invalid: before it begins, by content, and it is not run; afterwards, if
/// anything was written to them meanwhile.
StoredSample run_stored_sample(
    const PlannedSample& planned, const SampleHome& home, const SampleProgram& program,
    const std::function<void(std::string kind, nlohmann::json body)>& tell,
    const Interruption& interruption);

}  // namespace assay::runner
