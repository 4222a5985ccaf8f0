// Table 1: the paper's clusters, and what its groups can be made of them.
#include <string>
#include <utility>

#include "impls/hetermoe/cost/paper_setup.hpp"
#include "impls/hetermoe/experiments/experiments.hpp"
#include "impls/hetermoe/policy/squeeze.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/experiment/exact_profiles.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::hetermoe {
namespace {

// Groups that hold the experts evenly, and those among them that Algorithm 1 is defined for.
std::pair<int, int> groups_of(const PaperCluster& cluster) {
    TrainingProfile profile;
    profile.layers = 1;
    profile.experts = model_shape(cluster.model).experts;
    int even = 0, with_moves = 0;
    for (int m = 1; m <= cluster.new_gpus; ++m) {
        for (int n = 1; n <= cluster.old_gpus; ++n) {
            if (profile.experts % n != 0) continue;
            ++even;
            with_moves += chunks_of(profile, {m, n}).has_value();
        }
    }
    return {even, with_moves};
}

struct Tab1 {
    std::string cluster;
};

void run(const Tab1& tab1, Recorder& recorder) {
    const PaperCluster& cluster = paper_cluster(tab1.cluster);
    const std::string fresh = "new", old = "old";
    recorder.metric("gpus", cluster.new_gpus, {{"kind", fresh}});
    recorder.metric("gpus", cluster.old_gpus, {{"kind", old}});
    recorder.metric("memory", cluster.new_memory_gb, {{"kind", fresh}});
    recorder.metric("memory", cluster.old_memory_gb, {{"kind", old}});
    recorder.metric("network", cluster.network_gbps);
    const auto [even, with_moves] = groups_of(cluster);
    recorder.metric("groups", even);
    recorder.metric("groups_with_moves", with_moves);
}

}  // namespace

Experiment tab1() {
    Declaration<Tab1> tab1(
        {.id = "hetermoe/tab1",
         .title = "The paper's clusters",
         .source = "arXiv 2504.03871v1, section 6.1, Table 1",
         .says = "GPUs, memory and network of each cluster as Table 1 has them, and how many "
                 "groups of M new and N old GPUs hold the experts of a layer evenly, and of these "
                 "how many let Algorithm 1 move experts (M divides N or N divides M). The models "
                 "are those that fit by divisibility: D1's 24 experts go with C1 and W2's with O2.",
         .variants = {"hetermoe"},
         .metrics = {{"gpus", "count", "of a kind", Direction::none, true, {"kind"}},
                     {"memory", "GB", "of one GPU", Direction::none, true, {"kind"}},
                     {"network", "Gbit/s", "of a node; C1 and C2: simulated by sending less",
                      Direction::none, true},
                     {"groups", "count", "of new and old GPUs among which experts divide evenly",
                      Direction::none, true},
                     {"groups_with_moves", "count", "of them, those in which experts can move",
                      Direction::none, true}},
         .profiles = exact_profiles(0.02),
         .figure = {.kind = Figure::Kind::bars,
                    .metric = "gpus",
                    .x = "cluster",
                    .panels = {},
                    .x_title = "cluster",
                    .y_title = "GPUs"}});
    tab1.axis("cluster", &Tab1::cluster, "of Table 1", {"o1", "o2", "o3", "c1", "c2"});
    return tab1.runs(run);
}

}  // namespace assay::hetermoe
