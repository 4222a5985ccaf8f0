// A scheduler of reinforcement learning in small: a trainer, and engines that roll out prompts with
// the weights of its last step. Weights go from the trainer to each engine; an engine that dies is
// spawned anew under its instance's name, and what it was rolling out goes to another.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "suite/drive/driver.hpp"

namespace assay::drive::example {

struct RlSettings {
    int rounds = 4, prompts = 10, engines = 2;
    std::uint64_t weight_bytes = 1'000'000;
};
struct Roll {
    int prompt = 0, version = 0;
    bool operator==(const Roll&) const = default;
};
struct Rolled {
    int prompt = 0;
    bool right = false;  ///< its weights were those of the version it was asked for
    bool operator==(const Rolled&) const = default;
};
struct Train {
    int version = 0;
    bool operator==(const Train&) const = default;
};
struct Trained {
    int version = 0;  ///< of the weights that it offers now
    bool operator==(const Trained&) const = default;
};
ASSAY_FIELDS(RlSettings, rounds, prompts, engines, weight_bytes)
ASSAY_MESSAGE(Roll, "roll", prompt, version)
ASSAY_MESSAGE(Rolled, "rolled", prompt, right)
ASSAY_MESSAGE(Train, "train", version)
ASSAY_MESSAGE(Trained, "trained", version)

class RlScheduler {
  public:
    using Event = std::variant<Joined, Died, Arrived, Broken, From<Rolled>, From<Trained>, Idle>;
    using Action = std::variant<Spawn, Transfer, To<Roll>, To<Train>, Stop>;

    explicit RlScheduler(RlSettings settings) : settings_(settings) { begin_round(); }

    void on(const Event& event, double, std::vector<Action>& actions) {
        std::visit([&](const auto& one) { handle(one, actions); }, event);
        if (trainer_ < 0) return;
        for (auto& [worker, engine] : engines_) {
            if (engine.version < version_ && engine.transfer == 0) {
                engine.transfer = ++transfers_;
                engine.coming = version_;
                actions.push_back(Transfer{engine.transfer, trainer_, worker, "weights", 0,
                                           settings_.weight_bytes});
            } else if (engine.version == version_ && engine.prompt < 0 && !waiting_.empty()) {
                engine.prompt = waiting_.front();
                waiting_.pop_front();
                actions.push_back(To<Roll>{worker, {engine.prompt, version_}});
            }
        }
    }

  private:
    struct Engine {
        std::string instance;
        int version = 0, coming = 0;  // of its weights, and of those on their way
        std::uint64_t transfer = 0;   // 0: none
        int prompt = -1;              // -1: none
    };

    void begin_round() {
        left_ = settings_.prompts;
        for (int prompt = 0; prompt < left_; ++prompt) waiting_.push_back(prompt);
    }
    void handle(const Joined& joined, std::vector<Action>&) {
        if (joined.role == "trainer")
            trainer_ = joined.worker;
        else
            engines_[joined.worker].instance = joined.instance.value_or("");
    }
    void handle(const Died& died, std::vector<Action>& actions) {
        if (died.worker == trainer_) return actions.push_back(Stop{false, "the trainer died"});
        const auto lost = engines_.extract(died.worker);
        if (!lost) return;
        if (lost.mapped().prompt >= 0) waiting_.push_front(lost.mapped().prompt);
        actions.push_back(Spawn{"engine", lost.mapped().instance});
    }
    void handle(const Arrived& arrived, std::vector<Action>&) {
        for (auto& [worker, engine] : engines_)
            if (engine.transfer == arrived.id) {
                engine.transfer = 0;
                engine.version = engine.coming;
            }
    }
    void handle(const Broken& broken, std::vector<Action>&) {  // it is begun again
        for (auto& [worker, engine] : engines_)
            if (engine.transfer == broken.id) engine.transfer = 0;
    }
    void handle(const From<Rolled>& rolled, std::vector<Action>& actions) {
        if (!rolled.message.right)
            return actions.push_back(Stop{false, "a rollout with other weights"});
        engines_.at(rolled.worker).prompt = -1;
        if (--left_ == 0) actions.push_back(To<Train>{trainer_, {version_}});
    }
    void handle(const From<Trained>& trained, std::vector<Action>& actions) {
        version_ = trained.message.version;
        if (version_ > settings_.rounds) return actions.push_back(Stop{true, "trained"});
        begin_round();
    }
    void handle(const Idle&, std::vector<Action>& actions) {
        actions.push_back(Stop{false, "no worker is left"});
    }

    RlSettings settings_;
    int version_ = 1, left_ = 0;
    std::uint64_t transfers_ = 0;
    WorkerId trainer_ = -1;
    std::deque<int> waiting_;
    std::map<WorkerId, Engine> engines_;
};

/// One byte stands for the version that the weights are of.
inline Bytes weights_of(int version, std::uint64_t bytes) {
    return Bytes::of(std::vector<std::byte>(bytes, static_cast<std::byte>(version)));
}

inline Role trainer(const RlSettings& settings) {
    return {.name = "trainer",
            .protocol = [settings](Worker& me) -> Protocol {
                me.offer("weights", weights_of(1, settings.weight_bytes));
                while (const auto message = co_await me.receive()) {
                    const int version = message_to<Train>(*message).version;
                    co_await me.point("step", version);
                    co_await me.work(2.03);
                    me.offer("weights", weights_of(version + 1, settings.weight_bytes));
                    me.say(Trained{version + 1});
                }
            },
            .nic = {.send_bytes_s = 2e6}};
}

inline Role engine(const RlSettings& settings) {
    return {.name = "engine",
            .protocol = [settings](Worker& me) -> Protocol {
                const Bytes weights = Bytes::zeros(settings.weight_bytes);
                me.accept("weights", weights);
                for (long step = 0; const auto message = co_await me.receive(); ++step) {
                    const Roll roll = message_to<Roll>(*message);
                    const auto version = static_cast<std::byte>(roll.version);
                    const bool right =
                        weights.view().front() == version && weights.view().back() == version;
                    co_await me.work(0.4 + 0.0517 * (roll.prompt % 7));
                    co_await me.point("step", step);
                    co_await me.work(0.4 + 0.0339 * me.id());
                    me.say(Rolled{roll.prompt, right});
                }
            },
            .nic = {.receive_bytes_s = 1.7e6}};
}

}  // namespace assay::drive::example
