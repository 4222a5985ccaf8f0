// Ranks as threads of one process.
#pragma once

#include <functional>

namespace assay::cluster {

/// Runs body(0) … body(ranks - 1), each on a thread, and waits for all. As soon as one throws,
/// `give_up` is called, which breaks whatever the others wait in. Then throws what one of them
/// threw: rather what broke their communicators than that they are broken.
void run_rank_threads(int ranks, const std::function<void(int rank)>& body,
                      const std::function<void()>& give_up);

}  // namespace assay::cluster
