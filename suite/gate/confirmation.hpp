// The gate's rule for "confirmed": what becomes of a regression from its first sight to its end. It
// takes two nights. Pure: no database, no clock.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "suite/base/describe.hpp"

namespace assay::gate {

/// candidate: seen in one night, and again in that night's reruns. confirmed: seen again in
/// another night, the next that could tell; fails the build. accepted: a person said that this is
/// the new level (`assay baseline accept`). fixed: later nights are back. ignored: what
/// older programs made of an open one that was muted.
enum class State { candidate, confirmed, accepted, fixed, ignored };
ASSAY_NAMES(State, candidate, confirmed, accepted, fixed, ignored)

/// What one night says about one row, after its reruns.
enum class Evidence {
    none,       ///< not run, failed, not comparable, or undecided: says nothing
    slower,     ///< outside the margin and the history, and the reruns say so too
    not_again,  ///< suspicious at first, but the reruns took it back
    same,       ///< inside the margin (or faster)
};

ASSAY_NAMES(Evidence, none, slower, (not_again, "not again"), same)

struct Step {
    std::optional<State> from, to;  ///< nullopt: no regression
    std::string why;
};

/// Whether two runs of a suite, given by when one ended and the other began (ISO 8601, UTC), are
/// two nights: one begun less than `hours` after the other is that night once more, and sees the
/// same disturbance again. Where the clock was set back in between, the distance counts without its
/// sign.
bool is_another_night(std::string_view earlier, std::string_view later, double hours);

/// One night's move. Only `slower` in two different nights confirms (`another_night`: the candidate
/// was not first seen in this one); `not_again` and `same` drop a candidate; two nights of `same`
/// in a row fix a confirmed one (`same_before`: the night before said same). accepted, fixed and
/// ignored are left by new evidence against the new level only: `slower` opens a new candidate for
/// accepted and fixed, ignored stays.
Step after_night(std::optional<State> state, Evidence evidence, bool same_before,
                 bool another_night = true);

}  // namespace assay::gate
