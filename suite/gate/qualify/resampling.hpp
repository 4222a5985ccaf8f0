// Nights as they might have been: rounds drawn from a pool, judged by the gate's own code.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "suite/gate/night_rows.hpp"
#include "suite/gate/qualify/pool.hpp"
#include "suite/measure/statistics/counter_draws.hpp"

namespace assay::qualify {

/// A slowdown that is put into a night.
struct Injected {
    double factor = 1;
    /// true: values of samples that were really made so many times slower. false: honest values,
    /// multiplied (divided where higher is better).
    bool recorded = false;
};

/// What came of nights in which nothing had changed.
struct QuietNights {
    long nights = 0;
    long failed = 0;      ///< exit code 2: false alarms
    long warned = 0;      ///< some row was a candidate after its reruns
    long ambiguous = 0;   ///< exit code 3
    long candidates = 0;  ///< rows before their reruns
    long rerun_away = 0;  ///< of these: taken back or left open by their reruns
};

/// A night is as many rounds in a row as the suite's nights have, so that what drifts within a
/// night drifts here too; the pairs of its reruns are drawn at random, two rounds of equal seed one
/// night's length apart, either of them the newer. That is harder than a real rerun, whose pairs
/// are seconds apart. The baseline shares no round with the nights; nights share some with each
/// other. Repeatable by its seed.
class Resampling {
  public:
    /// `pool` must outlive this. UserError: it has fewer rounds than three nights.
    Resampling(const Pool& pool, const gate::SuiteFile& suite, std::uint64_t seed);

    /// One baseline, then `nights` nights after each other, with history and life cycle; nobody
    /// accepts or mutes anything. Counts are added.
    void quiet_campaign(int nights, QuietNights& counts);

    /// Whether a slowdown of one row that begins after ten quiet nights is confirmed in its second
    /// night.
    bool confirms(const PoolRow& row, Injected injected);

    /// Whether a night in which all rows but the control's are slower fails at once.
    bool mean_fails(Injected injected);

    /// Relative distance that the medians of two quiet nights exceed in one of ten pairs; NaN: the
    /// pool has fewer than five nights side by side.
    double spread(const PoolRow& row);

  private:
    struct Drawn {
        int baseline = 0;  ///< its first round
        std::map<RowId, gate::RowPast> past;
        std::map<RowId, gate::SeriesGate> gates;  ///< by series
        std::vector<const PoolRow*> rows;
    };

    Drawn draw(std::vector<const PoolRow*> rows);
    int draw_night(const Drawn& drawn);
    gate::Night night(Drawn& drawn, Injected injected);
    void rerun(gate::Night& night, const Drawn& drawn, Injected injected);
    compare::Row rerun_in_turns(const PoolRow& row, double margin, int rounds, Injected injected);
    std::vector<const PoolRow*> all_rows() const;

    const Pool& pool_;
    const gate::SuiteFile& suite_;
    int length_;  ///< rounds of the longest night
    statistics::CounterDraws draws_;
};

}  // namespace assay::qualify
