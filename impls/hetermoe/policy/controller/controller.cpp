#include "impls/hetermoe/policy/controller/controller.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "impls/hetermoe/policy/plan.hpp"
#include "impls/hetermoe/policy/squeeze.hpp"

namespace assay::hetermoe {
namespace {

// What plan() is to know: the GPUs at hand, no limits of memory.
TrainingProfile profile_of(const ControllerSettings& settings, int new_gpus, int old_gpus) {
    TrainingProfile profile;
    profile.layers = settings.layers;
    profile.experts = settings.experts;
    profile.micro_batches = {settings.micro_batches};
    profile.new_kind = {.gpus = new_gpus,
                        .attention = settings.times.attention,
                        .expert = settings.times.new_expert,
                        .capacity = {}};
    profile.old_kind = {
        .gpus = old_gpus, .attention = {}, .expert = settings.times.old_expert, .capacity = {}};
    profile.exchange = settings.times.exchange;
    return profile;
}

int at_hand(const std::vector<Worker>& workers) { return static_cast<int>(workers.size()); }

// Where one kind is gone, what the other's workers do, and how long it takes them.
std::optional<Layout> layout_of_one_kind(ControllerSettings settings,
                                         const std::vector<Worker>& workers, bool new_kind) {
    auto& times = settings.times;
    if (workers.size() < 2 || (!new_kind && times.old_attention == 0)) return std::nullopt;
    if (new_kind) {
        times.old_expert = times.new_expert;
    } else {
        times.attention = times.old_attention;
        times.new_expert = times.old_expert;
    }
    const auto middle = workers.begin() + (at_hand(workers) + 1) / 2;
    return layout_for(settings, {workers.begin(), middle}, {middle, workers.end()});
}

}  // namespace

std::optional<Layout> layout_for(const ControllerSettings& settings,
                                 const std::vector<Worker>& new_workers,
                                 const std::vector<Worker>& old_workers) {
    if (old_workers.empty()) return layout_of_one_kind(settings, new_workers, true);
    if (new_workers.empty()) return layout_of_one_kind(settings, old_workers, false);
    // No more than wanted: a batch suffices for so many attention workers.
    const int fresh = std::min(at_hand(new_workers), settings.new_workers());
    const int old = std::min(at_hand(old_workers), settings.old_workers());
    const TrainingProfile profile = profile_of(settings, fresh, old);
    Layout layout;
    layout.micro_batches = settings.micro_batches;
    layout.group = settings.group;
    layout.groups = std::min(fresh / settings.group.attention, old / settings.group.expert);
    if (layout.groups == 0) {
        const Plan made = plan(profile, {.asym = Asym::off});
        layout.group = made.best_option().group;
        layout.groups = made.best_option().groups;
    }
    const std::optional<Chunks> chunks = chunks_of(profile, layout.group);
    std::vector<int> per_layer(static_cast<std::size_t>(settings.layers),
                               chunks ? std::min(settings.chunks, chunks->per_layer) : 0);
    if (chunks && settings.squeeze)
        per_layer = squeeze(profile, layout.group, *chunks, Asym::published);
    layout.offload = chunks ? offload_of(per_layer, *chunks) : per_layer;
    for (int i = 0; i < layout.groups * layout.group.attention; ++i)
        layout.ranks.push_back(new_workers[static_cast<std::size_t>(i)]);
    for (int i = 0; i < layout.groups * layout.group.expert; ++i)
        layout.ranks.push_back(old_workers[static_cast<std::size_t>(i)]);
    return layout;
}

void Controller::on(const Event& event, double, Actions& actions) {
    if (phase_ == Phase::over) return;
    std::visit([&](const auto& one) { handle(one, actions); }, event);
}

// ---- workers -----------------------------------------------------------------------------------

// Kinds of the first ones are dealt when all are there; a later one is of the kind that lacks more.
void Controller::handle(const Joined& joined, Actions& actions) {
    const auto missing = [&](bool of_new_kind, int wanted) {
        return wanted - std::count_if(kinds_.begin(), kinds_.end(),
                                      [&](const auto& one) { return one.second == of_new_kind; });
    };
    kinds_[joined.worker] =
        begun_ && missing(true, settings_.new_workers()) > missing(false, settings_.old_workers());
    if (begun_) ++counts_.joins;
    const auto why = fmt::format("join of {}", joined.worker);
    if (phase_ != Phase::waiting) {
        changed_ = why;
    } else if (begun_) {
        if (!joined.more) form(why, actions);
    } else if (static_cast<int>(kinds_.size()) >=
               settings_.new_workers() + settings_.old_workers()) {
        deal_kinds();
        form("start", actions);
    }
}

// In whatever order they came.
void Controller::deal_kinds() {
    int fresh = 0;
    for (auto& [worker, kind] : kinds_)
        kind = !leaving_.contains(worker) && fresh++ < settings_.new_workers();
}

void Controller::handle(const Died& died, Actions& actions) {
    ++counts_.deaths;
    if (kinds_.erase(died.worker) == 0) return;  // before it has joined
    leaving_.erase(died.worker);
    for (auto& [block, workers] : holders_) workers.erase(died.worker);
    // What it has not written of a checkpoint nobody will.
    std::erase_if(checkpoints_, [&](const auto& one) { return one.second.contains(died.worker); });
    const auto why = fmt::format("death of {}", died.worker);
    if (phase_ == Phase::awaiting_death) {
        if (died.worker == evicted_) form(why, actions);
        return;
    }
    const auto& takes_part = phase_ == Phase::forming ? form_.members : form_.layout.ranks;
    const bool matters = (phase_ == Phase::forming || phase_ == Phase::stepping) &&
                         std::count(takes_part.begin(), takes_part.end(), died.worker) > 0;
    if (!matters) return;
    abort(died.worker, actions);
    form(why, actions);
}

void Controller::handle(const LeaveRequested& leave, Actions& actions) {
    if (!kinds_.contains(leave.worker)) return;
    leaving_.insert(leave.worker);
    changed_ = fmt::format("leave of {}", leave.worker);
    if (phase_ == Phase::waiting && begun_) form(std::exchange(changed_, {}), actions);
}

std::vector<Worker> Controller::usable(bool of_new_kind) const {
    std::vector<Worker> workers;
    for (const auto& [worker, kind] : kinds_)
        if (kind == of_new_kind && !leaving_.contains(worker)) workers.push_back(worker);
    return workers;
}

// ---- plans -------------------------------------------------------------------------------------

void Controller::abort(Worker dead, Actions& actions) {
    if (phase_ == Phase::stepping) ++counts_.discarded;
    actions.push_back(Abort{form_.epoch, dead});
}

bool Controller::somebody_holds_everything() const {
    const auto blocks = nn::all_blocks(settings_.layers, settings_.experts);
    return std::all_of(blocks.begin(), blocks.end(), [&](const BlockKey& block) {
        const auto found = holders_.find(block);
        return found != holders_.end() && !found->second.empty();
    });
}

// Every block to whoever lacks it, from the holder that gives away least.
std::vector<Move> Controller::moves_to(const Layout& layout) const {
    std::vector<Move> moves;
    std::map<Worker, int> given;
    for (std::size_t rank = 0; rank < layout.ranks.size(); ++rank) {
        const Worker worker = layout.ranks[rank];
        for (const auto& block : blocks_of(layout, settings_.experts, static_cast<int>(rank))) {
            const auto& holders = holders_.at(block);
            if (holders.contains(worker)) continue;
            const Worker from =
                *std::min_element(holders.begin(), holders.end(),
                                  [&](Worker a, Worker b) { return given[a] < given[b]; });
            ++given[from];
            moves.push_back({block, from, worker});
        }
    }
    return moves;
}

void Controller::fall_back(Reconfigure& form) {
    Step newest = 0;
    for (const auto& [step, missing] : checkpoints_)
        if (missing.empty()) newest = std::max(newest, step);
    checkpoints_.erase(checkpoints_.upper_bound(newest), checkpoints_.end());
    form.restore_step = newest;
    if (begun_) {
        ++counts_.fallbacks;
        counts_.rolled_back += step_ - newest;
        form.why += "; a block has no holder left";
    }
    lineage_.resize(static_cast<std::size_t>(newest));
    step_ = newest;
    holders_.clear();
}

std::optional<Layout> Controller::best_layout() const {
    const auto times = [](Nanoseconds profiled, double factor) {
        return std::max<Nanoseconds>(1, std::llround(static_cast<double>(profiled) * factor));
    };
    ControllerSettings now = settings_;
    now.times.attention = times(settings_.times.attention, new_factor_);
    now.times.new_expert = times(settings_.times.new_expert, new_factor_);
    now.times.old_expert = times(settings_.times.old_expert, old_factor_);
    if (settings_.times.old_attention > 0)
        now.times.old_attention = times(settings_.times.old_attention, old_factor_);
    return layout_for(now, usable(true), usable(false));
}

void Controller::form(const std::string& why, Actions& actions) {
    const auto layout = best_layout();
    changed_.clear();
    if (!layout) {
        phase_ = Phase::waiting;
        return;
    }
    Reconfigure next;
    next.epoch = form_.epoch + 1;
    next.layout = *layout;
    next.members = layout->ranks;
    next.why = why;
    if (somebody_holds_everything())
        next.moves = moves_to(*layout);
    else
        fall_back(next);
    for (const auto& move : next.moves)
        if (std::count(next.members.begin(), next.members.end(), move.from) == 0)
            next.members.push_back(move.from);
    next.resume_step = step_;
    counts_.moves += static_cast<long>(next.moves.size());
    if (begun_) ++counts_.plans;
    begun_ = true;
    ready_.clear();
    form_ = next;
    phase_ = Phase::forming;
    actions.push_back(std::move(next));
}

void Controller::handle(const Ready& ready, Actions& actions) {
    if (phase_ != Phase::forming || ready.epoch != form_.epoch) return;
    ready_.insert(ready.worker);
    if (ready_.size() < form_.members.size()) return;
    holders_.clear();
    for (std::size_t rank = 0; rank < form_.layout.ranks.size(); ++rank)
        for (const auto& block : blocks_of(form_.layout, settings_.experts, static_cast<int>(rank)))
            holders_[block].insert(form_.layout.ranks[rank]);
    next_step(actions);
}

// ---- steps -------------------------------------------------------------------------------------

void Controller::next_step(Actions& actions) {
    // Those who asked to leave and have nothing that is needed any more.
    for (const Worker worker : std::set(leaving_)) {
        if (form_.layout.rank_of(worker) >= 0) continue;
        leaving_.erase(worker);
        kinds_.erase(worker);
        ++counts_.leaves;
        actions.push_back(Dismiss{worker});
    }
    if (!changed_.empty()) return form(std::exchange(changed_, {}), actions);
    phase_ = Phase::stepping;
    done_.clear();
    actions.push_back(Go{form_.epoch, step_});
}

void Controller::handle(const StepDone& done, Actions& actions) {
    if (phase_ != Phase::stepping || done.epoch != form_.epoch || done.step != step_) return;
    done_.insert(done.worker);
    if (done_.size() < form_.layout.ranks.size()) return;
    actions.push_back(Commit{form_.epoch, step_});
    lineage_.push_back({step_, form_.epoch, form_.layout});
    ++step_;
    retries_ = 0;
    damaged_messages_.clear();
    if (step_ == settings_.steps) {
        phase_ = Phase::over;
        actions.push_back(Stop{true, "every step is committed"});
        return;
    }
    if (settings_.checkpoint_every > 0 && step_ % settings_.checkpoint_every == 0) {
        std::set<Worker> writers;
        for (const auto& block : nn::all_blocks(settings_.layers, settings_.experts))
            writers.insert(form_.layout.ranks[static_cast<std::size_t>(
                holders_of(form_.layout, settings_.experts, block).front())]);
        actions.push_back(WriteCheckpoint{step_, {writers.begin(), writers.end()}});
        checkpoints_[step_] = std::move(writers);
    }
    next_step(actions);
}

void Controller::handle(const CheckpointWritten& written, Actions&) {
    const auto found = checkpoints_.find(written.step);
    if (found != checkpoints_.end()) found->second.erase(written.worker);
}

// ---- what goes wrong ---------------------------------------------------------------------------

void Controller::try_again(const std::string& why, Actions& actions) {
    if (++retries_ > settings_.most_retries) {
        phase_ = Phase::over;
        actions.push_back(
            Stop{false, fmt::format("step {} failed {} times: {}", step_, retries_, why)});
        return;
    }
    ++counts_.retries;
    form(why, actions);
}

void Controller::handle(const StepFailed& failed, Actions& actions) {
    if (phase_ != Phase::stepping || failed.epoch != form_.epoch) return;
    abort(-1, actions);
    try_again(
        fmt::format("step {} failed on worker {}: {}", failed.step, failed.worker, failed.why),
        actions);
}

void Controller::evict(Worker worker, const std::string& why, Actions& actions) {
    ++counts_.evictions;
    phase_ = Phase::awaiting_death;
    evicted_ = worker;
    actions.push_back(Evict{worker, why});
}

void Controller::handle(const GroupBroken& broken, Actions& actions) {
    if (!in_force(broken.epoch)) return;
    abort(-1, actions);
    const bool suspected = kinds_.contains(broken.suspect);
    if (suspected && (!broken.corrupt || ++damaged_messages_[broken.suspect] > 1))
        return evict(broken.suspect, broken.why, actions);
    try_again(fmt::format("the groups of epoch {} broke: {}", broken.epoch, broken.why), actions);
}

void Controller::handle(const RestoreFailed& failed, Actions& actions) {
    if (phase_ != Phase::forming || failed.epoch != form_.epoch) return;
    checkpoints_.erase(failed.step);
    abort(-1, actions);
    form(fmt::format("checkpoint {} cannot be read on worker {}: {}", failed.step, failed.worker,
                     failed.why),
         actions);
}

// ---- what is known of the GPUs -----------------------------------------------------------------

void Controller::handle(const Profiled& profiled, Actions& actions) {
    settings_.times = profiled.times;
    reconsider("times are known better", actions);
}

void Controller::handle(const Slow& slow, Actions& actions) {
    (slow.new_kind ? new_factor_ : old_factor_) = slow.factor;
    reconsider(fmt::format("the {} GPUs work at another pace", slow.new_kind ? "new" : "old"),
               actions);
}

// Other groups may be better now, or other experts on new GPUs; where they are not, the next plan
// is as this one.
void Controller::reconsider(const std::string& why, Actions& actions) {
    const auto layout = best_layout();
    if (!layout || !begun_) return;
    if (phase_ == Phase::waiting) return form(why, actions);
    if (*layout != form_.layout) changed_ = why;
}

void Controller::handle(const Idle&, Actions& actions) {
    phase_ = Phase::over;
    actions.push_back(
        Stop{false, "too few workers are left to hold attention and experts, and none will join"});
}

}  // namespace assay::hetermoe
