// The loader: a saver that captures graphs into an archive, servers that restore them, or capture
// where that is refused, and the requests that they serve; as a policy (suite/drive). What fails is
// tried another way, a worker that is lost is replaced, and each request is served once.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "impls/foundry/method/loader/protocol.hpp"
#include "suite/drive/policy.hpp"

namespace assay::foundry {

struct LoaderSettings {
    Mode mode{};
    std::vector<std::string> archives;  ///< servers take the one that was made for them
    std::vector<std::size_t> requests;  ///< the graph of each; Timer{i}: request i has come
    int servers = 1;    ///< spawned once there is an archive; without a saver by the harness
    int restarts = 20;  ///< workers replaced, at most
    int growth = 0;     ///< servers more, at most: one for each request that waits `patience_s`
    double patience_s = 1;
    bool operator==(const LoaderSettings&) const = default;
};
ASSAY_FIELDS(LoaderSettings, mode, archives, requests, servers, restarts, growth, patience_s)

class Loader {
  public:
    using Event = std::variant<drive::Joined, drive::Died, drive::Stalled, drive::Timer,
                               drive::Idle, drive::From<Saved>, drive::From<NotSaved>,
                               drive::From<Opened>, drive::From<Refused>, drive::From<Ready>,
                               drive::From<Served>, drive::From<Failed>>;
    using Action =
        std::variant<drive::Spawn, drive::Evict, drive::Stop, drive::StartTimer, drive::To<Save>,
                     drive::To<Open>, drive::To<Prepare>, drive::To<Serve>>;

    explicit Loader(LoaderSettings settings);

    void on(const Event& event, double now_s, std::vector<Action>& actions);

    /// Of a request, once it is served.
    const std::optional<std::uint64_t>& result(std::size_t request) const {
        return results_.at(request);
    }
    std::size_t served() const { return served_; }
    /// Why archives were refused and what failed, each reason once.
    const std::vector<std::string>& troubles() const { return troubles_; }
    int restarts() const { return restarts_; }
    /// How often each way of Make was gone; by the value.
    const std::map<Make, long>& makes() const { return makes_; }

  private:
    struct Server {
        enum class State { opening, preparing, idle, busy } state = State::opening;
        Mode mode{};
        int refusals = 0;  ///< it captures from the first one on
        bool has_served = false;
        std::optional<Executables> executables;
        std::vector<Executables::Task> tasks;  ///< that it prepares
        int request = -1;
        Executables::Task serving{};
    };
    using Actions = std::vector<Action>;

    void handle(const drive::Joined& joined, Actions& actions);
    void handle(const drive::Died& died, Actions& actions);
    void handle(const drive::Stalled& stalled, Actions& actions);
    void handle(const drive::Timer& timer, Actions& actions);
    void handle(const drive::Idle& idle, Actions& actions);
    void handle(const drive::From<Saved>& saved, Actions& actions);
    void handle(const drive::From<NotSaved>& not_saved, Actions& actions);
    void handle(const drive::From<Opened>& opened, Actions& actions);
    void handle(const drive::From<Refused>& refused, Actions& actions);
    void handle(const drive::From<Ready>& ready, Actions& actions);
    void handle(const drive::From<Served>& served, Actions& actions);
    void handle(const drive::From<Failed>& failed, Actions& actions);

    static constexpr int most_died_restoring = 2, most_died_updating = 2, most_savers = 3,
                         most_refusals = 3;

    Mode mode() const;
    void open(drive::WorkerId worker, Server& server, Actions& actions) const;
    void grow(int request, Actions& actions);
    void serve(drive::WorkerId worker, Server& server, Actions& actions);
    void dispatch(Actions& actions);
    void begin_servers(Actions& actions);
    void lose(drive::WorkerId worker, Actions& actions);
    void replace(const std::string& role, Actions& actions);
    void trouble(std::string why);

    LoaderSettings settings_;
    std::map<drive::WorkerId, Server> servers_;
    std::set<drive::WorkerId> joined_;  ///< ever
    drive::WorkerId saver_ = -1;        ///< while it saves
    bool awaits_saver_ = false;         ///< another was spawned
    int savers_died_ = 0;
    std::deque<int> waiting_;
    std::vector<std::optional<std::uint64_t>> results_;
    std::size_t served_ = 0;
    std::vector<std::string> troubles_;
    std::map<Make, long> makes_;
    int restarts_ = 0, grown_ = 0;
    int died_restoring_ = 0;  ///< in a row, before they served anything
    int died_updating_ = 0;
    bool updates_hang_ = false;
};

}  // namespace assay::foundry
