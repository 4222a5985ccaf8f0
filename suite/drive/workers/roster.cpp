#include "suite/drive/workers/roster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "suite/base/error.hpp"

namespace assay::drive {

Roster::Roster(std::vector<Role> roles) : roles_(std::move(roles)), spawned_(roles_.size(), 0) {
    if (roles_.empty()) throw std::logic_error("a run needs a role");
    for (std::size_t i = 0; i < roles_.size(); ++i)
        if (role_named(roles_[i].name) != i)
            throw std::logic_error("two roles are called '" + roles_[i].name + "'");
}

std::size_t Roster::role_named(const std::string& name) const {
    const auto found = std::find_if(roles_.begin(), roles_.end(),
                                    [&](const Role& role) { return role.name == name; });
    if (found != roles_.end()) return static_cast<std::size_t>(found - roles_.begin());
    if (name.empty()) return 0;
    std::string names;
    for (const Role& role : roles_) names += (names.empty() ? "" : ", ") + role.name;
    throw UserError(fmt::format("there is no role '{}'; roles are {}", name, names));
}

WorkerId Roster::add(const Spawn& spawn) {
    const std::size_t role = role_named(spawn.role);
    if (const auto other = holder(spawn.instance))
        throw UserError(
            fmt::format("worker {} is still there under the name '{}'", *other, spawn.instance));
    entries_.push_back({.role = role, .number = spawned_[role]++, .instance = spawn.instance});
    return static_cast<WorkerId>(entries_.size()) - 1;
}

bool Roster::any_alive() const {
    return std::any_of(entries_.begin(), entries_.end(),
                       [](const Entry& entry) { return !entry.dead && !entry.dismissed; });
}

Joined Roster::joined(WorkerId worker, bool more) const {
    Joined joined{.worker = worker, .more = more};
    if (const std::string& name = role_of(worker).name; !name.empty()) joined.role = name;
    if (const std::string& name = at(worker).instance; !name.empty()) joined.instance = name;
    return joined;
}

nlohmann::json Roster::configuration(const Spawn& spawn, nlohmann::json given) const {
    const Role& role = roles_[role_named(spawn.role)];
    return given.is_null() && role.configure ? role.configure(spawn) : given;
}

std::optional<WorkerId> Roster::holder(const std::string& instance) const {
    if (instance.empty()) return std::nullopt;
    for (std::size_t i = entries_.size(); i-- > 0;)
        if (entries_[i].instance == instance && !entries_[i].dead && !entries_[i].dismissed)
            return static_cast<WorkerId>(i);
    return std::nullopt;
}

std::vector<WorkerId> Roster::under(const std::string& instance) const {
    std::vector<WorkerId> workers;
    for (std::size_t i = 0; i < entries_.size(); ++i)
        if (entries_[i].instance == instance && !entries_[i].dead)
            workers.push_back(static_cast<WorkerId>(i));
    return workers;
}

bool Roster::is_target(const Fault& fault, WorkerId worker) const {
    const Entry& entry = at(worker);
    if (!fault.instance.empty()) return fault.instance == entry.instance;
    if (!fault.rank) return false;
    if (!fault.role.empty())
        return fault.role == roles_[entry.role].name && *fault.rank == entry.number;
    return *fault.rank == worker;
}

std::optional<WorkerId> Roster::target(const Fault& fault) const {
    for (std::size_t i = entries_.size(); i-- > 0;) {
        const auto worker = static_cast<WorkerId>(i);
        if (!entries_[i].dead && !entries_[i].dismissed && is_target(fault, worker)) return worker;
    }
    return std::nullopt;
}

Spawn Roster::newcomer(const Fault& fault) const {
    return {.role = fault.role, .instance = fault.instance};
}

}  // namespace assay::drive
