// A fixed amount of work of three kinds. How long it takes says how fast this machine is today,
// whatever is measured beside it.
#pragma once

#include <cstdint>

namespace assay::control {

/// What a piece of work took, and what it came to: the same for the same work, so that nothing of
/// it can be optimised away.
struct Done {
    double seconds = 0;
    std::uint64_t checksum = 0;
};

// All throw std::system_error when the machine refuses what is asked for.

/// One thread: a chain of dependent integer operations and small fp32 matrix products.
Done arithmetic();

/// `threads` threads together read a quarter of a GiB, far more than most caches hold, in several
/// passes; the seconds of the fastest.
Done memory(int threads);

/// Starts and buries child processes, then sends a byte to and fro between two processes over
/// pipes. Before any thread exists.
Done processes();

}  // namespace assay::control
