// Engines in processes of their own behind a pool, and one of this process behind another: what
// both are asked, and what must come of it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

#include "impls/decode/campaign/served_models.hpp"
#include "impls/decode/pool/local_seat.hpp"
#include "impls/decode/service/process_engines.hpp"
#include "suite/base/error.hpp"

namespace assay::decode {

constexpr double long_enough = 30;  // seconds

/// Weights "late 7" take a while to come.
inline EngineModel sometimes_late(EngineModel model) {
    model.load = [load = model.load](const EngineSettings& settings, const WeightsOrigin& origin) {
        const auto& weights = std::get<std::string>(origin);
        const bool late = weights.starts_with("late ");
        if (late) std::this_thread::sleep_for(std::chrono::milliseconds(300));
        return load(settings, late ? weights.substr(5) : weights);
    };
    return model;
}

/// Steps take what is modelled, where that is.
inline drive::ProcessOptions paced() {
    drive::ProcessOptions options;
    options.supervisor.heartbeat_timeout = cluster::Seconds(1);
    options.pace = drive::Pace::steady;
    return options;
}

/// Of this process.
class EngineHere {
  public:
    EngineHere(const ServedModel& model, const EngineSettings& settings)
        : engine(model.model.back_end(settings, settings.weights), settings.options),
          seat_(pool_, 0, engine, exported_) {}

    Pool& pool() { return pool_; }
    bool go_on() {
        std::vector<Order> orders;
        pool_.turn(chooser_, orders);
        for (const Order& order : orders) seat_.carry_out(order);
        return !orders.empty();
    }
    bool hear_until(const std::function<bool()>& so, double) {
        while (!so()) {
            if (!go_on() && engine.idle()) return so();
            StepReport report;
            engine.step(report);
            seat_.tell(report);
        }
        return true;
    }

    BatchEngine engine;

  private:
    Pool pool_;
    FewestGiven chooser_{pool_};
    ExportedStates exported_;
    LocalSeat seat_;
};

/// Of a decoder, or of tokens by hashes.
class ServedEngines : public testing::TestWithParam<bool> {
  protected:
    ServedEngines()
        : model(GetParam() ? served_decoder() : served_hashes()),
          processes(engine_role(sometimes_late(model.model)), paced()) {
        engines.hear_requests(
            {.tokens = {}, .done = [this](const Done& one) { done[one.request] = one; }});
    }

    void strike(const EngineClient& engine, FaultKind kind) {
        Fault fault{.kind = kind, .rank = engine.worker()};
        if (kind == FaultKind::corrupt) fault.target = "tensor";
        processes.driver.strike(fault);
    }

    EngineSettings settings(double step_s = 0) const {
        EngineSettings settings;
        settings.options.model = model.name;
        settings.weights = "1";
        settings.blocks = 40;
        settings.threads = 1;
        if (step_s > 0) settings.pace = StepCost{.fixed_s = step_s};
        return settings;
    }
    static BatchRequest request(int first, int count, int max_tokens) {
        BatchRequest request;
        for (int i = 0; i < count; ++i) request.prompt.push_back(first + i);
        request.max_tokens = max_tokens;
        if (first % 2 == 1) request.sampling.temperature = 1;
        return request;
    }
    static BatchRequest with(BatchRequest request, const Links& links) {
        request.links = links;
        return request;
    }

    /// Which has this engine, until it is moved or lost.
    Number ask_at(const EngineClient& engine, const BatchRequest& request) {
        engine.wait_until_ready();
        for (const EngineClient& each : engines.engines()) pool.open(each.seat(), &each == &engine);
        const Number number = engines.ask({.request = request});
        engines.go_on();
        for (const EngineClient& each : engines.engines()) pool.open(each.seat(), true);
        return number;
    }
    static void until(auto& any_engines, const std::function<bool()>& so) {
        if (!any_engines.hear_until(so, long_enough))
            throw std::runtime_error("what is waited for does not come");
    }
    void until_made(Number request, std::size_t tokens) {
        until(engines, [&] { return pool.tokens(request).size() >= tokens; });
    }
    void until_over(Number request) {
        until(engines, [&] { return pool.over(request); });
    }

    /// What an engine of this process makes of it, without a pool.
    std::vector<MadeToken> alone(const BatchRequest& asked) const {
        BatchEngine engine(model.model.back_end(settings(), "1"), {.model = model.name});
        engine.submit(asked);
        StepReport report;
        while (!engine.idle()) engine.step(report);
        return report.tokens;
    }
    static void expect_same(const Pool& pool, Number request, std::span<const MadeToken> expected) {
        const std::span<const Token> tokens = pool.tokens(request);
        ASSERT_EQ(tokens.size(), expected.size());
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            EXPECT_EQ(tokens[i].id, expected[i].id) << i;
            EXPECT_EQ(tokens[i].logprob, expected[i].log_probability) << i;
            EXPECT_EQ(tokens[i].sampled, expected[i].sampled_log_probability) << i;
        }
        for (const auto& run : pool.runs(request)) EXPECT_EQ(run.version, 1);
    }
    static EngineStats stats_of(const BatchEngine& engine) { return engine.stats(); }
    static EngineStats stats_of(const EngineClient& engine) { return engine.status().stats; }

    ServedModel model;
    ProcessEngines processes;
    Engines& engines = processes.engines;
    Pool& pool = engines.pool();
    std::map<Number, Done> done;  // requests that are over
};

}  // namespace assay::decode
