// Fig. 9: whether a restored graph takes as long as a captured one. Both engines are in one
// process, and their steps take turns.
#include <chrono>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "impls/foundry/driver/fake/control.hpp"
#include "impls/foundry/experiments/live/live_experiments.hpp"
#include "impls/foundry/experiments/live/on_driver.hpp"
#include "suite/experiment/metrics.hpp"
#include "suite/measure/statistics/quantile.hpp"

namespace assay::foundry {
namespace {

struct Fig9 : OnDriver {
    Mode mode{};
    int turns = 25;
};

struct Found : Metrics {
    using Metrics::Metrics;
    Metric step_s = timed("step_s", "s", "median of a step with the restored graph", lower);
    Metric over_captured = timed("over_captured", "ratio", "of it over the captured graph's", none);

  private:
    Metric timed(const char* name, const char* unit, const char* says, Direction better) {
        return metric({.name = name,
                       .unit = unit,
                       .says = says,
                       .better = better,
                       .deterministic = true,
                       .labels = {"batch"},
                       .varies = {Provenance::measured}});
    }
};

/// Seconds of the machine, or of the fake driver's virtual clock.
class Clock {
  public:
    explicit Clock(const OnDriver& settings)
        : driver_(settings.is_fake() ? open_driver(fake_driver()) : nullptr) {}
    double now() const {
        if (driver_)
            return 1e-9 * static_cast<double>(fake::FakeControl(*driver_).count("virtual ns"));
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
            .count();
    }

  private:
    std::shared_ptr<const Driver> driver_;
};

/// With every graph ready to be launched; what a mode makes at first launches is made here.
std::unique_ptr<Engine> ready(const OnDriver& settings, Mode mode) {
    auto engine = make_live_engine(settings.engine());
    const auto must = [](const std::string& why) {
        if (!why.empty()) throw SampleError(SampleStatus::failed, why);
    };
    must(engine->open({mode, {settings.archive().string()}}));
    Executables executables(mode, engine->group_of());
    for (const auto& task : executables.before_ready()) {
        must(engine->make(task));
        executables.made(task.graph, task.make);
    }
    return engine;
}

void run(const Fig9& fig9, Recorder& recorder) {
    const auto saved = make_live_engine(fig9.engine())->save(fig9.archive().string());
    if (!saved.empty()) throw SampleError(SampleStatus::failed, saved);
    // The restored one first: its addresses are given.
    const auto restored = ready(fig9, fig9.mode), captured = ready(fig9, Mode::capture);
    Executables executables(fig9.mode, restored->group_of());
    for (const auto& task : executables.before_ready()) executables.made(task.graph, task.make);
    const Clock clock(fig9);
    const Found found(recorder);
    const EngineSettings settings = fig9.engine();
    for (std::size_t graph = 0; graph < settings.batches.size(); ++graph) {
        if (const Make make = executables.next(graph); make != Make::nothing) {
            if (const auto why = restored->make({graph, make}); !why.empty())
                throw SampleError(SampleStatus::failed, why);
            executables.made(graph, make);
        }
        std::vector<double> times[2];
        for (int turn = 0; turn <= fig9.turns; ++turn)
            for (Engine* const engine : {restored.get(), captured.get()}) {
                const double begin = clock.now();
                const auto result = engine->decode(turn, graph, false);
                const double seconds = (clock.now() - begin) / settings.decode_steps;
                if (const auto* none = std::get_if<Engine::NoResult>(&result))
                    throw SampleError(SampleStatus::failed, none->why);
                // The first one proves the graph, too.
                if (turn > 0) times[engine == captured.get()].push_back(seconds);
            }
        const double restored_s = statistics::median(times[0]);
        const Labels batch{{"batch", std::int64_t{settings.batches[graph]}}};
        found.step_s(restored_s, batch);
        found.over_captured(restored_s / statistics::median(times[1]), batch);
    }
}

}  // namespace

Experiment fig9() {
    Declaration<Fig9> fig9(
        {.id = "foundry/fig9",
         .title = "Whether a restored graph takes as long as a captured one",
         .source = "arXiv 2604.06664v1, Fig. 9",
         .says = "A step of each batch size with the graph captured and with the one restored, in "
                 "turns. On the fake driver times are of its virtual clock, in which a launch "
                 "costs what its nodes do: they tell that the graphs are the same, not how fast "
                 "one is.",
         .metrics = declared<Found>(),
         .profiles = driver_profiles(1),
         .figure = {.metric = "over_captured",
                    .x = "batch",
                    .panels = {"graphs"},
                    .x_title = "batch size",
                    .y_title = "time of a step, restored over captured"}});
    fig9.part(on_driver());
    fig9.axis("turns", &Fig9::turns, "requests with each graph", between(1, 10'000));
    fig9.variants(&Fig9::mode,
                  {Mode::no_templates, Mode::r1, Mode::r2, Mode::r3_lazy, Mode::r3_eager});
    fig9.unsupported([](const Fig9& settings) { return lacks_driver(settings); });
    return fig9.runs(run);
}

}  // namespace assay::foundry
