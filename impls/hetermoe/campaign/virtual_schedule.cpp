#include "impls/hetermoe/campaign/virtual_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <random>

namespace assay::hetermoe {
namespace {

struct BrokenRule {
    std::string why;
};

class VirtualTraining {
  public:
    VirtualTraining(std::uint64_t seed, const Tampering& tampering)
        : random_(seed),
          tampering_(tampering),
          settings_(draw_settings()),
          controller_(true, settings_),
          trouble_left_(1 + below(6)) {}

    drive::SeedOutcome run() {
        drive::SeedOutcome outcome;
        try {
            for (int i = 0; i < settings_.new_workers() + settings_.old_workers(); ++i)
                join(i + 1 < settings_.new_workers() + settings_.old_workers());
            for (long turns = 0; !stop_; ++turns) {
                if (turns > 200000) throw BrokenRule{"it does not come to an end"};
                turn();
            }
            check_the_end();
            outcome.ok = true;
        } catch (const BrokenRule& broken) {
            outcome.why = broken.why;
        }
        const auto& counts = controller_->counts();
        outcome.counts = counts_;
        outcome.counts.merge(std::map<std::string, long>{
            {"commits", static_cast<long>(controller_->lineage().size())},
            {"discarded", counts.discarded},
            {"fallbacks", counts.fallbacks},
            {"retries", counts.retries},
            {"evictions", counts.evictions},
            {"moves", counts.moves},
            {"deaths", counts.deaths},
            {"joins", counts.joins},
            {"leaves", counts.leaves},
            {"finished", stop_ && stop_->ok ? 1 : 0},
            {"gave_up", stop_ && !stop_->ok ? 1 : 0}});
        outcome.says =
            fmt::format("{} groups of {} new and {} old, {} chunks: {}", settings_.groups,
                        settings_.group.attention, settings_.group.expert, settings_.chunks, says_);
        return outcome;
    }
    const auto& decisions() const { return controller_.decisions(); }

  private:
    struct Node {
        std::map<BlockKey, Step> blocks;  ///< held, as before that step
        std::deque<Action> inbox;
        std::deque<Event> outbox;  ///< sent, not yet heard
        bool alive = true, frozen = false;
    };

    std::uint64_t below(std::uint64_t n) { return random_() % n; }

    ControllerSettings draw_settings() {
        constexpr std::array groups{Group{1, 1}, Group{2, 2}, Group{1, 2},
                                    Group{2, 1}, Group{2, 4}, Group{3, 2}};
        ControllerSettings settings;
        settings.layers = 1 + static_cast<int>(below(3));
        settings.experts = 8;
        settings.group = groups[below(groups.size())];
        settings.groups = 1 + static_cast<int>(below(3));
        settings.chunks = static_cast<int>(below(3));
        settings.squeeze = below(2) == 0;
        settings.times.old_attention = below(2) == 0 ? 3 * settings.times.attention : 0;
        settings.steps = 4 + static_cast<Step>(below(12));
        settings.checkpoint_every = static_cast<Step>(below(4));
        return settings;
    }

    // ---- what happens, in an order of the seed's own -------------------------------------------
    void turn() {
        std::vector<Worker> busy;
        for (const auto& [worker, node] : nodes_)
            if (!node.outbox.empty() || (node.alive && !node.frozen && !node.inbox.empty()))
                busy.push_back(worker);
        if (trouble_left_ > 0 && (busy.empty() || below(60) == 0)) {
            --trouble_left_;
            return make_trouble();
        }
        if (busy.empty()) {
            if (!controller_->short_of_workers()) throw BrokenRule{"everybody waits for ever"};
            return tell(Idle{});
        }
        const Worker worker = busy[below(busy.size())];
        Node& node = nodes_.at(worker);
        const bool hears = node.alive && !node.frozen && !node.inbox.empty();
        if (!hears || (!node.outbox.empty() && below(2) == 0)) {
            const Event event = node.outbox.front();
            node.outbox.pop_front();
            if (const auto* done = std::get_if<StepDone>(&event))
                reported_.insert({done->epoch, worker});
            return tell(event);
        }
        const Action action = node.inbox.front();
        node.inbox.pop_front();
        std::visit([&](const auto& one) { obey(worker, node, one); }, action);
    }

    std::vector<Worker> live() const {
        std::vector<Worker> workers;
        for (const auto& [worker, node] : nodes_)
            if (node.alive) workers.push_back(worker);
        return workers;
    }

    void make_trouble() {
        const auto workers = live();
        const auto kind = below(10);
        // Of a kind, 0: new, or of a worker.
        const auto note = [&](const char* what, Worker worker) {
            ++counts_[std::string("fault.") + what];
            says_ += fmt::format("{}{} {}", says_.empty() ? "" : ", ", what, worker);
        };
        if (kind == 0 || workers.empty()) {
            note("join", static_cast<Worker>(nodes_.size()));
            return join(false);
        }
        if (kind == 8) {
            const Slow slow{below(2) == 0, 0.5 * static_cast<double>(1 + below(16))};
            note("slow", slow.new_kind ? 0 : 1);
            return tell(slow);
        }
        if (kind == 9) {
            note("profiled", 0);
            const auto time = [&] { return static_cast<Nanoseconds>(1000 * (1 + below(1000))); };
            return tell(
                Profiled{{.attention = time(), .old_expert = time(), .new_expert = time()}});
        }
        const Worker worker = workers[below(workers.size())];
        Node& node = nodes_.at(worker);
        const auto& layout = form_.layout;
        const bool member = layout.rank_of(worker) >= 0;
        if (kind <= 3) {
            note("kill", worker);
            kill(worker);
        } else if (kind == 4) {
            note("stop", worker);
            node.outbox.push_back(LeaveRequested{worker});
        } else if (kind == 5) {
            note("hang", worker);
            node.frozen = true;
            if (member) tell(GroupBroken{form_.epoch, worker, false, "silent"});
            if (node.alive && node.frozen && !evicted_.contains(worker)) kill(worker);
        } else if (kind == 6 && member) {
            note("corrupt", worker);
            tell(GroupBroken{form_.epoch, worker, true, "checksum"});
        } else {
            note("torn", worker);
            ++torn_;
        }
    }

    void join(bool more) {
        const auto worker = static_cast<Worker>(nodes_.size());
        nodes_[worker];
        nodes_[worker].outbox.push_back(Joined{worker, more});
    }

    void kill(Worker worker) {
        Node& node = nodes_.at(worker);
        if (!node.alive) return;
        node.alive = false;
        node.inbox.clear();
        node.blocks.clear();
        node.outbox.push_back(Died{worker});
    }

    // ---- the controller ------------------------------------------------------------------------
    void tell(const Event& event) {
        for (Action action : controller_.on(event, 0)) {
            if (tampering_) tampering_(action);
            std::visit([&](const auto& one) { carry_out(one); }, action);
        }
    }
    void send(const std::vector<Worker>& workers, const Action& action) {
        for (const Worker worker : workers)
            if (nodes_.at(worker).alive) nodes_.at(worker).inbox.push_back(action);
    }

    void carry_out(const Reconfigure& form) {
        form_ = form;
        for (const Worker worker : form.layout.ranks)
            if (std::count(form.members.begin(), form.members.end(), worker) == 0)
                throw BrokenRule{fmt::format("rank {} is no member", worker)};
        forming_.clear();
        stepping_.clear();
        send(form.members, form);
    }
    void carry_out(const Go& go) {
        stepping_.clear();
        send(form_.layout.ranks, go);
    }
    void carry_out(const Commit& commit) {
        for (const Worker worker : form_.layout.ranks)
            if (!reported_.contains({commit.epoch, worker}))
                throw BrokenRule{fmt::format("step {} is committed, and worker {} has not done it",
                                             commit.step, worker)};
        reported_.clear();
        send(form_.layout.ranks, commit);
    }
    void carry_out(const WriteCheckpoint& checkpoint) { send(checkpoint.writers, checkpoint); }
    void carry_out(const Abort& abort) {
        aborted_.insert(abort.epoch);
        reported_.clear();
    }
    void carry_out(const Evict& evict) {
        evicted_.insert(evict.worker);
        kill(evict.worker);
    }
    void carry_out(const Dismiss& dismiss) {
        Node& node = nodes_.at(dismiss.worker);
        node.alive = false;
        node.inbox.clear();
        node.blocks.clear();
    }
    void carry_out(const Stop& stop) { stop_ = stop; }

    // ---- the workers ---------------------------------------------------------------------------
    void require(const Node& node, Worker worker, const BlockKey& block, Step step) const {
        const auto held = node.blocks.find(block);
        if (held == node.blocks.end())
            throw BrokenRule{fmt::format("worker {} lacks {} before step {}", worker,
                                         nn::block_name(block), step)};
        if (held->second != step)
            throw BrokenRule{fmt::format("worker {} has {} as before step {}, not {}", worker,
                                         nn::block_name(block), held->second, step)};
    }
    bool somebody_is_stuck(const std::vector<Worker>& workers) const {
        return std::any_of(workers.begin(), workers.end(), [&](Worker worker) {
            return !nodes_.at(worker).alive || nodes_.at(worker).frozen;
        });
    }
    std::vector<BlockKey> wanted(Worker worker) const {
        return blocks_of(form_.layout, settings_.experts, form_.layout.rank_of(worker));
    }

    // Collective: once the last member has come, states move and all are ready.
    void obey(Worker worker, Node&, const Reconfigure& form) {
        if (form.epoch != form_.epoch || aborted_.contains(form.epoch)) return;
        forming_.insert(worker);
        if (forming_.size() < form.members.size() || somebody_is_stuck(form.members)) return;
        for (const auto& move : form.moves) {
            require(nodes_.at(move.from), move.from, move.block, form.resume_step);
            nodes_.at(move.to).blocks[move.block] = form.resume_step;
        }
        for (const Worker member : form.members) {
            if (form.restore_step && !restore(member, *form.restore_step)) continue;
            nodes_.at(member).outbox.push_back(Ready{member, form.epoch});
        }
    }
    bool restore(Worker worker, Step step) {
        if (form_.layout.rank_of(worker) < 0) return true;
        for (const auto& block : wanted(worker)) {
            if (step > 0 && !disk_.contains({step, block})) {
                nodes_.at(worker).outbox.push_back(
                    RestoreFailed{worker, form_.epoch, step, "it is torn"});
                return false;
            }
            nodes_.at(worker).blocks[block] = step;
        }
        return true;
    }

    void obey(Worker worker, Node& node, const Go& go) {
        if (aborted_.contains(go.epoch)) return;
        const auto blocks = wanted(worker);
        for (const auto& block : blocks) require(node, worker, block, go.step);
        std::erase_if(node.blocks, [&](const auto& held) {
            return std::count(blocks.begin(), blocks.end(), held.first) == 0;
        });
        stepping_.insert(worker);
        const auto& ranks = form_.layout.ranks;
        if (stepping_.size() < ranks.size() || somebody_is_stuck(ranks)) return;
        const bool fails = below(80) == 0;
        if (fails) ++counts_["fault.nan"];
        const auto failing = form_.layout.ranks[below(form_.layout.ranks.size())];
        for (const Worker rank : form_.layout.ranks) {
            auto& outbox = nodes_.at(rank).outbox;
            if (fails && rank == failing)
                outbox.push_back(StepFailed{rank, go.epoch, go.step, "not finite"});
            else
                outbox.push_back(StepDone{rank, go.epoch, go.step});
        }
    }

    void obey(Worker, Node& node, const Commit& commit) {
        for (auto& [block, step] : node.blocks)
            if (step == commit.step) ++step;
    }

    void obey(Worker worker, Node& node, const WriteCheckpoint& checkpoint) {
        const bool torn = torn_ > 0 && below(2) == 0;
        if (torn) --torn_;
        for (const auto& [block, step] : node.blocks)
            if (step == checkpoint.step && !torn) disk_.insert({checkpoint.step, block});
        node.outbox.push_back(CheckpointWritten{worker, checkpoint.step});
    }
    template <class Other>
    void obey(Worker, Node&, const Other&) {}

    void check_the_end() {
        const auto& lineage = controller_->lineage();
        for (std::size_t i = 0; i < lineage.size(); ++i)
            if (lineage[i].step != static_cast<Step>(i))
                throw BrokenRule{fmt::format("the lineage has no step {}", i)};
        if (stop_->ok && static_cast<Step>(lineage.size()) != settings_.steps)
            throw BrokenRule{
                fmt::format("it ends after {} of {} steps", lineage.size(), settings_.steps)};
        if (drive::first_difference(Controller(settings_), controller_.decisions()))
            throw BrokenRule{"the same events lead to other actions"};
    }

    std::mt19937_64 random_;
    const Tampering& tampering_;
    ControllerSettings settings_;
    drive::RecordedPolicy<Controller> controller_;
    std::uint64_t trouble_left_;
    std::map<Worker, Node> nodes_;
    Reconfigure form_;
    std::set<Worker> forming_, stepping_;          // who has come to it
    std::set<std::pair<Epoch, Worker>> reported_;  // the running step
    std::set<Epoch> aborted_;
    std::set<Worker> evicted_;
    std::set<std::pair<Step, BlockKey>> disk_;
    int torn_ = 0;
    std::optional<Stop> stop_;
    std::map<std::string, long> counts_;
    std::string says_;
};

}  // namespace

drive::SeedOutcome run_virtual_schedule(std::uint64_t seed, const Tampering& tampering) {
    return VirtualTraining(seed, tampering).run();
}

std::vector<drive::Decision<Controller>> virtual_decisions(std::uint64_t seed) {
    const Tampering none;
    VirtualTraining training(seed, none);
    training.run();
    return training.decisions();
}

}  // namespace assay::hetermoe
