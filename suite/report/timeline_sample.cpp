// See timeline_sample.hpp.
#include "suite/report/timeline_sample.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace assay::report {

double end_of(const store::Sample& sample) {
    double end = 0;
    for (const store::Event& event : sample.events) end = std::max(end, event.t_s);
    for (const store::TimeSeries& series : sample.series_data)
        for (const double t : series.t_s) end = std::max(end, t);
    return end > 0 ? end : std::max(sample.seconds, 1.0);
}

const store::TimeSeries* series_of(const store::Sample& sample, std::string_view name) {
    for (const store::TimeSeries& series : sample.series_data)
        if (series.name == name && !series.t_s.empty() && series.t_s.size() == series.values.size())
            return &series;
    return nullptr;
}

double lasted(const store::Event& event) {
    if (!event.detail.is_object()) return 0;
    const auto found = event.detail.find("seconds");
    return found != event.detail.end() && found->is_number() ? found->get<double>() : 0;
}

std::string reason_of(const store::Event& event) {
    if (!event.detail.is_object()) return "";
    const auto found = event.detail.find("reason");
    if (found == event.detail.end() || !found->is_string()) return "";
    std::string words = found->get<std::string>();
    std::replace(words.begin(), words.end(), '_', ' ');
    return words;
}

}  // namespace assay::report
