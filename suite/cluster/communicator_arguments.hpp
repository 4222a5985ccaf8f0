// Checks of arguments that every back end makes. All throw std::invalid_argument: a wrong argument
// is a mistake in the calling program and leaves the communicator usable.
#pragma once

#include <cstdint>
#include <span>

namespace assay::cluster {

/// Sum of `counts`, which must have `size` entries, none negative. `what` names them in the error.
std::int64_t checked_total(std::span<const std::int64_t> counts, int size, const char* what);

/// `peer` must be a member other than `rank`.
void check_peer(int peer, int rank, int size, const char* operation);

void check_root(int root, int size);

/// New rank of old rank `rank`: its place in `survivors` (ascending old ranks of a group of
/// `size`).
int rank_among(std::span<const int> survivors, int rank, int size);

}  // namespace assay::cluster
