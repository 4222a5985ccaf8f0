// The tables of kinds and keys, and what one fault must and must not say. A new kind of fault is a
// line here, the bits of its keys, its rules (fault_rules.cpp), and what it does in the drivers of
// those systems that take it.
#include "suite/scenario/fault_kinds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace assay {
namespace {

struct KindText {
    FaultKind kind;
    std::string_view example;
};
// In the order of the enumeration.
constexpr std::array kind_texts{
    KindText{FaultKind::kill, "kill:rank=1@step=5"},
    KindText{FaultKind::hang, "hang:rank=1@step=5,for=0.5"},
    KindText{FaultKind::stop, "stop:rank=1@step=5"},
    KindText{FaultKind::join, "join:count=1@step=5"},
    KindText{FaultKind::slow, "slow:rank=1,factor=4@step=5,for=10"},
    KindText{FaultKind::link, "link:rank=1,peer=2,latency=0.01@step=5,for=10"},
    KindText{FaultKind::corrupt, "corrupt:rank=1,target=message@step=5"},
    KindText{FaultKind::nan, "nan:rank=1@step=5"},
    KindText{FaultKind::torn, "torn:rank=1@step=5"},
    KindText{FaultKind::disk_full, "disk_full:rank=1@step=5"},
    KindText{FaultKind::wipe, "wipe:rank=1@t=0.5"},
    KindText{FaultKind::gpu_error, "gpu_error:rank=1@step=5"}};

constexpr std::size_t place(FaultKind kind) { return static_cast<std::size_t>(kind); }

constexpr bool in_order() {
    for (std::size_t i = 0; i < kind_texts.size(); ++i)
        if (place(kind_texts[i].kind) != i) return false;
    return true;
}
static_assert(in_order(), "kind_texts[] is indexed by kind");

template <class... Kind>
constexpr unsigned only(Kind... kind) {
    return ((1U << place(kind)) | ...);
}
constexpr unsigned all_kinds = (1U << kind_texts.size()) - 1;

constexpr int largest_rank = 1'000'000;
constexpr NumberRange moment_s{0, 1e9, false, false, " of seconds"};  // thirty years
constexpr NumberRange duration_s{0, 1e9, true, false, " of seconds"};
constexpr std::array<std::string_view, 2> targets{"message", "tensor"};
constexpr std::array<std::string_view, 2> slow_means{"quota", "duty_cycle"};

// How a member is read and written: an optional or a plain one, where `absent` means not set.
template <auto Member, class Wire>
std::optional<KeyValue> get_optional(const Fault& fault) {
    if (!(fault.*Member)) return std::nullopt;
    return KeyValue(static_cast<Wire>(*(fault.*Member)));
}
template <auto Member, int absent>
std::optional<KeyValue> get_number(const Fault& fault) {
    if (fault.*Member == absent) return std::nullopt;
    return KeyValue(fault.*Member);
}
template <auto Member>
std::optional<KeyValue> get_text(const Fault& fault) {
    if ((fault.*Member).empty()) return std::nullopt;
    return KeyValue(fault.*Member);
}
template <auto Member, class Type, class Wire>
void set_member(Fault& fault, const KeyValue& value) {
    fault.*Member = static_cast<Type>(std::get<Wire>(value));
}

std::optional<KeyValue> get_count(const Fault& fault) {
    if (fault.kind != FaultKind::join && fault.count == 1) return std::nullopt;
    return KeyValue(static_cast<long long>(fault.count));
}
std::optional<KeyValue> get_cut(const Fault& fault) {
    if (!fault.cut) return std::nullopt;
    return KeyValue(1LL);
}

template <class Items, class Name>
std::string listed(const Items& items, Name name) {
    std::string text;
    for (const auto& item : items) {
        const std::string_view next = name(item);
        if (!next.empty()) text += (text.empty() ? "" : ", ") + std::string(next);
    }
    return text;
}

bool takes(FaultKind kind, const FaultKey& key) { return (key.kinds >> place(kind)) & 1U; }

std::string range_text(const NumberRange& range) {
    return fmt::format("a number{} {} {} {} {}", range.unit, range.above ? "above" : "from",
                       range.least,
                       range.above   ? "up to"
                       : range.below ? "to below"
                                     : "to",
                       range.most);
}

}  // namespace

std::string_view fault_example(FaultKind kind) { return kind_texts[place(kind)].example; }

std::string known_fault_kinds() { return words_of<FaultKind>(); }

std::string known_fault_keys(FaultKind kind) {
    return std::string(to_string(kind)) + " takes " +
           listed(fault_keys(), [&](const FaultKey& key) {
               return takes(kind, key) ? key.name : std::string_view();
           });
}

std::span<const FaultKey> fault_keys() {
    using enum FaultKind;
    static const std::array keys{
        FaultKey{"rank", false, all_kinds & ~only(join), WholeRange{0, largest_rank},
                 get_optional<&Fault::rank, long long>, set_member<&Fault::rank, int, long long>},
        FaultKey{"role", false, all_kinds, AnyName{}, get_text<&Fault::role>,
                 set_member<&Fault::role, std::string, std::string>},
        FaultKey{"instance", false, all_kinds, AnyName{}, get_text<&Fault::instance>,
                 set_member<&Fault::instance, std::string, std::string>},
        FaultKey{"count", false, only(join), WholeRange{1, 10'000}, get_count,
                 set_member<&Fault::count, int, long long>},
        FaultKey{"phase", false, only(kill, hang, corrupt), PhaseName{}, get_text<&Fault::phase>,
                 set_member<&Fault::phase, std::string, std::string>},
        FaultKey{"factor", false, only(slow), NumberRange{1, 1000, true},
                 get_number<&Fault::factor, 1>, set_member<&Fault::factor, double, double>},
        FaultKey{"by", false, only(slow), OneOf{slow_means}, get_text<&Fault::by>,
                 set_member<&Fault::by, std::string, std::string>},
        FaultKey{"peer", false, only(link), WholeRange{0, largest_rank},
                 get_optional<&Fault::peer, long long>, set_member<&Fault::peer, int, long long>},
        FaultKey{"latency", false, only(link), NumberRange{0, 3600, false, false, " of seconds"},
                 get_number<&Fault::latency_s, 0>, set_member<&Fault::latency_s, double, double>},
        FaultKey{"bandwidth", false, only(link), NumberRange{0, 1e15, true, false, " of bytes/s"},
                 get_number<&Fault::bandwidth, 0>, set_member<&Fault::bandwidth, double, double>},
        FaultKey{"loss", false, only(link), NumberRange{0, 1, false, true},
                 get_number<&Fault::loss, 0>, set_member<&Fault::loss, double, double>},
        FaultKey{"cut", false, only(link), OnOff{}, get_cut,
                 set_member<&Fault::cut, bool, long long>},
        FaultKey{"target", false, only(corrupt), OneOf{targets}, get_text<&Fault::target>,
                 set_member<&Fault::target, std::string, std::string>},
        FaultKey{"step", true, all_kinds, WholeRange{0, 1'000'000'000'000},
                 get_optional<&Fault::step, long long>, set_member<&Fault::step, long, long long>},
        FaultKey{"t", true, all_kinds, moment_s, get_optional<&Fault::t_s, double>,
                 set_member<&Fault::t_s, double, double>},
        FaultKey{"for", true, only(hang, slow, link, disk_full), duration_s,
                 get_optional<&Fault::for_s, double>, set_member<&Fault::for_s, double, double>}};
    return keys;
}

const FaultKey* find_fault_key(std::string_view name) {
    for (const FaultKey& key : fault_keys())
        if (key.name == name) return &key;
    return nullptr;
}

namespace {

constexpr std::size_t longest_name = 64;

bool is_name(std::string_view text) {
    return !text.empty() && text.size() <= longest_name &&
           text.find_first_not_of(
               "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
               "_-./") == std::string_view::npos;
}

std::vector<std::string> words_of(const KeyRange& range, const FaultPhases& phases) {
    if (const auto* one = std::get_if<OneOf>(&range)) return {one->words.begin(), one->words.end()};
    std::vector<std::string> words{"step"};
    for (const FaultPhase& phase : phases) words.push_back(phase.name);
    return words;
}

}  // namespace

bool is_word(const KeyRange& range) {
    return std::holds_alternative<OneOf>(range) || std::holds_alternative<PhaseName>(range) ||
           std::holds_alternative<AnyName>(range);
}

bool fits(const KeyRange& range, const KeyValue& value, const FaultPhases& phases) {
    if (const auto* whole = std::get_if<WholeRange>(&range)) {
        const long long number = std::get<long long>(value);
        return number >= whole->least && number <= whole->most;
    }
    if (const auto* real = std::get_if<NumberRange>(&range)) {
        const double number = std::get<double>(value);
        // In this form NaN fits nowhere; -0 would not come back from the canonical text as it went
        // in.
        return (real->above ? number > real->least : number >= real->least) &&
               (real->below ? number < real->most : number <= real->most) && !std::signbit(number);
    }
    if (std::holds_alternative<AnyName>(range)) return is_name(std::get<std::string>(value));
    if (is_word(range)) {
        const std::vector<std::string> words = words_of(range, phases);
        return std::find(words.begin(), words.end(), std::get<std::string>(value)) != words.end();
    }
    const long long on = std::get<long long>(value);
    return on == 0 || on == 1;
}

std::string expected(const KeyRange& range, const FaultPhases& phases, std::string_view typed) {
    if (const auto* whole = std::get_if<WholeRange>(&range))
        return fmt::format("a whole number from {} to {}", whole->least, whole->most);
    if (const auto* real = std::get_if<NumberRange>(&range)) return range_text(*real);
    if (std::holds_alternative<AnyName>(range))
        return fmt::format("a name of at most {} letters, digits and _-./", longest_name);
    if (is_word(range)) {
        const std::vector<std::string> words = words_of(range, phases);
        const auto nearest = nearest_id(typed, words);
        return fmt::format("one of {}{}", fmt::join(words, ", "),
                           nearest ? fmt::format(" (did you mean '{}'?)", *nearest) : "");
    }
    return "0 or 1";
}

std::string misplaced_key(const FaultKey& key, FaultKind kind) {
    if (takes(kind, key)) return "";
    if (kind == FaultKind::join && key.name == "rank")
        return "a join takes no rank: the newcomer gets the next free name";
    if (kind == FaultKind::join && key.name == "phase")
        return "a join takes no phase: it waits until the step ends";
    if (kind == FaultKind::stop && key.name == "phase")
        return "a stop takes no phase: the worker finishes its step and leaves";
    const std::string takers = listed(kind_texts, [&](const KindText& other) {
        return takes(other.kind, key) ? to_string(other.kind) : std::string_view();
    });
    return fmt::format("only {} take{} '{}'", takers,
                       takers.find(',') == std::string::npos ? "s" : "", key.name);
}

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

std::string corrupt_error(const Fault& fault, const FaultPhases& phases) {
    if (fault.target.empty())
        return fmt::format("corrupt needs a target, for example {}", fault_example(fault.kind));
    if (fault.phase.empty()) return "";
    const std::string corruptible = listed(phases, [](const FaultPhase& phase) {
        return phase.corruptible ? std::string_view(phase.name) : std::string_view();
    });
    if (corruptible.empty()) return "corrupt takes no phase here";
    const bool known = std::any_of(phases.begin(), phases.end(), [&](const FaultPhase& phase) {
        return phase.corruptible && phase.name == fault.phase;
    });
    if (fault.target != "message" || !known)
        return fmt::format(
            "corrupt takes a phase only with target=message, and only one whose messages it can "
            "strike: {}",
            corruptible);
    return "";
}

}  // namespace

std::string combination_error(const Fault& fault, const FaultPhases& phases) {
    for (const FaultKey& key : fault_keys()) {
        const std::optional<KeyValue> value = key.get(fault);
        if (!value) continue;
        if (std::string wrong = misplaced_key(key, fault.kind); !wrong.empty()) return wrong;
        if (!fits(key.range, *value, phases))
            return fmt::format("'{}' must be {}", key.name, expected(key.range, phases));
    }
    const std::string_view kind = to_string(fault.kind), example = fault_example(fault.kind);
    if (fault.count > 1 && !fault.instance.empty())
        return "a name is one worker's: join them one by one";
    if (fault.rank && !fault.instance.empty()) return "takes a rank or an instance, not both";
    if (fault.kind != FaultKind::join && !fault.role.empty() && !fault.rank)
        return fmt::format("of role {}, which? it needs a rank among them", fault.role);
    if (fault.kind != FaultKind::join && !fault.rank && fault.instance.empty())
        return fmt::format("{} needs a rank, for example {}", kind, example);
    if (fault.kind == FaultKind::slow && fault.factor == 1)
        return fmt::format("slow needs a factor, for example {}", example);
    std::string wrong;
    if (fault.kind == FaultKind::link) wrong = link_error(fault);
    if (fault.kind == FaultKind::corrupt) wrong = corrupt_error(fault, phases);
    if (!wrong.empty()) return wrong;
    if (!fault.step && !fault.t_s) return "needs a step or a time, for example @step=5";
    if (fault.step && fault.t_s) return "takes a step or a time, not both";
    return "";
}

}  // namespace assay
