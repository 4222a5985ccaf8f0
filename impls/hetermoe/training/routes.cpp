#include "impls/hetermoe/training/routes.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <cstring>
#include <numeric>
#include <span>
#include <stdexcept>

#include "impls/nn/all_to_all.hpp"
#include "impls/nn/moe/grouped_experts.hpp"
#include "impls/nn/moe/stages.hpp"

namespace assay::hetermoe {
namespace {

at::Tensor places_for(std::int64_t rows) { return at::empty({rows}, at::kLong); }

std::int64_t* data_of(at::Tensor& places) { return places.mutable_data_ptr<std::int64_t>(); }

std::int64_t sum(const std::vector<std::int64_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
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
    auto order = places_for(sum(counts)), places = places_for(sum(counts));
    std::int64_t place = 0;
    for (std::size_t expert = 0; expert < mine; ++expert) {
        const auto before = place;
        for (std::size_t source = 0; source < sources; ++source) {
            const auto segment = source * mine + expert;
            const auto count = counts[segment], begin = begins[segment];
            incoming.rows[source] += count;
            std::iota(data_of(order) + place, data_of(order) + place + count, begin);
            std::iota(data_of(places) + begin, data_of(places) + begin + count, place);
            place += count;
        }
        incoming.by_expert.push_back(place - before);
    }
    incoming.order = order.to(device);
    incoming.places = places.to(device);
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
    const auto flat = choices.chosen.to(at::kCPU).contiguous();
    const auto kept =
        choices.kept.defined() ? choices.kept.to(at::kCPU).contiguous() : at::Tensor();
    const auto* const expert = flat.const_data_ptr<std::int64_t>();
    const auto* const has_room = kept.defined() ? kept.const_data_ptr<bool>() : nullptr;
    std::vector<std::int64_t> counts(homes.home.size(), choices.rows_each);
    if (!has_room)
        for (std::int64_t i = 0; i < flat.numel(); ++i)
            ++counts[static_cast<std::size_t>(expert[i])];

    Outgoing outgoing = nothing_to_send(ranks);
    outgoing.dropless = !has_room;
    std::vector<std::int64_t> next(counts.size());  // place of each expert's next row
    for (int rank = 0; rank < ranks; ++rank)
        for (const int held : homes.experts_of(rank)) {
            const auto count = counts[static_cast<std::size_t>(held)];
            next[static_cast<std::size_t>(held)] = sum(outgoing.by_expert);
            outgoing.by_expert.push_back(count);
            outgoing.rows[static_cast<std::size_t>(rank)] += count;
        }
    const auto sent = sum(outgoing.by_expert);
    auto places = places_for(flat.numel());
    auto order = has_room ? at::full({sent}, flat.numel(), at::kLong) : places_for(sent);
    for (std::int64_t i = 0; i < flat.numel(); ++i) {
        if (has_room && !has_room[i]) {
            data_of(places)[i] = sent;
            continue;
        }
        const auto place = next[static_cast<std::size_t>(expert[i])]++;
        data_of(order)[place] = i;
        data_of(places)[i] = place;
    }
    outgoing.order = order.to(choices.chosen.device());
    outgoing.places = places.to(choices.chosen.device());
    return outgoing;
}

at::Tensor Outgoing::sent(const at::Tensor& choices) const {
    return rows_at(order, choices, dropless);
}

at::Tensor Outgoing::came_back(const at::Tensor& rows) const {
    return rows_at(places, rows, dropless);
}

Delivery deliver_at_once(const Outgoing& outgoing, const at::Tensor& rows, const LayerHomes& homes,
                         cluster::Communicator& comm) {
    const auto bytes_of = [](const void* data, std::int64_t bytes) {
        return std::span(static_cast<const std::byte*>(data), static_cast<std::size_t>(bytes));
    };
    const auto ranks = static_cast<std::size_t>(comm.size());
    const auto row_bytes = rows.size(1) * static_cast<std::int64_t>(rows.element_size());
    const auto sent = rows.contiguous();
    std::vector<cluster::Message> messages(ranks);
    const auto* counts_to = outgoing.by_expert.data();
    const auto* rows_to = static_cast<const std::byte*>(sent.const_data_ptr());
    for (std::size_t rank = 0; rank < ranks && comm.rank() < homes.attention_ranks; ++rank) {
        const auto experts = homes.experts_of(static_cast<int>(rank)).size();
        const auto bytes = outgoing.rows[rank] * row_bytes;
        messages[rank] = {std::as_bytes(std::span(counts_to, experts)), bytes_of(rows_to, bytes)};
        counts_to += experts;
        rows_to += bytes;
    }
    auto arrived = comm.exchange_messages(messages);

    const auto mine = homes.experts_of(comm.rank()).size();
    const auto sources = static_cast<std::size_t>(homes.attention_ranks);
    std::vector<std::int64_t> counts(sources * mine);  // [source][expert]
    for (std::size_t source = 0; source < sources; ++source) {
        auto& message = arrived[source];
        const auto told = std::as_writable_bytes(std::span(counts).subspan(source * mine, mine));
        if (message.size() < told.size())
            throw std::logic_error("a rank sends fewer counts than there are experts here");
        if (mine > 0) std::memcpy(told.data(), message.data(), told.size());
        message = message.subspan(told.size());
    }
    Delivery delivery{.incoming = sorted(counts, sources, mine, ranks, rows.device()),
                      .rows = at::empty({sum(counts), rows.size(1)}, rows.options())};
    auto* into = static_cast<std::byte*>(delivery.rows.mutable_data_ptr());
    for (std::size_t source = 0; source < ranks; ++source) {
        const auto& message = arrived[source];
        if (std::ssize(message) != delivery.incoming.rows[source] * row_bytes)
            throw std::logic_error("a rank sends another number of rows than it says");
        if (!message.empty()) std::memcpy(into, message.data(), message.size());
        into += message.size();
    }
    return delivery;
}

Delivery deliver_after_counts(const Outgoing& outgoing, const at::Tensor& rows,
                              const LayerHomes& homes, cluster::Communicator& comm) {
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
    const auto sources = static_cast<std::size_t>(homes.attention_ranks);
    std::vector<std::int64_t> counts(sources * mine);  // [source][expert]
    comm.all_to_all_v(outgoing.by_expert.data(), to, counts.data(), from, cluster::Dtype::i64);
    Delivery delivery{.incoming = sorted(counts, sources, mine, ranks, rows.device()), .rows = {}};
    delivery.rows = nn::exchange_rows(rows, outgoing.rows, delivery.incoming.rows, comm);
    return delivery;
}

Delivery deliver(const Outgoing& outgoing, const at::Tensor& rows, const LayerHomes& homes,
                 cluster::Communicator& comm) {
    return rows.is_cpu() ? deliver_at_once(outgoing, rows, homes, comm)
                         : deliver_after_counts(outgoing, rows, homes, comm);
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
    const auto sorted = rows_at(incoming.order, rows, true);
    if (shape_ == nn::MoeShape::mixtral && rows.is_cuda() && rows.scalar_type() == at::kBFloat16)
        return rows_at(incoming.places,
                       nn::grouped_expert_forward(blocks_, sorted, incoming.by_expert), true);
    const auto parts = sorted.split_with_sizes(incoming.by_expert);
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
