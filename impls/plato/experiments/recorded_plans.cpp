#include "impls/plato/experiments/recorded_plans.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "impls/plato/experiments/plan_axes.hpp"
#include "suite/base/datasets.hpp"
#include "suite/base/error.hpp"

namespace assay::plato {
namespace {

std::filesystem::path file() { return datasets_dir() / "plans" / "recorded.md"; }

std::vector<RecordedAnswer> all_answers() {
    std::ifstream in(file(), std::ios::binary);
    if (!in) throw UserError(file().string() + " cannot be read; it is part of the project");
    return read_recorded(in, file().string());
}

}  // namespace

int recorded_count() { return static_cast<int>(all_answers().size()); }

std::vector<RecordedAnswer> recorded_answers(int count) {
    const auto all = all_answers();
    std::vector<RecordedAnswer> chosen;
    for (int i = 0; i < count; ++i)
        chosen.push_back(
            all[static_cast<std::size_t>(i) * all.size() / static_cast<std::size_t>(count)]);
    return chosen;
}

Axis records_axis() {
    return {"records",
            "how many of the recorded answers, spread over all",
            {Value(std::int64_t{30})},
            true};
}

void declare_recorded(Experiment& experiment, int records, double seconds_per_sample) {
    experiment.axes.push_back(records_axis());
    ProfilePlan toy;
    toy.provenances = {Provenance::measured};
    toy.axes = {{"records", {Value(std::int64_t{records})}}};
    toy.seconds_per_sample = seconds_per_sample;
    ProfilePlan small = toy;
    small.profile = Profile::small;
    small.axes.clear();
    small.seconds_per_sample = seconds_per_sample * 30 / records;
    small.timeout_s = 7200;
    experiment.profiles = {toy, small};
    experiment.validate = [](const SampleSpec& spec) {
        integer_axis(spec, "records", 1, recorded_count());
    };
    experiment.unsupported = live_unsupported;
    experiment.inputs = [](const SampleSpec& spec) {
        auto inputs = live_inputs(spec);
        inputs.push_back({.name = "records", .file = file(), .sha256 = {}});
        return inputs;
    };
}

std::vector<std::vector<double>> nats_per_token(const LiveRun& run) {
    std::vector<std::vector<double>> nats;
    for (const LiveAnswer& answer : run.answers) {
        auto& of_answer = nats.emplace_back();
        for (const LiveNode& node : answer.nodes) {
            double sum = 0;
            for (const double log_probability : node.log_probabilities) sum -= log_probability;
            of_answer.push_back(sum / static_cast<double>(node.log_probabilities.size()));
        }
    }
    return nats;
}

double SignTest::net_win_rate() const {
    const int all = wins + losses + ties;
    return all > 0 ? static_cast<double>(wins - losses) / all : 0;
}

double SignTest::p() const {
    const int n = wins + losses, fewer = std::min(wins, losses);
    double tail = 0;
    for (int k = 0; k <= fewer; ++k)
        tail += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) -
                         n * std::log(2.0));
    return std::min(1.0, 2 * tail);
}

SignTest sign_test(const std::vector<double>& ours, const std::vector<double>& theirs) {
    SignTest test;
    for (std::size_t i = 0; i < ours.size(); ++i)
        ++(ours[i] < theirs[i] ? test.wins : ours[i] > theirs[i] ? test.losses : test.ties);
    return test;
}

}  // namespace assay::plato
