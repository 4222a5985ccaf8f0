// What the controller does about failures of workers that are alive: steps that went wrong, groups
// that broke, checkpoints that cannot be read.
#include <fmt/format.h>

#include <utility>

#include "impls/lazarus/policy/controller/controller.hpp"

namespace assay::lazarus {

void Controller::handle(const StepFailed& failed, Actions& out) {
    if (phase_ != Phase::training || failed.epoch != plan_.epoch || failed.step != committed())
        return;
    if (!membership_.members().count(failed.worker)) return;
    if (++failures_in_row_ > config_.most_retries) {
        return stop(
            false,
            fmt::format("step {} failed {} time{} in a row, the last time on worker {}: {}; "
                        "either training diverges (lower the learning rate) or a worker "
                        "computes wrongly every time (take it out of service)",
                        failed.step, failures_in_row_, failures_in_row_ == 1 ? "" : "s",
                        failed.worker, failed.why),
            out);
    }
    retry(fmt::format("step {} failed on worker {}: {}", failed.step, failed.worker, failed.why),
          out);
}

void Controller::handle(const GroupBroken& broken, Actions& out) {
    if (phase_ != Phase::training && phase_ != Phase::reconfiguring) return;
    if (broken.epoch != plan_.epoch) return;
    const bool known = membership_.members().count(broken.suspect) > 0;
    const bool corrupt = broken.cause == GroupBroken::Cause::corrupt_message;
    if (known && !corrupt) return evict(broken.suspect, broken.why, out);
    if (++corruptions_in_row_ <= config_.most_retries) {
        return retry(
            known ? fmt::format("corrupt message from worker {}: {}", broken.suspect, broken.why)
                  : fmt::format("group of epoch {} broke: {}", broken.epoch, broken.why),
            out);
    }
    if (known) return evict(broken.suspect, broken.why, out);
    stop(
        false,
        fmt::format("the workers' group broke {} time{} in a row though nobody died and nobody can "
                    "be named as the cause: {}; look at the network between the workers",
                    corruptions_in_row_, corruptions_in_row_ == 1 ? "" : "s", broken.why),
        out);
}

void Controller::handle(const RestoreFailed& failed, Actions& out) {
    if (phase_ != Phase::reconfiguring || failed.epoch != plan_.epoch) return;
    if (failed.step != restore_ || !membership_.members().count(failed.worker)) return;
    if (failed.step == 0) {
        return stop(false,
                    fmt::format("worker {} cannot make the initial state: {}; nothing older can be "
                                "restored",
                                failed.worker, failed.why),
                    out);
    }
    ++counts_.bad_checkpoints;
    checkpoints_.reject(failed.step);
    roll_back_to(checkpoints_.newest_complete());
    causes_.push_back(fmt::format("checkpoint {} cannot be read on worker {}: {}", failed.step,
                                  failed.worker, failed.why));
    end_epoch(out);
    reconfigure(out);
}

void Controller::retry(std::string cause, Actions& out) {
    ++counts_.retries;
    causes_.push_back(std::move(cause));
    end_epoch(out);
    reconfigure(out);
}

void Controller::evict(Worker suspect, std::string why, Actions& out) {
    ++counts_.evictions;
    corruptions_in_row_ = 0;
    causes_.push_back(fmt::format("worker {} is evicted: {}", suspect, why));
    end_epoch(out);
    out.push_back(Evict{suspect, std::move(why)});
    evicted_ = suspect;
    phase_ = Phase::evicting;
}

void Controller::end_epoch(Actions& out) {
    if (phase_ == Phase::training) ++counts_.discarded;
    reported_.clear();
    out.push_back(Abort{plan_.epoch, -1});
}

}  // namespace assay::lazarus
