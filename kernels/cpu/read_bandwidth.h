/* The ceiling that memory sets for kernels that read weights once. */
#pragma once

namespace assay::kernels {

/// Bytes per second that `threads` threads (0: all allowed cores) read from `megabytes` (10^6
/// bytes) of memory, in order, with this processor's widest vectors: the median of nine passes
/// after one that warms up. Take several times the last cache. The memory is backed by large pages
/// where the machine gives them on request. Throws std::bad_alloc.
double measured_read_bandwidth(int threads, int megabytes = 512);

}  // namespace assay::kernels
