#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>

#include "suite/cluster/collectives/group_maker.hpp"

namespace assay::cluster {
namespace {

class LocalRendezvous final : public Rendezvous {
  public:
    std::vector<std::string> exchange(const std::string& key, int rank, int size,
                                      const std::string& mine,
                                      const std::shared_ptr<BreakableWait>& state,
                                      std::chrono::milliseconds timeout) override {
        const auto deadline = std::chrono::steady_clock::now() + timeout;
        std::unique_lock lock(mutex_);
        auto& said = said_[key];
        said.resize(static_cast<std::size_t>(size));
        said.at(static_cast<std::size_t>(rank)) = mine;
        came_.notify_all();
        const auto complete = [&] {
            for (const auto& one : said)
                if (!one) return false;
            return true;
        };
        // Now and then without being woken: whoever breaks the group does not know this place.
        while (!came_.wait_for(lock, std::chrono::milliseconds(5), complete)) {
            state->throw_if_broken();
            if (std::chrono::steady_clock::now() >= deadline)
                throw CommunicatorBroken(key + ": a member did not come in time");
        }
        std::vector<std::string> all;
        for (const auto& one : said) all.push_back(*one);
        return all;
    }

  private:
    std::mutex mutex_;
    std::condition_variable came_;
    std::map<std::string, std::vector<std::optional<std::string>>> said_;  ///< by key, by rank
};

}  // namespace

std::unique_ptr<Rendezvous> make_local_rendezvous() { return std::make_unique<LocalRendezvous>(); }

}  // namespace assay::cluster
