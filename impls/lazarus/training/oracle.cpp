#include "impls/lazarus/training/oracle.hpp"

#include <set>

#include "impls/lazarus/training/planned_training.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lazarus {

StateDigests replay_lineage(const TrainingConfig& config, std::span<const CommittedStep> lineage) {
    const nn::ByteCorpus corpus(config.corpus);
    PlannedTraining training(config, corpus);
    for (const auto& step : lineage) training.train(step);
    return training.digests();
}

bool agrees(const StateDigests& live, const StateDigests& oracle) {
    std::set<BlockKey> covered, all;
    for (const auto& [worker, blocks] : oracle)
        for (const auto& [key, digest] : blocks) all.insert(key);
    for (const auto& [worker, blocks] : live) {
        const auto expected = oracle.find(worker);
        if (expected == oracle.end() || expected->second != blocks) return false;
        for (const auto& [key, digest] : blocks) covered.insert(key);
    }
    return !all.empty() && covered == all;
}

void require_equal(bool equal) {
    if (equal) return;
    throw SampleError(
        SampleStatus::failed,
        "weights and moments differ from those of the same membership without faults");
}

}  // namespace assay::lazarus
