#include "suite/cluster/gloo/worker_groups.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace assay::cluster {
namespace {

GlooOptions options(std::uint16_t port, Seconds timeout) {
    GlooOptions options;
    options.port = port;
    options.timeout = std::chrono::milliseconds(static_cast<long>(timeout.count() * 1000));
    return options;
}

}  // namespace

WorkerGroups::WorkerGroups(WorkerId self, std::uint16_t port, Seconds timeout,
                           std::shared_ptr<LinkFaults> faults)
    : self_(self), timeout_(timeout), gloo_(options(port, timeout)), faults_(std::move(faults)) {}

std::unique_ptr<Communicator> WorkerGroups::connect(const std::string& key,
                                                    const std::vector<WorkerId>& workers) {
    const auto rank = std::find(workers.begin(), workers.end(), self_) - workers.begin();
    return make_fault_layer(
        gloo_.make_group(key, static_cast<int>(rank), static_cast<int>(workers.size())), workers,
        faults_, {.checksums = true, .timeout = timeout_, .group = key});
}

void WorkerGroups::abort(const std::vector<std::string>& keys, WorkerId dead) {
    const auto why = dead < 0 ? std::string("the step failed on another worker")
                              : "worker " + std::to_string(dead) + " is gone";
    for (const auto& key : keys) {
        gloo_.abort(key, why);
        faults_->abort(key, why);
    }
}

}  // namespace assay::cluster
