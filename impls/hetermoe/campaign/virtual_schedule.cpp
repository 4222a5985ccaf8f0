#include "impls/hetermoe/campaign/virtual_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>

#include "impls/elastic/drawn_times.hpp"
#include "impls/elastic/training_run.hpp"
#include "impls/hetermoe/campaign/block_member.hpp"
#include "impls/hetermoe/live/fault_phases.hpp"
#include "suite/drive/simulated/event_queue.hpp"
#include "suite/drive/simulated/virtual_cluster.hpp"

namespace assay::hetermoe {
namespace {

using elastic::BrokenRule;

constexpr double step_s = 25;            // about as long as one lasts
constexpr long most_decisions = 200000;  // far above any honest run: a livelock
constexpr double slowdown = 100;         // of faults that are made for processes

// Where faults strike between two messages: more points than processes stop at.
const FaultPhases& phases() {
    static const FaultPhases all = [] {
        FaultPhases phases = fault_phases();
        for (const char* point : {elastic::ready_point, elastic::computed_point,
                                  elastic::told_point, elastic::commit_point})
            phases.push_back({.name = point});
        return phases;
    }();
    return all;
}

ControllerSettings draw_settings(KeyedDice& dice) {
    constexpr std::array groups{Group{1, 1}, Group{2, 2}, Group{1, 2},
                                Group{2, 1}, Group{2, 4}, Group{3, 2}};
    auto draws = dice.next("settings");
    ControllerSettings settings;
    settings.layers = 1 + static_cast<int>(draws.below(3));
    settings.experts = 8;
    settings.group = groups[draws.below(groups.size())];
    settings.groups = 1 + static_cast<int>(draws.below(3));
    settings.chunks = static_cast<int>(draws.below(3));
    settings.squeeze = draws.below(2) == 0;
    settings.times.old_attention = draws.below(2) == 0 ? 3 * settings.times.attention : 0;
    settings.steps = 4 + static_cast<Step>(draws.below(12));
    settings.checkpoint_every = static_cast<Step>(draws.below(4));
    return settings;
}

elastic::SlowestTimes draw_slowest(KeyedDice& dice) {
    auto draws = dice.next("slowest");
    const auto one_of = [&](double a, double b, double c) {
        return std::array{a, b, c}[draws.below(3)];
    };
    return {.message = one_of(1, 5, 40),
            .detection = one_of(1, 30, 100),
            .writing = one_of(1, 20, 100)};
}

// Those of the campaign with processes; half of them at a time, whatever step that is in.
FaultPlan draw_faults(KeyedDice& dice, std::uint64_t seed, const ControllerSettings& settings) {
    auto draws = dice.next("faults");
    FaultPlan plan = random_fault_plan({.workers = settings.new_workers() + settings.old_workers(),
                                        .steps = settings.steps - 1,
                                        .faults = 1 + static_cast<int>(draws.below(6)),
                                        .network = true,
                                        .data = true},
                                       seed, phases());
    std::erase_if(plan.faults, [](const Fault& fault) { return fault.kind == FaultKind::link; });
    for (Fault& fault : plan.faults) {
        if (fault.for_s) *fault.for_s *= slowdown;
        if (draws.chance(0.5)) continue;
        fault.t_s = step_s * (static_cast<double>(*fault.step) + draws.uniform());
        fault.step.reset();
        fault.phase.clear();
    }
    return plan;
}

struct Schedule {
    ControllerSettings settings;
    FaultPlan faults;
    elastic::SlowestTimes slowest;
    double shortest_silence_s = 5;  // of one that is frozen, until its group breaks
    bool paces = true;              // change
};

Schedule draw_schedule(std::uint64_t seed) {
    KeyedDice dice(seed);
    const auto settings = draw_settings(dice);
    return {.settings = settings,
            .faults = draw_faults(dice, seed, settings),
            .slowest = draw_slowest(dice)};
}

class VirtualTraining {
  public:
    VirtualTraining(std::uint64_t seed, const Schedule& schedule, const Tampering& tampering)
        : tampering_(tampering),
          dice_(seed),
          settings_(schedule.settings),
          times_(dice_, schedule.slowest),
          faults_(schedule.faults),
          shortest_silence_s_(schedule.shortest_silence_s),
          states_(settings_.experts),
          recorder_([this](const MemoryRecorder::Event& event) { struck(event); }),
          cluster_(
              {{.name = {},
                .protocol =
                    [this](drive::Worker& worker) {
                        members_.push_back(std::make_unique<BlockMember>(worker.id(), states_));
                        return elastic::member(worker, *members_.back(),
                                               {regroup_point, move_point}, times_);
                    },
                .phases = phases()}},
              time_, times_, {.faults = faults_}, recorder_),
          run_(Controller(settings_), cluster_, {.steps = settings_.steps},
               {.told = [this](const Event& event) { check(event); },
                .decided =
                    [this](std::vector<Action>& actions) {
                        if (tampering_) tampering_(actions);
                        for (const Action& action : actions)
                            std::visit([this](const auto& one) { check(one); }, action);
                    }}) {
        for (int i = 0; i < settings_.new_workers() + settings_.old_workers(); ++i)
            cluster_.spawn({});
        plan_damaged_messages();
        if (schedule.paces) plan_paces();
    }

    drive::SeedOutcome run() {
        drive::SeedOutcome outcome;
        std::optional<Stop> stop;
        try {
            stop = run_.run();
            if (!stop) throw BrokenRule{"all wait for ever"};
            while (cluster_.turn()) {  // what is under way is carried out
            }
            check_the_end(*stop);
            outcome.ok = true;
        } catch (const BrokenRule& broken) {
            outcome.why = fmt::format("at {:.2f} s: {}", cluster_.now(), broken.why);
        }
        const auto& counts = run_.controller().counts();
        outcome.counts = counts_;
        outcome.counts.merge(std::map<std::string, long>{
            {"commits", static_cast<long>(run_.controller().lineage().size())},
            {"discarded", counts.discarded},
            {"fallbacks", counts.fallbacks},
            {"rolled_back", counts.rolled_back},
            {"retries", counts.retries},
            {"evictions", counts.evictions},
            {"moves", counts.moves},
            {"deaths", counts.deaths},
            {"joins", counts.joins},
            {"leaves", counts.leaves},
            {"finished", stop && stop->ok ? 1 : 0},
            {"gave_up", stop && !stop->ok ? 1 : 0}});
        outcome.says = fmt::format("{} groups of {} new and {} old, {} chunks: {}",
                                   settings_.groups, settings_.group.attention,
                                   settings_.group.expert, settings_.chunks, to_string(faults_));
        return outcome;
    }
    const auto& decisions() const { return run_.decisions(); }

  private:
    /// Of faults when they strike.
    class Strikes final : public MemoryRecorder {
      public:
        explicit Strikes(std::function<void(const Event&)> struck) : struck_(std::move(struck)) {}
        void event(std::string_view kind, double t_s, int rank,
                   const nlohmann::json& detail) override {
            if (kind == "fault") struck_({std::string(kind), t_s, rank, detail});
        }

      private:
        std::function<void(const Event&)> struck_;
    };

    // ---- what no driver tells of ---------------------------------------------------------------
    // A damaged message is noticed by those who get it, and paces by who looks at many steps.
    void plan_damaged_messages() {
        for (const Fault& fault : faults_.faults)
            if (fault.target == "message" && fault.t_s)
                time_.at(*fault.t_s, [this, &fault] { damage_message(*fault.rank); });
    }
    void plan_paces() {
        auto draws = dice_.next("paces");
        for (int i = static_cast<int>(draws.below(3)); i > 0; --i) {
            const double t_s = step_s * static_cast<double>(settings_.steps) * draws.uniform();
            const Slow slow{draws.below(2) == 0, 0.5 * static_cast<double>(1 + draws.below(16))};
            const auto time = [&] { return static_cast<Nanoseconds>(1000 + draws.below(1000000)); };
            const Profiled profiled{
                {.attention = time(), .old_expert = time(), .new_expert = time()}};
            if (draws.chance(0.5))
                time_.at(t_s, [this, slow] { tell("slow", slow); });
            else
                time_.at(t_s, [this, profiled] { tell("profiled", profiled); });
        }
    }
    void tell(const char* fault, const Event& event) {
        ++counts_[std::string("fault.") + fault];
        run_.tell(event);
    }

    void damage_message(Worker sender) {
        if (std::count(run_.ranks().begin(), run_.ranks().end(), sender) == 0) return;
        auto draws = dice_.next("damaged message", {sender});
        const bool known = draws.chance(0.75);
        ++counts_["fault.corrupt"];
        break_group({.epoch = epoch_,
                     .suspect = known ? sender : -1,
                     .corrupt = known,
                     .why = known ? "checksum" : "its group broke though nobody died"},
                    draws.between(0, 30));
    }
    // Of one that is frozen the others in its group get nothing.
    void struck(const MemoryRecorder::Event& event) {
        const auto kind = event.detail.at("kind").get<std::string>();
        ++counts_["fault." + kind];
        if (kind != "hang") return;
        const Fault fault = parse_fault(event.detail.at("fault").get<std::string>(), phases());
        auto draws = dice_.next("silence", {event.rank});
        const double silence_s = draws.between(shortest_silence_s_, 100);
        if (fault.for_s.value_or(silence_s) >= silence_s)
            break_group({.epoch = epoch_, .suspect = event.rank, .why = "silent"}, silence_s);
    }
    void break_group(const GroupBroken& broken, double after_s) {
        time_.after(after_s, [this, broken] { run_.tell(broken); });
    }

    // ---- rules ---------------------------------------------------------------------------------
    void check(const Event&) {
        if (++decisions_ > most_decisions) throw BrokenRule{"it does not come to an end"};
    }
    void check(const Reconfigure& plan) {
        epoch_ = plan.epoch;
        for (const Move& move : plan.moves)
            if (std::count(plan.members.begin(), plan.members.end(), move.from) == 0)
                throw BrokenRule{fmt::format("worker {} is to send, and is no member", move.from)};
        if (plan.restore_step)
            states_.lineage.resize(static_cast<std::size_t>(*plan.restore_step) + 1);
        states_.at[{plan.epoch, plan.resume_step}] = states_.lineage.back();
    }
    void check(const Go& go) {
        states_.at[{go.epoch, go.step}] = states_.lineage.back();
        for (const Fault& fault : faults_.faults)
            if (fault.target == "message" && fault.step == go.step &&
                messages_.insert(&fault).second)
                damage_message(*fault.rank);
    }
    void check(const Commit& commit) {
        states_.lineage.push_back(next_state(states_.lineage.back(), commit.epoch));
        states_.at[{commit.epoch, commit.step + 1}] = states_.lineage.back();
    }
    template <class Other>
    void check(const Other&) {}

    void check_the_end(const Stop& stop) {
        const auto& lineage = run_.controller().lineage();
        BlockState replayed;
        for (const CommittedStep& step : lineage) {
            if (step.step != replayed.before)
                throw BrokenRule{fmt::format("the lineage has no step {}", replayed.before)};
            replayed = next_state(replayed, step.epoch);
        }
        if (replayed != states_.lineage.back())
            throw BrokenRule{"the lineage does not lead to what was committed"};
        if (drive::first_difference(Controller(settings_), run_.decisions()))
            throw BrokenRule{"the same events lead to other actions"};
        if (!stop.ok) return;
        if (replayed.before != settings_.steps)
            throw BrokenRule{
                fmt::format("it ends after {} of {} steps", replayed.before, settings_.steps)};
        for (std::size_t rank = 0; rank < run_.ranks().size(); ++rank) {
            const Worker worker = run_.ranks()[rank];
            if (!cluster_.alive(worker)) continue;
            for (const BlockKey& block :
                 blocks_of(lineage.back().layout, settings_.experts, static_cast<int>(rank)))
                states_.require(worker, block, lineage.back().epoch, settings_.steps);
        }
    }

    const Tampering& tampering_;
    KeyedDice dice_;
    ControllerSettings settings_;
    drive::EventQueue time_;
    elastic::DrawnTimes times_;
    FaultPlan faults_;
    double shortest_silence_s_;
    BlockStates states_;
    std::vector<std::unique_ptr<BlockMember>> members_;
    Strikes recorder_;
    drive::VirtualCluster cluster_;
    elastic::TrainingRun<Controller> run_;

    Epoch epoch_ = 0;  // in force
    long decisions_ = 0;
    std::set<const Fault*> messages_;  // damaged by now
    std::map<std::string, long> counts_;
};

}  // namespace

drive::SeedOutcome run_virtual_schedule(std::uint64_t seed, const Tampering& tampering) {
    return VirtualTraining(seed, draw_schedule(seed), tampering).run();
}

drive::SeedOutcome run_virtual_training(const ControllerSettings& settings, FaultPlan faults,
                                        std::uint64_t seed) {
    for (Fault& fault : faults.faults)
        if (fault.for_s) *fault.for_s *= slowdown;
    const Tampering none;
    return VirtualTraining(seed,
                           {.settings = settings,
                            .faults = std::move(faults),
                            .slowest = {.message = 1, .boot = 1},
                            .shortest_silence_s = 90,
                            .paces = false},
                           none)
        .run();
}

std::vector<drive::Decision<Controller>> virtual_decisions(std::uint64_t seed) {
    const Tampering none;
    VirtualTraining training(seed, draw_schedule(seed), none);
    training.run();
    return training.decisions();
}

}  // namespace assay::hetermoe
