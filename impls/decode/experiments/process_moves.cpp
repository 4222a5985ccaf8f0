#include "impls/decode/experiments/process_moves.hpp"

#include <algorithm>
#include <map>

#include "impls/decode/experiments/modelled_gpu.hpp"
#include "impls/decode/experiments/sample_runs.hpp"
#include "impls/decode/service/process_engines.hpp"
#include "suite/cluster/pacer.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::decode {
namespace {

class Run {
  public:
    Run(std::span<const BatchJob> jobs, int blocks)
        : jobs_(jobs),
          processes_(
              engine_role(modelled_models(
                  {.vocabulary = modelled_vocabulary, .context = modelled_context, .cost = {}})),
              {.pace = drive::Pace::steady}),
          from_(processes_.engines.start(settings(blocks))),
          to_(processes_.engines.start(settings(blocks))) {
        result_.answers.resize(jobs.size());
    }

    ProcessRun run(Departure departure) {
        while (!from_.ready() || !to_.ready()) hear();
        const double start_s = processes_.driver.now();
        for (std::size_t job = 0; job < jobs_.size(); ++job)
            here_[from_.submit(jobs_[job].request)] = job;
        while (departure != Departure::none && !half_made()) hear();
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
        while (!from_.idle() || !to_.idle()) hear();
        result_.seconds = processes_.driver.now() - start_s;
        result_.late_s = processes_.driver.worst_late_s();
        const std::int64_t computed = to_.status().stats.computed_tokens;
        result_.computed_again = static_cast<double>(computed - made_there_);
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
        if (!processes_.engines.hear())
            throw SampleError(SampleStatus::failed, "engines rest, and have not done their work");
        take(from_, here_);
        take(to_, there_);
    }
    void take(EngineClient& engine, std::map<RequestId, std::size_t>& jobs) {
        report_.clear();
        engine.take(report_);
        for (const MadeToken& token : report_.tokens) {
            BatchAnswer& answer = result_.answers[jobs.at(token.request)];
            answer.ids.push_back(token.id);
            answer.log_probabilities.push_back(token.log_probability);
        }
        for (const EndedRequest& ended : report_.ended) jobs.erase(ended.request);
    }
    bool half_made() const {
        for (std::size_t job = 0; job < jobs_.size(); ++job)
            if (static_cast<int>(result_.answers[job].ids.size()) <
                jobs_[job].request.max_tokens / 2)
                return false;
        return true;
    }
    /// Those that `to` makes itself need as many tokens fed there.
    void expect(std::size_t job, std::size_t known) {
        made_there_ += jobs_[job].request.max_tokens - static_cast<std::int64_t>(known);
    }

    void move(bool with_cache) {
        from_.pause();
        to_.pause();
        take(from_, here_);
        for (const RequestId request : from_.unfinished()) {
            const std::size_t job = here_.at(request);
            expect(job, result_.answers[job].ids.size());
            there_[from_.move(request, to_, with_cache).value().request] = job;
            here_.erase(request);
        }
        to_.go_on();
    }

    void kill() {
        bool in_a_step = false;
        processes_.engines.listen([&](const drive::DriverEvent& event) {
            in_a_step = in_a_step || std::holds_alternative<drive::Timer>(event);
        });
        processes_.driver.start(drive::StartTimer{.after_s = into_a_step_s()});
        processes_.engines.hear_until([&] { return in_a_step; });
        processes_.engines.listen({});
        const double killed_s = cluster::monotonic_s();
        killed_ = true;
        // Not by a fault of the driver, which would know of the death before it is noticed.
        processes_.driver.supervisor().kill(from_.worker());
        processes_.engines.hear_until([&] { return from_.lost(); });
        result_.noticed_s = cluster::monotonic_s() - killed_s;
        take(from_, here_);
        for (const RequestId request : from_.unfinished()) {
            const std::size_t job = here_.at(request);
            expect(job, result_.answers[job].ids.size());
            there_[to_.resume(from_.state_of(request))] = job;
            from_.remove(request);
        }
    }

    std::span<const BatchJob> jobs_;
    ProcessEngines processes_;
    EngineClient& from_;
    EngineClient& to_;
    std::map<RequestId, std::size_t> here_, there_;  // numbers at each: jobs
    std::int64_t made_there_ = 0;
    bool killed_ = false;
    StepReport report_;
    ProcessRun result_;
};

}  // namespace

double into_a_step_s() { return modelled_gpu_cost().weights_s / 2; }

ProcessRun run_in_processes(std::span<const BatchJob> jobs, int blocks, Departure departure) {
    return Run(jobs, blocks).run(departure);
}

}  // namespace assay::decode
