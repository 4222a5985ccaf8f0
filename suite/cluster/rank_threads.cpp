#include "suite/cluster/rank_threads.hpp"

#include <exception>
#include <thread>
#include <vector>

#include "suite/cluster/collectives/communicator.hpp"

namespace assay::cluster {
namespace {

void throw_cause(const std::vector<std::exception_ptr>& failures) {
    std::exception_ptr broken;
    for (const auto& failure : failures) {
        if (!failure) continue;
        try {
            std::rethrow_exception(failure);
        } catch (const CommunicatorBroken&) {
            broken = failure;
        }
    }
    if (broken) std::rethrow_exception(broken);
}

}  // namespace

void run_rank_threads(int ranks, const std::function<void(int)>& body,
                      const std::function<void()>& give_up) {
    std::vector<std::exception_ptr> failures(static_cast<std::size_t>(ranks));
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&, rank] {
            try {
                body(rank);
            } catch (...) {
                failures[static_cast<std::size_t>(rank)] = std::current_exception();
                give_up();
            }
        });
    for (auto& thread : threads) thread.join();
    throw_cause(failures);
}

}  // namespace assay::cluster
