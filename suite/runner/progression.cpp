#include "suite/runner/progression.hpp"

#include <algorithm>
#include <chrono>

namespace assay::runner {
namespace {

double steady_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

std::string case_key(const SampleSpec& spec) {
    return spec.experiment + '\n' + spec.variant + '\n' + assay::to_string(spec.axes) + '\n' +
           spec.scenario;
}

}  // namespace

double Progression::Sum::excess_s() const {
    return measured == 0 ? 0 : (taken_s - estimated_s) / static_cast<double>(measured);
}

Progression::Progression(const Plan& plan, const Listener& listener, std::function<double()> now,
                         int times)
    : tell_(listener), now_(now ? std::move(now) : steady_seconds) {
    planned_ = times * static_cast<long>(plan.samples.size());
    for (const PlannedSample& sample : plan.samples) {
        Sum& sum = of(sample).sum;
        sum.left += times;
        sum.left_s += times * sample.seconds;
    }
}

void Progression::beside(const Plan& plan) {
    for (const PlannedSample& sample : plan.samples) {
        OfCase& of_case = of(sample);
        of_case.counted = false;
        ++of_case.sum.left;
        of_case.sum.left_s += sample.seconds;
    }
}

Progression::OfCase& Progression::of(const PlannedSample& sample) {
    OfCase& found = cases_[case_key(sample.spec)];
    found.experiment = sample.spec.experiment;
    return found;
}

void Progression::no_longer_left(const PlannedSample& sample) {
    Sum& sum = of(sample).sum;
    --sum.left;
    sum.left_s -= sample.seconds;
}

void Progression::count(const std::string& status) {
    ++done_;
    if (status == to_string(SampleStatus::failed)) ++failed_;
}

void Progression::passed_over(const PlannedSample& sample, const std::string& status) {
    count(status);
    no_longer_left(sample);
}

void Progression::saved(const PlannedSample& sample) {
    if (of(sample).counted) {
        --planned_;
        ++saved_;
    }
    no_longer_left(sample);
}

void Progression::started(const PlannedSample& sample) {
    no_longer_left(sample);
    if (at_once_ == 1) running_.clear();  // what was interrupted
    running_[&sample] = {case_key(sample.spec), now_(), sample.seconds, {}, {}, {}};
}

void Progression::finished(const PlannedSample& sample, const store::Sample& result) {
    running_.erase(&sample);
    if (of(sample).counted) count(result.status);
    for (Sum* sum : {&of(sample).sum, &experiments_[sample.spec.experiment], &all_}) {
        ++sum->measured;
        sum->estimated_s += sample.seconds;
        sum->taken_s += result.seconds;
    }
}

double Progression::expected_s(const OfCase& of_case, double estimate_s) const {
    if (of_case.sum.measured > 0)
        return of_case.sum.taken_s / static_cast<double>(of_case.sum.measured);
    const auto experiment = experiments_.find(of_case.experiment);
    const double excess_s =
        experiment != experiments_.end() ? experiment->second.excess_s() : all_.excess_s();
    return std::max(0.0, estimate_s + excess_s);
}

double Progression::rest_of(const Running& running) const {
    const double now = now_();
    // A sample that is resumed starts with a part done: what counts is its pace since then.
    if (running.fraction && running.first_fraction && *running.fraction > *running.first_fraction) {
        const double pace =
            (*running.fraction - *running.first_fraction) / (now - *running.first_at);
        if (pace > 0) return std::max(0.0, (1 - *running.fraction) / pace);
    }
    const double expected = expected_s(cases_.at(running.of_case), running.estimate_s);
    return std::max(0.0, expected - (now - running.began));
}

double Progression::eta_s() const {
    double eta_s = 0, longest_s = 0;
    for (const auto& [sample, running] : running_) {
        const double rest_s = rest_of(running);
        longest_s = std::max(longest_s, rest_s);
        eta_s += rest_s;
    }
    for (const auto& [key, of_case] : cases_) {
        const Sum& sum = of_case.sum;
        if (sum.left == 0) continue;
        const auto left = static_cast<double>(sum.left);
        eta_s += left * expected_s(of_case, sum.left_s / left);
    }
    return std::max(longest_s, eta_s / at_once_);
}

void Progression::tell(const std::string& kind, nlohmann::json body) {
    if (kind == "progress" && running_.size() == 1) {  // of several: by what such samples took
        Running& running = running_.begin()->second;
        running.fraction = body.at("fraction").get<double>();
        if (!running.first_fraction) {
            running.first_fraction = running.fraction;
            running.first_at = now_();
        }
    }
    if (tell_) tell_(Notice{kind, std::move(body), done_, failed_, planned_, eta_s(), saved_});
}

}  // namespace assay::runner
