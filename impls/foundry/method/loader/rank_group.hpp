// Servers that decode together, each a rank of one group: a policy (suite/drive). Every rank makes
// the same graph launchable and launches it for the same request, and all must give one result. A
// collective cannot go on without a rank: where one is lost, fails or refuses, the whole group is
// ended and made anew. Groups may follow each other with other numbers of ranks: a switch of
// parallelism. Each request is served once.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "impls/foundry/method/loader/protocol.hpp"
#include "suite/drive/policy.hpp"

namespace assay::foundry {

/// A rank of a group; as a worker's instance name "0.1.4": group 0, rank 1 of 4.
struct RankName {
    int group = 0, rank = 0, ranks = 1;
    bool operator==(const RankName&) const = default;
};
std::string to_string(const RankName& name);
/// Throws std::logic_error for what to_string() does not write.
RankName rank_name(const std::string& instance);

struct RankGroupSettings {
    Mode mode{};
    /// So many ranks serve so many requests; then the group goes home and the next one comes.
    struct Stage {
        int ranks = 1;
        std::size_t requests = 0;
        std::vector<std::string> archives;  ///< one for all ranks, or one for each
        bool operator==(const Stage&) const = default;
    };
    std::vector<Stage> stages;
    std::vector<std::size_t> requests;  ///< the graph of each; as many as the stages serve
    int restarts = 20;                  ///< groups made anew, at most
};

/// A group's life, in seconds of the driver's clock.
struct GroupCourse {
    int ranks = 0;
    double joined_s = 0;             ///< all ranks were there
    double ready_s = 0;              ///< all could serve
    double first_s = 0, last_s = 0;  ///< their first and last answers were whole
    std::size_t served = 0;          ///< requests
};

class RankGroup {
  public:
    using Event = std::variant<drive::Joined, drive::Died, drive::Stalled, drive::From<Opened>,
                               drive::From<Refused>, drive::From<Ready>, drive::From<Served>,
                               drive::From<Failed>>;
    using Action = std::variant<drive::Spawn, drive::Evict, drive::Dismiss, drive::Stop,
                                drive::To<Open>, drive::To<Prepare>, drive::To<Serve>>;

    /// The harness spawns the "server"s of first(). Throws std::logic_error for stages that do not
    /// serve all requests.
    explicit RankGroup(RankGroupSettings settings);
    std::vector<drive::Spawn> first() const { return ranks_of_group(); }

    void on(const Event& event, double now_s, std::vector<Action>& actions);

    /// Of a request, once it is served.
    const std::optional<std::uint64_t>& result(std::size_t request) const {
        return results_.at(request);
    }
    /// Of each group that was made, in order.
    const std::vector<GroupCourse>& groups() const { return groups_; }
    /// Why archives were refused and what failed, each reason once.
    const std::vector<std::string>& troubles() const { return troubles_; }
    int restarts() const { return restarts_; }

  private:
    using Actions = std::vector<Action>;

    void handle(const drive::Joined& joined, Actions& actions);
    void handle(const drive::Died& died, Actions& actions);
    void handle(const drive::Stalled& stalled, Actions& actions);
    void handle(const drive::From<Opened>& opened, Actions& actions);
    void handle(const drive::From<Refused>& refused, Actions& actions);
    void handle(const drive::From<Ready>& ready, Actions& actions);
    void handle(const drive::From<Served>& served, Actions& actions);
    void handle(const drive::From<Failed>& failed, Actions& actions);

    static constexpr int most_lost_restoring = 2;

    const RankGroupSettings::Stage& stage() const { return settings_.stages[stage_]; }
    std::vector<drive::Spawn> ranks_of_group() const;
    void begin(Actions& actions);
    Mode mode() const;
    /// Whether that was the last of all ranks' answers to what they were sent.
    bool all_answered(drive::WorkerId worker);
    template <class M>
    void tell_all(const M& message, Actions& actions);
    void serve_next(Actions& actions);
    void make_anew(const std::string& why, Actions& actions);

    RankGroupSettings settings_;
    double now_s_ = 0;
    std::size_t stage_ = 0, left_in_stage_ = 0, request_ = 0;
    int group_ = 0;
    std::map<drive::WorkerId, int> ranks_;  ///< of the group, those that have joined
    std::set<drive::WorkerId> gone_;        ///< of earlier groups, ended by the policy
    std::set<drive::WorkerId> answered_;
    std::optional<std::vector<std::size_t>> group_of_;  ///< as the ranks that are open have it
    std::optional<Executables> executables_;
    Executables::Task serving_{};
    bool captures_ = false;   ///< restored graphs were refused, or failed
    int lost_restoring_ = 0;  ///< groups in a row that were lost before they served
    std::vector<std::optional<std::uint64_t>> results_;
    std::vector<GroupCourse> groups_;
    std::vector<std::string> troubles_;
    int restarts_ = 0;
};

}  // namespace assay::foundry
