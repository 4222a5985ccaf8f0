#include "impls/dr_post_training/rewards/answer_filter.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <string>

#include "impls/dr_post_training/policy/sets/subsets.hpp"
#include "impls/rl/recipes/rollouts.hpp"

namespace assay::dr_post_training {
namespace {

constexpr double all_negatives = 1;  // are dropped

Update filtered(const GroupStatistics& seen, const std::vector<double>& shares) {
    Update update;
    update.selected = select_filter(seen.target.scores, all_negatives);
    update.weights.assign(shares.size(), 0);
    double sum = 0;
    for (const std::size_t row : *update.selected) sum += shares[row];
    for (const std::size_t row : *update.selected) update.weights[row] = shares[row] / sum;
    return update;
}

std::string one_vote(const nn::Place&) { return "all"; }
std::string own_vote(const nn::Place& place) {
    return std::to_string(place.layer) + "/" + std::string(place.name);
}

SelectingOptions options_of(bool by_layer, const std::vector<double>& shares) {
    SelectingOptions options;
    options.group_of = by_layer ? own_vote : one_vote;
    options.choose = [&shares](const std::string&, const GroupStatistics& seen) {
        return filtered(seen, shares);
    };
    return options;
}

}  // namespace

std::vector<double> token_shares(const at::Tensor& answered) {
    const auto tokens = answered.sum(1).to(at::kDouble).contiguous();
    const double* const of_row = tokens.const_data_ptr<double>();
    std::vector<double> shares(of_row, of_row + tokens.numel());
    double sum = 0;
    for (const double one : shares) sum += one;
    for (double& one : shares) one /= sum;
    return shares;
}

at::Tensor together(const at::Tensor& rows, const at::Tensor& more) {
    const auto length = std::max(rows.size(1), more.size(1));
    const auto padded = [&](const at::Tensor& part) {
        return at::constant_pad_nd(part, {0, length - part.size(1)}, rl::end_token);
    };
    return at::cat({padded(rows), padded(more)});
}

AnswerFilter::AnswerFilter(bool by_layer) : maps_(options_of(by_layer, shares_)) {}

SelectingMaps& AnswerFilter::maps(const at::Tensor& answered, std::int64_t targets) {
    shares_ = token_shares(answered);
    maps_.begin({shares_, targets});
    return maps_;
}

void AnswerFilter::note() {
    for (const auto& [group, decision] : maps_.decisions()) {
        kept_ += static_cast<double>(decision.update.selected->size()) /
                 static_cast<double>(shares_.size());
        groups_ += 1;
    }
}

double AnswerFilter::kept() {
    const double mean = groups_ > 0 ? kept_ / groups_ : 1;
    kept_ = groups_ = 0;
    return mean;
}

std::vector<std::int64_t> kept_by_one_vote(
    const at::Tensor& answered, std::int64_t targets,
    const std::function<void(SelectingMaps& maps)>& forward_and_backward) {
    const auto shares = token_shares(answered);
    auto options = options_of(/*by_layer=*/false, shares);
    options.assemble = false;
    SelectingMaps maps(std::move(options));
    maps.begin({shares, targets});
    forward_and_backward(maps);
    const auto& selected = *maps.decisions().at("all").update.selected;
    return {selected.begin(), selected.end()};
}

}  // namespace assay::dr_post_training
