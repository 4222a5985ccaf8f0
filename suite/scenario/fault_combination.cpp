// What one fault must and must not say.
#include <fmt/format.h>

#include "suite/scenario/fault_keys.hpp"

namespace assay {
namespace {

std::string link_error(const Fault& fault) {
    const bool shaped = fault.latency_s != 0 || fault.bandwidth != 0 || fault.loss != 0;
    if (fault.cut && shaped)
        return "a cut link passes nothing: leave out latency, bandwidth and loss";
    if (!fault.cut && !shaped)
        return fmt::format("link needs latency, bandwidth, loss or cut, for example {}",
                           fault_example(fault.kind));
    if (fault.peer == fault.rank)
        return fmt::format("rank and peer are both {}: a worker has no link to itself",
                           *fault.rank);
    return "";
}

std::string corrupt_error(const Fault& fault) {
    if (fault.target.empty())
        return fmt::format("corrupt needs a target, for example {}", fault_example(fault.kind));
    if (fault.phase.empty()) return "";
    if (fault.target != "message" || fault.phase != "transfer")
        return "the only phase that corrupt takes is transfer, with target=message: a message of "
               "the state transfer";
    return "";
}

}  // namespace

std::string combination_error(const Fault& fault) {
    for (const FaultKey& key : fault_keys()) {
        const std::optional<KeyValue> value = key.get(fault);
        if (!value) continue;
        if (std::string wrong = misplaced_key(key, fault.kind); !wrong.empty()) return wrong;
        if (!fits(key.range, *value))
            return fmt::format("'{}' must be {}", key.name, expected(key.range));
    }
    const std::string_view kind = to_string(fault.kind), example = fault_example(fault.kind);
    if (fault.kind != FaultKind::join && !fault.rank)
        return fmt::format("{} needs a rank, for example {}", kind, example);
    if (fault.kind == FaultKind::slow && fault.factor == 1)
        return fmt::format("slow needs a factor, for example {}", example);
    std::string wrong;
    if (fault.kind == FaultKind::link) wrong = link_error(fault);
    if (fault.kind == FaultKind::corrupt) wrong = corrupt_error(fault);
    if (!wrong.empty()) return wrong;
    if (!fault.step && !fault.t_s) return "needs a step or a time, for example @step=5";
    if (fault.step && fault.t_s) return "takes a step or a time, not both";
    return "";
}

}  // namespace assay
