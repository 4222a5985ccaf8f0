// A sample of compression, in the module of tensors: scores between random projections beside exact
// ones, on the same batches.
#include <ATen/Parallel.h>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "impls/dr_post_training/experiments/shared_states.hpp"
#include "impls/dr_post_training/method/choosing.hpp"
#include "impls/dr_post_training/policy/sets/subsets.hpp"
#include "impls/dr_post_training/recipes/fine_tuning.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::dr_post_training {
namespace {

constexpr std::int64_t compared_batches = 12;
constexpr std::uint64_t draws = 2;  ///< of projections
constexpr std::int64_t edges[] = {2, 4, 8, 16, 32, 64};

using Scores = std::map<std::string, std::vector<double>>;

Scores scores_of(const nn::Decoder& decoder, Partition partition, Scoring scoring,
                 std::int64_t edge, std::uint64_t draw, const SftRows& rows, std::int64_t step) {
    SelectingOptions options = options_for(partition, SetKind::topk);
    options.backend = scoring;
    options.compressed_outputs = options.compressed_inputs = edge;
    options.compression_seed = draw;
    options.assemble = false;
    options.choose = [&](const std::string&, const GroupStatistics& seen) {
        return subset_update({0}, std::vector<double>(seen.target.scores.size(), 1));
    };
    SelectingMaps maps(std::move(options));
    const StepModel model{decoder, at::kFloat, LossMean::token, {}};
    selecting_step(model, maps, Schedule::one_pass, rows.general(step).rows, rows.target(step))
        ->backward();
    Scores found;
    for (const auto& [group, decision] : maps.decisions()) found[group] = decision.ranks_by;
    for (const auto& block : decoder.blocks()) block->zero_grad();
    return found;
}

std::set<std::size_t> kept(const std::vector<double>& scores, std::size_t k) {
    const auto rows = select_topk(scores, k);
    return {rows.begin(), rows.end()};
}

}  // namespace

void run(const CompressedScores& asked, Recorder& recorder) {
    at::set_num_threads(1);
    const SftSettings settings = sft_settings(asked);
    const auto states = base_states(asked, settings);
    const nn::Decoder decoder = base_model(settings, asked.seed, *states, {});
    const SftRows rows(settings, asked.seed);
    std::map<std::int64_t, double> correlation, alike;
    double compared = 0;
    for (std::int64_t step = 0; step < compared_batches; ++step) {
        const auto exact = scores_of(decoder, asked.partition, Scoring::pip, 1, 1, rows, step);
        for (const std::int64_t edge : edges)
            for (std::uint64_t draw = 0; draw < draws; ++draw) {
                const auto projected = scores_of(decoder, asked.partition, Scoring::compressed,
                                                 edge, asked.seed * draws + draw, rows, step);
                for (const auto& [group, scores] : exact) {
                    const auto& other = projected.at(group);
                    correlation[edge] += rank_correlation(scores, other);
                    const auto ours = kept(scores, settings.k);
                    double common = 0;
                    for (const auto row : kept(other, settings.k)) common += ours.count(row);
                    alike[edge] += common / static_cast<double>(settings.k);
                }
            }
        compared += static_cast<double>(draws * exact.size());
        recorder.progress(static_cast<double>(step + 1) / static_cast<double>(compared_batches),
                          std::to_string(step + 1) + " batches");
    }
    for (const std::int64_t edge : edges) {
        const Labels labels{{"numbers", edge * edge}};
        recorder.metric("rank_correlation", correlation.at(edge) / compared, labels);
        recorder.metric("kept_alike", alike.at(edge) / compared, labels);
    }
}

static const tensors::Provided provided_compression(study_compression, run);

}  // namespace assay::dr_post_training
