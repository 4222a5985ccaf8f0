// Engines as workers of a driver, on either clock: in processes of their own, or in virtual time;
// and a pool of requests over them.
//
//     drive::ProcessDriver driver({engine_role(models_of_files())}, options, recorder);
//     Engines engines(driver);
//     engines.start({.weights = "model.gguf", .blocks = 512});
//     const Number request = engines.ask({.request = {.prompt = {1, 2, 3}}});
//     while (!engines.pool().over(request)) engines.hear();
//     engines.pool().tokens(request);
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "impls/decode/pool/choosers.hpp"
#include "impls/decode/service/engine_client.hpp"
#include "suite/drive/driver.hpp"

namespace assay::decode {

/// Listens to the driver, which outlives it. Whoever calls it or its engines does so outside of
/// Driver::turn(), so not from a listener; what waits, turns the driver.
class Engines {
  public:
    /// Transfers of states have numbers from this one on; of this driver no others may.
    static constexpr std::uint64_t first_state_transfer = std::uint64_t{1} << 62;
    using Listener = std::function<void(const drive::DriverEvent&)>;

    /// `role`: of engine_role(), as the driver knows it.
    explicit Engines(drive::Driver& driver, std::string role = "engine");
    ~Engines();
    Engines(const Engines&) = delete;
    Engines& operator=(const Engines&) = delete;

    /// Who is told of everything else: timers, other workers, an engine's LeaveRequested. What
    /// engines that were started here say, their coming and their deaths are dealt with here.
    void listen(Listener others) { others_ = std::move(others); }
    /// Where requests go; FewestGiven without. It outlives this.
    void place_by(Chooser& chooser) { chooser_ = &chooser; }
    /// Who is told, outside of Driver::turn(), of new tokens and of requests that are over. One
    /// that begins anew (Loss::restart) tells all of its tokens again.
    struct Heard {
        std::function<void(Number, std::span<const Token>)> tokens;
        std::function<void(const Done&)> done;
    };
    void hear_requests(Heard heard) { heard_ = std::move(heard); }

    /// Asks for an engine and returns at once; it loads its weights while others are heard. Its
    /// seat has the worker's number.
    EngineClient& start(const EngineSettings& settings, int model = 0,
                        const std::string& instance = "");
    const std::deque<EngineClient>& engines() const { return engines_; }
    EngineClient* at(Seat seat);

    /// Throws UserError: what an engine of that model that is ready would refuse.
    Number ask(Ask ask);
    Pool& pool() { return pool_; }
    /// Gives out what the pool decided. hear() does it after what it heard; whoever asked,
    /// cancelled or moved since then need not wait for that.
    void go_on();

    /// Hears what happens next, waits for it at most so many scenario seconds. False: nothing did.
    bool hear(double most_s = std::numeric_limits<double>::infinity());
    /// … until it is so; false: it is not, after so long, or never will be.
    bool hear_until(const std::function<bool()>& so,
                    double most_s = std::numeric_limits<double>::infinity());

    drive::Driver& driver() { return driver_; }
    /// What engines are given from tokens goes through it: for campaigns that rules can be broken.
    void distort(std::function<void(RequestState&)> how) { distort_ = std::move(how); }
    /// States that left their engine and were not given on, or have not come to where they go.
    std::size_t states_between() const { return states_.size(); }

  private:
    friend class EngineClient;
    void on(const drive::DriverEvent& event);
    void said(EngineClient& engine, const service::FromEngine& message);
    void made(EngineClient& engine, const service::Made& made);
    void exported(EngineClient& engine, const service::Exported& exported);
    void bring(EngineClient& to, Number attempt);
    void check_not_awaited(Number attempt) const;
    void brought(std::uint64_t handle, bool whole);
    void done_with(std::uint64_t handle);
    void carry_out(const Order& order);
    void give(const Give& give);
    void give_tokens(const Give& give);

    drive::Driver& driver_;
    std::string role_;
    Listener others_;
    Heard heard_;
    Pool pool_;
    FewestGiven fewest_{pool_};
    Chooser* chooser_ = &fewest_;
    std::deque<EngineClient> engines_;
    std::map<Seat, EngineClient*> by_seat_;
    struct Between {  // a state: as text, or offered by an engine
        std::string text;
        EngineClient* from = nullptr;
        Number exported = -1;
        std::uint64_t bytes = 0;
        Give to;  // whom it was given to
        bool goes = false;
    };
    std::map<std::uint64_t, Between> states_;   // by handle, which is their transfer's number, too
    std::map<Number, std::uint64_t> awaiting_;  // attempts → handle
    std::uint64_t last_handle_ = first_state_transfer;
    std::deque<std::pair<Number, std::vector<Token>>> news_;  // not told of yet
    std::deque<Order> orders_;                                // not carried out yet
    std::function<void(RequestState&)> distort_;
};

}  // namespace assay::decode
