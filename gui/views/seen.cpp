#include "gui/views/seen.hpp"

#include <utility>

namespace assay::gui {
namespace {

constexpr std::chrono::milliseconds one_step{600};  // a turn of the wheel, a word that is typed

}  // namespace

SeenCommand::SeenCommand(Location place, Seen before, Seen after, Show show)
    : place_(std::move(place)),
      before_(std::move(before)),
      after_(std::move(after)),
      show_(std::move(show)) {}

void SeenCommand::redo() {
    if (!std::exchange(has_happened_, false)) show_(place_, after_);
}

bool SeenCommand::mergeWith(const QUndoCommand* next) {
    const auto* other = dynamic_cast<const SeenCommand*>(next);
    if (!other || other->place_ != place_ || other->at_ - at_ > one_step) return false;
    const bool both_zoom = before_.filter == other->after_.filter &&
                           before_.only_what_matters == other->after_.only_what_matters;
    const bool both_type = before_.window == other->after_.window &&
                           before_.only_what_matters == other->after_.only_what_matters;
    if (!both_zoom && !both_type) return false;
    after_ = other->after_;
    at_ = other->at_;
    return true;
}

}  // namespace assay::gui
