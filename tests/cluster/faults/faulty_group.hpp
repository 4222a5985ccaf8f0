// An in-process group behind fault layers, each rank with link faults of its own.
#pragma once

#include <memory>
#include <vector>

#include "suite/cluster/collectives/in_process.hpp"
#include "suite/cluster/faults/fault_layer.hpp"

namespace assay::cluster {

/// Ranks 0, 1, … are called 10, 11, …: a name is no rank.
struct FaultyGroup {
    FaultyGroup(int size, FaultLayerOptions options, std::uint64_t seed = 1) {
        auto inner = make_in_process_group(size);
        std::vector<WorkerId> names;
        for (int rank = 0; rank < size; ++rank) names.push_back(10 + rank);
        for (int rank = 0; rank < size; ++rank) {
            faults.push_back(std::make_shared<LinkFaults>(names[rank], seed));
            members.push_back(
                make_fault_layer(std::move(inner[rank]), names, faults[rank], options));
        }
    }
    LinkFaults::Counts counts() const {
        LinkFaults::Counts sum;
        for (const auto& one : faults) {
            const auto counts = one->counts();
            sum.delayed += counts.delayed;
            sum.lost += counts.lost;
            sum.cut += counts.cut;
            sum.corrupted += counts.corrupted;
        }
        return sum;
    }

    std::vector<std::shared_ptr<LinkFaults>> faults;
    std::vector<std::unique_ptr<Communicator>> members;
};

}  // namespace assay::cluster
