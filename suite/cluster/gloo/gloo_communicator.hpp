// A Communicator over one process group of c10d.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "suite/cluster/collectives/communicator.hpp"
#include "suite/cluster/gloo/background.hpp"

namespace assay::cluster {

/// Makes a further group of the same context, for shrink(): key, rank, size.
using MakeGroup = std::function<std::unique_ptr<Communicator>(const std::string&, int, int)>;

struct GlooMember {
    Group group;  ///< null in a group of one: nothing ever leaves it
    std::shared_ptr<BreakableWait> state;
    int rank = 0, size = 1;
    std::chrono::milliseconds timeout{};
    MakeGroup make_group;
};

std::unique_ptr<Communicator> make_gloo_communicator(GlooMember member);

}  // namespace assay::cluster
