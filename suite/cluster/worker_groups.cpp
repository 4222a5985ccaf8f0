#include "suite/cluster/worker_groups.hpp"

#include <algorithm>
#include <utility>

namespace assay::cluster {

WorkerGroups::WorkerGroups(WorkerId self, std::unique_ptr<GroupMaker> maker, Seconds timeout,
                           std::shared_ptr<LinkFaults> faults)
    : self_(self), timeout_(timeout), maker_(std::move(maker)), faults_(std::move(faults)) {}

std::unique_ptr<Communicator> WorkerGroups::connect(const std::string& key,
                                                    const std::vector<WorkerId>& workers) {
    const auto rank = std::find(workers.begin(), workers.end(), self_) - workers.begin();
    return make_fault_layer(
        maker_->make_group(key, static_cast<int>(rank), static_cast<int>(workers.size())), workers,
        faults_,
        {.checksums = maker_->in_host_memory(),
         .in_host_memory = maker_->in_host_memory(),
         .timeout = timeout_,
         .group = key});
}

void WorkerGroups::abort(const std::vector<std::string>& keys, WorkerId dead) {
    const auto why = dead < 0 ? std::string("the step failed on another worker")
                              : "worker " + std::to_string(dead) + " is gone";
    for (const auto& key : keys) {
        maker_->abort(key, why);
        faults_->abort(key, why);
    }
}

}  // namespace assay::cluster
