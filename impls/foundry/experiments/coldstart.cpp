// When graphs can be launched after a start, by how they come to be. Simulated by the paper's costs
// at the ends of what is known of them.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "impls/foundry/experiments/cold_start.hpp"
#include "impls/foundry/experiments/experiments.hpp"
#include "impls/foundry/experiments/paper_costs.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/experiment/metrics.hpp"

namespace assay::foundry {
namespace {

struct Coldstart {
    PaperModel model{};
    Members members{};
    int threads = 8;
    Start start{};
};

struct Found : Metrics {
    using Metrics::Metrics;
    Metric ready_s = exact("ready_s", "s",
                           "until the server's graphs are ready, least and most over all ends of "
                           "what was not recovered",
                           lower, {"end"});
    Metric first_launches_s = exact("first_launches_s", "s",
                                    "what is paid after that until each graph was launched once; "
                                    "least and most",
                                    lower, {"end"});
    Metric capture_over =
        exact("capture_over", "ratio",
              "ready_s of capture over this, at the same ends; least and most", higher, {"end"});
    Metric ready_at_ends_s = exact("ready_at_ends_s", "s", "ready_s at each choice of ends", lower,
                                   {"graph_costs", "templates", "images_s", "prepare_ms"});
    Metric first_launches_at_ends_s =
        exact("first_launches_at_ends_s", "s", "first_launches_s at each choice of ends", lower,
              {"graph_costs", "templates", "images_s", "prepare_ms"});
};

ColdStartTimes times(const Coldstart& coldstart, Start start, const PaperChoice& choice) {
    return cold_start({.start = start,
                       .members = coldstart.members,
                       .costs = choice.costs,
                       .graphs = paper_graphs,
                       .groups = choice.templates});
}

void record_ends(const Metric& metric, std::vector<double> values) {
    if (values.empty()) return;
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    metric(*least, {{"end", std::string("least")}});
    metric(*most, {{"end", std::string("most")}});
}

void run(const Coldstart& coldstart, Recorder& recorder) {
    const Found found(recorder);
    std::vector<double> ready, launches, ratios;
    for (const PaperChoice& choice : paper_choices(coldstart.model, coldstart.threads)) {
        const ColdStartTimes own = times(coldstart, coldstart.start, choice);
        const Labels ends{{"graph_costs", std::string(to_string(choice.graph_costs))},
                          {"templates", std::int64_t{choice.templates}},
                          {"images_s", choice.images_s},
                          {"prepare_ms", choice.prepare_ms}};
        found.ready_at_ends_s(own.ready_s, ends);
        found.first_launches_at_ends_s(own.first_launches_s, ends);
        ready.push_back(own.ready_s);
        launches.push_back(own.first_launches_s);
        if (own.ready_s > 0)
            ratios.push_back(times(coldstart, Start::capture, choice).ready_s / own.ready_s);
    }
    record_ends(found.ready_s, std::move(ready));
    record_ends(found.first_launches_s, std::move(launches));
    record_ends(found.capture_over, std::move(ratios));
}

ProfilePlan paper() {
    return {.profile = Profile::paper,
            .provenances = {Provenance::simulated},
            .seconds_per_sample = 0.05};
}

}  // namespace

Experiment coldstart() {
    Declaration<Coldstart> coldstart(
        {.id = "foundry/coldstart",
         .title = "When graphs are ready after a start",
         .source = "arXiv 2604.06664v1, cold-start figures",
         .says =
             "512 graphs, in virtual time: one thread makes the driver's calls, eight (the paper's "
             "number is not known) prepare members beside it. Of a start only the graphs are "
             "looked at: what else the paper's totals contain (profiling, communication, warm-up) "
             "was not recovered, so that seconds here are no seconds of its charts, of which "
             "graphs are a part. Costs are the paper's or its repository's, none is fitted; of "
             "what was not recovered of a model both ends of a range are taken, and the results "
             "are a band. Graphs cost what they do in the model of Fig. 10 where they cost least, "
             "or most; Qwen3-30B-A3B is the latter, whose update has two values in accounts of the "
             "paper. Templates are 12 to 25 where the model's number is not known. Degrees of "
             "parallelism change none of these costs. By their totals Llama3-8B captures faster "
             "than the range says, and Qwen3-235B-A22B slower. Members: published accounts do not "
             "say whether the paper's start includes preparing them. lazy_capture captures each "
             "graph at its first launch. Other variants cannot be timed by these costs: eager has "
             "no graphs, r2 sets nodes one by one, relocate patches pointers, dedup shares "
             "executables by another key, of cuda-checkpoint only totals are known.",
         .metrics = declared<Found>(),
         .profiles = {paper()},
         .figure = {.kind = Figure::Kind::bars,
                    .metric = "ready_s",
                    .x = "model",
                    .panels = {"members", "end"},
                    .x_title = "model",
                    .y_title = "seconds until graphs are ready",
                    .log_y = true}});
    coldstart.axis("model", &Coldstart::model, "of the paper, BF16 but for Qwen3-235B-A22B (FP8)");
    coldstart.axis("members", &Coldstart::members,
                   "ready with each member prepared (r3_eager: instantiated), or with templates "
                   "alone");
    coldstart.axis("threads", &Coldstart::threads, "that prepare members", between(1, 1024));
    coldstart.variants(&Coldstart::start);
    coldstart.calibration([](const Coldstart& settings) {
        return paper_costs_json(settings.model, settings.threads);
    });
    return coldstart.runs(run);
}

}  // namespace assay::foundry
