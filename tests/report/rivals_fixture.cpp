// See rivals_fixture.hpp.
#include "tests/report/rivals_fixture.hpp"

namespace assay::report {

Experiment rivals_experiment() {
    Experiment e;
    e.id = "lazarus/fig9";
    e.title = "Eighty minutes of a spot market";
    e.source = "arXiv 2407.04656v2, Fig. 9";
    e.says = "Workers come and go; the rivals react.";
    e.axes = {{"model", "", {std::string("gpt-s"), std::string("gpt-l")}},
              {"workers", "", {std::int64_t{10}}}};
    e.variants = {"lazarus", "ds", "ds_ft", "spread", "compact"};
    e.metrics = {{"samples", "count", "", Direction::higher, false, {}}};
    e.figure = {Figure::Kind::timeline, "throughput",        "t_s", {"model"},
                "time on the trace",    "samples per second"};
    return e;
}

std::vector<store::Sample> rivals_samples() {
    const Experiment e = rivals_experiment();
    std::vector<store::Sample> all;
    for (const std::string model : {"gpt-l", "gpt-s"})  // not in the axis's order
        for (std::size_t v = 0; v < e.variants.size(); ++v) {
            store::Sample one;
            one.id = model + e.variants[v];
            one.spec.experiment = e.id;
            one.spec.variant = e.variants[v];
            one.spec.axes = {{"model", model}, {"workers", std::int64_t{10}}};
            one.spec.provenance = Provenance::emulated;
            one.status = "ok";
            const bool restarts = v == 1 || v == 2;
            store::TimeSeries rate{"throughput", "1/s", {}, {}, {}},
                workers{"workers", "count", {}, {0}, {10}};
            int live = 10;
            double back_s = 0;
            for (int i = 0; i < 40; ++i) {
                const double t = 100.0 + 115 * i + (i % 3) * 30;
                const bool joins = live <= 4 || (live < 10 && i % 2 == 1);
                live += joins ? 1 : -1;
                one.events.push_back({t, joins ? "join" : "death", i, {}});
                workers.t_s.push_back(t);
                workers.values.push_back(live);
                const double lost = restarts ? 90 + 60.0 * (v == 1) : 12;
                if (t >= back_s)
                    one.events.push_back(
                        {t + 1, restarts ? "restart" : "regroup", -1, {{"seconds", lost}}});
                for (double at = std::max(t, back_s); at < t + lost; at += 30) {
                    rate.t_s.push_back(at);
                    rate.values.push_back(0);
                }
                back_s = std::max(back_s, t + lost);
                for (double at = back_s; at < t + 115; at += 20) {
                    rate.t_s.push_back(at);
                    rate.values.push_back((model == "gpt-s" ? 12.0 : 4.0) * live *
                                          (1.0 - 0.12 * static_cast<double>(v)));
                }
            }
            one.series_data = {rate, workers};
            all.push_back(std::move(one));
        }
    return all;
}

}  // namespace assay::report
