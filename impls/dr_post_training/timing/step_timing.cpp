#include "impls/dr_post_training/timing/step_timing.hpp"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "impls/dr_post_training/method/choosing.hpp"
#include "impls/dr_post_training/method/training_step.hpp"
#include "impls/dr_post_training/timing/memory_watch.hpp"
#include "impls/dr_post_training/timing/turns.hpp"
#include "impls/nn/hashes.hpp"
#include "impls/nn/parameter_block.hpp"
#include "suite/measure/statistics/quantile.hpp"

namespace assay::dr_post_training {
namespace {

std::vector<nn::ScoredRow> random_rows(const StepCase& c, std::int64_t rows, std::uint64_t stream) {
    std::vector<nn::ScoredRow> drawn(static_cast<std::size_t>(rows));
    for (std::size_t b = 0; b < drawn.size(); ++b)
        for (std::int64_t i = 0; i <= c.tokens; ++i) {
            const auto key = nn::counter_hash(c.seed * 64 + stream) ^
                             nn::counter_hash(b * 65536 + static_cast<std::uint64_t>(i));
            drawn[b].tokens.push_back(static_cast<int>(
                nn::counter_hash(key) % static_cast<std::uint64_t>(c.model.vocabulary)));
            drawn[b].scored.push_back(true);
        }
    return drawn;
}

/// The host would draw eight billion parameters for minutes.
nn::Draw draw_of(const StepCase& c) {
    return c.device.is_cpu() ? nn::Draw::by_name : nn::Draw::on_device;
}

/// What runs through one linear map in a step.
struct MapTraffic {
    Traffic all;
    at::Tensor weight;  ///< [O, I]
    bool head = false;
};

std::vector<MapTraffic> random_traffic(const StepCase& c, at::Generator generator) {
    std::vector<MapTraffic> maps;
    const auto add = [&](std::int64_t outputs, std::int64_t inputs, bool head) {
        const auto drawn = [&](std::vector<std::int64_t> shape) {
            if (draw_of(c) == nn::Draw::on_device)
                return at::randn(shape, at::TensorOptions().dtype(c.compute).device(c.device));
            return at::normal(0.0, 1.0, shape, generator).to(c.device, c.compute);
        };
        const auto rows = c.n + c.m;
        maps.push_back({{drawn({rows, c.tokens, inputs}), drawn({rows, c.tokens, outputs})},
                        drawn({outputs, inputs}),
                        head});
    };
    for (const auto& parameter : layer_parameters(c.model))
        if (parameter.shape.size() == 2) add(parameter.shape[0], parameter.shape[1], false);
    add(c.model.vocabulary, c.model.width, true);
    return maps;
}

}  // namespace

StepsMeasured measure_steps(const StepCase& c) {
    nn::Decoder decoder(c.model, c.seed, c.device, c.stored, draw_of(c));
    const StepModel model{decoder, c.compute, LossMean::token, {}};
    const auto general = random_rows(c, c.n, 1), target = random_rows(c, c.m, 2);
    const std::vector<double> shares(static_cast<std::size_t>(c.n), 1 / static_cast<double>(c.n));
    SetSettings set;
    set.k = static_cast<std::size_t>(c.k);
    const auto maps_for = [&](Partition partition, Schedule schedule) {
        SelectingOptions options = options_for(partition, SetKind::topk);
        options.backend = c.scoring;
        options.assemble = schedule == Schedule::one_pass;
        options.choose = [&](const std::string&, const GroupStatistics& seen) {
            return update_of(SetKind::topk, set, shares, seen);
        };
        return std::make_unique<SelectingMaps>(std::move(options));
    };
    const auto layer = maps_for(Partition::layer, Schedule::one_pass);
    const auto one_pass = maps_for(Partition::global, Schedule::one_pass);
    const auto two_pass = maps_for(Partition::global, Schedule::two_pass);

    std::int64_t updates = 0;
    const auto optimise = [&] {
        ++updates;
        for (auto& block : decoder.blocks()) nn::adam_update(*block, updates, {.learning_rate = 0});
    };
    const auto step = [&](const std::function<std::unique_ptr<TrainingStep>()>& begin) {
        for (auto& block : decoder.blocks()) block->zero_grad();
        begin()->backward();
        optimise();
    };
    using Begin = std::function<std::unique_ptr<TrainingStep>()>;
    const std::vector<std::pair<std::string, Begin>> arms{
        {"standard", [&] { return plain_step(model, general); }},
        {"layer",
         [&] { return selecting_step(model, *layer, Schedule::one_pass, general, target); }},
        {"global_one_pass",
         [&] { return selecting_step(model, *one_pass, Schedule::one_pass, general, target); }},
        {"global_two_pass",
         [&] { return selecting_step(model, *two_pass, Schedule::two_pass, general, target); }}};

    // The phases, in turns with the steps.
    auto generator = at::make_generator<at::CPUGeneratorImpl>(c.seed);
    const auto traffic = random_traffic(c, generator);
    const auto compressions = [&] {
        std::vector<Compression> made;
        for (const auto& map : traffic)
            made.emplace_back(map.all.output_grad.size(-1), map.all.input.size(-1), 64, 64, c.seed,
                              map.all.input.options());
        return made;
    }();
    const auto layers = static_cast<int>(c.model.layers);
    std::vector<std::pair<std::string, std::function<void()>>> things;
    for (const auto& [name, begin] : arms)
        things.emplace_back(name, [&step, &begin] { step(begin); });
    things.emplace_back("forward", [&] { plain_step(model, general); });
    things.emplace_back("there_and_back", [&] { plain_step(model, general)->backward(); });
    things.emplace_back("optimiser", optimise);
    const auto each_map = [&](bool head, const std::function<void(std::size_t)>& run) {
        const at::NoGradGuard no_grad;
        for (std::size_t i = 0; i < traffic.size(); ++i)
            if (traffic[i].head == head) run(i);
    };
    const auto weight_gradient = [&](std::size_t i) {
        summed_gradient(traffic[i].all.part(0, c.n));
    };
    things.emplace_back("weight_gradient", [&] {
        for (int each = 0; each < layers; ++each) each_map(false, weight_gradient);
    });
    things.emplace_back("head_gradient", [&] { each_map(true, weight_gradient); });
    const auto activation_gradient = [&](std::size_t i) {
        const auto rows = traffic[i].all.part(0, c.n).output_grad;
        at::mm(rows.reshape({-1, rows.size(-1)}), traffic[i].weight);
    };
    things.emplace_back("activation_gradient", [&] {
        for (int each = 0; each < layers; ++each) each_map(false, activation_gradient);
        each_map(true, activation_gradient);
    });
    // Every other row: chosen rows are as a rule no neighbours.
    const auto chosen =
        at::arange(c.k, at::TensorOptions().device(c.device).dtype(at::kLong)).mul(c.n / c.k);
    things.emplace_back("chosen_gradient", [&] {
        for (int each = 0; each < layers; ++each)
            each_map(false, [&](std::size_t i) {
                const auto& all = traffic[i].all;
                summed_gradient(
                    {all.input.index_select(0, chosen), all.output_grad.index_select(0, chosen)});
            });
    });
    things.emplace_back("scoring", [&] {
        for (int each = 0; each < layers; ++each)
            each_map(false, [&](std::size_t i) {
                if (c.scoring == Scoring::compressed)
                    compressions[i].scores(traffic[i].all, c.n, false);
                else
                    scores(c.scoring, traffic[i].all, c.n, false);
            });
    });
    std::vector<std::function<void()>> runs;
    for (const auto& [name, run] : things) runs.push_back(run);
    const auto seconds = take_turns(runs, c.rounds, c.device);

    StepsMeasured measured;
    std::map<std::string, std::vector<double>> by_name;
    for (std::size_t i = 0; i < things.size(); ++i) by_name[things[i].first] = seconds[i];
    for (const auto& [name, begin] : arms) {
        measured.seconds[name] = statistics::median(by_name[name]);
        measured.over_standard[name] = median_ratio(by_name[name], by_name["standard"]);
        // What the steps before left behind is not freed within this one.
        for (const auto& maps : {layer.get(), one_pass.get(), two_pass.get()})
            maps->begin({shares, c.m});
        wait_for(c.device);
        const MemoryWatch watch(c.device.type());
        step(begin);
        wait_for(c.device);
        measured.peak_bytes[name] = watch.peak_bytes();
    }
    const double more = static_cast<double>(c.m) / static_cast<double>(c.n);
    const double less = 1 - static_cast<double>(c.k) / static_cast<double>(c.n);
    for (const char* phase : {"forward", "optimiser", "activation_gradient", "weight_gradient",
                              "head_gradient", "scoring", "chosen_gradient"})
        measured.phases[phase] = statistics::median(by_name[phase]);
    auto& phases = measured.phases;
    phases["backward"] = statistics::median(by_name["there_and_back"]) - phases["forward"];
    phases["autograd"] = phases["backward"] - phases["activation_gradient"] -
                         phases["weight_gradient"] - phases["head_gradient"];
    // Round by round: what disturbs a step disturbs the phases beside it.
    std::vector<double> floors;
    for (std::size_t round = 0; round < by_name["standard"].size(); ++round) {
        const auto at = [&](const char* name) { return by_name[name][round]; };
        const double others = at("there_and_back") - at("weight_gradient") - at("head_gradient");
        floors.push_back(at("standard") + more * others - less * at("weight_gradient") +
                         at("scoring"));
    }
    measured.floor_over_standard = median_ratio(floors, by_name["standard"]);
    measured.layer_over_floor = median_ratio(by_name["layer"], floors);
    measured.one_pass_over_two =
        median_ratio(by_name["global_one_pass"], by_name["global_two_pass"]);
    return measured;
}

}  // namespace assay::dr_post_training
