#include "impls/hetermoe/training/replay.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>

#include "impls/hetermoe/training/loads.hpp"
#include "suite/cluster/collectives/in_process.hpp"
#include "suite/cluster/rank_threads.hpp"

namespace assay::hetermoe {
const nn::ParameterBlock* PlannedTraining::find(BlockKey key) const {
    for (const auto& [worker, trainer] : trainers_)
        if (const auto* block = trainer->find(key)) return block;
    return nullptr;
}

void PlannedTraining::rearrange(const CommittedStep& step) {
    const bool first = trainers_.empty();
    const auto& layout = step.layout;
    const auto wanted = [&](std::size_t rank) {
        return blocks_of(layout, settings_.model.experts, static_cast<int>(rank));
    };
    for (std::size_t rank = 0; rank < layout.ranks.size(); ++rank) {
        auto& trainer = trainers_[layout.ranks[rank]];
        if (!trainer) trainer = std::make_unique<Trainer>(settings_, corpus_);
        for (const auto& key : wanted(rank)) {
            if (trainer->find(key)) continue;
            const auto* source = find(key);
            auto& block = trainer->make_initial(key);
            if (source) {
                block.copy_state_from(*source);
                trainer->seal(key);
            } else if (!first) {
                throw std::logic_error("the lineage lost " + nn::block_name(key));
            }
        }
    }
    for (std::size_t rank = 0; rank < layout.ranks.size(); ++rank)
        trainers_[layout.ranks[rank]]->drop_all_but(wanted(rank));
    std::erase_if(trainers_, [&](const auto& one) { return layout.rank_of(one.first) < 0; });
}

StepResult PlannedTraining::train(const CommittedStep& step,
                                  const std::function<void(int, const Task&)>& before) {
    rearrange(step);
    const auto& layout = step.layout;
    const auto size = layout.ranks.size();
    auto all = cluster::make_in_process_group(static_cast<int>(size));
    std::vector<std::unique_ptr<cluster::Communicator>> out(size), in(size);  // by rank
    for (int group = 0; group < layout.groups; ++group) {
        const auto members = layout.ranks_of(group);
        auto outs = cluster::make_in_process_group(static_cast<int>(members.size()));
        auto ins = cluster::make_in_process_group(static_cast<int>(members.size()));
        for (std::size_t i = 0; i < members.size(); ++i) {
            out[static_cast<std::size_t>(members[i])] = std::move(outs[i]);
            in[static_cast<std::size_t>(members[i])] = std::move(ins[i]);
        }
    }
    std::vector<StepResult> results(size);
    const auto compute = [&](int rank) {
        const auto i = static_cast<std::size_t>(rank);
        at::set_num_threads(1);
        GroupLinks links(*out[i], *in[i]);
        auto& trainer = *trainers_.at(layout.ranks[i]);
        StepOptions options;
        if (before) options.before = [&](const Task& task) { before(rank, task); };
        results[i] = trainer.compute(step.step, layout, {*all[i], links}, options);
        trainer.apply(step.step);
    };
    cluster::run_rank_threads(static_cast<int>(size), compute, [&] {
        for (const auto* const group : {&all, &out, &in})
            for (const auto& links : *group) links->abort("a rank of the replay failed");
    });
    return results.front();
}

StateDigests PlannedTraining::digests() const {
    StateDigests digests;
    for (const auto& [worker, trainer] : trainers_) digests[worker] = trainer->digests();
    return digests;
}

OneProcess::OneProcess(TrainingSettings settings, const nn::ByteCorpus& corpus)
    : settings_(std::move(settings)), corpus_(corpus), state_(settings_.model, settings_.seed) {
    for (const auto& key : nn::all_blocks(settings_.model.layers, settings_.model.experts))
        state_.make_initial(key);
}

double OneProcess::train(std::int64_t step, const Layout& layout) {
    const auto& model = settings_.model;
    std::vector<std::vector<const nn::ParameterBlock*>> blocks(
        static_cast<std::size_t>(model.layers));
    for (const auto& key : nn::all_blocks(model.layers, model.experts))
        if (key != nn::dense_key)
            blocks[static_cast<std::size_t>(key.first)].push_back(state_.find(key));
    nn::LocalExperts experts(blocks, model.shape);
    const nn::ForcedChoice choice = choice_of_loads(settings_.loads, model.top_k);
    state_.zero_gradients();
    const auto tokens = static_cast<double>(settings_.sequences * model.context);
    double sum = 0;
    for (int rank = 0; rank < layout.attention_ranks(); ++rank)
        for (const auto& batch : micro_batches_of(layout, settings_.sequences, rank)) {
            const auto loss = nn::moe_gpt_loss(model, *state_.find(nn::dense_key), experts,
                                               corpus_.batch(settings_.seed, step, batch.first,
                                                             batch.sequences, model.context),
                                               nullptr, choice) /
                              tokens;
            loss.backward();
            sum += loss.item<double>();
        }
    state_.update(step, settings_.adam);
    return sum;
}

double largest_difference(const PlannedTraining& ours, const nn::MoeState& reference) {
    double largest = 0;
    for (const auto& key : reference.keys()) {
        const auto* const block = ours.find(key);
        if (!block) return std::numeric_limits<double>::infinity();
        const auto values = block->state().front().to(at::kDouble),
                   wanted = reference.find(key)->state().front().to(at::kDouble);
        const double difference =
            (values - wanted).norm().item<double>() / wanted.norm().item<double>();
        if (!std::isfinite(difference)) return std::numeric_limits<double>::infinity();
        largest = std::max(largest, difference);
    }
    return largest;
}

bool agrees(const StateDigests& live, const StateDigests& replayed) {
    std::set<BlockKey> covered, all;
    for (const auto& [worker, blocks] : replayed)
        for (const auto& [key, digest] : blocks) all.insert(key);
    for (const auto& [worker, blocks] : live) {
        const auto expected = replayed.find(worker);
        if (expected == replayed.end() || expected->second != blocks) return false;
        for (const auto& [key, digest] : blocks) covered.insert(key);
    }
    return !all.empty() && covered == all;
}

}  // namespace assay::hetermoe
