// Memory that ranks share: a heap of each, at addresses that are the same in every process
// (specification 3.10). Its kernels are the step's (toy/device/rank_kernels.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "impls/foundry/live/device.hpp"
#include "impls/foundry/live/region_memory.hpp"
#include "suite/base/describe.hpp"

namespace assay::foundry {

/// A process' place among those that decode together.
struct RankPlace {
    int rank = 0, ranks = 1;
    /// A folder of this group of processes, made where it is not there: they meet in it. Empty: no
    /// other one is there.
    std::string sockets;
};
ASSAY_FIELDS(RankPlace, rank, ranks, sockets)

class Communicator {
  public:
    /// Reserves all ranks' heaps from `base` on, of `bytes` each in whole granules, and maps its
    /// own, zeroed. Where the place has a folder it waits for the other ranks there, and maps
    /// theirs; elsewhere it is a stub, whose other heaps are addresses and no memory: kernels can
    /// be captured with it, and not run. Throws BaseTaken, DriverError, UserError where a rank does
    /// not come.
    Communicator(const Device& device, const RankPlace& place, std::uint64_t base,
                 std::uint64_t bytes);
    ~Communicator();  ///< unmaps and releases all of it
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    std::uint64_t base() const { return base_; }
    std::uint64_t stride() const { return stride_; }

  private:
    struct Reserved {};  // and no more: what a constructor that throws has mapped is given back
    Communicator(const Device& device, const RankPlace& place, std::uint64_t base,
                 std::uint64_t bytes, Reserved);
    Range heap(int rank) const;
    void map(int rank, CUmemGenericAllocationHandle handle);
    void meet();

    const Device& device_;
    const Driver& driver_;
    RankPlace place_;
    std::uint64_t base_ = 0, stride_ = 0;
    std::vector<CUmemGenericAllocationHandle> handles_;  // by rank; 0: not mapped
};

}  // namespace assay::foundry
