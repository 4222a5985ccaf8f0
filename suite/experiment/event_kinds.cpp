#include "suite/experiment/event_kinds.hpp"

namespace assay {

const std::vector<EventKind>& suite_event_kinds() {
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

}  // namespace assay
