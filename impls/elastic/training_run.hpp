// A controller and the members of its training on a driver of any clock (suite/drive/driver.hpp):
// what happens to workers, and what they say, reaches the controller as its events; its actions go
// to the workers of the plan in force. The members' half is elastic::member (member.hpp).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "impls/elastic/watch.hpp"
#include "suite/drive/campaign/campaign.hpp"
#include "suite/drive/driver.hpp"

namespace assay::elastic {

using drive::BrokenRule;

/// What looks on: checks rules of a system's own, and throws BrokenRule; or breaks rules, to see
/// that they are checked.
template <drive::Policy Controller>
struct Onlooker {
    /// Before the controller is told.
    std::function<void(const typename Controller::Event&)> told;
    /// Before they are carried out; the recorded decision has them as they were.
    std::function<void(std::vector<typename Controller::Action>&)> decided;
};

/// Controller: its events and actions are those of protocol.hpp and its own. Of its Reconfigure it
/// is known who computes (ranks_of), of a checkpoint's order who writes (writers_of). The rules of
/// any training (watch.hpp) are checked: where one is broken, BrokenRule is thrown.
template <drive::Policy Controller>
class TrainingRun {
  public:
    using Event = typename Controller::Event;

    TrainingRun(Controller controller, drive::Driver& driver, Watch::Rules rules,
                Onlooker<Controller> onlooker = {})
        : controller_(true, std::move(controller)),
          driver_(driver),
          watch_(rules),
          onlooker_(std::move(onlooker)) {
        driver_.listen([this](const drive::DriverEvent& event) {
            std::visit([this](const auto& one) { happened(one); }, event);
        });
    }
    ~TrainingRun() { driver_.listen({}); }
    TrainingRun(const TrainingRun&) = delete;
    TrainingRun& operator=(const TrainingRun&) = delete;

    /// Until the controller's Stop, or until nothing can happen any more. A controller that may
    /// wait for newcomers (short_of_workers) is told then that none will come (Idle).
    std::optional<drive::Stop> run() {
        while (!stop_)
            if (!driver_.turn() && !tell_that_none_will_come()) break;
        return stop_;
    }
    /// Of what no driver knows. After the Stop: ignored.
    void tell(const Event& event) {
        if (stop_) return;
        if (onlooker_.told) onlooker_.told(event);
        watch_.before(event);
        auto actions = controller_.on(event, driver_.now());
        if (onlooker_.decided) onlooker_.decided(actions);
        for (const auto& action : actions) watch_.after(action);
        if (!watch_.failures().empty()) throw BrokenRule{"protocol: " + watch_.failures().front()};
        for (const auto& action : actions)
            if (!stop_) std::visit([this](const auto& one) { act(one); }, action);
    }

    const Controller& controller() const { return *controller_; }
    const std::vector<drive::Decision<Controller>>& decisions() const {
        return controller_.decisions();
    }
    const std::vector<WorkerId>& ranks() const { return ranks_; }  ///< of the plan in force

  private:
    template <class E>
    void happened(const E& event) {
        if constexpr (std::is_constructible_v<Event, E>) tell(event);
    }
    // Its death is known already where messages are slower than deaths.
    void happened(const drive::Joined& joined) {
        if (driver_.alive(joined.worker)) tell(joined);
    }
    // A checkpoint that could not be written is one that is never whole, for most controllers.
    void happened(const drive::Said& said) {
        if constexpr (!std::is_constructible_v<Event, CheckpointFailed>)
            if (said.message.is<CheckpointFailed>()) return;
        tell(said.message.to<Event>());
    }
    bool tell_that_none_will_come() {
        if constexpr (std::is_constructible_v<Event, drive::Idle>)
            if (controller_->short_of_workers()) return tell(drive::Idle{}), true;
        return false;
    }

    void act(const drive::StartTimer& timer) { driver_.start(timer); }
    void act(const drive::Spawn& spawn) { driver_.spawn(spawn); }
    void act(const drive::Dismiss& one) { driver_.dismiss(one.worker); }
    void act(const drive::Evict& one) { driver_.evict(one); }
    void act(const drive::Stop& stop) { stop_ = stop; }
    void act(const Abort& abort) { send(members_, abort); }
    template <class M>
    void act(const M& message) {
        if constexpr (requires { writers_of(message, ranks_); }) {
            send(writers_of(message, ranks_), message);
        } else if constexpr (requires { message.resume_step; }) {
            members_ = message.members;
            ranks_ = ranks_of(message);
            send(members_, message);
        } else {
            send(ranks_, message);
        }
    }
    void send(const std::vector<WorkerId>& workers, const drive::AnyMessage& message) {
        for (const WorkerId worker : workers) driver_.send(worker, message);
    }

    drive::RecordedPolicy<Controller> controller_;
    drive::Driver& driver_;
    Watch watch_;
    Onlooker<Controller> onlooker_;
    std::vector<WorkerId> members_, ranks_;
    std::optional<drive::Stop> stop_;
};

}  // namespace assay::elastic
