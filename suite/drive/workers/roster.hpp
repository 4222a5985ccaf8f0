// Who is who among the workers of a run: their roles, their numbers in them, the names that they
// were spawned under; and whom a fault means.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "suite/drive/driver.hpp"

namespace assay::drive {

class Roster {
  public:
    /// Throws std::logic_error where there is no role, or two have one name.
    explicit Roster(std::vector<Role> roles);

    struct Entry {
        std::size_t role = 0;
        int number = 0;        ///< among those spawned in its role, from 0
        std::string instance;  ///< empty: none
        bool dead = false;     ///< killed, or gone
        bool dismissed = false;
        std::string how;  ///< it ended, once that is known
    };
    /// The next id. Throws UserError: a role that is unknown, a name that another holds.
    WorkerId add(const Spawn& spawn);
    bool known(WorkerId worker) const {
        return worker >= 0 && static_cast<std::size_t>(worker) < entries_.size();
    }
    /// Throws std::out_of_range.
    Entry& at(WorkerId worker) { return entries_.at(static_cast<std::size_t>(worker)); }
    const Entry& at(WorkerId worker) const { return entries_.at(static_cast<std::size_t>(worker)); }
    const Role& role_of(WorkerId worker) const { return roles_[at(worker).role]; }
    const std::vector<Role>& roles() const { return roles_; }
    std::size_t size() const { return entries_.size(); }
    /// Whether one lives that was not dismissed.
    bool any_alive() const;

    Joined joined(WorkerId worker, bool more) const;
    /// What it is spawned with: `given`, or what its role says.
    nlohmann::json configuration(const Spawn& spawn, nlohmann::json given) const;
    /// Who lives under that name and was not dismissed: it is free again when its holder is.
    std::optional<WorkerId> holder(const std::string& instance) const;
    /// Those who live under it, who was dismissed too.
    std::vector<WorkerId> under(const std::string& instance) const;

    /// Faults name a worker by its id, by its number in a role, or by its instance.
    bool is_target(const Fault& fault, WorkerId worker) const;
    /// Whom it would strike now; nothing: its target is not there, or dead.
    std::optional<WorkerId> target(const Fault& fault) const;
    /// For a joining fault.
    Spawn newcomer(const Fault& fault) const;

  private:
    std::size_t role_named(const std::string& name) const;

    std::vector<Role> roles_;
    std::vector<int> spawned_;  // of each role
    std::vector<Entry> entries_;
};

}  // namespace assay::drive
