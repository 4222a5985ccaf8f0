#include "impls/lazarus/campaign/virtual_worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "impls/lazarus/campaign/virtual_world.hpp"

namespace assay::lazarus::campaign {

void VirtualWorker::deliver(Action message) {
    mailbox_.push_back(std::move(message));
    work();
}

void VirtualWorker::work() {
    while (alive && world_.awake(id_) && busy_ == Busy::no && !mailbox_.empty()) {
        const Action message = std::move(mailbox_.front());
        mailbox_.pop_front();
        std::visit([&](const auto& one) { process(one); }, message);
    }
}

void VirtualWorker::interrupt(Epoch epoch) {
    aborted_ = std::max(aborted_, epoch);
    if (busy_ == Busy::no || busy_ == Busy::writing || plan_.epoch > aborted_) return;
    busy_ = Busy::no;
    work();
}

// ---- reconfiguration ---------------------------------------------------------------------------

void VirtualWorker::process(const Reconfigure& plan) {
    plan_ = plan;
    staged_.clear();
    staged_dense_.reset();
    gradients_.reset();
    if (!world_.strike(Moment::reconfigure_received, id_)) return;
    if (plan.epoch <= aborted_) return;  // broken before it began: the next plan is on its way
    busy_ = Busy::building;
    world_.enter_group(plan.epoch, id_);
}

void VirtualWorker::group_built(Epoch epoch) {
    if (busy_ != Busy::building || plan_.epoch != epoch) return;
    busy_ = Busy::transferring;
    if (plan_.restore_step) {
        outstanding_ = 1;
        world_.after(id_, world_.between(1, 20), [this, epoch] {
            if (!in_transfers_of(epoch)) return;
            if (!world_.readable(*plan_.restore_step)) {
                busy_ = Busy::no;
                world_.report(id_, RestoreFailed{id_, epoch, *plan_.restore_step, "torn"});
                return work();
            }
            load_from_storage();
            one_transfer_less();
        });
        return;
    }
    outstanding_ = 1;  // the group itself: keeps Ready back until the list is complete
    for (const Transfer& one : plan_.transfers)
        outstanding_ += static_cast<int>(one.from == id_) + static_cast<int>(one.to == id_);
    for (const auto& ends : {plan_.need_dense, plan_.dense_sources})
        outstanding_ += static_cast<int>(std::count(ends.begin(), ends.end(), id_));
    one_transfer_less();
}

bool VirtualWorker::in_transfers_of(Epoch epoch) const {
    return alive && busy_ == Busy::transferring && plan_.epoch == epoch;
}

void VirtualWorker::sent(Epoch epoch) {
    if (in_transfers_of(epoch)) one_transfer_less();
}

void VirtualWorker::received(Epoch epoch, ExpertId id, Hash state) {
    if (!in_transfers_of(epoch)) return;
    if (experts_.count(id)) world_.fail(fmt::format("{} fetched what it held", id_));
    staged_[id] = state;
    one_transfer_less();
}

void VirtualWorker::received_dense(Epoch epoch, Hash state) {
    if (!in_transfers_of(epoch)) return;
    staged_dense_ = state;
    one_transfer_less();
}

void VirtualWorker::one_transfer_less() {
    if (--outstanding_ > 0) return;
    busy_ = Busy::no;
    world_.report(id_, Ready{id_, plan_.epoch});
    if (world_.strike(Moment::after_ready, id_)) work();
}

void VirtualWorker::load_from_storage() {
    for (ExpertId id : planned()) staged_[id] = world_.load(*plan_.restore_step, id);
    staged_dense_ = world_.load_dense(*plan_.restore_step);
}

std::vector<ExpertId> VirtualWorker::planned() const {
    std::set<ExpertId> mine;
    for (std::size_t i = 0; i < plan_.training.size(); ++i) {
        if (plan_.training[i] != id_) continue;
        for (std::size_t layer = 0; layer < plan_.holders.size(); ++layer) {
            for (int expert : plan_.holders[layer][i])
                mine.insert({static_cast<int>(layer), expert});
        }
    }
    return {mine.begin(), mine.end()};
}

void VirtualWorker::adopt_plan() {
    if (adopted_ == 0 && !plan_.need_dense.empty() && !world_.strike(Moment::joiner_goes, id_))
        return;
    std::map<ExpertId, Hash> next;
    for (ExpertId id : planned()) {
        const bool staged = staged_.count(id) > 0;
        if (!staged && (plan_.restore_step || !experts_.count(id))) {
            return world_.fail(
                fmt::format("worker {} goes into epoch {} without expert {} of layer {}", id_,
                            plan_.epoch, id.second, id.first));
        }
        next[id] = staged ? staged_[id] : experts_[id];
    }
    experts_ = std::move(next);
    if (staged_dense_) dense_ = staged_dense_;
    if (!dense_) world_.fail(fmt::format("worker {} goes without dense state", id_));
    if (plan_.restore_step) next_step_ = *plan_.restore_step;
    if (adopted_ == 0) next_step_ = plan_.resume_step;
    adopted_ = plan_.epoch;
    staged_.clear();
    staged_dense_.reset();
}

// ---- steps -------------------------------------------------------------------------------------

void VirtualWorker::process(const Go& go) {
    if (go.epoch != plan_.epoch)
        return world_.fail(
            fmt::format("worker {}: Go for epoch {} in epoch {}", id_, go.epoch, plan_.epoch));
    if (adopted_ != go.epoch) {
        adopt_plan();
        if (!alive || !world_.strike(Moment::go_received, id_)) return;
    }
    if (go.step != next_step_) {
        return world_.fail(fmt::format("worker {} told to compute step {} with the state before {}",
                                       id_, go.step, next_step_));
    }
    if (aborted_ >= go.epoch) return;
    busy_ = Busy::computing;
    world_.after(id_, world_.pace(id_) * world_.between(3, 15), [this, go] {
        if (busy_ == Busy::computing && plan_.epoch == go.epoch)
            world_.enter_sums(go.epoch, go.step, id_);
    });
}

void VirtualWorker::sums_finished(Epoch epoch, Step step, bool finite) {
    if (busy_ != Busy::computing || plan_.epoch != epoch || next_step_ != step) return;
    if (!finite) {  // nothing is staged: a commit of these sums would be noticed
        busy_ = Busy::no;
        world_.report(id_, StepFailed{id_, epoch, step, "not finite"});
        if (world_.is_damaged(id_)) return world_.exit(id_);
        return work();
    }
    gradients_ = {epoch, step};
    busy_ = Busy::no;
    if (!world_.strike(Moment::before_step_done, id_)) return;
    world_.report(id_, StepDone{id_, epoch, step, world_.loads_of(step, plan_.training)});
    if (world_.strike(Moment::after_step_done, id_)) work();
}

void VirtualWorker::process(const Commit& commit) {
    if (!world_.strike(Moment::commit_received, id_)) return;
    if (gradients_ != std::pair{commit.epoch, commit.step}) {
        return world_.fail(
            fmt::format("worker {} has no sums for the commit of step {} in epoch {}", id_,
                        commit.step, commit.epoch));
    }
    gradients_.reset();
    const CommittedStep step{commit.step, commit.epoch, plan_.training, plan_.holders};
    for (auto& [id, state] : experts_) state = next_expert(state, id, step);
    dense_ = next_dense(*dense_, step);
    ++next_step_;
    world_.applied(id_, commit);
}

void VirtualWorker::process(const WriteCheckpoint& checkpoint) {
    std::vector<ExpertId> parts;
    for (std::size_t layer = 0; layer < checkpoint.owners.size(); ++layer) {
        for (std::size_t expert = 0; expert < checkpoint.owners[layer].size(); ++expert) {
            if (checkpoint.owners[layer][expert] == id_)
                parts.push_back({static_cast<int>(layer), static_cast<int>(expert)});
        }
    }
    const bool dense = checkpoint.dense_owner == id_;
    if (parts.empty() && !dense) return;
    if (world_.disk_full()) return;  // what was written is never reported
    if (checkpoint.step != next_step_)
        return world_.fail(fmt::format("worker {} writes step {} with the state before {}", id_,
                                       checkpoint.step, next_step_));
    busy_ = Busy::writing;
    write_part(checkpoint.step, std::move(parts), dense);
}

void VirtualWorker::write_part(Step step, std::vector<ExpertId> parts, bool dense) {
    world_.after(id_, world_.write_time(), [this, step, parts = std::move(parts), dense]() mutable {
        if (parts.empty()) {
            if (dense) world_.store_dense(step, *dense_);
            busy_ = Busy::no;
            world_.report(id_, CheckpointWritten{id_, step});
            return work();
        }
        const ExpertId id = parts.back();
        parts.pop_back();
        if (!experts_.count(id))
            return world_.fail(
                fmt::format("worker {} owns a part of checkpoint {} it lacks", id_, step));
        world_.store(step, id, experts_[id]);
        if (world_.strike(Moment::writing_checkpoint, id_))
            write_part(step, std::move(parts), dense);
    });
}

void VirtualWorker::process(const Dismiss&) { world_.exit(id_); }

void VirtualWorker::process(const Stop&) { told_to_stop_ = true; }

}  // namespace assay::lazarus::campaign
