#include "suite/drive/processes/role_worker.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include "suite/cluster/collectives/communicator.hpp"
#include "suite/cluster/faults/fault_layer.hpp"
#include "suite/cluster/pacer.hpp"
#include "suite/cluster/transfers/transfer_port.hpp"
#include "suite/drive/processes/fault_points.hpp"
#include "suite/drive/processes/injection.hpp"

namespace assay::drive {

using nlohmann::json;

namespace {

// What the channel's listener notes on its own thread, for a worker that may be at work.
struct AtOnce {
    struct Freeze {
        double from_s, for_s;
    };
    struct Slowdown {
        double from_s, factor;
    };
    std::mutex mutex;
    std::vector<std::pair<Fault, std::size_t>> faults;  // inside it, and their numbers
    std::vector<Freeze> freezes;                        // that no work was lengthened by yet
    std::vector<Slowdown> slowdowns;
    long urgents = 0;
    std::mutex calling;  // held while the handler runs, which its owner may take away
    std::function<void(const AnyMessage&)> urgent;
    std::shared_ptr<cluster::TransferPort> port;  // once something is offered or accepted
};

cluster::TransferOrder order_from(const json& frame) {
    return {.id = frame.at("id"),
            .from = frame.at("from"),
            .to = frame.at("to"),
            .object = frame.at("object"),
            .offset = frame.at("offset"),
            .bytes = frame.at("bytes"),
            .token = frame.at("token")};
}

class RoleWorker final : public Worker {
  public:
    RoleWorker(WorkerId self, cluster::ControlChannel& control, const json& config,
               const Role& role)
        : self_(self),
          control_(control),
          configuration_(config.at("configuration")),
          role_(role),
          signs_(role.progress_s > 0),
          links_(std::make_shared<cluster::LinkFaults>(self, config.at("seed"))),
          link_strikes_(std::make_shared<LinkStrikes>(links_)),
          at_once_(std::make_shared<AtOnce>()),
          points_(config.at("points")) {
        // Not `this`: the channel's listener outlives the worker.
        control_.start(cluster::Seconds(config.at("heartbeat_s").get<double>()),
                       [at_once = at_once_, strikes = link_strikes_, phases = role.phases](
                           const json& message) { hear(*at_once, *strikes, phases, message); });
    }
    ~RoleWorker() override {
        std::shared_ptr<cluster::TransferPort> port;
        const std::lock_guard lock(at_once_->mutex);
        port.swap(at_once_->port);
    }

    void join() {
        tell({{"drive", "joined"}});
        while (const auto frame = control_.receive()) {
            if (frame->value("drive", "") != "begin") {
                if (!dealt_with(*frame)) early_.push_back(*frame);
                continue;
            }
            paced_ = frame->at("paced");
            speed_ = frame->at("speed");
            at_s_ = free_s_ = frame->at("at_s");
            real_s_ = frame->at("real_s");
            if (paced_) cluster::sleep_until(real_of(free_s_));
            return;
        }
    }

    /// While what the protocol lent to threads and to the listener is still there.
    void end() {
        for (std::thread& thread : beside_) thread.join();
        beside_.clear();
        urgent({});
    }

    WorkerId id() const override { return self_; }
    void say(AnyMessage message) override {
        json body = message.to_json();
        if (paced_) body["at_s"] = free_s_;
        tell(std::move(body));
    }

    void beside(double modelled_s, std::function<void()> real, AnyMessage done) override {
        const double ends_s = free_s_ + slowdown() * modelled_s;
        besides_.insert(ends_s);
        beside_.emplace_back([this, real = std::move(real), ends_s, done = done.to_json()] {
            json frame{{"drive", "beside"}, {"message", done}, {"at_s", ends_s}};
            try {
                if (real) real();
                if (paced_) cluster::sleep_until(real_of(ends_s));
            } catch (const std::exception& error) {
                frame["failed"] = error.what();
            }
            control_.post(frame);
        });
    }

    void urgent(std::function<void(const AnyMessage&)> handler) override {
        const std::lock_guard calling(at_once_->calling);
        at_once_->urgent = std::move(handler);
    }

    void offer(const std::string& object, const Bytes& content) override {
        port().offer(object, content);
    }
    void accept(const std::string& object, const Bytes& content) override {
        port().accept(object, content);
    }
    void withdraw(const std::string& object) override { port().withdraw(object); }

  private:
    static void hear(AtOnce& at_once, LinkStrikes& links, const FaultPhases& phases,
                     const json& frame) {
        const std::string kind = frame.value("drive", "");
        if (kind == "inject") {
            const Fault fault = injected_from(frame, phases);
            if (strikes_transport(fault)) return links.inject(fault, frame.at("index"));
            const std::lock_guard lock(at_once.mutex);
            at_once.faults.emplace_back(fault, frame.at("index"));
        } else if (kind == "freeze") {
            const std::lock_guard lock(at_once.mutex);
            at_once.freezes.push_back({frame.at("from_s"), frame.at("for_s")});
        } else if (kind == "slow") {
            const std::lock_guard lock(at_once.mutex);
            at_once.slowdowns.push_back({frame.at("from_s"), frame.at("factor")});
        } else if (kind == "send" || kind == "expect") {
            const std::unique_lock lock(at_once.mutex);
            const auto port = at_once.port;
            if (port && kind == "send") port->send(order_from(frame), frame.at("port"));
            if (port && kind == "expect") port->expect(order_from(frame));
        } else if (kind.empty()) {
            {
                const std::lock_guard lock(at_once.mutex);
                ++at_once.urgents;
            }
            const std::lock_guard calling(at_once.calling);
            if (at_once.urgent) at_once.urgent(AnyMessage::of_json(frame));
        }
    }

    const json& configured() const override { return configuration_; }
    /// Before it waits again the driver knows where its transfers go: all that it accepted by then.
    void tell(const json& frame) {
        if (const auto port = std::exchange(untold_port_, {}))
            control_.send({{"drive", "port"}, {"port", *port}});
        for (const std::size_t index : link_strikes_->corrupted())
            control_.send({{"drive", "struck"}, {"index", index}});
        control_.send(frame);
    }
    cluster::TransferPort& port() {
        const std::lock_guard lock(at_once_->mutex);
        if (at_once_->port) return *at_once_->port;
        // Paced, the driver models how long transfers take.
        cluster::NicLimits limits;
        if (!paced_)
            limits = {.send_bytes_s = role_.nic.send_bytes_s * speed_,
                      .receive_bytes_s = role_.nic.receive_bytes_s * speed_,
                      .latency = cluster::Seconds(role_.nic.latency_s / speed_)};
        at_once_->port = std::make_shared<cluster::TransferPort>(
            cluster::TransferPortOptions{.self = self_, .links = links_, .nic = limits},
            cluster::TransferEvents{
                .arrived =
                    [&control = control_](std::uint64_t id) {
                        control.send({{"drive", "arrived"}, {"id", id}});
                    },
                .broken =
                    [&control = control_](std::uint64_t id, std::uint64_t done,
                                          const std::string& why) {
                        control.send(
                            {{"drive", "broken"}, {"id", id}, {"done", done}, {"why", why}});
                    }});
        untold_port_ = at_once_->port->port();
        return *at_once_->port;
    }

    // ---- modelled time -------------------------------------------------------------------------

    double real_of(double t_s) const { return real_s_ + (t_s - at_s_) / speed_; }
    double slowdown() const {
        const std::lock_guard lock(at_once_->mutex);
        double factor = 1;
        for (const auto& slowdown : at_once_->slowdowns)
            if (slowdown.from_s <= free_s_) factor = slowdown.factor;
        return factor;
    }
    /// It says nothing before that, unless it is interrupted by a message.
    void promise(double until_s, bool interruptible = false) {
        if (paced_ || signs_)
            tell({{"drive", "until"},
                  {"at_s", until_s},
                  {"from_s", free_s_},
                  {"heard", heard_},
                  {"interruptible", interruptible}});
    }
    /// What began then and was to end at free_s_ has ended, time in which it was frozen aside.
    void hold(double began_s) {
        constexpr double stopped_s = 0.003;  // who oversleeps so may have been stopped
        do {
            cluster::sleep_until(real_of(free_s_));
            if (cluster::monotonic_s() - real_of(free_s_) > stopped_s) control_.settle();
        } while (thaw(began_s));
    }
    bool thaw(double began_s) {
        const std::lock_guard lock(at_once_->mutex);
        auto& freezes = at_once_->freezes;
        const auto first = std::find_if(freezes.begin(), freezes.end(), [&](const auto& freeze) {
            return freeze.from_s < free_s_ && freeze.from_s + freeze.for_s > began_s;
        });
        if (first == freezes.end()) return false;
        free_s_ += std::min(first->for_s, first->from_s + first->for_s - began_s);
        freezes.erase(first);
        return true;
    }
    void not_before(double t_s) {
        if (!paced_) return;
        free_s_ = std::max(free_s_, t_s);
        const std::lock_guard lock(at_once_->mutex);
        for (const auto& freeze : at_once_->freezes)  // it read this when it was awake again
            if (freeze.from_s <= free_s_ && free_s_ < freeze.from_s + freeze.for_s)
                free_s_ = freeze.from_s + freeze.for_s;
    }

    // ---- messages ------------------------------------------------------------------------------

    /// The next frame that is not dealt with at once; with `wait` nothing only where the driver is
    /// gone.
    std::optional<json> fetch(bool wait) {
        if (!early_.empty()) {
            json frame = std::move(early_.front());
            early_.pop_front();
            return frame;
        }
        for (;;) {
            auto frame = control_.try_receive(cluster::Seconds(0));
            if (!frame && wait) {
                if (besides_.empty())
                    tell({{"drive", "rests"}, {"heard", heard_}, {"from_s", free_s_}});
                else
                    promise(*besides_.begin(), /*interruptible=*/true);
                frame = control_.receive();
            }
            if (!frame || !dealt_with(*frame)) return frame;
        }
    }
    bool dealt_with(const json& frame) {
        if (frame.contains("drive")) {
            const auto& kind = frame["drive"];
            // The listener has, or it comes too late.
            return kind == "inject" || kind == "freeze" || kind == "slow" || kind == "send" ||
                   kind == "expect" || kind == "met";
        }
        if (frame.value("type", "") != "stop_requested") return false;
        tell({{"drive", "leave_requested"}});
        return true;
    }

    bool can_take(bool wait) override {
        if (dismissed_ || next_) return true;
        auto frame = fetch(wait);
        if (!frame) {
            dismissed_ = wait;  // the driver is gone
            return wait;
        }
        const double at_s = frame->value("at_s", 0.0);
        if (!wait && paced_ && at_s > free_s_) {  // on the modelled cluster it is not there yet
            early_.push_front(std::move(*frame));
            return false;
        }
        not_before(at_s);
        if (frame->value("drive", "") == "beside") {
            besides_.erase(besides_.find(at_s));
            if (frame->contains("failed")) throw std::runtime_error(frame->at("failed"));
            next_ = AnyMessage::of_json(frame->at("message"));
            return true;
        }
        ++heard_;
        frame->erase("at_s");
        if (frame->value("drive", "") == "dismiss")
            dismissed_ = true;
        else
            next_ = AnyMessage::of_json(std::move(*frame));
        return true;
    }
    std::optional<AnyMessage> take() override { return std::exchange(next_, std::nullopt); }

    // ---- work ----------------------------------------------------------------------------------

    bool begin_work(double modelled_s, const std::function<void()>& real) override {
        const double began_s = free_s_, ends_s = began_s + slowdown() * modelled_s;
        promise(ends_s);
        if (real) real();
        if (!paced_) return true;
        free_s_ = ends_s;
        hold(began_s);
        return true;
    }

    bool begin_interruptible(double modelled_s, Interrupts by) override {
        const double began_s = free_s_, ends_s = began_s + slowdown() * modelled_s;
        promise(ends_s, true);
        const double due_s =
            paced_ ? real_of(ends_s) : cluster::monotonic_s() + modelled_s / speed_;
        const auto interruption = [&] {
            return std::find_if(early_.begin(), early_.end(), [&](const json& frame) {
                return by == Interrupts::any_message || frame.value("urgent", false);
            });
        };
        while (interruption() == early_.end()) {
            const double left_s = due_s - cluster::monotonic_s();
            auto frame = control_.try_receive(cluster::Seconds(std::max(0.0, left_s)));
            if (frame && !dealt_with(*frame)) early_.push_back(std::move(*frame));
            if (!frame && left_s <= 0) break;
        }
        const auto by_what = interruption();
        const double at_s = by_what == early_.end() ? 0 : by_what->value("at_s", 0.0);
        lasted_ = by_what == early_.end() || (paced_ && at_s > ends_s);
        if (!paced_) return true;
        if (lasted_) {
            free_s_ = ends_s;
            hold(began_s);
        } else {
            not_before(at_s);
        }
        return true;
    }
    bool lasted() const override { return lasted_; }

    bool begin_point(std::string_view phase, long step) override {
        while (points_.reach(std::string(phase), step)) {
            tell({{"drive", "at_point"}, {"phase", phase}, {"step", step}, {"at_s", free_s_}});
            while (auto frame = control_.receive()) {
                if (dealt_with(*frame)) continue;
                if (frame->value("drive", "") == "continue") break;
                early_.push_back(std::move(*frame));
            }
            if (paced_) hold(free_s_);
        }
        return true;
    }

    bool begin_together(const Group& group, double modelled_s,
                        const std::function<void()>& real) override {
        const long urgents = urgents_so_far();
        outcome_ = Together::done;
        while (auto frame = control_.try_receive(cluster::Seconds(0)))
            if (!dealt_with(*frame)) early_.push_back(std::move(*frame));
        for (const json& frame : early_)
            if (frame.value("urgent", false)) {
                turn_away(group, Together::aborted);
                return true;
            }
        if (real) {
            try {
                real();
            } catch (const cluster::CommunicatorBroken&) {
                turn_away(group, urgents_so_far() > urgents ? Together::aborted : Together::broken);
            }
            if (!paced_ || outcome_ != Together::done) return true;
        }
        const long round = ++rounds_;
        tell({{"drive", "arrives"},
              {"number", group.number},
              {"members", group.members},
              {"seconds", slowdown() * modelled_s},
              {"round", round},
              {"at_s", free_s_}});
        while (auto frame = control_.receive()) {
            if (frame->value("drive", "") == "met") {
                if (frame->at("round") != round) continue;  // it had turned away
                outcome_ = frame->at("broken").get<bool>() ? Together::broken : Together::done;
                not_before(frame->at("at_s"));
                break;
            }
            if (dealt_with(*frame)) continue;
            const bool aborts = frame->value("urgent", false);
            const double at_s = frame->value("at_s", 0.0);
            early_.push_back(std::move(*frame));
            if (!aborts) continue;
            turn_away(group, Together::aborted);
            not_before(at_s);
            break;
        }
        return true;
    }
    void turn_away(const Group& group, Together outcome) {
        outcome_ = outcome;
        tell({{"drive", "turns_away"}, {"number", group.number}});
    }
    long urgents_so_far() const {
        const std::lock_guard lock(at_once_->mutex);
        return at_once_->urgents;
    }
    Together outcome() const override { return outcome_; }

    std::optional<Fault> take_strike(FaultKind kind) override {
        const std::lock_guard lock(at_once_->mutex);
        auto& faults = at_once_->faults;
        const auto found = std::find_if(faults.begin(), faults.end(),
                                        [&](const auto& one) { return one.first.kind == kind; });
        if (found == faults.end()) return std::nullopt;
        const auto [fault, index] = *found;
        faults.erase(found);
        control_.send({{"drive", "struck"}, {"index", index}});
        return fault;
    }

    WorkerId self_;
    cluster::ControlChannel& control_;
    json configuration_;
    const Role& role_;
    bool signs_;  // it gives signs of progress also where time is not paced
    std::shared_ptr<cluster::LinkFaults> links_;
    std::shared_ptr<LinkStrikes> link_strikes_;
    std::shared_ptr<AtOnce> at_once_;
    FaultPoints points_;

    bool paced_ = false;
    double speed_ = 1, at_s_ = 0, real_s_ = 0;  // scenario time at_s_ is that reading of the clock
    double free_s_ = 0;                         // when what was begun ends, in scenario time
    std::deque<json> early_;                    // frames that came while it waited for others
    std::optional<AnyMessage> next_;
    long heard_ = 0;  // messages taken
    long rounds_ = 0;
    std::multiset<double> besides_;  // ends of what goes on beside
    bool dismissed_ = false, lasted_ = true;
    Together outcome_ = Together::done;
    std::vector<std::thread> beside_;
    std::optional<std::uint16_t> untold_port_;
};

}  // namespace

cluster::WorkerMain process_of(std::vector<Role> roles) {
    return [roles = std::move(roles)](WorkerId self, cluster::ControlChannel& control,
                                      const json& config) {
        const Role& role = roles.at(config.at("role").get<std::size_t>());
        RoleWorker worker(self, control, config, role);
        worker.join();
        auto running = role.protocol(worker);
        struct End {
            RoleWorker& worker;
            ~End() { worker.end(); }
        } const end{worker};
        running.resume();  // it waits inside, and comes back at its end
        return 0;
    };
}

}  // namespace assay::drive
