#include "impls/decode/experiments/process_moves.hpp"

#include <algorithm>
#include <map>

#include "impls/decode/experiments/modelled_gpu.hpp"
#include "impls/decode/experiments/sample_runs.hpp"
#include "impls/decode/service/engine_client.hpp"
#include "suite/cluster/pacer.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::decode {
namespace {

constexpr cluster::Seconds a_while{1};

MakeBackEnd modelled_back_ends() {
    return [](const EngineSettings& settings, const std::string&) -> std::unique_ptr<BackEnd> {
        return std::make_unique<ModelledBackEnd>(ModelledSettings{.vocabulary = modelled_vocabulary,
                                                                  .context = modelled_context,
                                                                  .blocks = settings.blocks,
                                                                  .cost = {}});
    };
}

class Run {
  public:
    Run(std::span<const BatchJob> jobs, int blocks)
        : jobs_(jobs),
          engines_(cluster::make_fork_server(engine_worker(modelled_back_ends()))),
          from_(engines_.start(settings(blocks))),
          to_(engines_.start(settings(blocks))) {
        result_.answers.resize(jobs.size());
    }

    ProcessRun run(Departure departure) {
        while (!from_.ready() || !to_.ready()) hear();
        const double start_s = cluster::monotonic_s();
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
        result_.seconds = cluster::monotonic_s() - start_s;
        if (!from_.lost()) result_.late_s += from_.status().late_s;
        const service::Status status = to_.status();
        result_.late_s += status.late_s;
        result_.computed_again = static_cast<double>(status.stats.computed_tokens - made_there_);
        return std::move(result_);
    }

  private:
    static EngineSettings settings(int blocks) {
        const BatchRunOptions modelled = on_modelled_gpu(blocks);
        return {.options = modelled.engine, .blocks = blocks, .pace = modelled_gpu_cost()};
    }

    void hear() {
        for (const EngineClient* const engine : {&from_, &to_})
            if (engine->lost() && !(engine == &from_ && killed_))
                throw SampleError(SampleStatus::failed, "an engine is gone: " + engine->how_lost());
        engines_.hear(a_while);
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
        result_.late_s += from_.status().late_s;
        cluster::sleep_until(cluster::monotonic_s() + into_a_step_s());
        const double killed_s = cluster::monotonic_s();
        killed_ = true;
        engines_.supervisor().kill(from_.worker());
        while (!from_.lost()) engines_.hear(a_while);
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
    EngineProcesses engines_;
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
