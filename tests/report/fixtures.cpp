// The recovery values are those of a small plan; their size matters, not their
// truth.
#include "tests/report/fixtures.hpp"

#include <cmath>
#include <map>

namespace assay::report {
namespace {

store::Sample sample(const Experiment& experiment, const std::string& variant, Case axes,
                     std::uint64_t seed = 1) {
    static int counter = 0;
    store::Sample made;
    made.id = "0000000" + std::to_string(++counter % 10) + "-sample";
    made.session = "5e551011-session";
    made.spec.experiment = experiment.id;
    made.spec.variant = variant;
    made.spec.axes = std::move(axes);
    made.spec.seed = seed;
    made.status = "ok";
    return made;
}

}  // namespace

Experiment recovery_experiment() {
    Experiment e;
    e.id = "lazarus/fig8";
    e.title = "Recovery probability against failed nodes";
    e.source = "arXiv 2407.04656v2, section 6.3, Fig. 8";
    e.says = "The probability that every expert of every layer survives k failed nodes out of ten.";
    e.axes = {{"model", "", {std::string("gpt-s"), std::string("gpt-l")}},
              {"step", "", {std::int64_t{200}, std::int64_t{4000}}},
              {"order", "", {std::string("aligned"), std::string("shuffled")}},
              {"trace", "", {std::string("synthetic")}}};
    e.variants = {"mro", "spread", "compact"};
    e.metrics = {{"recovery_probability", "probability", "", Direction::higher, true, {"failed"}},
                 {"plan_seconds", "s", "", Direction::lower, false, {}}};
    e.figure = {Figure::Kind::lines,
                "recovery_probability",
                "failed",
                {"model", "step", "order", "trace"},
                "failed nodes (of 10)",
                "recovery probability",
                false};
    return e;
}

std::vector<store::Sample> recovery_samples() {
    const Experiment e = recovery_experiment();
    std::vector<store::Sample> all;
    for (const std::string model : {"gpt-s", "gpt-l"})
        for (const std::int64_t step : {200, 4000})
            for (const std::string order : {"aligned", "shuffled"})
                for (const std::string& variant : e.variants) {
                    const double power = variant == "mro"      ? (order == "aligned" ? 2.6 : 1.8)
                                         : variant == "spread" ? 1.1
                                                               : 0.25;
                    store::Sample one = sample(e, variant,
                                               {{"model", model},
                                                {"step", step},
                                                {"order", order},
                                                {"trace", "synthetic"}});
                    for (std::int64_t failed = 0; failed <= 8; ++failed) {
                        const double share =
                            static_cast<double>(failed) / (model == "gpt-l" ? 8 : 9);
                        one.metrics.push_back({"recovery_probability",
                                               {{"failed", failed}},
                                               1 - std::pow(share, power)});
                    }
                    one.metrics.push_back({"plan_seconds", {}, 0.0125});
                    all.push_back(one);
                }
    return all;
}

std::vector<Claim> recovery_claims() {
    const auto claim = [](const char* variant, double value) {
        Claim c;
        c.id = std::string("lazarus/fig8/gpt-l/200/") + variant + "-4";
        c.experiment = "lazarus/fig8";
        c.says = std::string("At four failed nodes, GPT-L, step 200: ") + variant;
        c.value = value;
        c.unit = "probability";
        c.metric = "recovery_probability";
        c.of = {variant,
                {{"model", std::string("gpt-l")},
                 {"step", std::int64_t{200}},
                 {"failed", std::int64_t{4}}}};
        c.test.name = "near";
        c.source = "section 6.3, Fig. 8";
        return c;
    };
    std::vector<Claim> claims{claim("mro", 0.41), claim("spread", 0.12)};
    claims[0].explained = Explanation{
        "Aligned plans give 129 of 210; the printed value needs unaligned layers.", 0.614, 0.001};
    claims[0].cells = {{"mro", "4", 0.41}, {"spread", "4", 0.12}, {"other", "4", 0.2}};
    Claim bound = claim("mro", 0.9);
    bound.id = "lazarus/fig8/bound";
    bound.test.name = "at_least";
    claims.push_back(bound);
    return claims;
}

Experiment plans_experiment() {
    Experiment e;
    e.id = "lazarus/fig4";
    e.title = "Two plans for four experts on five nodes";
    e.source = "arXiv 2407.04656v2, Fig. 4";
    e.says = "Three of five nodes fail.";
    e.variants = {"plan_a", "plan_b"};
    e.metrics = {{"recovery_probability", "probability", "", Direction::higher, true, {}}};
    e.figure = {Figure::Kind::bars, "recovery_probability", "", {}, "plan", "recovery probability"};
    return e;
}

std::vector<store::Sample> plans_samples() {
    const Experiment e = plans_experiment();
    std::vector<store::Sample> all{sample(e, "plan_a", {}), sample(e, "plan_b", {})};
    all[0].metrics = {{"recovery_probability", {}, 0.5}};
    all[1].metrics = {{"recovery_probability", {}, 0.7}};
    return all;
}

Experiment live_experiment() {
    Experiment e;
    e.id = "lazarus/x_live";
    e.title = "A training that loses workers and goes on";
    e.source = "our own";
    e.says = "A fault plan on a running training.";
    e.variants = {"lazarus"};
    e.metrics = {{"steps", "count", "", Direction::higher, true, {}},
                 {"regroup_seconds", "s", "", Direction::lower, false, {"death"}}};
    e.figure = {Figure::Kind::timeline,        "steps", "t", {}, "time since the start (s)",
                "committed tokens per second", false};
    return e;
}

store::Sample live_sample() {
    store::Sample one = sample(live_experiment(), "lazarus", {{"workers", std::int64_t{4}}});
    one.spec.provenance = Provenance::measured;
    one.metrics = {{"steps", {}, 24}, {"regroup_seconds", {{"death", std::int64_t{1}}}, 0.012}};
    store::TimeSeries curve{"throughput", "tokens/s", {}, {}, {}};
    for (int i = 0; i < 24; ++i) {
        const double t = 0.4 + 0.25 * i;
        one.events.push_back({t, "commit", -1, {{"step", i}}});
        curve.t_s.push_back(t);
        curve.values.push_back((t < 2.4 ? 4000 : t < 4.6 ? 3000 : 3900) + 150 * std::sin(3 * t));
    }
    one.series_data.push_back(curve);
    for (int rank = 0; rank < 4; ++rank) one.events.push_back({0.2, "regroup", rank, {}});
    one.events.push_back({2.400, "fault", 1, {{"kind", "kill"}}});
    one.events.push_back({2.403, "death", 1, {}});
    one.events.push_back({2.404, "detection", 1, {}});
    for (int rank : {0, 2, 3}) one.events.push_back({2.415, "regroup", rank, {{"seconds", 0.03}}});
    one.events.push_back({2.450, "transfer", 2, {{"seconds", 0.12}}});
    one.events.push_back({2.452, "transfer", 3, {{"seconds", 0.10}}});
    one.events.push_back({4.600, "join", 4, {}});
    for (int rank : {0, 2, 3, 4})
        one.events.push_back({4.640, "regroup", rank, {{"seconds", 0.05}}});
    one.events.push_back({4.700, "transfer", 4, {{"seconds", 0.2}}});
    one.events.push_back({5.500, "fault", 3, {{"kind", "hang"}}});
    one.events.push_back({6.020, "detection", 3, {}});
    one.events.push_back({6.022, "death", 3, {}});
    for (int rank : {0, 2, 4}) one.events.push_back({6.040, "regroup", rank, {{"seconds", 0.02}}});
    return one;
}

ReportData whole_report() {
    static const Experiment recovery = recovery_experiment(), plans = plans_experiment(),
                            live = live_experiment();
    static const std::vector<Claim> claims = recovery_claims();
    ReportData data;
    data.generated = "2026-11-21T03:00:00.000Z";
    data.database = "results.db";
    data.sessions = {{"5e551011-session",
                      "00c0ffee00c0ffee",
                      "assay run 'a&b' <lazarus>",
                      "",
                      "",
                      {{"commit", "c7a8c7be7021"}, {"compiler", "GNU 12.2.0"}, {"kernel", "6.1.0"}},
                      "2026-11-21T02:59:00.000Z",
                      "2026-11-21T02:59:30.000Z",
                      "finished",
                      30}};
    data.machines = {
        {"00c0ffee00c0ffee",
         {{"cpu", "Two <cores> & more"}, {"cores", 2}, {"gpus", nlohmann::json::array()}}}};
    data.experiments.push_back({&plans, plans_samples(), {}, {}, {}, {}});
    data.experiments.push_back({&recovery, recovery_samples(), {}, {}, {}, {}});
    store::Sample failed = sample(recovery, "mro", {{"model", std::string("<script>")}});
    failed.id = "fa11ed00-sample";  // shown; the counter's depends on which tests ran before
    failed.status = "failed";
    failed.reason = "\"everyone\" was killed & <b>nobody</b> was left";
    data.experiments.back().unsuccessful = {failed};
    const std::vector<ClaimCheck> checks{
        {claims[0].id, ClaimVerdict::contradicted, "0.614 is not within 15 % of 0.41.",
         Provenance::exact, 0.614},
        {claims[1].id, ClaimVerdict::supported, "0.119 against 0.12, one sample.",
         Provenance::exact, 0.119},
    };
    for (std::size_t i = 0; i < checks.size(); ++i)
        data.experiments.back().claims.push_back({&claims[i], checks[i]});
    data.experiments.back().unchecked = {{3, "need <data>: `assay data fetch it`", "a/b (3)"}};
    data.experiments.back().settings = {&claims[2]};
    data.headline = "1 of 2 checked hold, 1 contradicted (1 explained); 3 need data";
    ClaimCheck over_seeds = checks[1];
    over_seeds.provenance = Provenance::emulated;
    over_seeds.basis = Basis{.seeds = {5, 0.1, 0.13}};
    static const Claim elsewhere = [] {
        Claim claim = claims[1];
        claim.id = "lazarus/fig9/a";
        claim.experiment = "lazarus/fig9";
        claim.says = "More <samples> than checkpoints";
        claim.value.reset();
        return claim;
    }();
    data.headlines = {{&claims[1], over_seeds, "holds, over 5 seeds"},
                      {&elsewhere,
                       {elsewhere.id, ClaimVerdict::not_run, "", {}, {}},
                       "not run yet: `assay run lazarus/fig9` checks it"}};
    data.contradicted = {{&claims[0], checks[0], "explained: Aligned plans give 129 of 210."}};
    data.without_samples = {"lazarus/fig9", "lazarus/tab2"};
    data.experiments.push_back({&live, {live_sample()}, {}, {}, {}, {}, training_kinds()});
    return data;
}

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

std::vector<EventKind> training_kinds() {
    std::vector<EventKind> kinds = suite_event_kinds();
    kinds.push_back({"regroup", "regroups", EventColour::recovery, EventLane::pause});
    kinds.push_back({"restart", "restarts", EventColour::state, EventLane::stop});
    kinds.push_back({"transfer", "transfers", EventColour::transfer, EventLane::labelled});
    return kinds;
}

}  // namespace assay::report
