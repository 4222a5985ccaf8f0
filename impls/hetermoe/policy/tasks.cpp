#include "impls/hetermoe/policy/tasks.hpp"

namespace assay::hetermoe {

QueueOrders zebra_orders(const StepShape& step) {
    QueueOrders orders;
    in_zebra_order(step, [&](const Task& task) {
        orders[static_cast<std::size_t>(queue_of(task.kind))].push_back(task);
    });
    return orders;
}

std::vector<Task> producers(const StepShape& step, const Task& task) {
    const auto at = [&](TaskKind kind, int layer) { return Task{kind, layer, task.micro_batch}; };
    const int l = task.layer;
    // What both kinds of GPUs compute for a layer.
    const auto computed = [&](TaskKind experts, TaskKind moved) {
        std::vector<Task> tasks{at(experts, l)};
        if (step.offloaded(l) > 0) tasks.push_back(at(moved, l));
        return tasks;
    };
    switch (task.kind) {
        case TaskKind::AF:
            return l == 1 ? std::vector<Task>{} : std::vector{at(TaskKind::CF, l - 1)};
        case TaskKind::DF:
            return {at(TaskKind::AF, l)};
        case TaskKind::EF:
        case TaskKind::XF:
            return {at(TaskKind::DF, l)};
        case TaskKind::CF:
            return computed(TaskKind::EF, TaskKind::XF);
        case TaskKind::AB:
            return {at(l > step.layers() ? TaskKind::AF : TaskKind::DB, l)};
        case TaskKind::CB:
            return {at(TaskKind::AB, l + 1)};
        case TaskKind::EB:
        case TaskKind::XB:
            return {at(TaskKind::CB, l)};
        case TaskKind::DB:
            return computed(TaskKind::EB, TaskKind::XB);
    }
    return {};
}

std::vector<Task> causes(const StepShape& step, const Task& task) {
    std::vector<Task> tasks = producers(step, task);
    if (queue_of(task.kind) == Queue::link_in)
        tasks.push_back({task.kind == TaskKind::CF ? TaskKind::DF : TaskKind::CB, task.layer,
                         task.micro_batch});
    return tasks;
}

}  // namespace assay::hetermoe
