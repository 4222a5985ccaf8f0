// The members of one plan: what they do together, and how far they are with it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "impls/lazarus/policy/controller/protocol_json.hpp"
#include "impls/lazarus/simulated/state_keeper.hpp"
#include "suite/drive/any_message.hpp"
#include "suite/drive/worker.hpp"

namespace assay::lazarus {

struct EpochGroup {
    /// One state on its way from one member to another.
    struct Move {
        Worker from, to;
        StatePart part;
    };

    explicit EpochGroup(const Reconfigure& announced)
        : plan(announced),
          members(std::make_shared<drive::Group>(drive::Group{plan.epoch, plan.members})),
          ranks(std::make_shared<drive::Group>(drive::Group{plan.epoch, plan.training})),
          done(StepDone{-1, plan.epoch, -1, {}}),
          moves_of(plan.members.size()),
          inside(plan.members.size(), false) {
        for (const Transfer& one : plan.transfers)
            moves.push_back({one.from, one.to, ExpertId{one.layer, one.expert}});
        for (std::size_t i = 0; i < plan.need_dense.size(); ++i)
            moves.push_back({plan.dense_sources.at(i), plan.need_dense[i], std::nullopt});
        for (std::size_t i = 0; i < moves.size(); ++i) {
            moves_of[place(moves[i].from)].push_back(i);
            moves_of[place(moves[i].to)].push_back(i);
        }
    }

    /// In plan.members.
    std::size_t place(Worker member) const {
        return static_cast<std::size_t>(
            std::lower_bound(plan.members.begin(), plan.members.end(), member) -
            plan.members.begin());
    }
    bool has(Worker worker) const {
        return std::binary_search(plan.members.begin(), plan.members.end(), worker);
    }

    const Reconfigure plan;
    const std::shared_ptr<const drive::Group> members, ranks;
    const drive::AnyMessage done;  ///< a member's StepDone, which the cluster fills in
    std::vector<Move> moves;
    std::vector<std::vector<std::size_t>> moves_of;  ///< by place: indices into `moves`

    std::size_t arrived = 0;                          ///< members that have come to build the group
    std::vector<bool> inside;                         ///< by place: those that have built it
    Step step = -1;                                   ///< being summed up; …
    std::size_t summed = 0;                           ///< … by so many so far
    std::shared_ptr<const std::vector<Loads>> loads;  ///< that it routed
    /// A member died or gave up: what they do together from now on comes to no end.
    bool broken = false;
};

/// A checkpoint that was asked for. Each writes its parts in order.
struct CheckpointOrder {
    Step step = 0;
    std::map<Worker, std::vector<StatePart>> parts;  ///< of those that write any
};

}  // namespace assay::lazarus
