#include "impls/hetermoe/simulated/flow_step.hpp"

#include <cmath>
#include <functional>
#include <map>
#include <stdexcept>
#include <utility>

#include "suite/drive/simgrid/simgrid_time.hpp"

namespace assay::hetermoe {
namespace {

class JobRun {
  public:
    JobRun(std::shared_ptr<drive::RankFlows> flows, std::span<const FlowJob> jobs)
        : time_(std::move(flows)), jobs_(jobs), left_(jobs.size(), waiting) {
        for (std::size_t i = 0; i < jobs.size(); ++i) queues_[jobs[i].queue].jobs.push_back(i);
    }

    double seconds() {
        start_what_can();
        while (time_.next()) {
        }
        for (const auto& [number, queue] : queues_)
            if (queue.next < queue.jobs.size())
                throw std::invalid_argument("jobs wait for each other");
        return time_.now();
    }

  private:
    struct Queue {
        std::vector<std::size_t> jobs;
        std::size_t next = 0;
    };
    static constexpr int waiting = -1, done = 0;

    bool ready(std::size_t job) const {
        for (const std::size_t before : jobs_[job].after)
            if (left_[before] != done) return false;
        return true;
    }
    void start_what_can() {
        for (bool moved = true; moved;) {
            moved = false;
            for (auto& [number, queue] : queues_) {
                if (queue.next == queue.jobs.size()) continue;
                const std::size_t job = queue.jobs[queue.next];
                if (left_[job] == waiting && ready(job)) {
                    start(job);
                    moved = moved || left_[job] == done;
                }
            }
        }
    }
    void start(std::size_t number) {
        const FlowJob& job = jobs_[number];
        const auto ended = [this, number](drive::SimGridTime::End) {
            if (--left_[number] > 0) return;
            ++queues_[jobs_[number].queue].next;
            start_what_can();
        };
        left_[number] = static_cast<int>(job.work.size() + job.flows.size());
        if (left_[number] == done) ++queues_[job.queue].next;
        for (const auto& work : job.work) time_.compute(work.rank, work.seconds, ended);
        for (const auto& flow : job.flows) time_.flow(flow.from, flow.to, flow.bytes, ended);
    }

    drive::SimGridTime time_;
    std::span<const FlowJob> jobs_;
    std::vector<int> left_;  // of each job: its work and flows under way
    std::map<int, Queue> queues_;
};

// From every rank of `senders` to every other of `receivers`, in equal shares.
void spread(std::vector<FlowJob::Flow>& flows, std::span<const int> senders,
            std::span<const int> receivers, double bytes_of_sender) {
    const double each = std::round(bytes_of_sender / static_cast<double>(receivers.size()));
    if (each < 1) return;
    for (const int from : senders)
        for (const int to : receivers)
            if (from != to) flows.push_back({from, to, each});
}

std::vector<FlowJob::Work> on_each(std::span<const int> ranks, double seconds) {
    std::vector<FlowJob::Work> work;
    for (const int rank : ranks) work.push_back({rank, seconds});
    return work;
}

}  // namespace

double run_jobs(std::shared_ptr<drive::RankFlows> flows, std::span<const FlowJob> jobs) {
    return JobRun(std::move(flows), jobs).seconds();
}

std::vector<FlowJob> zebra_jobs(const StepShape& step, const TaskTimes& times, const Group& group,
                                double row_bytes) {
    const std::vector<int> of_new = ranks_from(0, group.attention),
                           of_old = ranks_from(group.attention, group.expert);
    const auto flows = [&](const Task& task) {
        const double moved = double(step.offloaded(task.layer)) / times.residents;
        const double all_moved = row_bytes * moved, stay = row_bytes - all_moved;
        std::vector<FlowJob::Flow> made;
        if (queue_of(task.kind) == Queue::link_out)
            spread(made, of_new, of_old, stay);
        else
            spread(made, of_old, of_new, stay * group.attention / group.expert);
        spread(made, of_new, of_new, all_moved);
        return made;
    };
    std::vector<FlowJob> jobs;
    std::map<TaskName, std::size_t> numbers;
    in_zebra_order(step, [&](const Task& task) {
        const Queue queue = queue_of(task.kind);
        FlowJob job{.queue = static_cast<int>(queue)};
        for (const Task& producer : producers(step, task))
            job.after.push_back(numbers.at(name_of(producer)));
        if (queue == Queue::attention || queue == Queue::expert)
            job.work = on_each(queue == Queue::attention ? of_new : of_old,
                               times.seconds(times.of(step, task)));
        else
            job.flows = flows(task);
        numbers[name_of(task)] = jobs.size();
        jobs.push_back(std::move(job));
    });
    return jobs;
}

std::vector<FlowJob> lockstep_jobs(const Lockstep& step, int layers, double row_bytes, int pieces) {
    enum { compute, dispatch, combine };
    const std::vector<int> attention = step.attention_ranks(), experts = step.expert_ranks();
    const GpuSeconds seconds = step.slowest();
    std::vector<FlowJob> jobs;
    const auto add = [&](FlowJob job) {
        jobs.push_back(std::move(job));
        return std::vector<std::size_t>{jobs.size() - 1};
    };
    const double launch_s = step.piece_s.launch, piece_bytes = row_bytes / pieces,
                 of_piece = launch_s + (seconds.expert - launch_s) / pieces;
    const double to_attention = piece_bytes * double(attention.size()) / double(experts.size());
    std::vector<std::size_t> before;
    const auto layer = [&](double factor) {
        std::vector<std::vector<std::size_t>> computed;
        // Those that send first: a GPU takes up experts as their rows come.
        for (int piece = 0; piece < pieces; ++piece) {
            FlowJob out{.queue = dispatch, .after = before};
            spread(out.flows, attention, experts, piece_bytes);
            const auto sent = add(std::move(out));
            computed.push_back(add(
                {.queue = compute, .after = sent, .work = on_each(experts, factor * of_piece)}));
        }
        before.clear();
        for (const auto& piece : computed) {
            FlowJob back{.queue = combine, .after = piece};
            spread(back.flows, experts, attention, to_attention);
            before.push_back(add(std::move(back)).front());
        }
    };
    const auto attend = [&](double of_each) {
        before = add({.queue = compute, .after = before, .work = on_each(attention, of_each)});
    };
    for (int l = 0; l < layers; ++l) {
        attend(seconds.attention);
        layer(1);
    }
    attend((1 + backward_over_forward) * seconds.head);
    for (int l = 0; l < layers; ++l) {
        layer(backward_over_forward);
        attend(backward_over_forward * seconds.attention);
    }
    return jobs;
}

}  // namespace assay::hetermoe
