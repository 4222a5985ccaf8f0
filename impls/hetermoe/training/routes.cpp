#include "impls/hetermoe/training/routes.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <numeric>

#include "impls/nn/moe/stages.hpp"

namespace assay::hetermoe {
namespace {

at::Tensor indices(const std::vector<std::int64_t>& values, at::Device device) {
    return at::tensor(values, at::kLong).to(device);
}

// `rows` of `places`; zeros where there is no such row.
at::Tensor rows_at(const at::Tensor& places, const at::Tensor& rows, bool all_exist) {
    if (all_exist) return rows.index_select(0, places);
    return at::cat({rows, at::zeros({1, rows.size(1)}, rows.options())}).index_select(0, places);
}

// counts[source][expert of this rank]: where the rows of each come to lie, and their order.
Incoming sorted(const std::vector<std::int64_t>& counts, std::size_t sources, std::size_t mine,
                std::size_t ranks, at::Device device) {
    Incoming incoming;
    incoming.rows.assign(ranks, 0);
    std::vector<std::int64_t> begins(counts.size());  // of each (source, expert) as they come
    std::exclusive_scan(counts.begin(), counts.end(), begins.begin(), std::int64_t{0});
    std::vector<std::int64_t> order;
    for (std::size_t expert = 0; expert < mine; ++expert) {
        const auto before = order.size();
        for (std::size_t source = 0; source < sources; ++source) {
            const auto segment = source * mine + expert;
            incoming.rows[source] += counts[segment];
            for (std::int64_t i = 0; i < counts[segment]; ++i) order.push_back(begins[segment] + i);
        }
        incoming.by_expert.push_back(static_cast<std::int64_t>(order.size() - before));
    }
    incoming.order = indices(order, device);
    std::vector<std::int64_t> places(order.size());
    for (std::size_t place = 0; place < order.size(); ++place)
        places[static_cast<std::size_t>(order[place])] = static_cast<std::int64_t>(place);
    incoming.places = indices(places, device);
    return incoming;
}

}  // namespace

std::vector<int> LayerHomes::experts_of(int rank) const {
    std::vector<int> experts;
    for (std::size_t expert = 0; expert < home.size(); ++expert)
        if (home[expert] == rank) experts.push_back(static_cast<int>(expert));
    return experts;
}

Outgoing nothing_to_send(int ranks) {
    return {.order = at::empty({0}, at::kLong),
            .places = at::empty({0}, at::kLong),
            .rows = std::vector<std::int64_t>(static_cast<std::size_t>(ranks), 0),
            .by_expert = {}};
}

Outgoing address(const Choices& choices, const LayerHomes& homes, int ranks) {
    std::vector<std::vector<std::int64_t>> of_expert(homes.home.size());
    const auto flat = choices.chosen.to(at::kCPU).contiguous();
    const auto kept =
        choices.kept.defined() ? choices.kept.to(at::kCPU).contiguous() : at::Tensor();
    const auto* const expert = flat.const_data_ptr<std::int64_t>();
    const auto* const has_room = kept.defined() ? kept.const_data_ptr<bool>() : nullptr;
    for (std::int64_t i = 0; i < flat.numel(); ++i)
        if (!has_room || has_room[i]) of_expert[static_cast<std::size_t>(expert[i])].push_back(i);
    Outgoing outgoing = nothing_to_send(ranks);
    outgoing.dropless = !has_room;
    std::vector<std::int64_t> order, places(static_cast<std::size_t>(flat.numel()), -1);
    for (int rank = 0; rank < ranks; ++rank)
        for (const int held : homes.experts_of(rank)) {
            auto& mine = of_expert[static_cast<std::size_t>(held)];
            for (std::size_t i = 0; i < mine.size(); ++i)
                places[static_cast<std::size_t>(mine[i])] =
                    static_cast<std::int64_t>(order.size() + i);
            if (has_room) mine.resize(static_cast<std::size_t>(choices.rows_each), flat.numel());
            order.insert(order.end(), mine.begin(), mine.end());
            outgoing.by_expert.push_back(static_cast<std::int64_t>(mine.size()));
            outgoing.rows[static_cast<std::size_t>(rank)] += outgoing.by_expert.back();
        }
    std::replace(places.begin(), places.end(), std::int64_t{-1},
                 static_cast<std::int64_t>(order.size()));
    outgoing.order = indices(order, choices.chosen.device());
    outgoing.places = indices(places, choices.chosen.device());
    return outgoing;
}

at::Tensor Outgoing::sent(const at::Tensor& choices) const {
    return rows_at(order, choices, dropless);
}

at::Tensor Outgoing::came_back(const at::Tensor& rows) const {
    return rows_at(places, rows, dropless);
}

Incoming exchange_counts(const Outgoing& outgoing, const LayerHomes& homes,
                         cluster::Communicator& comm, at::Device device) {
    const auto ranks = static_cast<std::size_t>(comm.size());
    const bool sends = comm.rank() < homes.attention_ranks;
    const auto mine = homes.experts_of(comm.rank()).size();
    std::vector<std::int64_t> to(ranks, 0), from(ranks, 0);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        if (sends)
            to[rank] = static_cast<std::int64_t>(homes.experts_of(static_cast<int>(rank)).size());
        if (static_cast<int>(rank) < homes.attention_ranks)
            from[rank] = static_cast<std::int64_t>(mine);
    }
    // counts[source][expert]
    const auto sources = static_cast<std::size_t>(homes.attention_ranks);
    std::vector<std::int64_t> counts(sources * mine);
    comm.all_to_all_v(outgoing.by_expert.data(), to, counts.data(), from, cluster::Dtype::i64);
    return sorted(counts, sources, mine, ranks, device);
}

Incoming fixed_counts(const std::vector<std::int64_t>& rows_each, const LayerHomes& homes, int rank,
                      int ranks, at::Device device) {
    const auto mine = homes.experts_of(rank).size();
    std::vector<std::int64_t> counts;
    for (const auto rows : rows_each) counts.insert(counts.end(), mine, rows);
    return sorted(counts, rows_each.size(), mine, static_cast<std::size_t>(ranks), device);
}

at::Tensor HeldExperts::outputs(const Incoming& incoming, const at::Tensor& rows) const {
    if (blocks_.empty()) return at::empty_like(rows);
    const auto parts = rows_at(incoming.order, rows, true).split_with_sizes(incoming.by_expert);
    std::vector<at::Tensor> outputs;
    for (std::size_t i = 0; i < blocks_.size(); ++i)
        outputs.push_back(nn::expert_forward(*blocks_[i], parts[i], shape_));
    return rows_at(incoming.places, at::cat(outputs), true);
}

at::Tensor HeldExperts::forward(const Incoming& incoming, const at::Tensor& rows) const {
    const at::NoGradGuard no_grad;
    return outputs(incoming, rows);
}

at::Tensor HeldExperts::backward(const Incoming& incoming, const at::Tensor& rows,
                                 const at::Tensor& output_gradients) const {
    if (blocks_.empty()) return at::empty_like(rows);
    const auto input = rows.detach().requires_grad_(true);
    torch::autograd::backward({outputs(incoming, input)}, {output_gradients});
    return input.grad();
}

}  // namespace assay::hetermoe
