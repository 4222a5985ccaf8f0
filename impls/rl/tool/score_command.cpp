// assay rl score TASK --difficulty D
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "impls/rl/tool/requests.hpp"
#include "impls/rl/tool/tool.hpp"
#include "suite/base/input_file.hpp"
#include "suite/cli/one_of.hpp"
#include "suite/report/text/terminal_text.hpp"

namespace assay::rl {
namespace {

std::string to_text(const std::vector<ScoredResponse>& responses) {
    std::string text;
    double sum = 0;
    for (const ScoredResponse& each : responses) {
        sum += each.reward;
        text += fmt::format("{:>3g}  {}{}\n", each.reward, report::printable(each.prompt),
                            report::printable(each.response));
    }
    return text + fmt::format("mean {:.3g} of {} {}\n", sum / static_cast<double>(responses.size()),
                              responses.size(), responses.size() == 1 ? "response" : "responses");
}

class ScoreCommand : public Command {
  public:
    void options(CLI::App& app) override {
        app.add_option("task", task_, "What was asked, as in `assay rl prompts`")
            ->required()
            ->check(cli::one_of<tasks::Task>())
            ->type_name("TASK");
        app.add_option("--difficulty", difficulty_, "Digits, letters or brackets of a prompt")
            ->required()
            ->check(CLI::Range(tasks::least_difficulty, tasks::most_difficulty))
            ->type_name("D");
        app.add_flag("--json", json_, "Print JSON");
        app.footer(
            "Reads responses from standard input, a JSON object a line:\n"
            "  {\"prompt\":\"tag 1+2=\",\"response\":\"<a>3</a>\"}\n"
            "1 for exactly the answer; 0.2 for another <a>digits</a> of the task tag; else 0. A "
            "response comes without the newline that ended it: with one it earns 0. Leave out, or "
            "give as \"\", what never ended.\n"
            "Examples:\n"
            "  assay rl score add --difficulty 2 < responses.jsonl\n"
            "  assay rl score tag --difficulty 1 --json < tags.jsonl");
    }

    int run() override {
        InputFile in("standard input", "-");
        const std::vector<ScoredResponse> responses = read_responses(
            in.stream(), in.name(), of_word<tasks::Task>(task_).value(), difficulty_);
        if (!json_) {
            std::cout << to_text(responses);
            return 0;
        }
        auto rewards = nlohmann::json::array();
        for (const ScoredResponse& each : responses) rewards.push_back(each.reward);
        std::cout << report::printable_dump(nlohmann::json{{"rewards", std::move(rewards)}})
                  << '\n';
        return 0;
    }

  private:
    std::string task_;
    int difficulty_ = 0;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_score_command() { return std::make_unique<ScoreCommand>(); }

}  // namespace assay::rl
