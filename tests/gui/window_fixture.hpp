// A window over a small database: one experiment, of which example_spec() makes samples.
#pragma once

#include <gtest/gtest.h>

#include <QApplication>
#include <QSignalSpy>

#include "gui/views/main_window.hpp"
#include "tests/store/example_rows.hpp"

namespace assay::gui::testing {

inline constexpr int patience_ms = 10'000;

inline std::shared_ptr<const Registry> one_system() {
    const SampleSpec spec = store::testing::example_spec();
    Experiment experiment;
    experiment.id = spec.experiment;
    experiment.title = "A figure";
    experiment.source = "section 1, Fig. 1";
    for (const auto& [axis, value] : spec.axes) experiment.axes.push_back({axis, "", {value}});
    experiment.variants = {spec.variant};
    experiment.metrics = {{"throughput", "1/s", "how fast", Direction::higher}};
    experiment.figure = {.kind = Figure::Kind::bars, .metric = "throughput", .x = "variant"};
    System system;
    system.id = experiment.system();
    system.title = "One system";
    system.experiments = {experiment};
    auto registry = std::make_shared<Registry>();
    registry->add(std::move(system));
    return registry;
}

/// A sample with curves of so many points and with faults, and what followed them; its id.
inline std::string add_run(store::Store& store, const std::string& session, const SampleSpec& spec,
                           std::size_t points = 200) {
    store::Sample sample;
    sample.id = store.begin_sample(session, spec, store::testing::key_of(spec));
    sample.spec = spec;
    sample.status = "ok";
    sample.seconds = 10;
    sample.metrics = {{"throughput", {}, 1.0 + static_cast<double>(spec.seed % 7)}};
    store::TimeSeries rate{"throughput", "1/s", {}, {}, {}},
        workers{"workers", "count", {}, {}, {}};
    for (std::size_t i = 0; i < points; ++i) {
        const double t_s = 10.0 * static_cast<double>(i) / static_cast<double>(points);
        rate.t_s.push_back(t_s);
        rate.values.push_back(100 + static_cast<double>((i * 7919) % 101));
        workers.t_s.push_back(t_s);
        workers.values.push_back(t_s < 4 ? 4 : 3);
    }
    sample.series_data = {rate, workers};
    for (int rank = 0; rank < 4; ++rank) sample.events.push_back({0.1, "join", rank, {}});
    sample.events.push_back({4.0, "fault", 1, {{"kind", "kill"}}});
    sample.events.push_back({4.01, "death", 1, {{"how", "signal 9"}}});
    sample.events.push_back({4.02, "detection", 0, {}});
    sample.events.push_back({7.5, "checkpoint", -1, {{"step", 40}}});
    store.finish_sample(sample);
    return sample.id;
}

inline void settle(MainWindow& window) {
    for (int rounds = 0; rounds < 4; ++rounds) {
        QSignalSpy settled(&window, &MainWindow::settled_now);
        if (!window.settled()) settled.wait(patience_ms);
        QApplication::processEvents();
        if (window.settled()) return;
    }
}

class WindowTest : public ::testing::Test {
  protected:
    WindowTest() : store(store::Store::open(folder / "r.db", store::Access::write)) {
        const std::string session = store::testing::begin(store);
        sample = add_run(store, session, store::testing::example_spec());
        store::testing::add_sample(store, session, store::testing::example_spec(2), 3);
    }

    store::testing::Folder folder;
    store::Store store;
    std::string sample;
};

}  // namespace assay::gui::testing
