#include "impls/lazarus/plan_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "impls/lazarus/layer_plan.hpp"
#include "impls/lazarus/policy/loads.hpp"
#include "impls/lazarus/policy/placement.hpp"
#include "suite/experiment/error.hpp"
#include "suite/experiment/seed.hpp"

namespace assay::lazarus {
namespace {

Loads loads_of(const std::string& file) {
    if (file == "-") return read_loads(std::cin, "standard input");
    if (std::filesystem::is_directory(file)) {
        throw UserError(
            fmt::format("--loads {}: a folder; give a file with one integer per expert", file));
    }
    std::ifstream stream(file, std::ios::binary);
    if (!stream) {
        throw UserError(fmt::format(
            "--loads {}: {}; give a file with one integer per expert, or - for standard "
            "input",
            file, std::strerror(errno)));
    }
    return read_loads(stream, file);
}

class PlanCommand : public Command {
  public:
    void options(CLI::App& app) override {
        app.description(
            "Replica counts, placement and recovery probabilities for your own expert loads");
        app.add_option("--loads", loads_,
                       "file with one non-negative integer per expert; - reads standard input")
            ->required()
            ->type_name("FILE|-");
        app.add_option("--nodes", nodes_, "number of nodes")->required()->type_name("N");
        app.add_option("--slots", slots_, "replica slots per node")->required()->type_name("C");
        app.add_option("--min-replicas", min_replicas_,
                       "replicas every expert gets at least, where slots suffice")
            ->capture_default_str()
            ->type_name("F");
        app.add_option(
               "--placement", placement_,
               "mro, spread, compact or mro_guarded: mro, repaired where it is not optimal; "
               "--json then has the key \"dominates\", true where the plan is shown to be "
               "never worse than mro and spread, however many nodes are lost")
            ->capture_default_str()
            ->check(CLI::IsMember({"mro", "spread", "compact", "mro_guarded"}))
            ->type_name("NAME");
        app.add_option("--seed", seed_, "seed of the Monte Carlo estimate, where one is needed")
            ->capture_default_str()
            ->type_name("N");
        app.add_flag("--json", json_, "print JSON");
        app.footer(
            "Examples:\n"
            "  echo 10 20 40 80 | assay plan lazarus --loads - --nodes 5 --slots 2\n"
            "  assay plan lazarus --loads loads.txt --nodes 16 --slots 6 --placement spread "
            "--json\n"
            "  echo 1 1 1 | assay plan lazarus --loads - --nodes 3 --slots 2 --placement "
            "mro_guarded");
    }

    int run() override {
        LayerPlanRequest request;
        request.loads = loads_of(loads_);
        request.nodes = nodes_;
        request.slots = slots_;
        request.min_replicas = min_replicas_;
        request.policy = parse_placement_policy(placement_).value();
        request.seed = parse_seed(seed_);
        const LayerPlan plan = plan_layer(std::move(request));
        if (json_) {
            fmt::print("{}\n", to_json(plan).dump());
        } else {
            fmt::print("{}", to_text(plan));
        }
        return 0;
    }

  private:
    std::string loads_, placement_ = "mro", seed_ = "1";
    int nodes_ = 0, slots_ = 0, min_replicas_ = 2;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_plan_command() { return std::make_unique<PlanCommand>(); }

}  // namespace assay::lazarus
