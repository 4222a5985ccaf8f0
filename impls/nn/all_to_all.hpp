// Rows exchanged between ranks, as a differentiable operation: the un-padded all-to-all of a MoE
// layer.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "suite/cluster/collectives/communicator.hpp"

namespace assay::nn {

/// Sends the rows of `rows` ([n, width]; those for rank 0 first, then rank 1 …) and returns the
/// rows received ([m, width], in rank order). Row counts per rank; the sums are n and m. The
/// gradient makes the way back. Collective, forward and backward: every rank must reach both, in
/// the same order. Throws cluster::CommunicatorBroken.
at::Tensor exchange_rows(const at::Tensor& rows, const std::vector<std::int64_t>& send_rows,
                         const std::vector<std::int64_t>& recv_rows, cluster::Communicator& comm);

cluster::Dtype dtype_of(const at::Tensor& tensor);

}  // namespace assay::nn
