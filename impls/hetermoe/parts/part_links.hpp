// Links between ranks that are threads of one process and whose tensors lie in one device's memory,
// a GPU's or the host's: rows are copied from where the sender has them to where the receiver wants
// them.
#pragma once

#include <c10/core/Device.h>

#include <functional>
#include <memory>
#include <vector>

#include "suite/cluster/collectives/communicator.hpp"

namespace assay::hetermoe {

/// One communicator per rank. all_to_all_v and all_reduce_sum take pointers into `device`'s memory,
/// but of i64 (counts), and all other calls, the host's. What they are given must have been
/// computed; what they leave is there when they return. Copies run on a stream of each
/// communicator's own. Sums are made in rank order. A call that fails leaves its buffers untouched
/// from then on, whoever broke the group. They do not shrink.
/// `copies`: called by a rank's thread before it copies.
std::vector<std::unique_ptr<cluster::Communicator>> make_part_links(
    int ranks, c10::Device device, const std::function<void(int rank)>& copies = {});

}  // namespace assay::hetermoe
