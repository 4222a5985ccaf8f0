// Our own addition: is top-k the projection that it stands for?
#include <cmath>
#include <cstdint>

#include "impls/dr_post_training/experiments/drawn_gradients.hpp"
#include "impls/dr_post_training/experiments/experiments.hpp"
#include "impls/dr_post_training/policy/sets/group_solver.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/experiment/exact_profiles.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::dr_post_training {
namespace {

constexpr int draws_of_a_sample = 200;
constexpr std::size_t rows = 8, kept = 4;

/// With this step greedy subtracts of a row what the mean of the kept ones has of its product.
constexpr double greedy_step = double{rows} / kept;

struct Projection {
    double common = 0;
    std::size_t width = 0, m = 0;
    SetKind set{};
    std::uint64_t seed = 0;
};

void run(const Projection& asked, Recorder& recorder) {
    const DrawnShape shape{.rows = rows,
                           .target_rows = asked.m,
                           .width = asked.width,
                           .common = asked.common,
                           .relevance = 0.5};
    const SetSettings settings{.k = kept, .eta = greedy_step};
    int nearest = 0;
    double excess = 0, cosine = 0, exact_cosine = 0;
    for (int draw = 0; draw < draws_of_a_sample; ++draw) {
        const DrawnGradients drawn = draw_gradients(
            shape, asked.seed * draws_of_a_sample + static_cast<std::uint64_t>(draw));
        GroupSolver solver(statistics_of(drawn.gradients, drawn.target), row_weights({}, rows));
        const TargetDirection v = target_direction(solver.statistics());
        const Update update = solver.update(asked.set, settings, v);
        const Update best = solver.update(SetKind::exact, settings, v);
        const Closeness found = solver.closeness(update, v), least = solver.closeness(best, v);
        nearest += update.selected == best.selected ? 1 : 0;
        excess += *found.distance2 / *least.distance2 - 1;
        cosine += found.dot / std::sqrt(found.norm2 * *v.norm2);
        exact_cosine += least.dot / std::sqrt(least.norm2 * *v.norm2);
    }
    recorder.metric("nearest", nearest / double{draws_of_a_sample});
    recorder.metric("excess_distance2", excess / draws_of_a_sample);
    recorder.metric("cosine", cosine / draws_of_a_sample);
    recorder.metric("cosine_of_nearest", exact_cosine / draws_of_a_sample);
}

}  // namespace

Experiment x_projection() {
    Declaration<Projection> projection(
        {.id = "dr_post_training/x_projection",
         .title = "Is top-k the nearest subset?",
         .source =
             "our own; tests the rule of arXiv 2605.07063v1, which leaves the subset's own length "
             "out of the projection",
         .says =
             "The nearest mean of k rows to the target's direction is a quadratic problem; top-k "
             "keeps its linear part, greedy adds the other row by row (step n/k, the mean's). On "
             "200 draws of 8 rows and 4 kept, compared with the nearest of all 70 subsets: how "
             "often it is found, and how much farther what is found lies. Gradients are drawn, not "
             "of a model: rows are normal around a direction of the given length that half of them "
             "share with the target and half oppose.",
         .metrics = {{"nearest", "share", "of draws in which the nearest subset is chosen",
                      Direction::higher, true},
                     {"excess_distance2", "share",
                      "by which the squared distance exceeds the least, mean", Direction::lower,
                      true},
                     {"cosine", "", "between update and target, mean", Direction::higher, true},
                     {"cosine_of_nearest", "", "the same of the nearest subset", Direction::none,
                      true}},
         .profiles = exact_profiles(0.1),
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "nearest",
                    .x = "common",
                    .panels = {"width", "m"},
                    .x_title = "length of the shared direction",
                    .y_title = "nearest subset found"}});
    for (ProfilePlan& plan : projection.rest.profiles) plan.rounds = 3;
    projection.axis("common", &Projection::common,
                    "length of the direction that rows share; 1: as long as the rest of a row",
                    {0.0, 0.3, 1.0, 3.0}, between(0, 1e6));
    projection.axis("width", &Projection::width, "of a gradient", {16, 256}, between(1, 100'000));
    projection.axis("m", &Projection::m, "target rows", {1, 16}, between(1, 1000));
    projection.variants(&Projection::set, {SetKind::topk, SetKind::greedy});
    projection.given(&Projection::seed, &SampleSpec::seed);
    return projection.runs(run);
}

}  // namespace assay::dr_post_training
