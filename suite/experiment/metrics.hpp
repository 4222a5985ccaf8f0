// Metrics that both declare themselves and record, in one struct of an experiment's own.
//
//     struct Found : Metrics {
//         using Metrics::Metrics;
//         Metric deaths = exact("deaths", "count", "workers lost");
//         Metric step_s = varying("step_s", "s", "of a step", lower, {"step"});
//     };
//     experiment.metrics = declared<Found>();
//     const Found found(recorder);
//     found.deaths(3);
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "suite/experiment/experiment.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay {

class Metric;

class Metrics {
  public:
    Metrics() = default;  ///< to be declared only
    explicit Metrics(Recorder& recorder) : recorder_(&recorder) {}
    Metrics(const Metrics&) = delete;  // its metrics know where it is
    Metrics& operator=(const Metrics&) = delete;

    const std::vector<MetricSpec>& specs() const { return specs_; }

  protected:
    static constexpr auto higher = Direction::higher, lower = Direction::lower,
                          none = Direction::none;
    /// Equal whenever the sample is made again (MetricSpec::deterministic).
    Metric exact(std::string name, std::string unit, std::string says, Direction better = none,
                 std::vector<std::string> labels = {});
    Metric varying(std::string name, std::string unit, std::string says, Direction better = none,
                   std::vector<std::string> labels = {});
    /// Equal but in samples of these.
    Metric exact_unless(std::vector<Provenance> varies, std::string name, std::string unit,
                        std::string says, Direction better = none);
    Metric metric(MetricSpec spec);

  private:
    friend class Metric;
    Recorder* recorder_ = nullptr;
    std::vector<MetricSpec> specs_;  ///< in the order of the members
};

class Metric {
  public:
    template <class Number>
    void operator()(Number value, const Labels& labels = {}) const {
        of_->recorder_->metric(of_->specs_[at_].name, static_cast<double>(value), labels);
    }

  private:
    friend class Metrics;
    Metric(const Metrics* of, std::size_t at) : of_(of), at_(at) {}
    const Metrics* of_;
    std::size_t at_;
};

/// For Experiment::metrics.
template <class Found>
std::vector<MetricSpec> declared() {
    return Found().specs();
}

}  // namespace assay
