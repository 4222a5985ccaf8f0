// A worker's protocol (worker.hpp) in virtual time: a mailbox, and time that passes.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "suite/drive/simulated/world.hpp"
#include "suite/drive/worker.hpp"

namespace assay::drive {

class VirtualWorker final : public Worker {
  public:
    /// What it can do nothing about by itself: VirtualCluster.
    class Surroundings {
      public:
        virtual void says(WorkerId, AnyMessage) = 0;
        virtual void ends(WorkerId, const std::string& how) = 0;  ///< it threw, or went home
        /// False: a fault strikes it there.
        virtual bool passes(WorkerId, std::string_view phase, long step) = 0;
        virtual void arrives(WorkerId, const Group&, double seconds) = 0;
        /// From those it is, or would be, together with: aborted.
        virtual void turns_away(WorkerId, std::int64_t group) = 0;
        virtual void is_struck(WorkerId, const Fault&) = 0;  ///< by one that it has asked for
        virtual void progresses(WorkerId) = 0;

      protected:
        ~Surroundings() = default;
    };
    VirtualWorker(WorkerId id, SimulatedWorld& world, Surroundings& surroundings,
                  const std::function<Protocol(Worker&)>& protocol, nlohmann::json configuration);

    void begin() { go_on(); }
    void deliver(AnyMessage message);
    void dismiss();
    void slow(double factor) { slowdown_ = factor; }
    void strike(const Fault& fault) { faults_.push_back(fault); }
    /// What it does together with others takes so long from now, …
    void meet(double seconds);
    /// … or has come out so, at once: ends the waiting of who has come to it (`arrives`, too).
    void comes_out(Together outcome);
    /// The same, after what is due already.
    void met(Together outcome);
    bool is_together() const { return waits_ == Waits::together; }
    /// It lives, and does nothing any more, whatever it is told.
    void stick();
    bool stuck() const { return stuck_; }
    /// It was frozen (SimulatedWorld::freeze) and did not take what was there.
    void woken();
    /// It waits for a message, so that its silence is no stall.
    bool rests() const { return waits_ == Waits::message; }
    const Bytes* offered(const std::string& object) const;
    const Bytes* accepted(const std::string& object) const;

    WorkerId id() const override { return id_; }
    void beside(double modelled_s, std::function<void()> real, AnyMessage done) override;
    void urgent(std::function<void(const AnyMessage&)> handler) override {
        urgent_ = std::move(handler);
    }
    void offer(const std::string& object, const Bytes& content) override {
        offered_.insert_or_assign(object, content);
    }
    void accept(const std::string& object, const Bytes& content) override {
        accepted_.insert_or_assign(object, content);
    }
    void withdraw(const std::string& object) override {
        offered_.erase(object);
        accepted_.erase(object);
    }
    void say(AnyMessage message) override { surroundings_.says(id_, std::move(message)); }

  private:
    enum class Waits { nothing, message, work, interruptible, until_urgent, point, together };

    const nlohmann::json& configured() const override { return configuration_; }
    bool can_take(bool wait) override;
    std::optional<AnyMessage> take() override;
    bool begin_work(double modelled_s, const std::function<void()>& real) override;
    bool begin_interruptible(double modelled_s, Interrupts by) override;
    bool begin_point(std::string_view phase, long step) override;
    bool begin_together(const Group& group, double modelled_s,
                        const std::function<void()>& real) override;
    bool lasted() const override { return lasted_; }
    Together outcome() const override { return outcome_; }
    std::optional<Fault> take_strike(FaultKind kind) override;

    void wait(Waits waits, double seconds);
    void over(std::uint64_t wait);
    bool has_urgent() const;
    void interrupt();
    void go_on();

    WorkerId id_;
    SimulatedWorld& world_;
    Surroundings& surroundings_;
    nlohmann::json configuration_;
    std::vector<std::optional<AnyMessage>> mailbox_;  // few; nothing: it was dismissed
    Waits waits_ = Waits::nothing;
    std::uint64_t wait_ = 0;  // counts them, so that what would have ended an earlier one does not
    bool lasted_ = true, decided_ = false, arriving_ = false, stuck_ = false;
    std::int64_t group_ = 0;  // that it is together with
    Together outcome_ = Together::done;
    double slowdown_ = 1;
    std::vector<Fault> faults_;  // inside it, not asked for yet
    std::function<void(const AnyMessage&)> urgent_;
    std::map<std::string, Bytes> offered_, accepted_;
    Protocol protocol_;  // last: it may do all of the above when it begins
};

}  // namespace assay::drive
