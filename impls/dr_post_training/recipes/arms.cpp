#include "impls/dr_post_training/recipes/arms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "impls/dr_post_training/method/choosing.hpp"
#include "impls/dr_post_training/recipes/choose_arm.hpp"
#include "impls/dr_post_training/recipes/less.hpp"
#include "impls/dr_post_training/recipes/rivals.hpp"
#include "impls/nn/hashes.hpp"
#include "impls/rl/recipes/update.hpp"

namespace assay::dr_post_training {
namespace {

constexpr std::int64_t early_stop = 50;  // of target_stopped: section 1.4

StepModel model_of(const SftSettings& settings, const nn::Decoder& decoder, Tuning* tuning) {
    return {decoder, settings.bf16 ? at::kBFloat16 : at::kFloat, settings.readings.loss,
            tuning ? tuning->adapt() : Adapt()};
}

class Plain : public Arm {
  public:
    using Rows = std::function<std::vector<nn::ScoredRow>(std::int64_t, const SftRows::General&)>;
    Plain(StepModel model, Rows rows) : model_(std::move(model)), rows_(std::move(rows)) {}
    std::unique_ptr<TrainingStep> step(std::int64_t step,
                                       const SftRows::General& general) override {
        const auto rows = rows_(step, general);
        return rows.empty() ? nullptr : plain_step(model_, rows);
    }

  private:
    StepModel model_;
    Rows rows_;
};

struct Selection {
    SelectingOptions options;
    Schedule schedule = Schedule::one_pass;
    bool steered = true;  ///< by target rows; else they are left out
    Targets targets = Targets::merged;
};

class Selecting : public Arm {
  public:
    Selecting(StepModel model, Selection selection, const SftRows& rows)
        : model_(std::move(model)),
          schedule_(selection.schedule),
          steered_(selection.steered),
          targets_(selection.targets),
          head_(selection.options.head_chooses),
          maps_(std::move(selection.options)),
          rows_(rows) {}
    std::unique_ptr<TrainingStep> step(std::int64_t step,
                                       const SftRows::General& general) override {
        number_ = step;
        return selecting_step(model_, maps_, schedule_, general.rows,
                              steered_ ? rows_.target(step) : std::vector<nn::ScoredRow>(), head_,
                              targets_);
    }
    const std::map<std::string, SelectingMaps::Decision>* decisions() const override {
        return &maps_.decisions();
    }
    const std::int64_t& number() const { return number_; }

  private:
    StepModel model_;
    Schedule schedule_;
    bool steered_;
    Targets targets_;
    bool head_;
    SelectingMaps maps_;
    const SftRows& rows_;
    std::int64_t number_ = 0;
};

std::vector<double> shares_by_rows(const std::vector<nn::ScoredRow>& rows, LossMean mean) {
    std::vector<std::int64_t> tokens;
    for (const auto& row : rows) tokens.push_back(static_cast<std::int64_t>(row.scored_tokens()));
    return shares_of(tokens, mean);
}

/// By what the released code multiplies products of general rows beyond what is right: it takes the
/// square of the scores' factor N²/(N_general·N_target), where (N/N_general)² belongs
/// (section 1.4).
double published_factor(const std::vector<nn::ScoredRow>& general,
                        const std::vector<nn::ScoredRow>& target) {
    double of_general = 0, of_target = 0;
    for (const auto& row : general) of_general += static_cast<double>(row.scored_tokens());
    for (const auto& row : target) of_target += static_cast<double>(row.scored_tokens());
    const double share = (of_general + of_target) / of_target;
    return share * share;
}

/// Rows by lot, a function of (seed, step, group).
std::vector<std::size_t> by_lot(std::uint64_t key, std::size_t n, std::size_t k) {
    std::vector<std::size_t> rows(n);
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    for (std::size_t i = 0; i < k; ++i)
        std::swap(rows[i], rows[i + nn::counter_hash(key + i) % (n - i)]);
    rows.resize(k);
    std::sort(rows.begin(), rows.end());
    return rows;
}

/// Keeps what the decisions of a step need besides statistics.
class Deciding : public Arm {
  public:
    Deciding(const SftSettings& settings, StepModel model, const SftRows& rows, std::uint64_t seed,
             Partition partition, std::optional<SetKind> set, SetSettings set_settings,
             Schedule schedule)
        : settings_(settings), rows_(rows), seed_(seed), set_(set), set_settings_(set_settings) {
        Selection selection;
        SelectingOptions& options = selection.options;
        options = options_for(partition, set.value_or(SetKind::topk));
        options.backend = settings.readings.backend;
        options.compression_seed = seed;
        options.head_chooses = settings.readings.head == HeadRows::selected;
        options.assemble = schedule == Schedule::one_pass;
        options.choose = [this](const std::string& group, const GroupStatistics& seen) {
            return choose(group, seen);
        };
        selection.schedule = schedule;
        selection.steered = set.has_value();
        if (selection.steered) selection.targets = settings.readings.target;
        selecting_ = std::make_unique<Selecting>(std::move(model), std::move(selection), rows);
    }
    std::unique_ptr<TrainingStep> step(std::int64_t step,
                                       const SftRows::General& general) override {
        shares_ = shares_by_rows(general.rows, settings_.readings.loss);
        if (settings_.readings.similarity == Similarity::as_published)
            similarity_ = published_factor(general.rows, rows_.target(step));
        return selecting_->step(step, general);
    }
    const std::map<std::string, SelectingMaps::Decision>* decisions() const override {
        return selecting_->decisions();
    }

  private:
    Update choose(const std::string& group, const GroupStatistics& seen) const {
        if (!set_) {
            const auto key = nn::hash_text(
                group, nn::counter_hash(seed_) ^ static_cast<std::uint64_t>(selecting_->number()));
            return subset_update(by_lot(key, shares_.size(), settings_.k), shares_);
        }
        if (similarity_ == 1 || seen.gram.values.empty())
            return update_of(*set_, set_settings_, shares_, seen);
        GroupStatistics scaled = seen;
        for (double& product : scaled.gram.values) product *= similarity_;
        return update_of(*set_, set_settings_, shares_, scaled);
    }

    SftSettings settings_;
    const SftRows& rows_;
    double similarity_ = 1;
    std::uint64_t seed_;
    std::optional<SetKind> set_;  ///< absent: by lot
    SetSettings set_settings_;
    std::vector<double> shares_;
    std::unique_ptr<Selecting> selecting_;
};

std::vector<nn::ScoredRow> first_rows(const SftRows::General& general, std::size_t count) {
    return {general.rows.begin(), general.rows.begin() + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

Preparation prepare(std::string_view arm, const SftSettings& settings, const SftRows& rows,
                    const nn::Decoder& base, std::uint64_t seed) {
    return arm == "less" ? chosen_by_less(settings, rows, base, seed) : Preparation();
}

std::unique_ptr<Arm> make_arm(std::string_view name, const SftSettings& settings,
                              const nn::Decoder& decoder, const SftRows& rows, std::uint64_t seed,
                              double rate, Tuning* tuning, const Preparation& prepared) {
    const StepModel model = model_of(settings, decoder, tuning);
    const auto plain = [&](Plain::Rows of) {
        return std::make_unique<Plain>(model, std::move(of));
    };
    if (name == "full")
        return plain([](std::int64_t, const SftRows::General& general) { return general.rows; });
    if (name == "full_k")
        return plain([k = settings.k](std::int64_t, const SftRows::General& general) {
            return first_rows(general, k);
        });
    if (name == "target" || name == "target_stopped") {
        const bool stops = name == "target_stopped";
        return plain([&rows, stops](std::int64_t step, const SftRows::General&) {
            return stops && step >= early_stop ? std::vector<nn::ScoredRow>()
                                               : rows.target_batch(step);
        });
    }
    if (name == "mixing")
        return plain([&rows](std::int64_t step, const SftRows::General& general) {
            auto all = general.rows;
            for (auto& row : rows.target(step)) all.push_back(std::move(row));
            return all;
        });
    if (name == "less") {
        if (prepared.rows.empty()) throw std::invalid_argument("less: no rows were chosen ahead");
        return plain(
            [n = settings.n, chosen = prepared.rows](std::int64_t step, const SftRows::General&) {
                std::vector<nn::ScoredRow> batch;
                for (std::size_t slot = 0; slot < n; ++slot)
                    batch.push_back(
                        chosen[(static_cast<std::size_t>(step) * n + slot) % chosen.size()]);
                return batch;
            });
    }
    if (name == "iif" || name == "a_gem") {
        if (!tuning)
            throw std::invalid_argument(fmt::format("{}: asks what is trained of the model", name));
        return name == "iif" ? make_filtering(model, settings, rows, *tuning)
                             : make_a_gem(model, rows, tuning->blocks());
    }

    if (name == "choose") return make_choose_arm(settings, decoder, rows, seed, rate, tuning);

    SetSettings set;
    set.k = settings.k;
    set.eta = rate;
    const auto deciding = [&](Partition partition, std::optional<SetKind> kind,
                              Schedule schedule = Schedule::one_pass) {
        return std::make_unique<Deciding>(settings, model, rows, seed, partition, kind, set,
                                          schedule);
    };
    if (const auto partition = of_word<Partition>(name))
        return deciding(*partition, settings.readings.rule);
    if (name == "greats") return deciding(Partition::global, SetKind::greedy, Schedule::two_pass);
    if (name == "random_global") return deciding(Partition::global, std::nullopt);
    if (name == "random_layer") return deciding(Partition::layer, std::nullopt);
    for (const auto& set_arm : set_arms())
        if (name == set_arm) return deciding(Partition::layer, of_word<SetKind>(name));
    throw std::invalid_argument(fmt::format("no arm {}", name));
}

Trainee::Trainee(std::string_view name, const SftSettings& settings, double rate,
                 const SftRows& rows, const nn::Decoder& base, std::uint64_t seed,
                 const Preparation& prepared)
    : decoder(rl::copy_of(base)),
      tuning(make_tuning(settings, decoder, seed)),
      arm(make_arm(name, settings, decoder, rows, seed, rate, tuning.get(), prepared)) {}

}  // namespace assay::dr_post_training
