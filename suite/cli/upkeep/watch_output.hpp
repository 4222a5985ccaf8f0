// What `assay db watch` prints: an object per line for programs, lines for people.
#pragma once

#include <memory>
#include <string>

#include "suite/experiment/system.hpp"
#include "suite/store/changes.hpp"

namespace assay::cli {

class WatchOutput {
  public:
    virtual ~WatchOutput() = default;
    virtual void begun(const store::Session&) = 0;
    virtual void ended(const store::Session&) = 0;
    /// `as_before`: its status is that of the last change.
    virtual void sample(const store::SampleChange&, bool as_before) = 0;
    virtual void removed(const std::string& sample) = 0;
    /// What follows begins anew.
    virtual void again() = 0;
};

/// `registry` tells the units of metrics.
std::unique_ptr<WatchOutput> watch_output(const Registry& registry, bool json);

}  // namespace assay::cli
