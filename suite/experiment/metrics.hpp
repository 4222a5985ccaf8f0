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

#include <initializer_list>
#include <string>
#include <string_view>
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
    using Labelled = std::initializer_list<std::string_view>;
    /// Equal whenever the sample is made again (MetricSpec::deterministic).
    Metric exact(std::string_view name, std::string_view unit, std::string_view says,
                 Direction better = none, Labelled labels = {});
    Metric varying(std::string_view name, std::string_view unit, std::string_view says,
                   Direction better = none, Labelled labels = {});
    /// Equal but in samples of these.
    Metric exact_unless(std::vector<Provenance> varies, std::string_view name,
                        std::string_view unit, std::string_view says, Direction better = none);
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
        record(static_cast<double>(value), labels);
    }

  private:
    friend class Metrics;
    void record(double value, const Labels& labels) const;
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
