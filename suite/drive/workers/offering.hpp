// Names that workers can be spawned under come and go, as machines of a spot market do: told to the
// policy as Offered and Revoked, whatever the clock.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "suite/drive/driver.hpp"
#include "suite/scenario/traces/availability_trace.hpp"

namespace assay::drive {

/// A trace's nodes, under their names, as what workers of that role can be spawned as.
std::vector<Offer> offers_of(const AvailabilityTrace& trace, const std::string& role);

class Offering {
  public:
    struct Hooks {
        std::function<void(double t_s, std::function<void()> what)> at;
        std::function<void(const DriverEvent&)> tell;
        std::function<void(const std::string& instance)> taken_away;  ///< kills its holder
    };
    /// `notice_s`: how long before a name is taken away the policy is told; less where it was not
    /// offered for so long. Throws UserError for an offer that ends before it begins.
    Offering(std::vector<Offer> offers, double notice_s, Hooks hooks);

    void begin();  ///< at scenario time 0
    /// A role without offers takes any name.
    bool can_spawn(const Spawn& spawn) const;
    /// Some are still to come.
    bool more_to_come() const { return to_come_ > 0; }

  private:
    std::vector<Offer> offers_;
    double notice_s_;
    Hooks hooks_;
    std::set<std::string> roles_;                            // that have offers
    std::set<std::pair<std::string, std::string>> offered_;  // role and name, now
    std::size_t to_come_ = 0;
};

}  // namespace assay::drive
