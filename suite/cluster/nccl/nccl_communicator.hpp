// A Communicator over one communicator of NCCL.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "suite/cluster/nccl/nccl.hpp"
#include "suite/cluster/nccl/nccl_handle.hpp"

namespace assay::cluster {

/// Makes the smaller group of shrink().
struct Shrinking {
    std::string key;
    int rank, size;             ///< in the new group
    std::vector<int> excluded;  ///< old ranks, ascending
};
using MakeSmaller =
    std::function<std::unique_ptr<DeviceCommunicator>(NcclHandle& parent, const Shrinking&)>;

std::unique_ptr<DeviceCommunicator> make_nccl_communicator(std::shared_ptr<NcclHandle> handle,
                                                           int rank, int size,
                                                           MakeSmaller make_smaller);

}  // namespace assay::cluster
