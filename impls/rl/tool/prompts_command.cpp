// assay rl prompts TASK --difficulty D
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "impls/rl/tasks/task.hpp"
#include "impls/rl/tool/tool.hpp"
#include "suite/cli/one_of.hpp"
#include "suite/report/text/terminal_text.hpp"

namespace assay::rl {
namespace {

class PromptsCommand : public Command {
  public:
    void options(CLI::App& app) override {
        app.add_option("task", task_, "What is asked")
            ->required()
            ->check(cli::one_of<tasks::Task>())
            ->type_name("TASK");
        app.add_option("--difficulty", difficulty_, "Digits, letters or brackets of a prompt")
            ->required()
            ->check(CLI::Range(tasks::least_difficulty, tasks::most_difficulty))
            ->type_name("D");
        app.add_option("--seed", seed_, "Of the prompts that are drawn")
            ->capture_default_str()
            ->check(CLI::NonNegativeNumber)
            ->type_name("S");
        app.add_option("--count", count_, "Prompts; fewer are the first of more")
            ->capture_default_str()
            ->check(CLI::Range(0, 1'000'000))
            ->type_name("N");
        app.add_flag("--json", json_, "Print JSON");
        app.footer(
            "The tasks at difficulty 3, with their answers:\n"
            "  add      123+456=         579\n"
            "  tag      tag 123+456=     <a>579</a>\n"
            "  sort     sort 314=        134\n"
            "  reverse  rev abc=         cba\n"
            "  close    close ([{=       }])\n"
            "  count    count a in aba=  2\n"
            "Prompts are drawn one by one and may repeat; among them are those that training never "
            "sees and accuracy is measured on, an eighth of all: those whose SHA-256 ends in 0 or "
            "8.\n"
            "Examples:\n"
            "  assay rl prompts add --difficulty 2\n"
            "  assay rl prompts sort --difficulty 5 --seed 7 --count 100 --json");
    }

    int run() override {
        const auto task = of_word<tasks::Task>(task_).value();
        std::string text;
        auto all = nlohmann::ordered_json::array();
        for (std::uint64_t number = 0; number < count_; ++number) {
            const tasks::Question next = tasks::question(task, difficulty_, seed_, number);
            if (json_)
                all.push_back({{"prompt", next.prompt}, {"answer", next.answer}});
            else
                text += next.prompt + next.answer + '\n';
        }
        std::cout << (json_ ? report::printable_dump(all) + '\n' : text);
        return 0;
    }

  private:
    std::string task_;
    int difficulty_ = 0;
    std::uint64_t seed_ = 1, count_ = 10;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_prompts_command() { return std::make_unique<PromptsCommand>(); }

}  // namespace assay::rl
