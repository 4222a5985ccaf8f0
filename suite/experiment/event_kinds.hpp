// What happens to workers. Kinds of events that samples record, and how timelines draw them: the
// suite's own; a system declares more (System::event_kinds). Phases of its work that faults can
// name (System::fault_phases).
#pragma once

#include <string>
#include <vector>

#include "suite/base/describe.hpp"

namespace assay {

/// What an event is about; each figure and window has a colour for it.
enum class EventColour {
    recovery,   ///< work goes on
    failure,    ///< something broke, or was made to
    arrival,    ///< someone came
    state,      ///< state was saved, or read again
    detection,  ///< someone noticed
    transfer,   ///< state moved
    placement,  ///< work or state is arranged anew
    other,
};
ASSAY_NAMES(EventColour, recovery, failure, arrival, state, detection, transfer, placement, other)

/// Where timelines show an event. One with a length (its detail's "seconds") is drawn as long.
enum class EventLane {
    rank,       ///< a mark in the lane of its rank, nothing else; so are kinds that nobody declares
    labelled,   ///< the same, and a line with its name through all lanes
    cause,      ///< the same, named by its detail's "kind"; what follows tells the time since it
    arrival,    ///< labelled; its rank's lane begins, and what follows tells the time since it
    departure,  ///< labelled; its rank's lane ends
    death,      ///< the same, with a cross
    stop,       ///< labelled; where variants are compared, a block in their lane, with the "reason"
    pause,      ///< labelled; where variants are compared, a thin bar in their lane
    row,        ///< many: ticks in a row of their own, without labels
};
ASSAY_NAMES(EventLane, rank, labelled, cause, arrival, departure, death, stop, pause, row)

/// A kind of event that samples record (Recorder::event), and how timelines draw it.
struct EventKind {
    std::string name;   ///< as it is recorded and labelled: "death"
    std::string label;  ///< what a row of them is called: "deaths"
    EventColour colour = EventColour::other;
    EventLane lane = EventLane::rank;
};

/// What befalls the workers of any system: fault, death, leave, join, detection; and what any
/// training does: checkpoint, commit (a step that will not be taken back).
inline const std::vector<EventKind>& suite_event_kinds() {
    static const std::vector<EventKind> kinds{
        {"fault", "faults", EventColour::failure, EventLane::cause},
        {"death", "deaths", EventColour::failure, EventLane::death},
        {"leave", "leaves", EventColour::other, EventLane::departure},
        {"join", "joins", EventColour::arrival, EventLane::arrival},
        {"detection", "detections", EventColour::detection, EventLane::labelled},
        {"checkpoint", "checkpoints", EventColour::state, EventLane::labelled},
        {"commit", "commits", EventColour::other, EventLane::row}};
    return kinds;
}

/// Where inside a step or after it a fault can strike, beside the phase "step", which every system
/// has: `kill:rank=1,phase=NAME@step=5` strikes in the first NAME that follows step 5.
struct FaultPhase {
    std::string name;          ///< "transfer"
    std::string says;          ///< one line for `assay describe`: when a worker is in it
    bool corruptible = false;  ///< `corrupt` with target=message can strike a message of it
};
/// In the order in which they follow a step.
using FaultPhases = std::vector<FaultPhase>;

}  // namespace assay
