#include "suite/report/sample_groups.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace assay::report {
namespace {

std::string told(const std::string& hash) {
    return hash.empty() ? "none" : std::string(short_hash(hash));
}

/// Of samples of one machine that are taken together.
void label_states(std::span<const store::Sample> samples, const std::vector<std::size_t>& together,
                  std::vector<OriginLabel>& labels) {
    std::vector<const Origin*> origins;
    std::set<std::string> calibrations, data;
    for (const std::size_t i : together) {
        origins.push_back(&samples[i].origin);
        calibrations.insert(samples[i].origin.calibration);
        data.insert(samples[i].origin.data);
    }
    if (comparable_sets(origins).size() < 2) return;
    for (const std::size_t i : together) {
        if (calibrations.size() > 1) labels[i].calibration = told(samples[i].origin.calibration);
        if (data.size() > 1) labels[i].data = told(samples[i].origin.data);
    }
}

}  // namespace

double number_of(const Value& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
    if (const auto* real = std::get_if<double>(&value)) return *real;
    return std::numeric_limits<double>::quiet_NaN();
}

bool same_number_or_text(const Value& a, const Value& b) {
    const double x = number_of(a), y = number_of(b);
    return std::isnan(x) || std::isnan(y) ? a == b : x == y;
}

std::partial_ordering OrderedValue::operator<=>(const OrderedValue& other) const {
    if (place != other.place) return place <=> other.place;
    const double a = number_of(value), b = number_of(other.value);
    if (!std::isnan(a) && !std::isnan(b)) return a <=> b;
    if (std::isnan(a) != std::isnan(b)) return std::isnan(b) <=> std::isnan(a);
    return to_string(value) <=> to_string(other.value);
}

OrderedValue ordered(const Experiment& experiment, const std::string& name, const Value& value) {
    if (const Axis* axis = experiment.axis(name)) {
        for (std::size_t i = 0; i < axis->values.size(); ++i)
            if (same_number_or_text(axis->values[i], value)) return {i, value};
        return {axis->values.size(), value};
    }
    return {0, value};
}

std::size_t variant_slot(const Experiment& experiment, const std::string& variant) {
    const auto& all = experiment.variants;
    return static_cast<std::size_t>(std::find(all.begin(), all.end(), variant) - all.begin());
}

double median_of_sorted(std::span<const double> sorted) {
    const std::size_t half = sorted.size() / 2;
    return sorted.size() % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

std::string OriginLabel::text() const {
    std::vector<std::string> words;
    for (const auto& [name, hash] :
         {std::pair("machine", machine), {"calibration", calibration}, {"data", data}})
        if (!hash.empty()) words.push_back(fmt::format("{} {}", name, hash));
    return fmt::format("{}", fmt::join(words, " · "));
}

std::vector<OriginLabel> origin_labels(
    std::span<const store::Sample> samples,
    const std::function<std::string(const store::Sample&)>& group) {
    std::vector<OriginLabel> labels(samples.size());
    std::set<std::string> machines;
    std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const std::string& machine = samples[i].origin.hardware;
        if (!machine.empty()) machines.insert(machine);
        groups[{machine, group(samples[i])}].push_back(i);
    }
    if (machines.size() > 1)
        for (std::size_t i = 0; i < samples.size(); ++i)
            labels[i].machine = short_hash(samples[i].origin.hardware);
    for (const auto& [of, together] : groups) label_states(samples, together, labels);
    return labels;
}

std::string asked_for(const store::Sample& sample, const std::string& left_out) {
    Case axes = sample.spec.axes;
    axes.erase(left_out);
    return fmt::format("{}\n{}\n{}\n{}", to_string(sample.spec.profile),
                       to_string(sample.spec.provenance), sample.spec.scenario, to_string(axes));
}

}  // namespace assay::report
