#include "suite/cli/run/dry_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "suite/base/quantity_text.hpp"
#include "suite/cli/terminal/live_progress.hpp"
#include "suite/cli/terminal/output.hpp"
#include "suite/cli/terminal/terminal.hpp"
#include "suite/report/text/row_name.hpp"
#include "suite/report/text/text_table.hpp"

namespace assay::cli {
namespace {

/// Plans up to this size are listed sample by sample.
constexpr std::size_t few_samples = 40;

struct Sum {
    const runner::PlannedSample* first = nullptr;
    std::set<std::string> cases, variants;
    int rounds = 0;
    long samples = 0;
    double seconds = 0, bytes = 0;
};

std::vector<Sum> per_experiment(const runner::Plan& plan) {
    std::vector<Sum> sums;
    for (const runner::PlannedSample& sample : plan.samples) {
        auto at = std::find_if(sums.begin(), sums.end(), [&](const Sum& sum) {
            return sum.first->spec.experiment == sample.spec.experiment &&
                   sum.first->spec.profile == sample.spec.profile &&
                   sum.first->spec.provenance == sample.spec.provenance;
        });
        if (at == sums.end()) at = sums.insert(at, {&sample, {}, {}, 0, 0, 0, 0});
        Sum& sum = *at;
        sum.cases.insert(assay::to_string(sample.spec.axes));
        sum.variants.insert(sample.spec.variant);
        sum.rounds = std::max(sum.rounds, sample.spec.round + 1);
        ++sum.samples;
        sum.seconds += sample.seconds;
        sum.bytes += sample.bytes;
    }
    return sums;
}

std::string order_table(const runner::Plan& plan) {
    report::Grid rows{{"#", "experiment", "variant", "case", "seed", "faults"}};
    for (std::size_t i = 0; i < plan.samples.size(); ++i) {
        const SampleSpec& spec = plan.samples[i].spec;
        rows.push_back({std::to_string(i + 1), spec.experiment, spec.variant,
                        assay::to_string(spec.axes), std::to_string(spec.seed), spec.scenario});
    }
    return report::text_table(rows, text_columns());
}

report::RowNames names_of(const gate::NightPlan& night) {
    std::vector<RowId> series;
    for (const auto& [id, gate] : night.gates) series.push_back(id);
    return report::RowNames(series);
}

}  // namespace

std::string plan_text(const runner::Plan& plan) {
    report::Grid rows{{"experiment", "profile", "provenance", "cases", "variants", "rounds",
                       "samples", "time", "disk"}};
    for (const Sum& sum : per_experiment(plan))
        rows.push_back({sum.first->spec.experiment, std::string(to_string(sum.first->spec.profile)),
                        std::string(to_string(sum.first->spec.provenance)),
                        std::to_string(sum.cases.size()), std::to_string(sum.variants.size()),
                        std::to_string(sum.rounds), std::to_string(sum.samples),
                        duration_text(sum.seconds), bytes_text(sum.bytes)});
    rows.push_back({"total", "", "", "", "", "", std::to_string(plan.samples.size()),
                    duration_text(plan.seconds), bytes_text(plan.bytes)});
    std::string text = report::text_table(rows, text_columns());
    if (plan.samples.size() <= few_samples) text += "\n" + order_table(plan);
    for (const std::string& sentence : plan.left_out)
        text += hanging("left out: ", sentence, prose_columns());
    for (const runner::StandIn& in : plan.stand_ins)
        text += hanging("", sentence(in), prose_columns());
    return text;
}

std::string night_plan_text(const gate::NightPlan& night) {
    std::map<RowId, std::pair<long, double>> sums;  // samples, seconds
    for (const runner::PlannedSample& sample : night.plan.samples) {
        auto& [samples, seconds] = sums[series_of(sample.spec)];
        ++samples;
        seconds += sample.seconds;
    }
    const report::RowNames names = names_of(night);
    report::Grid rows{{"row", "provenance", "metrics", "margin", "samples", "time"}};
    for (const auto& [id, gate] : night.gates) {
        const auto& [samples, seconds] = sums[id];
        rows.push_back(
            {names.of(id).text(), id.provenance ? std::string(to_string(*id.provenance)) : "",
             gate.metrics.empty() ? "all" : fmt::format("{}", fmt::join(gate.metrics, ", ")),
             fmt::format("{:g} %", gate.margin * 100), std::to_string(samples),
             duration_text(seconds)});
    }
    rows.push_back({"total", "", "", "", std::to_string(night.plan.samples.size()),
                    duration_text(night.plan.seconds)});
    std::string text = report::text_table(rows, text_columns());
    for (const std::string& sentence : night.left_out)
        text += hanging("left out: ", sentence, prose_columns());
    for (const runner::StandIn& in : night.plan.stand_ins)
        text += hanging("", sentence(in), prose_columns());
    return text;
}

nlohmann::json night_plan_json(const gate::NightPlan& night) {
    nlohmann::json all = plan_json(night.plan);
    all["left_out"] = night.left_out;
    const report::RowNames names = names_of(night);
    for (std::size_t i = 0; i < night.plan.samples.size(); ++i)
        all["samples"][i]["row"] = names.of(series_of(night.plan.samples[i].spec)).text();
    return all;
}

nlohmann::json plan_json(const runner::Plan& plan) {
    nlohmann::json samples = nlohmann::json::array();
    for (const runner::PlannedSample& planned : plan.samples) {
        nlohmann::json sample = to_json(planned.spec);
        for (const char* folder : {"scratch", "state", "shared"}) sample.erase(folder);
        sample["seconds"] = planned.seconds;
        sample["bytes"] = planned.bytes;
        samples.push_back(std::move(sample));
    }
    nlohmann::json stand_ins = nlohmann::json::array();
    for (const runner::StandIn& in : plan.stand_ins)
        stand_ins.push_back({{"experiment", in.experiment},
                             {"axis", in.axis},
                             {"value", to_json(in.value)},
                             {"absent", to_json(in.absent)},
                             {"says", sentence(in)}});
    return {{"hash", plan.hash},         {"seconds", plan.seconds}, {"bytes", plan.bytes},
            {"left_out", plan.left_out}, {"stand_ins", stand_ins},  {"samples", samples}};
}

ExitCode print_plan(const runner::Plan& plan, bool json) {
    if (json)
        print_json(plan_json(plan));
    else
        std::cout << plan_text(plan);
    return exit_ok;
}

}  // namespace assay::cli
