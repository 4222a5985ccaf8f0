#include "impls/foundry/campaign/modelled_engine.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace assay::foundry {
namespace {

std::uint64_t mixed(std::uint64_t value) {
    value += 0x9e3779b97f4a7c15;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    return value ^ (value >> 31);
}

class ModelledEngine final : public Engine {
  public:
    ModelledEngine(const ModelledSettings& settings, ModelledDisk& disk, drive::Worker& me)
        : settings_(settings),
          disk_(disk),
          me_(me),
          chip_(settings.chips.at(static_cast<std::size_t>(me.id()) % settings.chips.size())) {}

    std::string save(const std::string& archive) override {
        use_gpu();
        seconds_ += settings_.costs.capture * static_cast<double>(settings_.group_of.size());
        if (me_.struck(FaultKind::disk_full)) return "no space for the archive";
        if (disk_.archives.contains(archive)) return {};  // an earlier saver's, killed afterwards
        disk_.archives[archive] = {.chip = chip_, .damaged = me_.struck(FaultKind::torn)};
        return {};
    }

    std::string open(const Open& open) override {
        use_gpu();
        mode_ = open.mode;
        if (!restores(open.mode)) return {};
        seconds_ += settings_.costs.images;
        std::string all;
        const auto refuse = [&](const std::string& name, const std::string& why) {
            all += fmt::format("{}{}: {}", all.empty() ? "" : "; ", name, why);
        };
        for (const std::string& name : open.archives) {
            const auto found = disk_.archives.find(name);
            if (found == disk_.archives.end()) continue;
            ModelledDisk::Archive& archive = found->second;
            if (me_.struck(FaultKind::corrupt)) archive.damaged = true;
            if (archive.chip != chip_) {
                refuse(name, fmt::format("made for {}, this is {}", archive.chip, chip_));
            } else if (archive.damaged && settings_.misdeed != Misdeed::takes_damaged) {
                refuse(name, "damaged");
            } else {
                right_ = !archive.damaged && !archive.stale;
                shows_ = archive.stale;
                return {};
            }
        }
        return all.empty() ? "there is no archive" : all;
    }

    std::vector<std::size_t> group_of() const override { return settings_.group_of; }

    std::string make(const Executables::Task& task) override {
        use_gpu();
        seconds_ += seconds(task.make, settings_.costs);
        const std::size_t group = settings_.group_of.at(task.graph);
        const bool fails = drawn() < settings_.make_fails;
        if (task.make == Make::update) {
            const auto shared = shared_.find(group);
            if (shared == shared_.end()) return "there is no executable to update";
            if (fails) shared_.erase(shared);
            if (fails) return "update failed";
            hangs_ = drawn() < settings_.update_hangs;
            shared->second.graph = task.graph;
            if (settings_.misdeed != Misdeed::never_updates) shared->second.launches = task.graph;
            return {};
        }
        if (fails) return fmt::format("{} failed", to_string(task.make));
        const Executable made{task.graph, task.graph, task.make == Make::capture || right_};
        if (!shares(mode_) || !shared_.try_emplace(group, made).second) own_[task.graph] = made;
        return {};
    }

    std::variant<std::uint64_t, NoResult> decode(int request, std::size_t graph,
                                                 bool plain) override {
        use_gpu();
        seconds_ += settings_.step_s;
        if (hangs_) seconds_ += never_s;
        if (plain) return right_result(request, graph);
        const std::size_t group = settings_.group_of.at(graph);
        const bool own = own_.contains(graph);
        if (!own && (!shared_.contains(group) || shared_.at(group).graph != graph))
            return NoResult{"there is no executable of this graph"};
        const Executable launched = own ? own_.at(graph) : shared_.at(group);
        if (!launched.right && shows_ && settings_.misdeed != Misdeed::trusts_replays) {
            if (own)
                own_.erase(graph);
            else
                shared_.erase(group);
            return NoResult{"the first replay gives other tokens than were saved"};
        }
        return launched.right ? right_result(request, launched.launches) : 0;
    }

    double take_seconds() override { return std::exchange(seconds_, 0); }

  private:
    static constexpr double never_s = 1e9;
    struct Executable {
        std::size_t graph = 0, launches = 0;  // what it is held for, and what it is
        bool right = true;
    };
    /// Throws, as a worker's process ends, where its GPU was lost.
    void use_gpu() {
        if (me_.struck(FaultKind::gpu_error)) throw std::runtime_error("its GPU is lost");
    }
    /// From 0 to below 1, by the seed, the worker and how often it has drawn.
    double drawn() {
        const auto worker = static_cast<std::uint64_t>(me_.id());
        const std::uint64_t bits = mixed(mixed(settings_.seed) + mixed(worker << 32 | draws_++));
        return static_cast<double>(bits >> 11) * 0x1p-53;
    }

    ModelledSettings settings_;
    ModelledDisk& disk_;
    drive::Worker& me_;
    std::string chip_;
    Mode mode_{};
    std::map<std::size_t, Executable> own_;     // by graph
    std::map<std::size_t, Executable> shared_;  // by group
    bool right_ = true, shows_ = false;         // what is restored is right; a replay tells
                                                // that it is not
    bool hangs_ = false;
    double seconds_ = 0;
    std::uint64_t draws_ = 0;
};

}  // namespace

std::uint64_t right_result(int request, std::size_t graph) {
    return mixed(static_cast<std::uint64_t>(request) << 32 | graph) | 1;
}

MakeEngine modelled_engines(const ModelledSettings& settings, ModelledDisk& disk) {
    return [settings, &disk](drive::Worker& me) {
        return std::make_unique<ModelledEngine>(settings, disk, me);
    };
}

}  // namespace assay::foundry
