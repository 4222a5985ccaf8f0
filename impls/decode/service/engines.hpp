// Engines as workers of a driver, on either clock: in processes of their own, or in virtual time.
//
//     drive::ProcessDriver driver({engine_role(back_ends_of_files())}, options, recorder);
//     Engines engines(driver);
//     EngineClient& engine = engines.start({.weights = "model.gguf", .blocks = 512});
//     const RequestId request = engine.submit({.prompt = {1, 2, 3}});
//     for (StepReport report; !engine.idle(); report.clear()) engine.step(report);
#pragma once

#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <string>

#include "impls/decode/service/engine_client.hpp"
#include "suite/drive/driver.hpp"

namespace assay::decode {

/// Listens to the driver, which outlives it. Whoever calls it or its engines does so outside of
/// Driver::turn(), so not from a listener; what waits, turns the driver.
class Engines {
  public:
    using Listener = std::function<void(const drive::DriverEvent&)>;

    /// `role`: of engine_role(), as the driver knows it.
    explicit Engines(drive::Driver& driver, std::string role = "engine");
    ~Engines();
    Engines(const Engines&) = delete;
    Engines& operator=(const Engines&) = delete;

    /// Who is told of everything else: timers, other workers, an engine's LeaveRequested. What
    /// engines that were started here say, their coming and their deaths are dealt with here.
    void listen(Listener others) { others_ = std::move(others); }

    /// Asks for an engine and returns at once; it loads its weights while others are heard.
    EngineClient& start(const EngineSettings& settings, const std::string& instance = "");
    const std::deque<EngineClient>& engines() const { return engines_; }

    /// Hears what happens next, waits for it at most so many scenario seconds. False: nothing did.
    bool hear(double most_s = std::numeric_limits<double>::infinity()) {
        return driver_.turn(most_s);
    }
    /// … until it is so; false: it is not, after so long, or never will be.
    bool hear_until(const std::function<bool()>& so,
                    double most_s = std::numeric_limits<double>::infinity());

    drive::Driver& driver() { return driver_; }

  private:
    void on(const drive::DriverEvent& event);

    drive::Driver& driver_;
    std::string role_;
    Listener others_;
    std::deque<EngineClient> engines_;
    std::map<drive::WorkerId, EngineClient*> by_worker_;
};

}  // namespace assay::decode
