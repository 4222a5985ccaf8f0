// What `assay plan hetermoe` prints for people.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "impls/hetermoe/commands/commands.hpp"
#include "suite/report/text/text_page.hpp"

namespace assay::hetermoe {
namespace {

using Page = report::TextPage;

constexpr std::size_t most_options = 12;

std::string share(const Fraction& fraction) {
    return fmt::format("{:.1f}%", 100 * fraction.value());
}

std::string gpus_text(int gpus, const char* kind) {
    return fmt::format("{} {} GPU{}", gpus, kind, gpus == 1 ? "" : "s");
}

std::string offload_text(const std::vector<int>& offload) {
    if (std::all_of(offload.begin(), offload.end(), [](int moved) { return moved == 0; }))
        return "none";
    return fmt::format("{}", fmt::join(offload, " "));
}

void write_head(const PlanReport& report, Page& page) {
    const TrainingProfile& profile = report.profile;
    page.sentence(
        fmt::format("{} and {}; {} layers of {} experts; backward {} times forward; "
                    "experts moved: {}",
                    gpus_text(profile.new_kind.gpus, "new"),
                    gpus_text(profile.old_kind.gpus, "old"), profile.layers, profile.experts,
                    report.settings.backward.value(), to_string(report.settings.asym)));
}

void write_best(const PlanReport& report, Page& page) {
    const Option& best = report.plan.best_option();
    const auto [m, n] = best.group;
    page.empty_line();
    page.sentence(
        fmt::format("{} group{} of {} for attention and {} for experts, {} micro-batch{} "
                    "per step: {} micro-batches/s",
                    best.groups, best.groups == 1 ? "" : "s", gpus_text(m, "new"),
                    gpus_text(n, "old"), best.micro_batches, best.micro_batches == 1 ? "" : "es",
                    report::number(best.per_s.value())),
        "best: ");
    page.sentence(
        fmt::format("a step takes {} s and its gradients {} s; new GPUs compute {} of "
                    "the step, old ones {}",
                    report::number(best.makespan_s.value()), report::number(best.sync_s.value()),
                    share(best.new_busy), share(best.old_busy)),
        "      ");
    page.sentence(fmt::format("experts that each old GPU gives up, layer by layer (it has {}): {}",
                              report.profile.experts / n, offload_text(best.offload)),
                  "      ");
    const int idle = report.profile.new_kind.gpus + report.profile.old_kind.gpus - best.gpus();
    if (idle > 0)
        page.sentence(fmt::format("{} of the GPUs {} not used", idle, idle == 1 ? "is" : "are"),
                      "      ");
}

// Whether splitting the model over both kinds pays.
void write_verdict(const PlanReport& report, Page& page) {
    page.empty_line();
    if (!report.plan.rivals) {
        page.sentence(
            "what expert parallelism over all GPUs would reach is not known: give attention_s of "
            "[old]",
            "rivals: ");
        return;
    }
    const double rate = report.plan.best_option().per_s.value();
    const auto [ep, ideal] = *report.plan.rivals;
    const double ratio = rate / ep, ideal_ratio = rate / ideal;
    const std::string numbers = fmt::format(
        "{:.3g} times expert parallelism over all GPUs ({} micro-batches/s), {:.3g} times both "
        "kinds apart, added ({})",
        ratio, report::number(ep), ideal_ratio, report::number(ideal));
    if (ratio <= 1) {
        page.sentence("splitting does not pay here: " + numbers, "rivals: ");
    } else if (ideal_ratio <= 1) {
        page.sentence(
            "splitting beats plain expert parallelism, but not each kind training for "
            "itself: " +
                numbers,
            "rivals: ");
    } else {
        page.sentence("splitting pays: " + numbers, "rivals: ");
    }
}

std::string meaning(PlanWarning warning) {
    switch (warning) {
        case PlanWarning::attention_bound:
            return "attention takes at least as long as experts, so no expert need move; more new "
                   "GPUs would help";
        case PlanWarning::exchange_bound:
            return "an exchange takes longer than attention or experts and cannot hide behind "
                   "them; a faster link would help";
        case PlanWarning::few_micro_batches:
            return "there are too few micro-batches to keep both kinds busy while one goes round; "
                   "more of them would help, if memory allows";
    }
    return "";
}

void write_warnings(const PlanReport& report, Page& page) {
    for (const PlanWarning warning : report.plan.warnings)
        page.sentence(fmt::format("{}: {}", to_string(warning), meaning(warning)), "warning: ");
}

void write_options(const PlanReport& report, Page& page) {
    const std::vector<Option>& options = report.plan.options;
    std::vector<std::size_t> fastest(options.size());
    std::iota(fastest.begin(), fastest.end(), std::size_t{0});
    const auto faster = [&](std::size_t a, std::size_t b) {
        const bool best_a = a == report.plan.best, best_b = b == report.plan.best;
        if (best_a != best_b) return best_a;
        return options[a].per_s > options[b].per_s;
    };
    std::stable_sort(fastest.begin(), fastest.end(), faster);
    fastest.resize(std::min(fastest.size(), most_options));
    page.empty_line();
    page.sentence(fmt::format(
        "the fastest {} of {} options; {} of {} groups do not fit", fastest.size(), options.size(),
        report.plan.infeasible.size(),
        std::size_t(report.profile.new_kind.gpus) * std::size_t(report.profile.old_kind.gpus)));
    report::Grid grid{{"new", "old", "groups", "micro-batches", "moved", "step s", "gradients s",
                       "micro-batches/s", "new busy", "old busy"}};
    for (const std::size_t index : fastest) {
        const Option& option = options[index];
        const int moved = std::accumulate(option.offload.begin(), option.offload.end(), 0);
        grid.push_back({std::to_string(option.group.attention), std::to_string(option.group.expert),
                        std::to_string(option.groups), std::to_string(option.micro_batches),
                        std::to_string(moved * option.group.expert),
                        report::number(option.makespan_s.value()),
                        report::number(option.sync_s.value()), report::number(option.per_s.value()),
                        share(option.new_busy), share(option.old_busy)});
    }
    page.table(grid);
}

void write_timeline(const PlanReport& report, Page& page) {
    if (!report.timeline) return;
    const Option& best = report.plan.best_option();
    const TaskTimes times =
        task_times(report.profile, best.group, report.settings.backward, best.micro_batches);
    page.empty_line();
    page.sentence(
        "tasks of a step of the best option. A: attention, X: experts on new GPUs, E: experts on "
        "old GPUs, D: dispatch, C: combine; F: forward, B: backward");
    report::Grid grid{{"task", "layer", "micro-batch", "start s", "end s"}};
    for (const auto& [task, start, end] : *report.timeline)
        grid.push_back({std::string(to_string(task.kind)), std::to_string(task.layer),
                        std::to_string(task.micro_batch),
                        fmt::format("{:.9f}", times.seconds(start)),
                        fmt::format("{:.9f}", times.seconds(end))});
    page.table(grid);
}

void write_meaning(Page& page) {
    page.empty_line();
    page.sentence(
        "new, old: GPUs of a group. moved: experts of all layers on new GPUs. micro-batches/s: of "
        "all groups, each micro-batch that of one new GPU. Times are computed from the profile, "
        "exactly; nothing was run.");
}

}  // namespace

std::string page_text(const PlanReport& report, std::size_t columns) {
    Page page(columns);
    write_head(report, page);
    write_best(report, page);
    write_verdict(report, page);
    write_warnings(report, page);
    write_options(report, page);
    write_timeline(report, page);
    write_meaning(page);
    return page.text();
}

}  // namespace assay::hetermoe
