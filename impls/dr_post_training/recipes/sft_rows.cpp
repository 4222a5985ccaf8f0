#include "impls/dr_post_training/recipes/sft_rows.hpp"

#include <utility>

#include "impls/nn/hashes.hpp"

namespace assay::dr_post_training {
namespace {

constexpr std::uint64_t pool_rows = 20'000;  // as many as the pool has
// Streams of draws.
constexpr std::uint64_t general_stream = 1, target_stream = 2, target_batch_stream = 3;

std::uint64_t draw(std::uint64_t seed, std::uint64_t stream, std::int64_t step, std::size_t slot) {
    return nn::counter_hash(nn::counter_hash(seed * 8 + stream) ^
                            nn::counter_hash(static_cast<std::uint64_t>(step) * 4096 + slot));
}

SftRows::Source of_pools(const PoolShape& shape, std::uint64_t seed) {
    return {
        [shape, seed](std::uint64_t number) {
            const auto row = general_row(shape, seed, number);
            return SftRows::Row{scored(row), row.kind};
        },
        [seed](Use use, std::uint64_t number) { return scored(target_row(use, seed, number)); }};
}

}  // namespace

nn::ScoredRow scored(const PoolRow& row) {
    static const nn::Tokenizer bytes = nn::Tokenizer::bytes();
    return nn::answered_prompt(row.prompt, row.answer, bytes);
}

SftRows::SftRows(const SftSettings& settings, std::uint64_t seed)
    : SftRows(settings, seed, of_pools(settings.pool, seed)) {}

SftRows::SftRows(const SftSettings& settings, std::uint64_t seed, Source source)
    : settings_(settings), seed_(seed), source_(std::move(source)) {
    const auto rows_for = [&](Use use, std::size_t count) {
        std::vector<nn::ScoredRow> rows;
        for (std::size_t number = 0; number < count; ++number)
            rows.push_back(source_.target(use, number));
        return rows;
    };
    given_ = rows_for(Use::given, settings.given);
    validation_ = rows_for(Use::validation, settings.validation_rows);
    test_ = rows_for(Use::test, settings.test_rows);
}

SftRows::General SftRows::general(std::int64_t step) const {
    General drawn;
    for (std::size_t slot = 0; slot < settings_.n; ++slot) {
        auto [row, kind] = source_.general(draw(seed_, general_stream, step, slot) % pool_rows);
        drawn.rows.push_back(std::move(row));
        drawn.kinds.push_back(kind);
    }
    return drawn;
}

std::vector<nn::ScoredRow> SftRows::drawn(std::int64_t step, std::size_t count,
                                          std::uint64_t stream) const {
    std::vector<nn::ScoredRow> rows;
    for (std::size_t slot = 0; slot < count; ++slot)
        rows.push_back(given_[draw(seed_, stream, step, slot) % given_.size()]);
    return rows;
}

std::vector<nn::ScoredRow> SftRows::target(std::int64_t step) const {
    return drawn(step, settings_.readings.m, target_stream);
}

std::vector<nn::ScoredRow> SftRows::target_batch(std::int64_t step) const {
    return drawn(step, settings_.n, target_batch_stream);
}

}  // namespace assay::dr_post_training
