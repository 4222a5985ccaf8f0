#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>

#include "impls/hetermoe/commands/commands.hpp"
#include "impls/hetermoe/profile/profile_file.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/value.hpp"

namespace assay::hetermoe {
namespace {

std::string everything(std::istream& stream) {
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

TrainingProfile profile_of(const std::string& file) {
    if (file == "-") return read_profile(everything(std::cin), "standard input");
    if (std::filesystem::is_directory(file))
        throw UserError(fmt::format("--profile {}: a folder; give a TOML file", file));
    std::ifstream stream(file, std::ios::binary);
    if (!stream)
        throw UserError(fmt::format("--profile {}: {}; give a TOML file, or - for standard input",
                                    file, std::strerror(errno)));
    return read_profile(everything(stream), file);
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
        app.add_option("--profile", profile_,
                       "TOML file with the GPUs, the model and its measured times (below); - "
                       "reads standard input")
            ->required()
            ->type_name("FILE|-");
        app.add_option("--asym", asym_,
                       "which experts move to new GPUs. published: Algorithm 1 as the paper's text "
                       "has it; printed: with its formula as printed; search: ours, the fastest "
                       "found; off: none")
            ->capture_default_str()
            ->check(CLI::IsMember({"published", "printed", "search", "off"}))
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
            "  assay plan hetermoe --profile gpus.toml\n"
            "  assay plan hetermoe --profile gpus.toml --asym search --backward 2 --timeline "
            "--json");
    }

    int run() override {
        PlanReport report;
        report.profile = profile_of(profile_);
        report.settings.asym = parse_asym(asym_).value();
        report.settings.backward = backward_factor(backward_);
        report.plan = plan(report.profile, report.settings);
        if (timeline_)
            report.timeline =
                timeline_of(report.profile, report.settings, report.plan.best_option());
        fmt::print("{}", json_ ? json_text(report) : page_text(report, columns));
        return 0;
    }

  private:
    std::string profile_, asym_ = "published", backward_ = "3";
    bool timeline_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_plan_command() { return std::make_unique<PlanCommand>(); }

}  // namespace assay::hetermoe
