#include "impls/lazarus/experiments/layers/ranks_on_device.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <utility>

#include "impls/nn/moe/gpt.hpp"
#include "suite/experiment/experiment.hpp"

namespace assay::lazarus {
namespace {

// Reading it keeps a GPU busy while what is timed is put on its stream; nor does a phase find its
// rows in the cache.
constexpr std::size_t busy_bytes = std::size_t{128} << 20;

template <class T>
at::Tensor whole_numbers(const std::vector<T>& values) {
    const std::vector<std::int64_t> wide(values.begin(), values.end());
    return at::tensor(wide, at::kLong).to(at::kInt);
}

std::int32_t* data(const at::Tensor& tensor) { return tensor.data_ptr<std::int32_t>(); }

/// Where the rows that a rank received lie once grouped by expert.
std::vector<std::int64_t> grouped_places(const RankLayout& layout) {
    std::vector<std::int64_t> places(static_cast<std::size_t>(layout.receive_total));
    std::int64_t next = 0;
    for (int e = 0; e < layout.experts; ++e)
        for (int source = 0; source < layout.ranks; ++source) {
            const Segment& segment = layout.from(source, e);
            for (Tokens i = 0; i < segment.room; ++i)
                places[static_cast<std::size_t>(segment.first_row + i)] = next++;
        }
    return places;
}

std::vector<std::int64_t> begins_of_experts(const RankLayout& layout) {
    std::vector<std::int64_t> begins{0};
    for (int e = 0; e < layout.experts; ++e) {
        std::int64_t rows = 0;
        for (int source = 0; source < layout.ranks; ++source) rows += layout.from(source, e).room;
        begins.push_back(begins.back() + rows);
    }
    return begins;
}

}  // namespace

RanksOnDevice::RanksOnDevice(const kernels::TimedDevice& device, at::Device place,
                             at::ScalarType type, const SkewedLayer& layer)
    : device_(device),
      options_(at::TensorOptions(place).dtype(type)),
      own_schedule_(layer.rule.kind == DispatchRule::Kind::flexible),
      width_(layer.width),
      busy_(device.allocate(busy_bytes)) {
    const nn::MoeGptConfig model{.layers = 1,
                                 .width = layer.width,
                                 .experts = SkewedLayer::experts,
                                 .hidden = 4 * layer.width};
    const auto specs = nn::expert_parameters(model);
    for (int e = 0; e < SkewedLayer::experts; ++e)
        experts_.emplace_back("expert" + std::to_string(e), specs, type, /*seed=*/1, place);
    tokens_ = whole_numbers(layer.tokens()).to(place);
    replicas_ = whole_numbers(replica_counts(layer.holders, SkewedLayer::experts)).to(place);
    const auto dispatcher = make_dispatcher(layer.rule, layer.holders, SkewedLayer::experts);
    for (int rank = 0; rank < layer.ranks(); ++rank)
        ranks_.push_back(make_rank(layer, *dispatcher, rank));
    for (int rank = 0; rank < layer.ranks(); ++rank)
        record(ranks_[static_cast<std::size_t>(rank)], rank);
}

RanksOnDevice::Rank RanksOnDevice::make_rank(const SkewedLayer& layer, const Dispatcher& dispatcher,
                                             int number) {
    const auto& choices = layer.choices[static_cast<std::size_t>(number)];
    RankLayout layout, theirs;
    dispatcher.layout(layer.tokens(), number, layout);
    const auto buffer = [&](std::int64_t rows, std::int64_t width) {
        return at::zeros({rows, width}, options_);  // padding, too
    };
    const auto place = options_.device();
    const auto rows = static_cast<std::int64_t>(choices.size());
    Rank rank;
    rank.rows = at::randn({rows, width_}, at::TensorOptions(at::kFloat)).to(options_);
    rank.combined = buffer(rows, width_);
    rank.sent = buffer(layout.send_total, width_);
    rank.back = buffer(layout.send_total, width_);
    for (at::Tensor* const received :
         {&rank.received, &rank.by_expert, &rank.computed, &rank.returned})
        *received = buffer(layout.receive_total, width_);
    rank.hidden = buffer(layout.receive_total, 4 * width_);
    rank.choices = whole_numbers(choices).to(place);
    rank.begins = begins_of_experts(layout);
    for (int source = 0; source < layout.ranks; ++source) {
        dispatcher.layout(layer.tokens(), source, theirs);
        rank.from.push_back({theirs.to(number, 0).first_row, layout.from(source, 0).first_row,
                             layout.receive_counts[static_cast<std::size_t>(source)]});
    }
    rank.places = whole_numbers(send_places(layout, choices)).to(place);
    rank.grouped = whole_numbers(grouped_places(layout)).to(place);
    if (!own_schedule_) return rank;

    const at::Tensor places = rank.places.clone(), grouped = rank.grouped.clone();
    rank.places.fill_(-1);
    rank.grouped.fill_(-1);
    const std::int64_t segments = tokens_.numel();
    rank.send_first = at::zeros({segments + 1}, tokens_.options());
    rank.receive_first = at::zeros({segments + 1}, tokens_.options());
    rank.expert_first = at::zeros({SkewedLayer::experts + 1}, tokens_.options());
    schedule(rank, number);
    device_.must(device_.kernels().synchronise(device_.context()));
    check_schedule(rank, number, places, grouped);
    return rank;
}

void RanksOnDevice::schedule(const Rank& rank, int number) const {
    if (!own_schedule_) return;
    const AssayDispatch call{SkewedLayer::experts,
                             static_cast<std::int32_t>(tokens_.numel() / SkewedLayer::experts),
                             number,
                             data(tokens_),
                             data(replicas_),
                             static_cast<std::int32_t>(rank.choices.numel()),
                             data(rank.choices),
                             static_cast<std::int32_t>(rank.grouped.numel()),
                             data(rank.send_first),
                             data(rank.receive_first),
                             data(rank.places),
                             data(rank.expert_first),
                             data(rank.grouped)};
    device_.must(device_.kernels().dispatch(device_.context(), &call));
}

void RanksOnDevice::check_schedule(const Rank& rank, int number, const at::Tensor& places,
                                   const at::Tensor& grouped) const {
    if (!at::equal(rank.places, places) || !at::equal(rank.grouped, grouped))
        throw SampleError(
            SampleStatus::failed,
            fmt::format("rank {}: the kernels' schedule is not the dispatcher's", number));
}

void RanksOnDevice::move(const at::Tensor& places, const at::Tensor& from, const at::Tensor& to,
                         bool back) const {
    const AssayRowMove call{static_cast<std::int32_t>(places.numel()),
                            static_cast<std::int32_t>((back ? from : to).size(0)),
                            static_cast<std::size_t>(width_) * from.element_size(),
                            data(places),
                            from.data_ptr(),
                            to.data_ptr()};
    const AssayKernels& kernels = device_.kernels();
    device_.must((back ? kernels.unshuffle : kernels.shuffle)(device_.context(), &call));
}

void RanksOnDevice::copy_rows(const at::Tensor& from, std::int64_t first, const at::Tensor& to,
                              std::int64_t first_there, std::int64_t rows) const {
    if (rows == 0) return;
    const auto row_bytes = static_cast<std::size_t>(width_) * from.element_size();
    const auto at = [&](const at::Tensor& tensor, std::int64_t row) {
        return static_cast<std::byte*>(tensor.data_ptr()) +
               static_cast<std::size_t>(row) * row_bytes;
    };
    device_.must(device_.kernels().copy(device_.context(), at(to, first_there), at(from, first),
                                        static_cast<std::size_t>(rows) * row_bytes));
}

/// nn::expert_forward() for every expert's rows, in memory that is there already: what is recorded
/// must not ask for any.
void RanksOnDevice::compute(const Rank& rank) const {
    for (std::size_t e = 0; e < experts_.size(); ++e) {
        const std::int64_t begin = rank.begins[e], rows = rank.begins[e + 1] - begin;
        if (rows == 0) continue;
        const nn::ParameterBlock& expert = experts_[e];
        at::Tensor hidden = rank.hidden.narrow(0, begin, rows);
        at::Tensor computed = rank.computed.narrow(0, begin, rows);
        at::addmm_out(hidden, expert[1], rank.by_expert.narrow(0, begin, rows), expert[0].t());
        at::gelu_(hidden);
        at::addmm_out(computed, expert[3], hidden, expert[2].t());
    }
}

void RanksOnDevice::record(Rank& rank, int number) {
    const auto recorded = [&](const std::function<void()>& work) {
        work();  // loads what is loaded lazily
        device_.must(device_.kernels().synchronise(device_.context()));
        return device_.repeatable(work);
    };
    // By number: ranks_ stays as it is from here on.
    const Rank& at = ranks_[static_cast<std::size_t>(number)];
    rank.schedule_and_shuffle = recorded([this, &at, number] {
        schedule(at, number);
        move(at.places, at.rows, at.sent, false);
    });
    rank.receive = recorded([this, &at] {
        for (std::size_t source = 0; source < ranks_.size(); ++source)
            copy_rows(ranks_[source].sent, at.from[source].from, at.received, at.from[source].to,
                      at.from[source].rows);
    });
    rank.group = recorded([this, &at] { move(at.grouped, at.received, at.by_expert, false); });
    rank.compute = recorded([this, &at] {
        const at::NoGradGuard no_grad;
        compute(at);
    });
    rank.ungroup = recorded([this, &at] { move(at.grouped, at.computed, at.returned, true); });
    rank.return_rows = recorded([this, &at] {
        // Its own part of what every rank computed.
        for (std::size_t i = 0; i < ranks_.size(); ++i) {
            const Copy& there = ranks_[i].from[static_cast<std::size_t>(&at - ranks_.data())];
            copy_rows(ranks_[i].returned, there.to, at.back, there.from, there.rows);
        }
    });
    rank.unshuffle = recorded([this, &at] { move(at.places, at.back, at.combined, true); });
}

PhaseTimes RanksOnDevice::forward() const {
    PhaseTimes layer;
    // A work of all ranks is over before the next begins, as an exchange has it: the slowest
    // counts.
    const auto add = [&](double PhaseTimes::*phase, std::function<void()> Rank::*work) {
        double slowest = 0;
        for (const Rank& rank : ranks_) {
            device_.must(device_.kernels().read_pass(device_.context(), busy_.get(), busy_bytes));
            slowest = std::max(slowest, device_.seconds(rank.*work));
        }
        layer.*phase += slowest;
    };
    add(&PhaseTimes::dispatch, &Rank::schedule_and_shuffle);
    add(&PhaseTimes::dispatch, &Rank::receive);
    add(&PhaseTimes::dispatch, &Rank::group);
    add(&PhaseTimes::experts, &Rank::compute);
    add(&PhaseTimes::combine, &Rank::ungroup);
    add(&PhaseTimes::combine, &Rank::return_rows);
    add(&PhaseTimes::combine, &Rank::unshuffle);
    return layer;
}

}  // namespace assay::lazarus
