#include "suite/drive/suspicion.hpp"

#include <algorithm>
#include <utility>

namespace assay::drive {
namespace {

bool contains(const std::vector<WorkerId>& workers, WorkerId one) {
    return std::find(workers.begin(), workers.end(), one) != workers.end();
}

}  // namespace

void Suspicion::on(const Event& event, double, std::vector<Action>& actions) {
    std::visit([&](const auto& one) { handle(one, actions); }, event);
}

void Suspicion::handle(const GroupForms& group, std::vector<Action>&) {
    epoch_ = group.epoch;
    members_ = group.members;
    reporters_.clear();
    settled_ = false;
    waiting_.reset();
}

void Suspicion::handle(const GroupBroke& broke, std::vector<Action>& actions) {
    if (broke.epoch != epoch_) return;
    reporters_.push_back(broke.reporter);
    newest_why_ = broke.why;
    if (settled_) return;
    if (broke.cause != Cause::unexplained)
        return blame(broke.suspect, broke.cause, broke.why, actions);
    if (waiting_) return;
    waiting_ = ++timers_;
    actions.push_back(StartTimer{*waiting_, patience_s_});
}

void Suspicion::handle(const Left& left, std::vector<Action>&) {
    std::erase(members_, left.worker);
}

void Suspicion::handle(const Died& died, std::vector<Action>&) {
    if (!contains(members_, died.worker)) return;
    std::erase(members_, died.worker);
    settled_ = true;
    waiting_.reset();
}

void Suspicion::handle(const Timer& timer, std::vector<Action>& actions) {
    if (waiting_ != timer.id) return;
    const auto silent = std::find_if(members_.begin(), members_.end(), [this](WorkerId member) {
        return !contains(reporters_, member);
    });
    if (silent != members_.end()) return blame(*silent, Cause::unexplained, newest_why_, actions);
    const auto first =
        std::find_if(reporters_.begin(), reporters_.end(),
                     [this](WorkerId reporter) { return contains(members_, reporter); });
    // Where even that one has left in the meantime, nobody is there whom it could concern.
    if (first != reporters_.end()) blame(*first, Cause::unexplained, newest_why_, actions);
}

void Suspicion::blame(WorkerId suspect, Cause cause, std::string why,
                      std::vector<Action>& actions) {
    settled_ = true;
    waiting_.reset();
    actions.push_back(Blame{epoch_, suspect, cause, std::move(why)});
}

}  // namespace assay::drive
