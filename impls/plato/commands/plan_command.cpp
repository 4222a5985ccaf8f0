// `assay plan plato`: what a model's plan says, and what decoding its parts side by side gains.
#include "impls/plato/commands/plan_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "impls/model/named_models.hpp"
#include "impls/nn/files/tensor_file.hpp"
#include "impls/plato/live/question.hpp"
#include "impls/plato/plans/plan_file.hpp"
#include "impls/plato/policy/plan_text.hpp"
#include "impls/plato/simulated/step_model.hpp"
#include "suite/base/error.hpp"
#include "suite/base/input_file.hpp"
#include "suite/cli/one_of.hpp"
#include "suite/report/text/terminal_text.hpp"

namespace assay::plato {
namespace {

using nlohmann::ordered_json;

// ---- a plan as text

ordered_json to_json(const PlanParser& plan) {
    auto nodes = ordered_json::array();
    for (const PlannedNode& node : plan.nodes()) {
        nodes.push_back({{"i", nodes.size() + 1},
                         {"title", node.title},
                         {"deps", node.dependencies},
                         {"d", node.difficulty ? ordered_json(*node.difficulty) : nullptr}});
    }
    return {{"nodes", nodes},
            {"dep_dropped", plan.dropped_dependencies().size()},
            {"repaired", plan.repaired()},
            {"nodes_dropped", plan.dropped_nodes()},
            {"truncated", plan.truncated()},
            {"fallback", plan.fallback()},
            {"warnings", plan.warnings()},
            {"dropped", plan.dropped_dependencies()}};
}

std::string to_text(const PlanParser& plan) {
    std::string text;
    int number = 0;
    for (const PlannedNode& node : plan.nodes())
        text += fmt::format("{:>4}  {}{}\n", ++number, report::printable(node.title),
                            node.dependencies.empty()
                                ? std::string()
                                : fmt::format("  (after {})", fmt::join(node.dependencies, ", ")));
    for (const auto* const sentences : {&plan.warnings(), &plan.dropped_dependencies()})
        for (const std::string& sentence : *sentences) text += report::printable(sentence) + "\n";
    if (plan.dropped_nodes() > 0)
        text += fmt::format("dropped: {} {} after the tenth\n", plan.dropped_nodes(),
                            plan.dropped_nodes() == 1 ? "node" : "nodes");
    if (plan.truncated()) text += "the text ends within a line and without END\n";
    if (plan.fallback()) text += "no plan: the question is answered without one\n";
    return text;
}

// ---- plans in numbers

ordered_json to_json(const PlanRecord& plan) {
    auto nodes = ordered_json::array();
    for (const NodeRecord& node : plan.nodes) {
        nodes.push_back({{"i", nodes.size() + 1},
                         {"line_tokens", node.line_tokens},
                         {"lead_tokens", node.lead_tokens},
                         {"out_tokens", node.out_tokens},
                         {"deps", node.dependencies}});
        if (node.point_tokens) nodes.back()["point_tokens"] = *node.point_tokens;
        if (node.text) nodes.back()["text"] = *node.text;
    }
    ordered_json object{{"id", plan.id},
                        {"question_tokens", plan.question_tokens},
                        {"static_plan_tokens", plan.static_plan_tokens},
                        {"static_node_tokens", plan.static_node_tokens}};
    if (plan.static_skeleton_tokens)
        object["static_skeleton_tokens"] = *plan.static_skeleton_tokens;
    if (plan.static_point_tokens) object["static_point_tokens"] = *plan.static_point_tokens;
    object["ar_tokens"] = plan.ar_tokens;
    object["nodes"] = nodes;
    return object;
}

struct Planned {
    std::vector<PlanRecord> plans;
    std::vector<Schedule> schedules;

    double speedup() const {
        double ar = 0, makespan = 0;
        for (const Schedule& schedule : schedules) {
            ar += schedule.ar_ms;
            makespan += schedule.makespan_ms;
        }
        return ar / makespan;
    }
    /// 1 where prompts are empty: nothing was reused.
    double recomputed_fraction() const {
        std::int64_t recomputed = 0, all = 0;
        for (const Schedule& schedule : schedules) {
            recomputed += schedule.recomputed_tokens;
            all += schedule.prompt_tokens;
        }
        return all > 0 ? static_cast<double>(recomputed) / static_cast<double>(all) : 1;
    }
};

ordered_json to_json(const Planned& planned) {
    auto plans = ordered_json::array();
    for (std::size_t i = 0; i < planned.plans.size(); ++i) {
        const Schedule& schedule = planned.schedules[i];
        auto nodes = ordered_json::array();
        for (const NodeSchedule& node : schedule.nodes)
            nodes.push_back({{"i", nodes.size() + 1},
                             {"prompt_tokens", node.prompt_tokens},
                             {"recomputed_tokens", node.recomputed_tokens},
                             {"ready_ms", node.ready_ms},
                             {"start_ms", node.start_ms},
                             {"end_ms", node.end_ms}});
        plans.push_back({{"id", planned.plans[i].id},
                         {"ar_ms", schedule.ar_ms},
                         {"makespan_ms", schedule.makespan_ms},
                         {"speedup", schedule.speedup()},
                         {"critical_path_ms", schedule.critical_path_ms},
                         {"answer_tokens", schedule.answer_tokens},
                         {"plan_tokens", schedule.plan_tokens},
                         {"steps", schedule.steps},
                         {"prompt_tokens", schedule.prompt_tokens},
                         {"recomputed_tokens", schedule.recomputed_tokens},
                         {"nodes", nodes}});
    }
    return {
        {"plans", plans},
        {"total",
         {{"speedup", planned.speedup()}, {"recomputed_fraction", planned.recomputed_fraction()}}}};
}

std::string to_text(const Planned& planned) {
    std::string text =
        fmt::format("{:<20} {:>12} {:>12} {:>8} {:>14} {:>11}\n", "plan", "without, ms", "with, ms",
                    "speedup", "longest path", "recomputed");
    for (std::size_t i = 0; i < planned.plans.size(); ++i) {
        const Schedule& schedule = planned.schedules[i];
        text += fmt::format("{:<20} {:>12.1f} {:>12.1f} {:>7.2f}x {:>11.1f} ms {:>5} of {}\n",
                            report::printable(planned.plans[i].id), schedule.ar_ms,
                            schedule.makespan_ms, schedule.speedup(), schedule.critical_path_ms,
                            schedule.recomputed_tokens, schedule.prompt_tokens);
    }
    text += fmt::format(
        "All together {:.2f} times as fast as without plans; of the nodes' prompt tokens {:.0f} % "
        "are computed again.\n",
        planned.speedup(), 100 * planned.recomputed_fraction());
    if (planned.speedup() < 1) text += "Planning does not pay at these step times.\n";
    return text;
}

class PlanCommand : public Command {
  public:
    void options(CLI::App& app) override {
        app.description(
            "What decoding the parts of a planned answer side by side gains: plans in numbers and "
            "the times of a step give every node's schedule. Or what the text of a plan says. "
            "Arithmetic; nothing is run");
        CLI::Option* const text =
            app.add_option("--text", text_, "a plan as a model writes it; - reads standard input")
                ->type_name("FILE|-");
        CLI::Option* const plans =
            app.add_option("--plans", plans_,
                           "plans in numbers, a JSON object a line (below); - reads standard input")
                ->type_name("FILE|-")
                ->excludes(text);
        CLI::Option* const records =
            app.add_option("--records", records_,
                           "recorded answers with their plans, as text or JSON lines (below): "
                           "prints them as plans in numbers; - reads standard input")
                ->type_name("FILE|-")
                ->excludes(text)
                ->excludes(plans);
        app.add_option("--model", model_, "whose tokens are counted: a file, or a data set")
            ->needs(records)
            ->type_name("FILE");
        app.add_option("--step-ms", step_ms_,
                       "milliseconds of a step: C0, and C1 more for each sequence in it. Of this "
                       "machine: metrics step_ms and sequence_ms of `assay run plato/pipeline "
                       "--all-metrics`, measured; prefill_ms for the next")
            ->delimiter(',')
            ->expected(2)
            ->needs(plans)
            ->type_name("C0,C1");
        app.add_option("--prefill-ms", prefill_ms_, "milliseconds of a prompt token")
            ->needs(plans)
            ->type_name("P");
        app.add_option("--mode", mode_,
                       "ar: without plans. sot: Skeleton-of-Thought. waves: depth after depth. "
                       "plato_nopipe: by dependencies, once the plan is there. plato: while it is "
                       "being written")
            ->capture_default_str()
            ->needs(plans)
            ->check(cli::one_of<Mode>())
            ->type_name("NAME");
        app.add_option("--kv", kv_,
                       "what prompts take from the cache. L0: nothing. L1: instruction and "
                       "question. L2: the longest common prefix. L3: answers wherever they stand "
                       "(not exact)")
            ->capture_default_str()
            ->needs(plans)
            ->check(cli::one_of<KvReuse>())
            ->type_name("LEVEL");
        app.add_option("--order", order_,
                       "which ready node goes first: with the longest path to come, the lowest "
                       "number, the most of its prompt cached")
            ->capture_default_str()
            ->needs(plans)
            ->check(cli::one_of<Order>())
            ->type_name("NAME");
        app.add_option("--max-batch", max_batch_,
                       "sequences side by side, an unfinished plan among them")
            ->capture_default_str()
            ->needs(plans)
            ->check(CLI::Range(1, 1 << 20))
            ->type_name("B");
        app.add_flag("--warm", warm_, "instructions are cached before (not at L0)")->needs(plans);
        app.add_flag("--json", json_,
                     "print JSON: \"plans\" and \"total\", or \"nodes\" and \"warnings\"");
        app.footer(
            "A plan as text, of ten nodes at most; usual ways to write numbers and lists are read, "
            "what is no line of it is passed over:\n"
            "  1. What it is for | deps: -\n"
            "  2. What it costs | deps: 1 | d: 3\n"
            "  END\n"
            "A plan in numbers (tokens; ar_tokens, of an answer without a plan, may be left out; "
            "for "
            "Skeleton-of-Thought also static_skeleton_tokens, static_point_tokens and, of a node, "
            "point_tokens, else static_plan_tokens, static_node_tokens, lead_tokens):\n"
            "  {\"id\":\"w01\",\"question_tokens\":10,\"static_plan_tokens\":20,"
            "\"static_node_tokens\":5,\"nodes\":[\n"
            "   {\"i\":1,\"line_tokens\":3,\"lead_tokens\":2,\"out_tokens\":4,\"deps\":[]},\n"
            "   {\"i\":2,\"line_tokens\":3,\"lead_tokens\":2,\"out_tokens\":3,\"deps\":[1]}]}   "
            "(on one line)\n"
            "Recorded answers (or "
            "{\"id\",\"question\",\"nodes\":[{\"title\",\"deps\",\"answer\"}]} "
            "a line):\n"
            "  ## ID, the question, ### plan, lines of the plan, END, ### 1, the answer of node 1, "
            "…\n"
            "Examples:\n"
            "  assay plan plato --text plan.txt\n"
            "  assay plan plato --records answers.md --model smollm2-135m-instruct > plans.jsonl\n"
            "  assay plan plato --plans plans.jsonl --step-ms 21,2.6 --prefill-ms 2.5\n"
            "  assay plan plato --plans plans.jsonl --step-ms 3.1,0.01 --prefill-ms 0.02 --mode "
            "plato_nopipe --kv L0 --json");
    }

    int run() override {
        if (!records_.empty()) {
            for (const PlanRecord& plan : recorded())
                std::cout << report::printable_dump(to_json(plan)) << '\n';
        } else if (!text_.empty()) {
            const PlanParser plan = parsed();
            std::cout << (json_ ? report::printable_dump(to_json(plan)) + '\n' : to_text(plan));
        } else {
            const Planned plans = planned();
            std::cout << (json_ ? report::printable_dump(to_json(plans)) + '\n' : to_text(plans));
        }
        return 0;
    }

  private:
    PlanParser parsed() const {
        PlanParser plan;
        InputFile file("--text", text_);
        const std::string text = file.text();
        if (text.find_first_not_of(" \t\r\n") == text.npos)
            throw UserError(file.name() + ": it is empty; give the text that a model wrote");
        plan.feed(text);
        plan.finish();
        return plan;
    }

    std::vector<PlanRecord> recorded() const {
        if (model_.empty())
            throw UserError("--records needs --model FILE, whose tokens are counted");
        InputFile records("--records", records_);
        const std::vector<RecordedAnswer> answers = read_recorded(records.stream(), records.name());
        const nn::TensorFile file(model::locate_file(model_, data::Kind::model));
        std::vector<PlanRecord> plans;
        for (QuestionTokens& question : recorded_tokens(answers, nn::Tokenizer::of(file)))
            plans.push_back(std::move(question.plan));
        return plans;
    }

    Planned planned() const {
        if (plans_.empty())
            throw UserError(
                "give --plans FILE with --step-ms and --prefill-ms, --text FILE, or --records FILE "
                "with --model");
        if (step_ms_.empty() || !prefill_ms_)
            throw UserError("--plans needs --step-ms C0,C1 and --prefill-ms P, in milliseconds");
        const StepCosts costs{
            .step_ms = step_ms_[0], .sequence_ms = step_ms_[1], .prefill_ms = *prefill_ms_};
        const auto at_least_zero = [](const char* what, double value) {
            constexpr double most_ms = 1e9;  // sums of many steps stay numbers
            if (!(value >= 0 && value <= most_ms))
                throw UserError(
                    fmt::format("{} {:g}: give milliseconds from 0 to {:g}", what, value, most_ms));
        };
        at_least_zero("--step-ms: C0", costs.step_ms);
        at_least_zero("--step-ms: C1", costs.sequence_ms);
        at_least_zero("--prefill-ms", costs.prefill_ms);
        if (costs.step_ms == 0)
            throw UserError("--step-ms: C0 is 0; a step takes some time, give it above 0");
        const ScheduleSettings settings{.mode = of_word<Mode>(mode_).value(),
                                        .reuse = of_word<KvReuse>(kv_).value(),
                                        .order = of_word<Order>(order_).value(),
                                        .max_batch = max_batch_,
                                        .warm = warm_};
        Planned planned;
        InputFile plans("--plans", plans_);
        planned.plans = read_plans(plans.stream(), plans.name());
        for (const PlanRecord& plan : planned.plans)
            planned.schedules.push_back(schedule(plan, costs, settings));
        return planned;
    }

    std::string text_, plans_, records_, model_, mode_ = "plato", kv_ = "L2", order_ = "path";
    std::vector<double> step_ms_;
    std::optional<double> prefill_ms_;
    int max_batch_ = 64;
    bool warm_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_plan_command() { return std::make_unique<PlanCommand>(); }

}  // namespace assay::plato
