// How one metric of one series went over its sessions, with what statistics say about it.
#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "suite/base/describe.hpp"
#include "suite/experiment/experiment.hpp"
#include "suite/measure/statistics/change_points.hpp"
#include "suite/measure/statistics/history_rule.hpp"
#include "suite/report/figures/plot.hpp"
#include "suite/report/figures/view_window.hpp"
#include "suite/store/history.hpp"
#include "suite/store/records.hpp"

namespace assay::store {
class Store;
}

namespace assay::report {

struct TrendOptions {
    statistics::ChangePointOptions changes;
    statistics::HistoryOptions rule;
};
/// What `assay history` goes by unless it is told otherwise: changes of less than 1 % are left out.
TrendOptions usual_trend_options();

/// Whether a change is one to like, by the metric's direction. Says nothing of how sure it is.
enum class Turn { better, worse, neither };
ASSAY_NAMES(Turn, better, worse, (neither, ""))

/// Something that may explain a change: commit, driver, compiler …
struct SuspectChange {
    std::string name, before, after;
};

struct TrendChange {
    statistics::ChangePoint at;  ///< its index is one of Trend::points
    Turn turn = Turn::neither;
    /// What differs between the sessions just before and just after, by name.
    std::vector<SuspectChange> suspects;
};

/// Of a series that later sessions have no more, though they have most of what its last one had.
struct TrendEnd {
    std::size_t sessions_ago = 0;  ///< how many such sessions there are
};

struct Trend {
    store::SeriesKey series;
    store::MetricKey metric;
    std::string unit;
    Direction better = Direction::none;
    /// Of one session each, with the values of seeds and rounds that all of them have.
    std::vector<store::HistoryPoint> points;
    /// Sentences: which sessions are not among the points, or with some of their values only, since
    /// other seeds and rounds have other values.
    std::vector<std::string> left_out;
    std::vector<TrendChange> changes;  ///< in order of time
    /// The newest point against all before it; nullopt: too few of them.
    std::optional<statistics::HistoryVerdict> newest;
    std::optional<TrendEnd> end;  ///< nullopt: it goes on (SeriesEnds), or was not asked

    std::string title() const;     ///< "lte/fig8 lte sparsity=0.5: seconds"
    std::string context() const;   ///< "small, measured, machine 1a2b3c4d"
    std::string quantity() const;  ///< "seconds, s (lower is better)"
    std::string number() const;    ///< what --metric takes: "seconds{step=3}", "of_read"
};

/// Which series ended.
class SeriesEnds {
  public:
    /// It must outlive this.
    explicit SeriesEnds(const store::Store& store);
    ~SeriesEnds();
    /// Ended is what at least two finished sessions lack that were recorded after its last one and
    /// have at least half of the series of that one, or have this series without the number.
    /// Failed samples are no end.
    std::optional<TrendEnd> of(const Trend&);

  private:
    struct Known;
    std::unique_ptr<Known> known_;
};

/// "ended: last seen on 2026-10-12, 12 sessions ago"; empty: it goes on.
std::string end_text(const Trend&);

/// `experiment` declares unit and direction; null: it is not known to this program. Any change of a
/// deterministic metric counts, however small.
/// Sessions are compared on the seeds and rounds that they have in common. From the newest session
/// back, one that shares none of them with those after it is left out; of a metric that is not
/// deterministic also one that shares fewer than three (or than all there are), so that a short
/// session does not take the values of all others away.
Trend make_trend(const Experiment* experiment, store::SeriesKey, store::MetricKey,
                 std::vector<store::HistoryPoint>, const TrendOptions&);

/// Suspects known on both sides that differ.
std::vector<SuspectChange> differing_suspects(const nlohmann::json& before,
                                              const nlohmann::json& after);

/// "+5.2 %", "-0.3 %", "x3.4" beyond a doubling; "from 0" where it was zero.
std::string change_text(const statistics::ChangePoint&);

/// "unusual: 7.1 % from the median of the 3 before it, more than the 2.3 % that …", or that it is
/// not, or that there are too few points to tell; of one that ended, that first.
std::string newest_text(const Trend&, const statistics::HistoryOptions&);

/// The figure, 800 pixels wide.
Plot trend_plot(const Trend&, const statistics::HistoryOptions&, const ViewWindow& = {});

/// {"series": {…}, "metric", "labels", "unit", "better", "points": […], "left_out": […], "changes":
/// […], "newest", "ended"}
nlohmann::json trend_json(const Trend&);
/// Of each, and "row": what reports call it among these.
nlohmann::json trends_json(const std::vector<Trend>&);

/// One row per session of every trend.
std::string trends_csv(const std::vector<Trend>&);

struct TrendLook {
    std::size_t columns = 80;  ///< at least 40 are used
    bool colours = false;      ///< green: better, red: worse; never how sure that is
};

/// For the terminal: marks for sessions, uprights for change points with the suspects that differ
/// there, and the newest verdict.
std::string draw_trend(const Trend&, const statistics::HistoryOptions&, const TrendLook&);

}  // namespace assay::report
