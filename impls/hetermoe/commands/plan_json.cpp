// What `assay plan hetermoe --json` prints. Written piece by piece: of thousands of GPUs there are
// millions of groups that do not fit.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <string>
#include <vector>

#include "impls/hetermoe/commands/commands.hpp"
#include "impls/hetermoe/policy/expert_map.hpp"

namespace assay::hetermoe {
namespace {

// [a,b,…]; `write` appends one element.
template <class List, class Write>
void write_list(std::string& text, const List& list, Write&& write) {
    text += '[';
    bool first = true;
    for (const auto& element : list) {
        if (!first) text += ',';
        first = false;
        write(element);
    }
    text += ']';
}

template <class... Arguments>
void append(std::string& text, fmt::format_string<Arguments...> what, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text), what, std::forward<Arguments>(arguments)...);
}

void write_numbers(std::string& text, const std::vector<int>& numbers) {
    append(text, "[{}]", fmt::join(numbers, ","));
}

void write_option(std::string& text, const Option& option) {
    append(text, R"({{"new":{},"old":{},"groups":{},"micro_batches":{},"offload":)",
           option.group.attention, option.group.expert, option.groups, option.micro_batches);
    write_numbers(text, option.offload);
    append(text, R"(,"makespan_s":{},"sync_s":{},"per_s":{},"new_busy":{},"old_busy":{}}})",
           option.makespan_s.value(), option.sync_s.value(), option.per_s.value(),
           option.new_busy.value(), option.old_busy.value());
}

void write_timeline(std::string& text, const PlanReport& report) {
    const Option& best = report.plan.best_option();
    const TaskTimes times =
        task_times(report.profile, best.group, report.settings.backward, best.micro_batches);
    text += R"(,"timeline":)";
    write_list(text, *report.timeline, [&](const TimedTask& timed) {
        append(text, R"({{"task":"{}","layer":{},"micro_batch":{},"start_s":{},"end_s":{}}})",
               to_string(timed.task.kind), timed.task.layer, timed.task.micro_batch,
               times.seconds(timed.start), times.seconds(timed.end));
    });
}

}  // namespace

std::string json_text(const PlanReport& report) {
    const Plan& plan = report.plan;
    const Option& best = plan.best_option();
    std::string text = R"({"options":)";
    write_list(text, plan.options, [&](const Option& option) { write_option(text, option); });
    text += R"(,"infeasible":)";
    write_list(text, plan.infeasible,
               [&](const Group& group) { append(text, "[{},{}]", group.attention, group.expert); });
    append(text, R"(,"best":{},"home":)", plan.best);
    write_list(text, best.offload, [&](int offload) {
        write_numbers(text, homes(report.profile.experts, best.group, offload));
    });
    text += R"(,"rivals":)";
    if (plan.rivals) {
        append(text, R"({{"ep":{},"ep_ideal":{}}})", plan.rivals->ep, plan.rivals->ep_ideal);
    } else {
        text += "null";
    }
    text += R"(,"warnings":)";
    write_list(text, plan.warnings,
               [&](PlanWarning warning) { append(text, R"("{}")", to_string(warning)); });
    if (report.timeline) write_timeline(text, report);
    return text + "}\n";
}

}  // namespace assay::hetermoe
