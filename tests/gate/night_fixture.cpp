#include "tests/gate/night_fixture.hpp"

#include <cmath>
#include <limits>

#include "suite/gate/night_verdict.hpp"
#include "suite/gate/output/night_words.hpp"

namespace assay::gate {
namespace {

using compare::Reason;
using compare::RowVerdict;

NightRow night_row(compare::Row against, Evidence evidence = Evidence::none, Step step = {}) {
    NightRow row;
    row.against_baseline = std::move(against);
    row.evidence = evidence;
    row.step = std::move(step);
    return row;
}

NightRow confirmed_row() {
    NightRow row =
        night_row(compared_row({"lte/fig8", "lte", {{"sparsity", 0.5}}, "latency_s"}, 1.068, 0.008,
                               RowVerdict::slower, Reason::beyond_margin),
                  Evidence::slower, {State::candidate, State::confirmed, "seen in a second night"});
    row.candidate = true;
    row.history_change = 0.065;
    row.history_threshold = 0.021;
    row.rerun = compared_row({"lte/fig8", "lte", {{"sparsity", 0.5}}, "latency_s"}, 1.071, 0.009,
                             RowVerdict::slower, Reason::beyond_margin);
    row.rerun_paired = true;
    row.seconds = 12.3456;
    return row;
}

NightRow candidate_row() {
    // Higher is better: a ratio below 1 is the bad way.
    compare::Row against = compared_row({"lazarus/x_live", "<&\"'> | `x`", {}, "tokens_s"}, 0.8,
                                        0.02, RowVerdict::slower, Reason::beyond_margin);
    against.better = Direction::higher;
    against.unit = "tokens/s";
    NightRow row = night_row(against, Evidence::slower,
                             {std::nullopt, State::candidate, "first seen tonight"});
    row.candidate = true;
    row.rerun = against;
    return row;
}

NightRow taken_back_row() {
    const RowId id = {"benchmark/program",
                      "program",
                      {{"arguments", ""}, {"name", "planner"}, {"program", "planner_benchmark"}},
                      "real_time",
                      {{"benchmark", "BM_plan/64"}}};
    NightRow row =
        night_row(compared_row(id, 1.11, 0.03, RowVerdict::slower, Reason::beyond_margin),
                  Evidence::not_again);
    row.candidate = true;
    row.rerun = compared_row(id, 1.001, 0.005, RowVerdict::same, Reason::within_margin);
    row.rerun_paired = true;
    return row;
}

NightRow muted_row() {
    NightRow row = night_row(compared_row({"store/x_ingest", "sqlite", {}, "seconds"}, 1.2, 0.01,
                                          RowVerdict::slower, Reason::beyond_margin),
                             Evidence::slower, {State::confirmed, State::confirmed, ""});
    row.muted = true;
    row.mute = "muted by ada since 2026-11-20 until 2027-01-01: known";
    return row;
}

NightRow only_now_row() {
    compare::Row against;
    against.id = {"lte/fig8", "new", {}, "latency_s"};
    against.unit = "s";
    against.ratio = against.low = against.high = std::numeric_limits<double>::quiet_NaN();
    against.n_b = 5;
    against.verdict = RowVerdict::not_comparable;
    against.reason_code = Reason::only_in_b;
    against.reason = "only-in-b";
    against.better = Direction::lower;
    against.margin = 0.02;
    return night_row(against);
}

Night named_night() {
    Night night;
    night.suite = "cpu";
    night.id = "0a1b2c3d-0000-4000-8000-000000000001";
    night.started = "2026-11-21T02:03:04.567Z";
    night.session = "11111111-0000-4000-8000-000000000002";
    night.baseline_session = "22222222-0000-4000-8000-000000000003";
    night.machine = "feedfacecafebeef";
    night.baseline = "cpu";
    night.commit = "70309d4aaaaa";
    night.nights_before = 12;
    return night;
}

}  // namespace

compare::Row compared_row(RowId id, double ratio, double half_width, RowVerdict verdict,
                          Reason reason) {
    compare::Row row;
    row.id = std::move(id);
    row.unit = "s";
    row.ratio = ratio;
    row.low = ratio - half_width;
    row.high = ratio + half_width;
    row.n_a = row.n_b = 5;
    row.verdict = verdict;
    row.reason_code = reason;
    row.reason = std::string(to_string(reason)) + ": 5 pairs";
    row.better = Direction::lower;
    row.margin = 0.02;
    row.paired = true;
    row.method = statistics::IntervalMethod::order_statistics;
    return row;
}

Night eventful_night() {
    Night night = named_night();
    night.rows = {
        night_row(compared_row({"lte/fig8", "dense", {{"sparsity", 0.5}}, "latency_s"}, 1.003,
                               0.004, RowVerdict::same, Reason::within_margin),
                  Evidence::same),
        candidate_row(),
        confirmed_row(),
        taken_back_row(),
        muted_row(),
        night_row(compared_row({"lte/fig8", "lte", {{"sparsity", 0.9}}, "latency_s"}, 0.88, 0.01,
                               RowVerdict::faster, Reason::beyond_margin),
                  Evidence::same),
        night_row(compared_row({"lazarus/x_planner", "lazarus", {}, "seconds"}, 0.999, 0.004,
                               RowVerdict::same, Reason::within_margin),
                  Evidence::same, {State::confirmed, State::fixed, "back for two nights in a row"}),
        night_row(compared_row({"lazarus/x_start", "lazarus", {}, "seconds"}, 1.1, 0.12,
                               RowVerdict::ambiguous, Reason::bimodal)),
        night_row(compared_row({"lazarus/x_regroup", "lazarus", {}, "seconds"}, 1.02, 0.05,
                               RowVerdict::ambiguous, Reason::straddles_margin)),
        only_now_row(),
    };
    night.failures = {"benchmark/gemv: the program kernels_gemv_benchmark is not there"};
    night.warnings = {"governor: 100 % of \"powersave\"\nset it to performance",
                      "3 samples were excluded: clock below 75 %"};
    night.control = {{"compute_s", 1.004}};
    night.seconds = 321;
    say_reasons(night);
    judge(night);
    return night;
}

Night quiet_night() {
    Night night = named_night();
    for (const char* variant : {"dense", "lte"})
        night.rows.push_back(night_row(compared_row({"lte/fig8", variant, {}, "latency_s"}, 1.001,
                                                    0.003, RowVerdict::same, Reason::within_margin),
                                       Evidence::same));
    judge(night);
    return night;
}

Night first_night() {
    Night night = named_night();
    night.baseline_session.clear();
    night.nights_before = 0;
    night.rows = {only_now_row()};
    say_reasons(night);
    judge(night);
    return night;
}

}  // namespace assay::gate
