// A communicator around another one that sends a checksum with every message and looks at what
// arrives before the caller sees any of it.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "suite/cluster/communicator.hpp"
#include "suite/cluster/launcher.hpp"

namespace assay::cluster {

/// What each message of a checksum layer is longer by; the checksum comes last.
constexpr std::size_t kChecksumBytes = 8;

/// Buffers lie in host memory. Every message of `inner` travels as bytes; also an empty part of an
/// all-to-all has its checksum, so that members which disagree on how many exchanges there were
/// learn of it. What a rank sends itself is copied. Throws CorruptMessage with the sender's name
/// after aborting `inner`; the caller's buffers are as they were. all_reduce_sum and barrier pass
/// unchecked.
std::unique_ptr<Communicator> make_checksum_layer(std::unique_ptr<Communicator> inner,
                                                  std::vector<WorkerId> names);

}  // namespace assay::cluster
