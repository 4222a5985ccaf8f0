// The suite's own experiment, `assay run assay/control`: a fixed amount of work of three kinds. How
// long it takes says how fast this machine is today, whatever is measured beside it.
#pragma once

#include <cstdint>

#include "suite/experiment/system.hpp"

namespace assay::reference_workload {

/// The system "assay". It reproduces nothing, so that only its own name selects it.
System make_system();

/// What a piece of work took, and what it came to: the same for the same work, so that nothing of
/// it can be optimised away.
struct TimedWork {
    double seconds = 0;
    std::uint64_t checksum = 0;
};

// The work. All throw std::system_error when the machine refuses what is asked for.

/// One thread: a chain of dependent integer operations and small fp32 matrix products.
TimedWork arithmetic();

/// `threads` threads together read a quarter of a GiB, far more than most caches hold, in several
/// passes; the seconds of the fastest.
TimedWork memory(int threads);

/// Starts and reaps child processes, then sends a byte to and fro between two processes over
/// pipes. Before any thread exists.
TimedWork processes();

}  // namespace assay::reference_workload
