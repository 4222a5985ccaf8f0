// Runs one thread per rank of a group and collects what each of them threw.
#pragma once

#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace assay::cluster {

/// Calls body(rank) on `size` threads and waits for all; rethrows the first exception by rank.
inline void run_ranks(int size, const std::function<void(int)>& body) {
    std::vector<std::exception_ptr> failures(size);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size; ++rank) {
        threads.emplace_back([&, rank] {
            try {
                body(rank);
            } catch (...) {
                failures[rank] = std::current_exception();
            }
        });
    }
    for (auto& thread : threads) thread.join();
    for (auto& failure : failures) {
        if (failure) std::rethrow_exception(failure);
    }
}

}  // namespace assay::cluster
