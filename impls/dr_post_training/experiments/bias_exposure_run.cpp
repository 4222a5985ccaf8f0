// A sample of bias_exposure, in the module of tensors: how near each partition's update comes to
// the direction of many target rows when it is told of few.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "impls/dr_post_training/experiments/shared_states.hpp"
#include "impls/dr_post_training/policy/partition.hpp"
#include "impls/dr_post_training/policy/sets/group_solver.hpp"
#include "impls/dr_post_training/recipes/fine_tuning.hpp"
#include "impls/dr_post_training/recipes/row_products.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::dr_post_training {
namespace {

constexpr std::size_t true_rows = 1024, studied_batches = 32;

struct Study {
    std::vector<std::size_t> counts;  ///< of target rows that v is the mean of
    SetKind set = SetKind::topk;
    std::optional<Partition> partition;
    SetSettings settings;
};

/// Of one batch: directions are the general rows' gradients, then v of each count, then v* of many
/// rows; all are rows of one Gram matrix.
struct Group {
    Matrix gram;
    std::size_t rows = 0;  ///< general ones

    TargetDirection direction(std::size_t which) const {
        TargetDirection direction;
        for (std::size_t b = 0; b < rows; ++b) direction.scores.push_back(gram(b, rows + which));
        direction.norm2 = gram(rows + which, rows + which);
        return direction;
    }
    GramStatistics statistics() const {
        GramStatistics found{
            .gram = Matrix(rows, rows), .scores = Matrix(rows, 1), .target_gram = {}};
        for (std::size_t a = 0; a < rows; ++a)
            for (std::size_t b = 0; b < rows; ++b) found.gram(a, b) = gram(a, b);
        return found;
    }
    /// <u, w> and |u|² for weights of all directions.
    double product(const std::vector<double>& u, const std::vector<double>& w) const {
        double sum = 0;
        for (std::size_t a = 0; a < u.size(); ++a) {
            if (u[a] == 0) continue;
            for (std::size_t b = 0; b < w.size(); ++b) sum += u[a] * w[b] * gram(a, b);
        }
        return sum;
    }
};

/// An update as weights of all directions.
std::vector<double> update_toward(const Study& study, const Group& group, std::size_t which) {
    std::vector<double> weights(group.gram.rows);
    if (study.set == SetKind::target) {
        weights[group.rows + which] = 1;
        return weights;
    }
    GroupSolver solver(group.statistics(), row_weights({}, group.rows));
    const Update update = solver.update(study.set, study.settings, group.direction(which));
    std::copy(update.weights.begin(), update.weights.end(), weights.begin());
    weights[group.rows + which] = update.target_weight;
    return weights;
}

std::vector<double> difference(std::vector<double> a, const std::vector<double>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
    return a;
}

/// Sums over groups.
struct Seen {
    double error2 = 0, exposure2 = 0, dot = 0, norm2 = 0;
};

/// Gradients of the mean over rows of the rows' mean losses, by map: [numbers].
std::vector<at::Tensor> mean_gradient(const nn::Decoder& decoder,
                                      const std::vector<nn::ScoredRow>& rows) {
    const StepModel model{decoder, at::kFloat, LossMean::example, {}};
    plain_step(model, rows)->backward();
    std::vector<at::Tensor> maps;
    for (const Layer& layer : plan_layers(decoder.config()))
        maps.push_back(decoder.parameter(layer.name).grad().flatten().clone());
    for (const auto& block : decoder.blocks()) block->zero_grad();
    return maps;
}

Study study_of(const BiasExposure& asked, const SftSettings& settings) {
    Study study;
    study.counts = {1, 2, 4, 16, 64, 128};
    study.settings.k = settings.k;
    study.partition = of_word<Partition>(asked.arm);
    study.set = study.partition       ? asked.rule
                : asked.arm == "full" ? SetKind::full
                                      : SetKind::target;
    return study;
}

/// Plain training before gradients are looked at.
void train_on_general(const nn::Decoder& decoder, const SftRows& rows, std::int64_t steps) {
    constexpr double rate = 1e-3;
    const StepModel model{decoder, at::kFloat, LossMean::token, {}};
    for (std::int64_t step = 0; step < steps; ++step) {
        plain_step(model, rows.general(step).rows)->backward();
        for (const auto& block : decoder.blocks()) {
            nn::adam_update(*block, step + 1, {.learning_rate = rate});
            block->zero_grad();
        }
    }
}

}  // namespace

void run(const BiasExposure& asked, Recorder& recorder) {
    at::set_num_threads(1);
    SftSettings settings = sft_settings(asked);
    const Study study = study_of(asked, settings);
    settings.given = study.counts.back();
    settings.test_rows = true_rows;
    const auto states = base_states(asked, settings);
    const nn::Decoder decoder = base_model(settings, asked.seed, *states, {});
    const SftRows rows(settings, asked.seed);
    train_on_general(decoder, rows, asked.after);

    const auto layers = plan_layers(decoder.config());
    const auto truth = mean_gradient(decoder, rows.test());
    std::vector<std::vector<at::Tensor>> few;
    for (const std::size_t count : study.counts)
        few.push_back(mean_gradient(
            decoder,
            {rows.given().begin(), rows.given().begin() + static_cast<std::ptrdiff_t>(count)}));
    const auto groups = groups_of(layers, study.partition.value_or(Partition::global));
    double truth2 = 0;
    for (const auto& map : truth) truth2 += map.square().sum(at::kDouble).item<double>();

    std::vector<double> error(study.counts.size()), exposure(error), cosine(error);
    double bias = 0;
    const auto there = study.counts.size();  // v*'s number among the directions
    for (std::size_t batch = 0; batch < studied_batches; ++batch) {
        const auto general = gradients_by_map(
            decoder, rows.general(asked.after + static_cast<std::int64_t>(batch)).rows);
        std::vector<Seen> seen(study.counts.size());
        double bias2 = 0;
        for (const auto& members : groups) {
            Group group{{}, settings.n};
            for (const std::size_t map : members) {
                std::vector<at::Tensor> directions{general[map]};
                for (const auto& v : few) directions.push_back(v[map].unsqueeze(0));
                directions.push_back(truth[map].unsqueeze(0));
                const auto all = at::cat(directions);
                const Matrix products = products_of(all, all);
                if (group.gram.values.empty())
                    group.gram = products;
                else
                    group.gram += products;
            }
            std::vector<double> target(group.gram.rows);
            target[group.rows + there] = 1;
            const auto best = update_toward(study, group, there);
            const auto missed = difference(best, target);
            bias2 += group.product(missed, missed);
            for (std::size_t i = 0; i < study.counts.size(); ++i) {
                const auto update = update_toward(study, group, i);
                const auto off = difference(update, target), moved = difference(update, best);
                seen[i].error2 += group.product(off, off);
                seen[i].exposure2 += group.product(moved, moved);
                seen[i].dot += group.product(update, target);
                seen[i].norm2 += group.product(update, update);
            }
        }
        const auto share = [&](double squares) {
            return std::sqrt(std::max(0.0, squares) / truth2) / studied_batches;
        };
        bias += share(bias2);
        for (std::size_t i = 0; i < seen.size(); ++i) {
            error[i] += share(seen[i].error2);
            exposure[i] += share(seen[i].exposure2);
            if (seen[i].norm2 > 0)
                cosine[i] += seen[i].dot / std::sqrt(seen[i].norm2 * truth2) / studied_batches;
        }
    }
    const BiasFound found(recorder);
    found.bias(bias);
    for (std::size_t i = 0; i < study.counts.size(); ++i) {
        const Labels labels{{"n_val", static_cast<std::int64_t>(study.counts[i])}};
        found.error(error[i], labels);
        found.exposure(exposure[i], labels);
        found.cosine(cosine[i], labels);
    }
}

static const tensors::Provided provided_bias(study_bias_exposure, run);

}  // namespace assay::dr_post_training
