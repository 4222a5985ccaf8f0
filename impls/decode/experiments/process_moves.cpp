#include "impls/decode/experiments/process_moves.hpp"

#include <algorithm>
#include <vector>

#include "impls/decode/experiments/modelled_gpu.hpp"
#include "impls/decode/experiments/sample_runs.hpp"
#include "impls/decode/service/process_engines.hpp"
#include "suite/cluster/pacer.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::decode {
namespace {

class MovingRun {
  public:
    MovingRun(std::span<const BatchJob> jobs, int blocks)
        : jobs_(jobs),
          processes_(
              engine_role(modelled_models(
                  {.vocabulary = modelled_vocabulary, .context = modelled_context, .cost = {}})),
              {.pace = drive::Pace::steady}),
          from_(engines_.start(settings(blocks))),
          to_(engines_.start(settings(blocks))) {}

    ProcessRun run(Departure departure) {
        while (!from_.ready() || !to_.ready()) hear();
        const double start_s = processes_.driver.now();
        // All of them first.
        pool_.open(to_.seat(), false);
        for (const BatchJob& job : jobs_) requests_.push_back(pool_.ask({.request = job.request}));
        while (departure != Departure::none && !half_made()) hear();
        if (departure != Departure::none) pool_.open(to_.seat(), true);
        switch (departure) {
            case Departure::none:
                break;
            case Departure::tokens:
            case Departure::with_kv:
                move(departure == Departure::with_kv);
                break;
            case Departure::sigkill:
                kill();
                break;
        }
        while (pool_.open() > 0) hear();
        result_.seconds = processes_.driver.now() - start_s;
        result_.late_s = processes_.driver.worst_late_s();
        const std::int64_t computed = to_.status().stats.computed_tokens;
        result_.computed_again = static_cast<double>(computed - made_there_);
        for (const Number request : requests_) {
            BatchAnswer& answer = result_.answers.emplace_back();
            for (const Token& token : pool_.tokens(request)) {
                answer.ids.push_back(token.id);
                answer.log_probabilities.push_back(token.logprob);
            }
        }
        return std::move(result_);
    }

  private:
    static EngineSettings settings(int blocks) {
        const BatchRunOptions modelled = on_modelled_gpu(blocks);
        return {.options = modelled.engine,
                .weights = "1",
                .blocks = blocks,
                .pace = modelled_gpu_cost()};
    }

    void hear() {
        for (const EngineClient* const engine : {&from_, &to_})
            if (engine->lost() && !(engine == &from_ && killed_))
                throw SampleError(SampleStatus::failed, "an engine is gone: " + engine->how_lost());
        if (!engines_.hear())
            throw SampleError(SampleStatus::failed, "engines rest, and have not done their work");
    }
    bool half_made() const {
        for (std::size_t job = 0; job < jobs_.size(); ++job)
            if (static_cast<int>(pool_.tokens(requests_[job]).size()) <
                jobs_[job].request.max_tokens / 2)
                return false;
        return true;
    }
    /// Those that `to` makes itself need as many tokens fed there.
    void expect(const std::vector<Number>& requests) {
        for (const Number request : requests)
            made_there_ += pool_.asked(request).request.max_tokens -
                           static_cast<std::int64_t>(pool_.tokens(request).size());
    }

    void move(bool with_cache) {
        from_.pause();
        to_.pause();
        const std::vector<Number> requests = pool_.with(from_.seat());
        expect(requests);
        for (const Number request : requests) pool_.move(request, to_.seat(), with_cache);
        engines_.hear_until([&] { return pool_.with(to_.seat()).size() == requests.size(); });
        to_.go_on();
    }

    void kill() {
        bool in_a_step = false;
        engines_.listen([&](const drive::DriverEvent& event) {
            in_a_step = in_a_step || std::holds_alternative<drive::Timer>(event);
        });
        processes_.driver.start(drive::StartTimer{.after_s = into_a_step_s()});
        engines_.hear_until([&] { return in_a_step; });
        engines_.listen({});
        const std::vector<Number> requests = pool_.with(from_.seat());
        const double killed_s = cluster::monotonic_s();
        killed_ = true;
        // Not by a fault of the driver, which would know of the death before it is noticed.
        processes_.driver.supervisor().kill(from_.worker());
        engines_.hear_until([&] { return from_.lost(); });
        result_.noticed_s = cluster::monotonic_s() - killed_s;
        std::vector<Number> left = requests;
        std::erase_if(left, [&](Number request) { return pool_.over(request); });
        expect(left);
    }

    std::span<const BatchJob> jobs_;
    ProcessEngines processes_;
    Engines& engines_ = processes_.engines;
    Pool& pool_ = engines_.pool();
    EngineClient& from_;
    EngineClient& to_;
    std::vector<Number> requests_;  // of each job
    std::int64_t made_there_ = 0;
    bool killed_ = false;
    ProcessRun result_;
};

}  // namespace

double into_a_step_s() { return modelled_gpu_cost().weights_s / 2; }

ProcessRun run_in_processes(std::span<const BatchJob> jobs, int blocks, Departure departure) {
    return MovingRun(jobs, blocks).run(departure);
}

}  // namespace assay::decode
