#include "impls/dr_post_training/timing/scoring_timing.hpp"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>

#include <functional>
#include <optional>
#include <stdexcept>
#include <vector>

#include "impls/dr_post_training/method/scoring.hpp"
#include "impls/dr_post_training/timing/memory_watch.hpp"
#include "impls/dr_post_training/timing/turns.hpp"
#include "suite/measure/statistics/quantile.hpp"

namespace assay::dr_post_training {
namespace {

using Products = std::function<void()>;

/// The matrix products of a way of scoring, and nothing else.
Products products_of(Scoring scoring, const ScoringCase& c, const Traffic& all,
                     const Compression& compression) {
    const auto flat = [](const at::Tensor& rows) { return rows.reshape({-1, rows.size(-1)}); };
    const Traffic rows = all.part(0, c.n), target = all.part(c.n, c.m);
    const auto x = flat(rows.input), go = flat(rows.output_grad);
    const auto xt = flat(target.input), gt = flat(target.output_grad);
    const auto options = x.options();
    switch (scoring) {
        case Scoring::direct: {
            auto each = at::empty({c.n, c.outputs, c.inputs}, options);
            auto sum = at::empty({c.outputs, c.inputs}, options);
            auto found = at::empty({c.n}, options);
            return [=]() mutable {
                at::bmm_out(each, rows.output_grad.transpose(1, 2), rows.input);
                at::mm_out(sum, gt.t(), xt);
                at::mv_out(found, each.view({c.n, -1}), sum.view(-1));
            };
        }
        case Scoring::gip: {
            auto a = at::empty({go.size(0), gt.size(0)}, options), b = at::empty_like(a);
            return [=]() mutable {
                at::mm_out(a, go, gt.t());
                at::mm_out(b, x, xt.t());
            };
        }
        case Scoring::pip: {
            auto sum = at::empty({c.outputs, c.inputs}, options);
            auto through = at::empty({x.size(0), c.outputs}, options);
            return [=]() mutable {
                at::mm_out(sum, gt.t(), xt);
                at::mm_out(through, x, sum.t());
            };
        }
        case Scoring::compressed:
            return [=]() { compression.compressed_gradients(all); };
    }
    throw std::logic_error("unknown scoring");
}

}  // namespace

ScoringMeasured measure_scoring(Scoring scoring, const ScoringCase& c) {
    const at::NoGradGuard no_grad;
    auto generator = at::make_generator<at::CPUGeneratorImpl>(c.seed);
    const auto drawn = [&](std::int64_t width) {
        return at::normal(0.0, 1.0, {c.n + c.m, c.tokens, width}, generator).to(c.device, c.type);
    };
    const Traffic all{drawn(c.inputs), drawn(c.outputs)};
    const Compression compression(c.outputs, c.inputs, c.compressed_outputs, c.compressed_inputs,
                                  c.seed, all.input.options());
    const auto score = [&] {
        return scoring == Scoring::compressed ? compression.scores(all, c.n, false)
                                              : scores(scoring, all, c.n, false);
    };
    ScoringMeasured measured;
    score();  // what libraries allocate once is not the scoring's
    {
        wait_for(c.device);
        const MemoryWatch watch(c.device.type());
        score();
        wait_for(c.device);
        measured.peak_bytes = watch.peak_bytes();
    }
    const Products products = products_of(scoring, c, all, compression);
    const auto seconds = take_turns({[&] { score(); }, products}, c.repeats, c.device);
    measured.seconds = statistics::median(seconds[0]);
    measured.over_products = median_ratio(seconds[0], seconds[1]);
    return measured;
}

}  // namespace assay::dr_post_training
