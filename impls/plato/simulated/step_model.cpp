#include "impls/plato/simulated/step_model.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace assay::plato {
namespace {

double alone_ms(const StepCosts& costs) { return costs.step_ms + costs.sequence_ms; }

bool finds_instructions(const ScheduleSettings& settings) {
    return settings.warm && settings.reuse != KvReuse::none;
}

Schedule without_plan(const PlanRecord& plan, const StepCosts& costs,
                      const ScheduleSettings& settings) {
    Schedule schedule;
    schedule.prompt_tokens = plan.static_node_tokens + plan.question_tokens;
    schedule.recomputed_tokens =
        finds_instructions(settings) ? plan.question_tokens : schedule.prompt_tokens;
    schedule.answer_tokens = schedule.steps = plan.ar_tokens;
    schedule.ar_ms = schedule.makespan_ms = schedule.critical_path_ms =
        costs.prefill_ms * static_cast<double>(schedule.recomputed_tokens) +
        alone_ms(costs) * static_cast<double>(plan.ar_tokens);
    return schedule;
}

std::vector<std::vector<int>> dependencies_of(const PlanRecord& plan) {
    std::vector<std::vector<int>> dependencies;
    for (const NodeRecord& node : plan.nodes) dependencies.push_back(node.dependencies);
    return dependencies;
}

class VirtualEngine : public Actions {
  public:
    VirtualEngine(const PlanRecord& plan, const StepCosts& costs, const ScheduleSettings& settings)
        : plan_(plan),
          costs_(costs),
          settings_(settings),
          predecessors_(predecessors(settings.mode, dependencies_of(plan))),
          cache_(plan, settings.mode, settings.reuse, finds_instructions(settings)),
          controller_(settings.mode, settings.order),
          reading_ms_(
              costs.prefill_ms *
              static_cast<double>(plan.question_tokens +
                                  (finds_instructions(settings) ? 0 : plan.static_plan_tokens))),
          announced_ms_(plan.nodes.size(), 0) {
        schedule_.nodes.resize(plan.nodes.size());
    }

    Schedule run() {
        now_ = reading_ms_;
        line_left_ = plan_.node(1).line_tokens;
        while (!controller_.done()) step();
        schedule_.makespan_ms = now_;
        schedule_.critical_path_ms = critical_path_ms();
        for (const NodeRecord& node : plan_.nodes) {
            schedule_.answer_tokens += node.out_tokens;
            schedule_.plan_tokens += node.line_tokens;
        }
        return std::move(schedule_);
    }

    void start(int node) override {
        NodeSchedule& of_node = times(node);
        of_node.prompt_tokens = cache_.prompt_tokens(node);
        of_node.recomputed_tokens = cache_.start(node);
        of_node.start_ms = now_;
        of_node.ready_ms = announced_ms_[at(node)];
        for (const int before : predecessors_[at(node)])
            of_node.ready_ms = std::max(of_node.ready_ms, times(before).end_ms);
        started_.push_back(node);
        schedule_.prompt_tokens += of_node.prompt_tokens;
        schedule_.recomputed_tokens += of_node.recomputed_tokens;
        prefill_ += of_node.recomputed_tokens;
        running_.push_back({node, plan_.node(node).out_tokens});
    }

    std::int64_t cached_tokens(int node) const override { return cache_.cached_tokens(node); }

  private:
    struct Running {
        int node;
        std::int64_t left;  // tokens still to come
    };

    static std::size_t at(int node) { return static_cast<std::size_t>(node - 1); }
    NodeSchedule& times(int node) { return schedule_.nodes[at(node)]; }
    bool planning() const { return line_ <= plan_.size(); }

    // One step, and those after it in which nothing starts, ends or is announced.
    void step() {
        prefill_ = 0;
        const int sequences_before = static_cast<int>(running_.size()) + (planning() ? 1 : 0);
        controller_.on(StepBegins{settings_.max_batch - sequences_before}, *this);
        std::int64_t steps = planning() ? line_left_ : running_.front().left;
        for (const Running& node : running_) steps = std::min(steps, node.left);
        const auto sequences = static_cast<double>(running_.size() + (planning() ? 1 : 0));
        now_ += costs_.prefill_ms * static_cast<double>(prefill_) +
                static_cast<double>(steps) * (costs_.step_ms + costs_.sequence_ms * sequences);
        schedule_.steps += steps;
        if (planning()) advance_plan(steps);
        advance_nodes(steps);
    }

    void advance_plan(std::int64_t steps) {
        line_left_ -= steps;
        // A closing node has no line: it is announced with the one before.
        for (; planning() && line_left_ == 0; ++line_) {
            const NodeRecord& node = plan_.node(line_);
            announced_ms_[at(line_)] = now_;
            controller_.on(
                NodeAnnounced{.out_tokens = node.out_tokens, .dependencies = node.dependencies},
                *this);
            if (line_ < plan_.size()) line_left_ = plan_.node(line_ + 1).line_tokens;
        }
        if (planning()) return;
        controller_.on(PlanEnded{}, *this);
        if (settings_.mode != Mode::plato)
            std::fill(announced_ms_.begin(), announced_ms_.end(), now_);
    }

    void advance_nodes(std::int64_t steps) {
        for (Running& running : running_) {
            running.left -= steps;
            if (running.left > 0) continue;
            times(running.node).end_ms = now_;
            cache_.finish(running.node);
            controller_.on(NodeFinished{running.node}, *this);
        }
        std::erase_if(running_, [](const Running& running) { return running.left == 0; });
    }

    // Every node alone in its steps, the planner too; what is computed of its prompt is this run's.
    double critical_path_ms() const {
        std::vector<std::int64_t> lines(plan_.nodes.size());
        std::transform_inclusive_scan(plan_.nodes.begin(), plan_.nodes.end(), lines.begin(),
                                      std::plus<>(),
                                      [](const NodeRecord& node) { return node.line_tokens; });
        if (settings_.mode != Mode::plato) std::fill(lines.begin(), lines.end(), lines.back());
        std::vector<double> end(plan_.nodes.size());
        for (const int number : started_) {  // what a node waits for has started before it
            const std::size_t i = at(number);
            double from = reading_ms_ + alone_ms(costs_) * static_cast<double>(lines[i]);
            for (const int before : predecessors_[i]) from = std::max(from, end[at(before)]);
            end[i] = from +
                     costs_.prefill_ms * static_cast<double>(schedule_.nodes[i].recomputed_tokens) +
                     alone_ms(costs_) * static_cast<double>(plan_.nodes[i].out_tokens);
        }
        return *std::max_element(end.begin(), end.end());
    }

    const PlanRecord& plan_;
    const StepCosts costs_;
    const ScheduleSettings settings_;
    const std::vector<std::vector<int>> predecessors_;  // [node - 1]
    PromptCache cache_;
    Controller controller_;
    const double reading_ms_;           // the planner's prompt
    std::vector<double> announced_ms_;  // [node - 1]; none before the plan's end, but for plato
    std::vector<Running> running_;
    std::vector<int> started_;  // in order
    int line_ = 1;              // that is being written; behind the last: the plan has ended
    std::int64_t line_left_ = 0;
    std::int64_t prefill_ = 0;  // tokens, of the step that begins
    double now_ = 0;
    Schedule schedule_;
};

}  // namespace

Schedule schedule(const PlanRecord& plan, const StepCosts& costs,
                  const ScheduleSettings& settings) {
    const Schedule alone = without_plan(plan, costs, settings);
    if (settings.mode == Mode::ar) return alone;
    Schedule planned = settings.mode == Mode::sot
                           ? VirtualEngine(skeleton_of(plan), costs, settings).run()
                           : VirtualEngine(plan, costs, settings).run();
    planned.ar_ms = alone.ar_ms;
    return planned;
}

}  // namespace assay::plato
