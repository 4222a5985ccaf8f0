// Whether restored graphs decode what captured ones do: one process saves, another loads.
#include "impls/foundry/experiments/live/live_experiments.hpp"
#include "impls/foundry/experiments/live/on_driver.hpp"
#include "suite/experiment/metrics.hpp"

namespace assay::foundry {
namespace {

struct Tokens : OnDriver {
    Mode mode{};
};

struct Found : Metrics {
    using Metrics::Metrics;
    Metric equal =
        exact("equal", "share",
              "requests whose tokens are those of a server that captured its graphs", higher);
    Metric right =
        exact("right", "share", "requests whose tokens are those of the reference", higher);
    Metric captured = exact("captured", "count", "graphs that the server captured");
    Metric updated = exact("updated", "count", "requests before which an executable was updated");
    Metric failed = exact("failed", "count", "ways that were tried and failed", lower);
};

double count(const LiveOutcome& outcome, Make make) {
    const auto found = outcome.makes.find(make);
    return found == outcome.makes.end() ? 0 : static_cast<double>(found->second);
}

LiveOutcome served(const LiveCourse& course, Recorder& recorder) {
    LiveOutcome outcome = run_live(course, recorder);
    if (!outcome.ok) throw SampleError(SampleStatus::failed, outcome.why);
    return outcome;
}

void run(const Tokens& tokens, Recorder& recorder) {
    const LiveCourse course = tokens.course(tokens.mode);
    const LiveOutcome captured = served(tokens.course(Mode::capture), recorder),
                      outcome = served(course, recorder);
    double equal = 0, right = 0;
    const auto requests = static_cast<double>(course.loader.requests.size());
    for (std::size_t request = 0; request < outcome.results.size(); ++request) {
        const int batch = course.engine.batches[course.loader.requests[request]];
        equal += outcome.results[request] == captured.results[request];
        right += outcome.results[request] ==
                 reference_result(course.engine, static_cast<int>(request), batch);
    }
    const Found found(recorder);
    found.equal(equal / requests);
    found.right(right / requests);
    found.captured(count(outcome, Make::capture));
    found.updated(count(outcome, Make::update));
    found.failed(outcome.troubles.size());
}

}  // namespace

Experiment tokens() {
    Declaration<Tokens> tokens(
        {.id = "foundry/tokens",
         .title = "Whether restored graphs decode what captured ones do",
         .source = "arXiv 2604.06664v1, evaluation: generated tokens",
         .says = "A process captures the decode step of each batch size and saves the graphs; "
                 "another one loads them without capture and decodes; a third captures its own. "
                 "The step is a toy whose tokens show any wrong address, buffer, kernel or order. "
                 "On the fake driver its kernels run as functions of the host, from the source "
                 "that a GPU's are compiled of.",
         .metrics = declared<Found>(),
         .profiles = driver_profiles(2),
         .figure = {.kind = Figure::Kind::bars,
                    .metric = "equal",
                    .x = "graphs",
                    .x_title = "graphs",
                    .y_title = "share of requests with equal tokens"}});
    tokens.part(on_driver());
    tokens.variants(&Tokens::mode);
    tokens.unsupported([](const Tokens& settings) { return lacks_driver(settings); });
    return tokens.runs(run);
}

}  // namespace assay::foundry
