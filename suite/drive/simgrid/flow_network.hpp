// Collectives priced by simulating their transfers as flows over the topology: the network that the
// closed form of suite/scenario/network/network.hpp is checked against.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "suite/drive/simgrid/rank_flows.hpp"
#include "suite/scenario/network/network.hpp"

namespace assay::drive {

struct FlowSettings {
    /// Of an all-to-all, per rank: it sends to the ranks after it in their order, and begins the
    /// next message when one of so many is there. (NCCL puts eight into one batch.)
    int messages_at_once = 8;
    /// Collectives of more ranks, or of ranks that the flows do not have, are priced by the closed
    /// form alone.
    int most_ranks = 64;
};

class FlowNetwork final : public Network {
  public:
    /// How far off the closed form was: flows / closed form - 1, of each collective that was
    /// simulated and took time.
    struct Difference {
        std::size_t collectives = 0;
        double least = 0, most = 0;
        double flows_s = 0, closed_form_s = 0;  ///< all of them together
        double overall() const { return closed_form_s > 0 ? flows_s / closed_form_s - 1 : 0; }
    };

    /// Nobody else may have flows under way on `flows` when a collective is asked for that was not
    /// asked for before.
    explicit FlowNetwork(std::shared_ptr<RankFlows> flows, FlowSettings settings = {});

    double all_to_all(std::span<const double> bytes, int ranks) const override;
    /// By the table, which is asked for where there are few enough ranks; else by the totals.
    double all_to_all(const Exchange&) const override;
    double all_reduce(double bytes, int ranks) const override;
    double grouped_all_reduce(std::span<const double> bytes,
                              std::span<const std::vector<int>> groups, int ranks) const override;
    double all_gather(double bytes, int ranks) const override;

    /// With the same flows, and what was found out already.
    std::shared_ptr<const Network> among(std::span<const int> ranks) const override;

    const Topology& topology() const override { return closed_form_.topology(); }
    std::string says() const override;

    /// Of this network and of all that are among its ranks.
    const Difference& difference() const;

  private:
    struct Shared;
    struct Ring;
    FlowNetwork(std::shared_ptr<Shared> shared, std::vector<int> places);

    int place(int rank) const;
    bool too_many(int ranks) const;
    /// What is known of the collective with that key, or what `simulate` finds out.
    double priced(const std::string& key, double closed_form_s,
                  const std::function<double()>& simulate) const;
    void add_rings(std::vector<Ring>&, double bytes, int rounds,
                   std::span<const int> members) const;
    double go_round(std::vector<Ring> rings) const;

    std::shared_ptr<Shared> shared_;
    std::vector<int> places_;  ///< by rank: its number in the flows; empty: the same
    ClosedForm closed_form_;   ///< of those
};

}  // namespace assay::drive
