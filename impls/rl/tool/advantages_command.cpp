// assay rl advantages
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "impls/rl/tool/requests.hpp"
#include "impls/rl/tool/tool.hpp"
#include "suite/base/input_file.hpp"
#include "suite/report/text/terminal_text.hpp"

namespace assay::rl {
namespace {

using nlohmann::ordered_json;

std::vector<GroupAdvantages> of_groups(const RewardGroups& groups, const std::string& name) {
    std::vector<GroupAdvantages> all;
    for (const std::vector<double>& rewards : groups.rewards) {
        try {
            all.push_back(advantages_of(rewards, groups.estimator));
        } catch (const UserError& error) {
            throw UserError(
                fmt::format("{}: \"rewards\", group {}: {}", name, all.size() + 1, error.what()));
        }
    }
    return all;
}

ordered_json to_json(const std::vector<GroupAdvantages>& groups) {
    ordered_json object;
    for (const char* key : {"advantages", "mean", "std", "zero_variance"})
        object[key] = ordered_json::array();
    for (const GroupAdvantages& group : groups) {
        object["advantages"].push_back(group.advantages);
        object["mean"].push_back(group.mean);
        object["std"].push_back(group.std);
        object["zero_variance"].push_back(group.zero_variance);
    }
    return object;
}

std::string to_text(const std::vector<GroupAdvantages>& groups) {
    std::string text;
    int number = 0;
    for (const GroupAdvantages& group : groups)
        text += fmt::format(
            "group {}  mean {:.4g}  std {:.4g}  {}\n", ++number, group.mean, group.std,
            group.zero_variance ? "all equal: no direction"
                                : fmt::format("{:.4g}", fmt::join(group.advantages, " ")));
    return text;
}

class AdvantagesCommand : public Command {
  public:
    void options(CLI::App& app) override {
        app.add_flag("--json", json_, "Print JSON");
        app.footer(
            "Reads rewards from standard input, a list for each group of responses to one "
            "prompt:\n"
            "  {\"rewards\":[[1,0,0],[0.2,1]],\"estimator\":\"grpo\"}\n"
            "Of a reward r in a group of N:\n"
            "  grpo     (r - mean) / (std + 1e-6), std with N - 1\n"
            "  dr_grpo  r - mean\n"
            "  rloo     r less the mean of the others\n"
            "Where all rewards of a group are equal, or there is one, advantages are 0 and "
            "\"zero_variance\" is true.\n"
            "Examples:\n"
            "  echo '{\"rewards\":[[1,0,0,1]],\"estimator\":\"rloo\"}' | assay rl advantages "
            "--json");
    }

    int run() override {
        InputFile in("standard input", "-");
        const auto groups = of_groups(read_rewards(in.text(), in.name()), in.name());
        std::cout << (json_ ? report::printable_dump(to_json(groups)) + '\n' : to_text(groups));
        return 0;
    }

  private:
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_advantages_command() { return std::make_unique<AdvantagesCommand>(); }

}  // namespace assay::rl
