#include "suite/cli/upkeep/operation_samples.hpp"

#include "suite/base/suggested_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace assay::cli {
namespace {

/// Those that say something about an operation's durations.
std::vector<store::Sample> measured_samples(const store::Store& store,
                                            const std::string& experiment,
                                            const std::string& session,
                                            const std::string& variant) {
    std::vector<store::Sample> found,
        all = session.empty() ? store.newest_samples(experiment) : store.samples(session);
    bool modelled = false;
    for (store::Sample& sample : all) {
        if (sample.spec.experiment != experiment || sample.status != "ok") continue;
        if (!variant.empty() && sample.spec.variant != variant) continue;
        if (sample.spec.provenance != Provenance::measured)
            modelled = true;
        else
            found.push_back(std::move(sample));
    }
    if (found.empty())
        throw UserError(fmt::format(
            "no measured samples of {}{}{}", experiment,
            variant.empty() ? "" : fmt::format(", variant {}", variant),
            modelled ? ": those that there are took their times from a cost model, and fit nothing"
                     : fmt::format("; {} makes some", suggested("run " + experiment))));
    return found;
}

/// The value under the same labels, else the one without any; nothing where there is neither.
std::optional<double> value_of(const store::Sample& sample, const std::string& name,
                               const Labels& labels) {
    std::optional<double> without;
    for (const store::MetricValue& metric : sample.metrics) {
        if (metric.name != name) continue;
        if (metric.labels == labels) return metric.value;
        if (metric.labels.empty()) without = metric.value;
    }
    return without;
}

std::string operation_of(const store::MetricValue& metric, const OperationMetrics& metrics) {
    if (!metrics.operation.empty()) return metrics.operation;
    const auto label = metric.labels.find(operation_label);
    if (label == metric.labels.end())
        throw UserError(
            fmt::format("'{}' has no label 'operation': name the operation with "
                        "--operation NAME",
                        metric.name));
    return to_string(label->second);
}

/// What somebody named must be there; what an experiment may record it may leave out.
void expect_named(const std::string& experiment, const OperationMetrics& metrics,
                  const std::set<std::string>& recorded) {
    const OperationMetrics usual;
    for (const auto member :
         {&OperationMetrics::flops, &OperationMetrics::bytes, &OperationMetrics::kernels})
        if (metrics.*member != usual.*member && !recorded.contains(metrics.*member))
            throw UserError(fmt::format("{} records no metric '{}'; `assay describe {}` lists them",
                                        experiment, metrics.*member, experiment));
}

template <class Range>
void expect_one(const std::string& experiment, const char* what, const Range& names,
                const char* how) {
    if (names.size() < 2) return;
    throw UserError(fmt::format("the samples of {} are of several {}s ({}): choose one with {}",
                                experiment, what, fmt::join(names, ", "), how));
}

}  // namespace

OperationSamples operation_samples(const store::Store& store, const std::string& experiment,
                                   const std::string& session, const std::string& variant,
                                   const OperationMetrics& metrics) {
    OperationSamples found;
    std::set<std::string> machines, variants, sessions, recorded;
    for (const store::Sample& sample : measured_samples(store, experiment, session, variant)) {
        for (const store::MetricValue& metric : sample.metrics) {
            recorded.insert(metric.name);
            if (metric.name != metrics.seconds) continue;
            const auto told = [&](const std::string& name) {
                return value_of(sample, name, metric.labels).value_or(0);
            };
            Labels rest = metric.labels;
            rest.erase(operation_label);
            found.timed[operation_of(metric, metrics)].push_back(
                {.work = {.flops = told(metrics.flops),
                          .bytes = told(metrics.bytes),
                          .kernels = told(metrics.kernels)},
                 .seconds = metric.value,
                 .origin =
                     fmt::format("{} {}{}{}", sample.id.substr(0, 8), to_string(sample.spec.axes),
                                 rest.empty() ? "" : " ", to_string(rest))});
            machines.insert(sample.origin.hardware);
            variants.insert(sample.spec.variant);
            sessions.insert(sample.session);
        }
    }
    if (found.timed.empty())
        throw UserError(fmt::format(
            "{} records no metric '{}'; --seconds names the one that holds durations, --flops, "
            "--bytes and --kernels those of the work",
            experiment, metrics.seconds));
    expect_named(experiment, metrics, recorded);
    expect_one(experiment, "machine", machines, "--session ID");
    expect_one(experiment, "variant", variants, "--variant NAME");
    found.sessions.assign(sessions.begin(), sessions.end());
    if (const auto of = store.session(found.sessions.front()))
        found.host = store::host_of(of->suspects);
    return found;
}

}  // namespace assay::cli
