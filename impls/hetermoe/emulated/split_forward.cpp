#include "impls/hetermoe/emulated/split_forward.hpp"

#include <array>
#include <cmath>
#include <random>
#include <stdexcept>

namespace assay::hetermoe {
namespace {

// Numbers from -1 to 1 that depend on what they are for alone.
Rows drawn(std::uint64_t seed, int layer, int of, std::size_t count) {
    std::seed_seq words{seed, static_cast<std::uint64_t>(layer), static_cast<std::uint64_t>(of)};
    std::mt19937 random(words);
    Rows numbers(count);
    for (float& number : numbers) number = static_cast<float>(random() % 2001) / 1000.0F - 1.0F;
    return numbers;
}

// Each row times a matrix, then squashed so that layers can follow one another.
void through(const Rows& matrix, int width, std::span<float> rows) {
    const auto w = static_cast<std::size_t>(width);
    Rows product(w);
    for (std::size_t row = 0; row < rows.size(); row += w) {
        for (std::size_t to = 0; to < w; ++to) {
            float sum = 0;
            for (std::size_t from = 0; from < w; ++from)
                sum += rows[row + from] * matrix[from * w + to];
            product[to] = std::tanh(sum);
        }
        std::copy(product.begin(), product.end(), rows.begin() + static_cast<long>(row));
    }
}

constexpr int of_attention = -1, of_input = -2;

}  // namespace

Rows SmallMoe::input(int micro_batch) const {
    return drawn(seed, micro_batch, of_input, numbers(experts));
}

void SmallMoe::attend(int layer, std::span<float> rows) const {
    const auto matrix = static_cast<std::size_t>(width * width);
    through(drawn(seed, layer, of_attention, matrix), width, rows);
}

void SmallMoe::pass_expert(int layer, int expert, std::span<float> rows) const {
    const auto matrix = static_cast<std::size_t>(width * width);
    through(drawn(seed, layer, expert, matrix), width, rows);
}

Rows whole_forward(const SmallMoe& model, int micro_batch) {
    Rows rows = model.input(micro_batch);
    const std::size_t share = model.numbers(1);
    for (int layer = 1; layer <= model.layers; ++layer) {
        model.attend(layer, rows);
        for (int expert = 0; expert < model.experts; ++expert)
            model.pass_expert(
                layer, expert,
                std::span(rows).subspan(static_cast<std::size_t>(expert) * share, share));
    }
    model.attend(model.layers + 1, rows);
    return rows;
}

SplitForward::SplitForward(const SmallMoe& model, const StepShape& step, Side side,
                           cluster::Communicator& out, cluster::Communicator& in)
    : model_(model), step_(step), side_(side), out_(out), in_(in) {
    for (int j = 1; j <= step.micro_batches; ++j)
        rows_.push_back(side == Side::attention ? model.input(j)
                                                : Rows(model.numbers(model.experts)));
}

void SplitForward::run(const Task& task) {
    switch (task.kind) {
        case TaskKind::AF:
            return model_.attend(task.layer, rows_of(task.micro_batch, 0, model_.experts));
        case TaskKind::EF:
            return pass(task, 0, kept(task.layer));
        case TaskKind::XF:
            return pass(task, kept(task.layer), step_.offloaded(task.layer));
        case TaskKind::DF:
            return transfer(task, out_, 0);
        case TaskKind::CF:
            return transfer(task, in_, 1);
        default:
            throw std::invalid_argument("a forward pass has no backward tasks");
    }
}

const Rows& SplitForward::result(int micro_batch) const {
    return rows_[static_cast<std::size_t>(micro_batch - 1)];
}

std::span<float> SplitForward::rows_of(int micro_batch, int first_expert, int experts) {
    return std::span(rows_[static_cast<std::size_t>(micro_batch - 1)])
        .subspan(model_.numbers(first_expert), model_.numbers(experts));
}

void SplitForward::pass(const Task& task, int first_expert, int experts) {
    for (int expert = first_expert; expert < first_expert + experts; ++expert)
        model_.pass_expert(task.layer, expert, rows_of(task.micro_batch, expert, 1));
}

// The rows of the experts that the expert GPU keeps, from one rank to the other.
void SplitForward::transfer(const Task& task, cluster::Communicator& group, int from) {
    const std::span<float> rows = rows_of(task.micro_batch, 0, kept(task.layer));
    const int own = side_ == Side::attention ? 0 : 1;
    const auto count = static_cast<std::int64_t>(rows.size());
    std::array<std::int64_t, 2> sent{}, received{};
    (own == from ? sent : received)[own == 0 ? 1 : 0] = count;
    group.all_to_all_v(rows.data(), sent, rows.data(), received, cluster::Dtype::f32);
}

}  // namespace assay::hetermoe
