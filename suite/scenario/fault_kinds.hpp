// Every kind of fault and every key of one, once: the flag grammar, the canonical text, the TOML
// reader, the rules and all their messages walk these tables, so that a file accepts exactly what a
// flag accepts.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "suite/scenario/fault_plan.hpp"

namespace assay {

// What a key's value may be.
struct WholeRange {
    long long least, most;
};
struct NumberRange {
    double least, most;
    bool above = false;  ///< `least` itself is refused
    bool below = false;  ///< `most` itself is refused
    std::string_view unit = "";
};
struct OneOf {
    std::span<const std::string_view> words;
};
struct OnOff {};      ///< 1 or 0 in a flag, true or false (or 1 or 0) in a file
struct PhaseName {};  ///< "step", or what the system declares
struct AnyName {};    ///< letters, digits and any of _-./
using KeyRange = std::variant<WholeRange, NumberRange, OneOf, OnOff, PhaseName, AnyName>;

/// WholeRange and OnOff: a whole number, NumberRange: a number, the others: a text.
using KeyValue = std::variant<long long, double, std::string>;

struct FaultKey {
    std::string_view name;
    bool after_at;   ///< stands after the '@' of a flag
    unsigned kinds;  ///< the kinds that take it, as bits 1 << kind
    KeyRange range;
    std::optional<KeyValue> (*get)(const Fault&);  ///< empty: not set, or the default
    void (*set)(Fault&, const KeyValue&);          ///< of the range's type, within the range
};

/// In the order of the canonical text.
std::span<const FaultKey> fault_keys();
const FaultKey* find_fault_key(std::string_view name);  ///< null: there is none of that name

bool is_word(const KeyRange& range);  ///< OneOf, PhaseName and AnyName
bool fits(const KeyRange& range, const KeyValue& value, const FaultPhases& phases);
/// "a whole number from 0 to 5": completes "must be …" and "is not …". Of words, the one that
/// `typed` may be a slip of is suggested.
std::string expected(const KeyRange& range, const FaultPhases& phases, std::string_view typed = "");

std::string known_fault_kinds();               ///< "kill, hang, …"
std::string known_fault_keys(FaultKind kind);  ///< "kill takes rank, phase, step, t"
std::string_view fault_example(FaultKind kind);

/// Why a fault of this kind cannot have the key, or an empty text.
std::string misplaced_key(const FaultKey& key, FaultKind kind);

/// What is wrong with one fault, whatever else the plan says, or an empty text.
std::string combination_error(const Fault& fault, const FaultPhases& phases);

}  // namespace assay
