// How members of a group find each other: through a store that the supervisor's process serves.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <vector>

#include "suite/cluster/collectives/breakable_wait.hpp"
#include "suite/cluster/gloo/gloo.hpp"

namespace assay::cluster {

using Store = c10::intrusive_ptr<c10d::Store>;

/// To the RendezvousServer.
Store connect(const GlooOptions& options);

/// What the members of a group tell each other before they are connected. Waiting ends when the
/// group is broken or nobody has come for `timeout`, whatever Gloo asks for.
class MeetingPlace final : public c10d::PrefixStore {
  public:
    MeetingPlace(const std::string& key, c10::intrusive_ptr<c10d::Store> store,
                 std::shared_ptr<BreakableWait> state, std::chrono::milliseconds timeout)
        : PrefixStore(key, std::move(store)), state_(std::move(state)), timeout_(timeout) {}

    void await_all(int rank, int size);

    void wait(const std::vector<std::string>& keys) override { wait(keys, timeout_); }
    void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds&) override;

  private:
    std::shared_ptr<BreakableWait> state_;
    const std::chrono::milliseconds timeout_;
};

}  // namespace assay::cluster
