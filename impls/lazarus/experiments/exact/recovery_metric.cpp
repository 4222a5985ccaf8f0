#include "impls/lazarus/experiments/exact/recovery_metric.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace assay::lazarus {

MetricSpec recovery_metric() {
    MetricSpec metric;
    metric.name = "recovery_probability";
    metric.unit = "probability";
    metric.says =
        "share of the sets of `failed` nodes whose loss leaves every expert a live replica";
    metric.better = Direction::higher;
    metric.deterministic = true;
    metric.labels = {"failed"};
    return metric;
}

void record_recovery(const RecoveryCurve& curve, Recorder& recorder) {
    if (curve.method != RecoveryMethod::exact) {
        throw SampleError(SampleStatus::failed,
                          "the recovery probability was estimated where it must be exact");
    }
    for (std::size_t failed = 0; failed < curve.probability.size(); ++failed) {
        recorder.metric("recovery_probability", curve.probability[failed],
                        {{"failed", static_cast<std::int64_t>(failed)}});
    }
}

Figure recovery_figure(std::vector<std::string> panels) {
    Figure figure;
    figure.kind = Figure::Kind::lines;
    figure.metric = "recovery_probability";
    figure.x = "failed";
    figure.panels = std::move(panels);
    figure.x_title = "failed nodes";
    figure.y_title = "recovery probability";
    return figure;
}

}  // namespace assay::lazarus
