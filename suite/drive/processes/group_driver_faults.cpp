// What faults do to time: which of their consequences belong to the scenario, and which are the
// machine's own business.
#include "suite/cluster/pacer.hpp"
#include "suite/drive/processes/group_driver.hpp"

namespace assay::drive {

using cluster::Seconds;
using nlohmann::json;

namespace {

// Ends its target for good. In scenario time a frozen worker counts as lost once the modelled
// cluster would have noticed.
bool is_fatal(const Fault& fault) {
    return fault.kind == FaultKind::kill || (fault.kind == FaultKind::hang && !fault.for_s);
}

}  // namespace

void GroupDriver::on_fault(const Fault& fault, WorkerId worker, std::string_view means) {
    json detail{{"kind", to_string(fault.kind)}, {"fault", to_string(fault)}};
    if (!means.empty()) detail["by"] = means;
    recorder_.event("fault", now(), worker, detail);
    session_.struck(fault);
    keep_time(fault, worker);
    if (fault.kind != FaultKind::kill && fault.kind != FaultKind::hang) return;
    injected_.insert_or_assign(worker, cluster::monotonic_s());
    if (is_fatal(fault)) unresolved_.insert(worker);
    recoveries_.on_fault(worker, now());
}

// What follows a loss is real machinery at work, and a modelled clock stands still until it is
// done. What a fault that ends does to the steps until then is modelled time; what one without an
// end does is not.
void GroupDriver::keep_time(const Fault& fault, WorkerId worker) {
    const bool awaited = fault.kind == FaultKind::join || fault.kind == FaultKind::stop;
    const bool link = fault.kind == FaultKind::link, hang = fault.kind == FaultKind::hang;
    const Seconds lasts(fault.for_s.value_or(1e9) / clock_.speed());
    // A worker that nobody hears or reaches for so long is lost: killed, or evicted.
    const Seconds patience =
        hang ? options_.supervisor.heartbeat_timeout : Seconds(options_.operation_timeout_s);
    const bool too_long = !fault.for_s || lasts >= patience;
    const bool cut_off = link && fault.cut && too_long && is_member(worker) &&
                         members_.size() > 1 && (!fault.peer || is_member(*fault.peer));
    const bool lost = fault.kind == FaultKind::kill || (hang && too_long) || cut_off;
    if (awaited || (lost && is_member(worker))) time_->hold();
    if (lost) {
        unresolved_.insert(worker);
        // Should it come back just in time, that is an end too.
        if (fault.for_s) overdue_[supervisor_.start_timer(lasts + patience)] = worker;
    } else if ((link || hang) && fault.for_s) {
        time_->disturbed_until(worker, now() + *fault.for_s);
    } else if (link) {
        time_->link_stays_bad();
    }
}

void GroupDriver::slow(WorkerId worker, double factor) {
    time_->slow(worker, factor);
    session_.slowed(worker, factor);
}

// Nothing real is going on any more that the clock has to wait for.
void GroupDriver::run_clock_again() {
    if (!time_->held() || !begun_) return;
    if ((forming_ || suspicion_.broken()) && !session_.waits()) return;
    if (faults_.holds_commit() || !unresolved_.empty()) return;
    time_->go_on();
}

void GroupDriver::end_if_none_can_come() {
    if (ending_ || !session_.waits()) return;
    if (time_is_up_) return session_.time_is_up();
    time_->idle();
    if (options_.duration_s > 0 || faults_.expects_joins() || !unresolved_.empty()) return;
    session_.idle();
}

}  // namespace assay::drive
