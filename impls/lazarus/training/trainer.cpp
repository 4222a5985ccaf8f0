#include "impls/lazarus/training/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "impls/lazarus/training/distributed_experts.hpp"
#include "impls/nn/all_to_all.hpp"
#include "suite/cluster/collectives/grouped_all_reduce.hpp"

namespace assay::lazarus {
namespace {

void add_loads(const std::vector<Loads>& more, std::vector<Loads>& sum) {
    sum.resize(more.size());
    for (std::size_t layer = 0; layer < more.size(); ++layer) {
        sum[layer].resize(more[layer].size());
        for (std::size_t e = 0; e < more[layer].size(); ++e) sum[layer][e] += more[layer][e];
    }
}

}  // namespace

std::vector<BlockKey> blocks_of(const ModelPlacement& holders, int rank) {
    std::set<BlockKey> keys{dense_key};
    for (std::size_t layer = 0; layer < holders.size(); ++layer)
        for (int expert : holders[layer][static_cast<std::size_t>(rank)])
            keys.insert({static_cast<int>(layer), expert});
    return {keys.begin(), keys.end()};
}

Trainer::Trainer(TrainingConfig config, const nn::ByteCorpus& corpus)
    : MoeState(config.model, config.seed), config_(std::move(config)), corpus_(corpus) {
    if (!config_.routing.empty())
        routing_ = std::make_unique<RoutingReplay>(config_.routing_source());
}

Trainer::~Trainer() = default;
Trainer::Trainer(Trainer&&) noexcept = default;

nn::ForcedChoice Trainer::forced_choice(std::int64_t step, std::int64_t first_sequence) const {
    if (!routing_) return {};
    const auto first_row = first_sequence * config_.model.context;
    return [routing = routing_->at(step), first_row](int layer, std::int64_t rows) {
        return routing.choices(layer, first_row, rows);
    };
}

StepResult Trainer::compute(std::int64_t step, const ModelPlacement& holders,
                            cluster::Communicator& comm, const StepHooks& hooks,
                            nn::GateTrace* trace) {
    using Phase = StepHooks::Phase;
    const auto done = [&](Phase phase) {
        if (hooks.done) hooks.done(phase, -1);
    };
    not_finite_.clear();
    ranks_ = comm.size();
    zero_gradients();
    HeldExperts held;
    for (const auto& key : keys())
        if (key != dense_key) held[key] = find(key);
    const auto& model = config_.model;
    // Divided by the global token count, so that the sum over passes and ranks is the mean over the
    // batch.
    const auto total = static_cast<double>(
        global_sequences(config_.batch, config_.sequences, comm.size()) * model.context);
    const auto rule = config_.group > 0 ? DispatchRule::padded_in(config_.group) : DispatchRule{};
    StepResult result;
    double mine = 0;
    for (const auto& part :
         micro_batches(config_.batch, config_.sequences, comm.size(), comm.rank())) {
        const auto tokens =
            corpus_.batch(config_.seed, step, part.first, part.sequences, model.context);
        DistributedExperts experts(comm, model.experts, rule, holders, held, hooks);
        if (std::exchange(poisoned_, false)) experts.poison_next_rows();
        const auto sum = nn::moe_gpt_loss(model, *find(dense_key), experts, tokens, trace,
                                          forced_choice(step, part.first));
        mine += sum.detach().item<double>() / total;
        done(Phase::forward);
        (sum / total).backward();
        done(Phase::backward);
        add_loads(experts.loads(), result.loads);
    }
    reduce_gradients(holders, comm);
    done(Phase::reduced);

    // The ranks' losses added in rank order: every rank reports the same bits.
    for (double loss : one_hop_gather(comm, std::vector<double>{mine}, cluster::Dtype::f64))
        result.loss += loss;
    result.not_finite = not_finite_ = find_not_finite(mine);
    return result;
}

std::string Trainer::find_not_finite(double loss) const {
    if (!std::isfinite(loss)) return "loss";
    if (const auto block = not_finite()) return "gradient of " + block_name(*block);
    return {};
}

void Trainer::reduce_gradients(const ModelPlacement& holders, cluster::Communicator& comm) {
    // Every rank lists every block, in the same order; where it is not held, `data` is null.
    std::map<BlockKey, std::vector<int>> ranks_of;
    for (int rank = 0; rank < comm.size(); ++rank)
        for (const auto& key : blocks_of(holders, rank)) ranks_of[key].push_back(rank);
    const auto elements = [&](const std::vector<nn::ParameterSpec>& specs) {
        std::int64_t count = 0;
        for (const auto& spec : specs) count += c10::multiply_integers(spec.shape);
        return count;
    };
    const auto dense = elements(nn::dense_parameters(config_.model));
    const auto expert = elements(nn::expert_parameters(config_.model));
    std::vector<cluster::SharedBuffer> buffers;
    for (const auto& [key, ranks] : ranks_of) {
        auto* block = find(key);
        const bool mine = std::find(ranks.begin(), ranks.end(), comm.rank()) != ranks.end();
        buffers.push_back(
            {key == dense_key ? dense : expert, ranks, mine ? block->grad().data_ptr() : nullptr});
    }
    cluster::grouped_all_reduce(comm, buffers, nn::dtype_of(find(dense_key)->grad()));
}

void Trainer::apply(std::int64_t step) {
    if (!not_finite_.empty())
        throw std::logic_error("asked to apply a step whose " + not_finite_ + " is not finite");
    auto adam = config_.adam;
    adam.learning_rate = learning_rate(config_.batch, adam.learning_rate, ranks_);
    update(step, adam);
}

void Trainer::poison_next_step() { poisoned_ = true; }

}  // namespace assay::lazarus
