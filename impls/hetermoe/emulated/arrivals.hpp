// When each rank came to each exchange, for all of them to see: memory that processes share.
#pragma once

#include <atomic>
#include <cstddef>

#include "impls/hetermoe/policy/tasks.hpp"

namespace assay::hetermoe {

/// Made before the processes are forked, which all use this one object's memory.
class Arrivals {
  public:
    /// `exchanges`: most of one link in a step. Throws std::system_error.
    Arrivals(int ranks, std::size_t exchanges);
    ~Arrivals();
    Arrivals(const Arrivals&) = delete;
    Arrivals& operator=(const Arrivals&) = delete;

    /// Before the rank's part in the link's exchange number `index` of a step; monotonic seconds.
    void arrive(int rank, Queue link, std::size_t index, double now_s);
    /// After it: the latest of all who have come so far. What ranks said in an earlier step is
    /// earlier.
    double latest(Queue link, std::size_t index) const;

  private:
    std::atomic<double>& at(int rank, Queue link, std::size_t index) const;
    int ranks_;
    std::size_t exchanges_;
    std::atomic<double>* seconds_;
};

}  // namespace assay::hetermoe
