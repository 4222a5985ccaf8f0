// A saver's and a server's half of the protocol, written once for every clock; what they do with a
// device, or a model of one, is behind an interface.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "impls/foundry/method/loader/protocol.hpp"
#include "suite/drive/driver.hpp"

namespace assay::foundry {

class Engine {
  public:
    virtual ~Engine() = default;

    // Of these each says why it could not, or nothing.
    virtual std::string save(const std::string& archive) = 0;
    virtual std::string open(const Open& open) = 0;
    virtual std::string make(const Executables::Task& task) = 0;

    virtual std::vector<std::size_t> group_of() const = 0;  ///< once open
    /// The result of a request, decoded with a graph that can be launched, or kernel by kernel; or
    /// why there is none.
    struct NoResult {
        std::string why;
    };
    virtual std::variant<std::uint64_t, NoResult> decode(int request, std::size_t graph,
                                                         bool plain) = 0;

    /// What the calls since the last time take on the modelled device; 0 where they are real.
    virtual double take_seconds() = 0;
};

/// Where faults can strike beside a step, which is a server's request, the first together with
/// opening before it, or all of saving: before each task of Prepare, counted from 0 for each
/// worker.
inline constexpr const char* prepare_point = "prepare";
const FaultPhases& fault_phases();

/// Makes the engine of a worker, in its process where workers are processes.
using MakeEngine = std::function<std::unique_ptr<Engine>(drive::Worker&)>;

/// "saver" and "server". `progress_s`: scenario seconds without progress after which one hangs; 0:
/// it may take as long as it wants.
std::vector<drive::Role> loader_roles(const MakeEngine& make, double progress_s = 0);

}  // namespace assay::foundry
