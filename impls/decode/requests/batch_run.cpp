#include "impls/decode/requests/batch_run.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace assay::decode {
namespace {

class JobsRun {
  public:
    JobsRun(std::span<const BatchJob> jobs, const BatchRunOptions& options)
        : jobs_(jobs), options_(options), order_(jobs.size()), requests_(jobs.size(), -1) {
        result_.answers.resize(jobs.size());
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
            return jobs[a].at_step < jobs[b].at_step;
        });
        for (std::size_t job = 0; job < jobs.size(); ++job) {
            if (jobs[job].cancel_at) cancels_.push_back(job);
        }
        std::stable_sort(cancels_.begin(), cancels_.end(), [&](std::size_t a, std::size_t b) {
            return *jobs[a].cancel_at < *jobs[b].cancel_at;
        });
    }

    BatchRun run() {
        begin_engine(options_.engine);
        const auto start = std::chrono::steady_clock::now();
        for (std::int64_t step = 0;;) {
            prepare(step);
            if (engine_->idle()) {
                if (next_ == order_.size()) break;
                step = jobs_[order_[next_]].at_step;
                continue;
            }
            report_.clear();
            engine_->step(report_, until_something_happens(step));
            if (report_.steps == 0 && report_.ended.empty())
                throw std::logic_error("requests are there, and the engine has nothing to do");
            step += report_.steps;
            take_report();
        }
        result_.seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        end_engine();
        for (const BatchAnswer& answer : result_.answers) {
            result_.reused_tokens += answer.reused;
            result_.preemptions += answer.preemptions;
        }
        return std::move(result_);
    }

  private:
    /// What befalls the engine before a step.
    void prepare(std::int64_t step) {
        report_.clear();
        for (; next_cancel_ < cancels_.size(); ++next_cancel_) {
            const std::size_t job = cancels_[next_cancel_];
            if (*jobs_[job].cancel_at > step) break;
            if (requests_[job] >= 0) engine_->cancel(requests_[job], report_);
        }
        take_ended();
        if (options_.reload_at && step >= *options_.reload_at && !std::exchange(reloaded_, true)) {
            engine_->prepare(engine_->version() + 1, options_.back_ends.load());
            engine_->commit(BatchEngine::Cache::recompute);
        }
        if (options_.move_at && step >= *options_.move_at && !std::exchange(moved_, true)) move();
        for (; next_ < order_.size() && jobs_[order_[next_]].at_step <= step; ++next_) {
            const std::size_t job = order_[next_];
            if (jobs_[job].cancel_at && *jobs_[job].cancel_at <= jobs_[job].at_step) continue;
            is_now(job, engine_->submit(jobs_[job].request));
        }
    }

    void move() {
        std::vector<std::pair<std::size_t, std::vector<std::byte>>> states;
        for (const RequestId request : engine_->unfinished()) {
            const RequestState state = engine_->state_of(request, options_.move_cache);
            result_.exported_blocks += blocks_for(state.kv_positions);
            states.emplace_back(job_of(request), to_bytes(state));
        }
        BatchOptions options = options_.engine;
        options.version = engine_->version();
        end_engine();
        begin_engine(options);
        job_of_.clear();
        for (const auto& [job, bytes] : states) {
            is_now(job, engine_->resume(request_state_from(bytes)));
        }
    }

    /// All requests may wait in it at once.
    void begin_engine(BatchOptions options) {
        options.max_requests = std::max(options.max_requests, static_cast<int>(jobs_.size()));
        engine_ = std::make_unique<BatchEngine>(options_.back_ends(), options, options_.text_of);
    }

    void end_engine() {
        for (const RequestId request : engine_->unfinished()) engine_->remove(request);
        engine_->empty_cache();
        const EngineStats stats = engine_->stats();
        result_.steps += stats.steps;
        result_.computed_tokens += stats.computed_tokens;
        result_.peak_blocks = std::max(result_.peak_blocks, stats.peak_blocks);
        result_.held_blocks += stats.held_blocks;
        engine_.reset();
    }

    int until_something_happens(std::int64_t step) const {
        std::int64_t next = std::numeric_limits<std::int64_t>::max();
        const auto consider = [&](std::int64_t at) {
            if (at > step) next = std::min(next, at);
        };
        if (next_ < order_.size()) consider(jobs_[order_[next_]].at_step);
        if (next_cancel_ < cancels_.size()) consider(*jobs_[cancels_[next_cancel_]].cancel_at);
        if (options_.move_at) consider(*options_.move_at);
        if (options_.reload_at) consider(*options_.reload_at);
        return static_cast<int>(std::min<std::int64_t>(next - step, 1 << 20));
    }

    void is_now(std::size_t job, RequestId request) {
        requests_[job] = request;
        job_of_.resize(static_cast<std::size_t>(request) + 1);
        job_of_.back() = job;
    }
    std::size_t job_of(RequestId request) const {
        return job_of_.at(static_cast<std::size_t>(request));
    }

    void take_report() {
        result_.step_s += report_.seconds;
        for (const MadeToken& token : report_.tokens) {
            BatchAnswer& answer = result_.answers[job_of(token.request)];
            answer.ids.push_back(token.id);
            answer.log_probabilities.push_back(token.log_probability);
            answer.sampled_log_probabilities.push_back(token.sampled_log_probability);
            answer.versions.push_back(token.version);
        }
        take_ended();
    }

    void take_ended() {
        for (EndedRequest& ended : report_.ended) {
            const std::size_t job = job_of(ended.request);
            BatchAnswer& answer = result_.answers[job];
            answer.finish = ended.why;
            answer.reused = ended.reused;
            answer.preemptions = ended.preemptions;
            answer.prompt_log_probabilities = std::move(ended.prompt_log_probabilities);
            requests_[job] = -1;
        }
    }

    std::span<const BatchJob> jobs_;
    const BatchRunOptions& options_;
    std::vector<std::size_t> order_;    // jobs as they come
    std::size_t next_ = 0;              // of order_, to come
    std::vector<RequestId> requests_;   // by job; -1: not in the engine
    std::vector<std::size_t> cancels_;  // jobs that are cancelled, in that order
    std::size_t next_cancel_ = 0;       // of cancels_, to come
    std::vector<std::size_t> job_of_;   // by request, which the engine counts from 0
    std::unique_ptr<BatchEngine> engine_;
    bool moved_ = false, reloaded_ = false;
    StepReport report_;
    BatchRun result_;
};

}  // namespace

int blocks_for_all(std::span<const BatchJob> jobs, int context) {
    std::int64_t blocks = 0;
    for (const BatchJob& job : jobs) {
        const int max_tokens = job.request.forced_ids.empty()
                                   ? job.request.max_tokens
                                   : static_cast<int>(job.request.forced_ids.size());
        blocks += least_blocks(static_cast<int>(job.request.prompt.size()), max_tokens, context);
    }
    return static_cast<int>(std::clamp<std::int64_t>(blocks, 1, std::numeric_limits<int>::max()));
}

BatchRun run_batch(std::span<const BatchJob> jobs, const BatchRunOptions& options) {
    return JobsRun(jobs, options).run();
}

}  // namespace assay::decode
