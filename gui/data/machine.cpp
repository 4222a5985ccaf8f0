#include "gui/data/machine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>

#include "suite/base/quantity_text.hpp"
#include "suite/compare/selector.hpp"
#include "suite/measure/environment.hpp"

namespace assay::gui {
namespace {

using nlohmann::json;

/// In the order in which one asks; others follow by name.
constexpr const char* usual_order[] = {
    "machine", "host",     "processor",  "cores",  "usable cores", "quota",    "caches", "memory",
    "gpus",    "driver",   "os",         "kernel", "governor",     "warnings", "commit", "version",
    "build",   "compiler", "build type", "flags",  "torch",        "libc"};

std::string plain(const json& value) {
    return value.is_string() ? value.get<std::string>() : value.is_null() ? "" : value.dump();
}

std::string caches_text(const json& caches) {
    std::vector<std::string> words;
    for (const json& cache : caches) {
        const std::string type = cache.value("type", "");
        words.push_back(fmt::format("L{}{} {}", cache.value("level", 0),
                                    type == "Data"          ? "d"
                                    : type == "Instruction" ? "i"
                                                            : "",
                                    bytes_text(cache.value("bytes", 0.0))));
    }
    return fmt::format("{}", fmt::join(words, ", "));
}

/// By name.
std::map<std::string, std::string> facts_of(const store::Store& store,
                                            const store::Session& session) {
    std::map<std::string, std::string> facts{{"machine", session.machine},
                                             {"build", session.build}};
    if (const auto machine = store.machine(session.machine);
        machine && machine->description.is_object()) {
        facts.merge(measure::hardware_facts(machine->description));
        for (const auto& [key, value] : machine->description.items())
            if (key == "caches" && value.is_array())
                facts["caches"] = caches_text(value);
            else if (key == "os" || key == "caches" || key == "imported")
                facts[key] = plain(value);
    }
    if (session.suspects.is_object())
        for (const auto& [key, value] : session.suspects.items())
            facts[key == "build_type" ? "build type" : key] = plain(value);
    return facts;
}

std::vector<std::string> names_in_order(
    std::initializer_list<const std::map<std::string, std::string>*> all) {
    std::vector<std::string> names;
    const auto add = [&](const std::string& name) {
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    };
    for (const char* name : usual_order)
        for (const auto* facts : all)
            if (facts->contains(name)) add(name);
    for (const auto* facts : all)
        for (const auto& [name, value] : *facts) add(name);
    return names;
}

}  // namespace

MachineContent read_machine(const store::Store& store, const std::string& typed) {
    MachineContent content;
    const std::vector<store::Session> all = store.sessions();  // newest first
    if (!typed.empty())
        content.session = compare::select_sessions(store, typed, std::chrono::system_clock::now())
                              .sessions.back();
    else if (!all.empty())
        content.session = all.front();
    if (!content.session) return content;
    const store::Session& shown = *content.session;
    const auto at = std::find_if(all.begin(), all.end(),
                                 [&](const store::Session& one) { return one.id == shown.id; });
    const auto same = [&](const store::Session& one) { return one.machine == shown.machine; };
    if (at != all.end()) {
        if (const auto found = std::find_if(at + 1, all.end(), same); found != all.end())
            content.before = *found;
        auto other = std::find_if_not(at + 1, all.end(), same);
        if (other == all.end()) other = std::find_if_not(all.begin(), at, same);
        if (other != all.end() && other != at) content.elsewhere = *other;
    }

    using Facts = std::map<std::string, std::string>;
    const auto of = [&](const std::optional<store::Session>& session) {
        return session ? facts_of(store, *session) : Facts();
    };
    const Facts here = of(content.session), before = of(content.before),
                elsewhere = of(content.elsewhere);
    const auto value = [](const Facts& facts, const std::string& name) {
        const auto found = facts.find(name);
        return found == facts.end() ? std::string() : found->second;
    };
    for (const std::string& name : names_in_order({&here, &before, &elsewhere})) {
        MachineFact fact{name, value(here, name), {}, {}};
        if (content.before) fact.before = value(before, name);
        if (content.elsewhere) fact.elsewhere = value(elsewhere, name);
        content.facts.push_back(std::move(fact));
    }
    std::stable_partition(content.facts.begin(), content.facts.end(), [](const MachineFact& fact) {
        return fact.differs_before() || fact.differs_elsewhere();
    });
    content.hardware = store::device_readings(store.path(), shown.id);
    return content;
}

}  // namespace assay::gui
