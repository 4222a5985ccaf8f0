#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "impls/lazarus/commands/commands.hpp"
#include "impls/lazarus/commands/layer_plan.hpp"
#include "impls/lazarus/data/loads_file.hpp"
#include "impls/lazarus/policy/plan/placement.hpp"
#include "suite/base/error.hpp"
#include "suite/base/input_file.hpp"
#include "suite/cli/one_of.hpp"
#include "suite/experiment/value.hpp"
#include "suite/report/text/terminal_text.hpp"

namespace assay::lazarus {
namespace {

class PlanCommand : public Command {
  public:
    void options(CLI::App& app) override {
        app.description(
            "Replica counts, placement and recovery probabilities for your own expert loads");
        app.add_option("--loads", loads_,
                       "file with a line per layer: the tokens that each of its experts got in a "
                       "step or a window of steps, separated by blanks or commas (one number per "
                       "line throughout: a single layer); - reads standard input")
            ->required()
            ->type_name("FILE|-");
        app.add_option("--nodes", nodes_, "number of nodes")->required()->type_name("N");
        app.add_option("--slots", slots_,
                       "replica slots per node, for each layer: experts of one layer that fit into "
                       "a node's memory, all its GPUs together")
            ->required()
            ->type_name("C");
        app.add_option("--min-replicas", min_replicas_,
                       "replicas every expert gets at least, where slots suffice")
            ->capture_default_str()
            ->type_name("F");
        app.add_option(
               "--placement", placement_,
               "mro, spread, compact or mro_guarded: mro, repaired where it is not optimal. Which "
               "of "
               "mro and mro_guarded to take is said in the end; --json has it under \"advice\", "
               "and "
               "with mro_guarded for each layer \"dominates\", true where the plan is shown to be "
               "never worse than mro and spread, however many nodes are lost")
            ->capture_default_str()
            ->check(cli::one_of<PlacementPolicy>())
            ->type_name("NAME");
        app.add_option("--seed", seed_, "seed of the Monte Carlo estimate, where one is needed")
            ->capture_default_str()
            ->type_name("N");
        app.add_option("--layer", layer_,
                       "of several layers, print this one in full (the first is 0): which node "
                       "holds which expert")
            ->check(CLI::NonNegativeNumber)
            ->type_name("L");
        app.add_flag("--json", json_,
                     "print JSON: \"recovery\" for all layers together, each under \"layers\"");
        app.footer(
            "Layers share nodes: what is printed for a job of several layers is the probability "
            "that every expert\nof every layer survives the same loss, not a product. It is exact "
            "where the failure sets can be\ncounted, else a Monte Carlo estimate with its "
            "interval.\n"
            "Examples:\n"
            "  echo 10 20 40 80 | assay plan lazarus --loads - --nodes 5 --slots 2\n"
            "  printf '10 20 40 80\\n70 50 20 10\\n' | assay plan lazarus --loads - --nodes 5 "
            "--slots 2\n"
            "  echo 1 1 1 | assay plan lazarus --loads - --nodes 3 --slots 2 --placement "
            "mro_guarded\n"
            "  grep '^201,' datasets/traces/synthetic-routing.csv | cut -d, -f3- | \\\n"
            "      assay plan lazarus --loads - --nodes 12 --slots 8 --placement mro_guarded");
    }

    int run() override {
        std::vector<std::string> doubts;
        InputFile loads("--loads", loads_, "a file with one line of loads per layer");
        const std::vector<Loads> layers = read_loads(loads.stream(), loads.name(), &doubts);
        for (const std::string& doubt : doubts)
            std::cerr << "warning: " + report::printable(doubt) + '\n';
        if (layer_ && *layer_ >= layers.size())
            throw UserError(fmt::format("--layer {}: {} has {} layer{}, counted from 0", *layer_,
                                        loads.name(), layers.size(),
                                        layers.size() == 1 ? "" : "s"));
        LayerPlanRequest request;
        request.nodes = nodes_;
        request.slots = slots_;
        request.min_replicas = min_replicas_;
        request.policy = of_word<PlacementPolicy>(placement_).value();
        request.seed = parse_seed(seed_);
        const JobPlan plan = plan_job(layers, request);
        if (json_) {
            std::cout << to_json(plan).dump() << '\n';
        } else if (layer_) {
            std::cout << to_text(plan, *layer_, columns);
        } else {
            std::cout << to_text(plan, columns);
        }
        return 0;
    }

  private:
    std::string loads_, placement_ = "mro", seed_ = "1";
    int nodes_ = 0, slots_ = 0, min_replicas_ = 2;
    std::optional<std::size_t> layer_;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_plan_command() { return std::make_unique<PlanCommand>(); }

}  // namespace assay::lazarus
