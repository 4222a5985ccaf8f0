#include "impls/plato/experiments/recorded_plans.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "suite/base/datasets.hpp"
#include "suite/base/error.hpp"

namespace assay::plato {
namespace {

std::filesystem::path file() { return datasets_dir() / "plans" / "recorded.md"; }

}  // namespace

std::vector<RecordedAnswer> Recorded::answers() const {
    std::ifstream in(file(), std::ios::binary);
    if (!in) throw UserError(file().string() + " cannot be read; it is part of the project");
    const auto all = read_recorded(in, file().string());
    const auto count = static_cast<std::size_t>(records);
    std::vector<RecordedAnswer> chosen;
    for (std::size_t i = 0; i < count; ++i) chosen.push_back(all[i * all.size() / count]);
    return chosen;
}

Axes<Recorded> recorded_axes() {
    Axes<Recorded> axes;
    axes.part(live_sample());
    axes.axis("records", &Recorded::records, "how many of the recorded answers, spread over all",
              between(1, recorded_count));
    return axes;
}

std::vector<Input> recorded_inputs(const Recorded&) {
    return {{.name = "records", .file = file(), .sha256 = {}}};
}

std::vector<ProfilePlan> recorded_profiles(int records, double seconds_per_sample) {
    ProfilePlan toy;
    toy.provenances = {Provenance::measured};
    toy.axes = {{"records", Sweep<int>{records}.values}};
    toy.seconds_per_sample = seconds_per_sample;
    ProfilePlan small = toy;
    small.profile = Profile::small;
    small.axes.clear();
    small.seconds_per_sample = seconds_per_sample * recorded_count / records;
    small.timeout_s = 7200;
    return {toy, small};
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
