// Ranks as threads, for tests of the training without processes.
#pragma once

#include <ATen/Parallel.h>

#include <thread>
#include <vector>

#include "suite/cluster/collectives/in_process.hpp"

namespace assay::lazarus {

/// Runs `body(rank, communicator)` on one thread per rank.
template <class Body>
void on_ranks(int ranks, Body body) {
    auto group = cluster::make_in_process_group(ranks);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
        threads.emplace_back([&, rank] {
            at::set_num_threads(1);
            body(rank, *group[static_cast<std::size_t>(rank)]);
        });
    }
    for (auto& thread : threads) thread.join();
}

}  // namespace assay::lazarus
