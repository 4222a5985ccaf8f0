#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "impls/hetermoe/commands/commands.hpp"
#include "impls/hetermoe/cost/modelled_profile.hpp"
#include "impls/hetermoe/profile/profile_file.hpp"
#include "suite/base/error.hpp"
#include "suite/base/input_file.hpp"
#include "suite/cli/one_of.hpp"
#include "suite/experiment/value.hpp"
#include "suite/report/text/terminal_text.hpp"

namespace assay::hetermoe {
namespace {

std::vector<std::string> model_names() {
    std::vector<std::string> names;
    for (const ModelShape& model : paper_models()) names.emplace_back(model.name);
    return names;
}

TrainingProfile profile_of(const std::string& file) {
    if (file.empty())
        throw UserError("give --profile FILE, or --model NAME with --new, --old and --seq");
    InputFile profile("--profile", file, "a TOML file");
    return read_profile(profile.text(), profile.name());
}

Fraction backward_factor(const std::string& text) {
    const Value value = parse_value(text);
    const auto* whole = std::get_if<std::int64_t>(&value);
    const auto* real = std::get_if<double>(&value);
    if (whole && *whole > 0) return {*whole};
    if (!real || !std::isfinite(*real) || *real <= 0)
        throw UserError(
            fmt::format("--backward {}: give how many times longer the backward pass takes, a "
                        "number above 0",
                        text));
    return decimal_fraction(*real);
}

class PlanCommand : public Command {
  public:
    void options(CLI::App& app) override {
        app.description(
            "Groups of new and old GPUs for a mixture of experts, the schedule and the place of "
            "every expert: the fastest that your times allow. Arithmetic; nothing is run");
        CLI::Option* const profile =
            app.add_option("--profile", profile_,
                           "TOML file with the GPUs, the model and its measured times (below); - "
                           "reads standard input")
                ->type_name("FILE|-");
        CLI::Option* const model =
            app.add_option("--model", model_,
                           "in place of a profile: one of the paper's models, priced by the cost "
                           "model on --new, --old and --seq")
                ->check(CLI::IsMember(model_names()))
                ->excludes(profile)
                ->type_name("NAME");
        const auto of_model = [&](const char* name, std::string& value, const char* says) {
            return app.add_option(name, value, says)->needs(model);
        };
        of_model("--new", new_, "new GPUs: a device profile and how many, as a40:6")
            ->type_name("DEVICE:N");
        of_model("--old", old_, "old GPUs, as v100:6")->type_name("DEVICE:N");
        of_model("--network", network_, "cluster profile whose links the GPUs have, one each")
            ->capture_default_str()
            ->type_name("CLUSTER");
        app.add_option("--seq", tokens_, "tokens of a sequence; a micro-batch of a GPU is one")
            ->check(CLI::Range(1, 1 << 24))
            ->needs(model)
            ->type_name("TOKENS");
        app.add_flag("--show-profile", show_profile_,
                     "only print the profile of --model, as --profile takes it")
            ->needs(model);
        app.add_option("--asym", asym_,
                       "which experts move to new GPUs. published: Algorithm 1 as the paper's text "
                       "has it; printed: with its formula as printed; search: ours, the fastest "
                       "found; off: none")
            ->capture_default_str()
            ->check(cli::one_of<Asym>())
            ->type_name("NAME");
        app.add_option("--backward", backward_,
                       "how many times longer a backward task takes than its forward one (2, and 1 "
                       "more for recomputing); exchanges are not longer")
            ->capture_default_str()
            ->type_name("F");
        app.add_flag("--timeline", timeline_, "also when each task of the best option's step runs");
        app.add_flag("--json", json_,
                     "print JSON: \"options\", \"infeasible\", \"best\", \"home\" (the GPU of each "
                     "expert: new ones first), \"rivals\", \"warnings\"");
        app.footer(
            "The profile, all times forward, in seconds, of one micro-batch of one GPU:\n"
            "  layers = 8\n"
            "  experts = 24              # of a layer\n"
            "  micro_batches = [2, 4]    # numbers of them to try\n"
            "  [new]\n"
            "  gpus = 6\n"
            "  attention_s = 0.010       # attention and gate of a layer\n"
            "  expert_s = 0.013          # its tokens, each top_k times, through experts\n"
            "  head_s = 0.004            # last norm, output head, loss (0)\n"
            "  capacity = 60             # experts that a GPU holds, all layers (any number)\n"
            "  [old]                     # the same; attention_s only for the rivals\n"
            "  gpus = 6\n"
            "  attention_s = 0.022\n"
            "  expert_s = 0.016\n"
            "  [exchange]\n"
            "  seconds = 0.003           # a GPU's tokens, each top_k times, one way\n"
            "  ep_exposed = 1            # share of it that expert parallelism waits for (1)\n"
            "  [sync]                    # gradients, once over a link; may be left out\n"
            "  dense_s = 0.02            # of all but experts (0)\n"
            "  expert_s = 0.001          # of one expert (0)\n"
            "Examples:\n"
            "  assay plan hetermoe --model mixtral-d1 --new a40:6 --old v100:6 --seq 8192\n"
            "  assay plan hetermoe --model mixtral-d1 --new a40:6 --old v100:6 --seq 8192 "
            "--show-profile\n"
            "  assay plan hetermoe --profile gpus.toml\n"
            "  assay plan hetermoe --profile gpus.toml --asym search --backward 2 --timeline "
            "--json");
    }

    int run() override {
        PlanReport report;
        report.settings.asym = of_word<Asym>(asym_).value();
        report.settings.backward = backward_factor(backward_);
        report.profile = model_.empty() ? profile_of(profile_) : modelled(report.settings);
        if (show_profile_) {
            std::cout << to_toml(report.profile);
            return 0;
        }
        report.plan = plan(report.profile, report.settings);
        if (timeline_)
            report.timeline =
                timeline_of(report.profile, report.settings, report.plan.best_option());
        std::cout << (json_ ? json_text(report) : page_text(report, columns));
        return 0;
    }

  private:
    /// Of a device whose profile does not say how it computes attention: as GPUs of today do.
    static ModelledGpus gpus(const std::string& typed, const char* option) {
        ModelledGpus found = parse_gpus(typed, option);
        if (!found.device.attention) {
            found.device.attention = {AttentionKernels::fused, "assumed", "kernels of today"};
            std::cerr << report::printable(fmt::format(
                             "the profile of {} does not say how it computes attention: taken as "
                             "fused; where it is not, give {} a copy of the profile that ends "
                             "with [attention], value = \"materialised\", kind = \"assumed\", "
                             "source = \"…\"",
                             found.device.id, option))
                      << '\n';
        }
        return found;
    }

    TrainingProfile modelled(const PlanSettings& settings) const {
        if (new_.empty() || old_.empty() || tokens_ == 0)
            throw UserError("--model needs --new and --old, as a40:6, and --seq, as 8192");
        return modelled_profile({.model = model_shape(model_),
                                 .tokens = tokens_,
                                 .new_gpus = gpus(new_, "--new"),
                                 .old_gpus = gpus(old_, "--old"),
                                 .network = cluster_profile(network_),
                                 .backward = settings.backward.value()});
    }

    std::string profile_, model_, new_, old_, network_ = "hetermoe-on-premise";
    int tokens_ = 0;
    bool show_profile_ = false;
    std::string asym_ = "published", backward_ = "3";
    bool timeline_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_plan_command() { return std::make_unique<PlanCommand>(); }

}  // namespace assay::hetermoe
