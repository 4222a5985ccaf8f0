#include "impls/foundry/live/engine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "impls/foundry/driver/fake/control.hpp"
#include "impls/foundry/live/captured_graph.hpp"
#include "impls/foundry/live/read_graph.hpp"
#include "impls/foundry/live/requests.hpp"
#include "impls/foundry/method/memory/audit.hpp"
#include "impls/foundry/method/memory/replay.hpp"
#include "impls/foundry/toy/host_kernels.hpp"
#include "impls/foundry/toy/reference.hpp"
#include "suite/base/error.hpp"

namespace assay::foundry {
namespace {

constexpr int golden_request = -1;
constexpr std::uint64_t relocated_by = std::uint64_t{1} << 40;

std::shared_ptr<const Driver> opened_driver(const EngineSettings& settings) {
    auto driver = open_driver(settings.driver);
    if (fake::FakeControl::is_fake(*driver))
        fake::FakeControl(*driver).add_kernels(toy::host_kernels());
    if (!settings.device.empty()) fake::FakeControl(*driver).configure(settings.device);
    return driver;
}

/// After some errors nothing more can be done in this process: only another one helps.
void rethrow_if_lost(const DriverError& error) {
    // Those of which cuda.h says so, and what it leaves open of ECC.
    static constexpr CUresult lost[] = {
        CUDA_ERROR_ECC_UNCORRECTABLE,     CUDA_ERROR_ILLEGAL_ADDRESS,
        CUDA_ERROR_LAUNCH_TIMEOUT,        CUDA_ERROR_HARDWARE_STACK_ERROR,
        CUDA_ERROR_ILLEGAL_INSTRUCTION,   CUDA_ERROR_MISALIGNED_ADDRESS,
        CUDA_ERROR_INVALID_ADDRESS_SPACE, CUDA_ERROR_INVALID_PC,
        CUDA_ERROR_LAUNCH_FAILED};
    if (std::ranges::find(lost, error.code) != std::end(lost)) throw error;
}

/// What `work` says why it could not be done, or what it throws that another try or another way may
/// mend; empty: it was done.
template <class Work>
std::string why_not_done(Work work) {
    try {
        return work();
    } catch (const UserError& error) {
        return error.what();
    } catch (const RegionRefusal& refusal) {
        return refusal.what();
    } catch (const DriverError& error) {
        rethrow_if_lost(error);
        return error.what();
    }
}

class Stream {
  public:
    explicit Stream(const Driver& driver) : driver_(driver) {
        check(driver_, driver_.cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    }
    ~Stream() { driver_.cuStreamDestroy(stream_); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    CUstream get() const { return stream_; }
    void synchronize() const {
        check(driver_, driver_.cuStreamSynchronize(stream_), "cuStreamSynchronize");
    }

  private:
    const Driver& driver_;
    CUstream stream_ = nullptr;
};

/// Medusa's rule in its simplest form: what looks like an address of the old region is one.
void shift_addresses(Graph& graph, const Range& region, std::uint64_t by) {
    for (Node& node : graph.nodes) {
        auto& params = node.launch.params;
        for (std::size_t at = 0; at + 8 <= params.size(); at += 8) {
            std::uint64_t word = 0;
            std::memcpy(&word, params.data() + at, sizeof word);
            if (!region.holds(word)) continue;
            word += by;
            std::memcpy(params.data() + at, &word, sizeof word);
        }
        for (auto& [name, value] : node.fields)
            if (region.holds(value.bits)) value.bits += by;
    }
}

SavedMemory replayed(std::string_view trace, const RegionSettings& settings) {
    std::istringstream lines{std::string(trace)};
    return replay_save(read_save_trace(lines, "memory.trace"), settings);
}

class LiveEngine final : public Engine, private toy::StepResources {
  public:
    LiveEngine(const EngineSettings& settings, drive::Strike strike)
        : settings_(settings),
          strike_(std::move(strike)),
          driver_(opened_driver(settings)),
          device_(driver_),
          stream_(*driver_),
          images_(*driver_) {
        settings_.step.ranks = settings_.place.ranks;
    }

    std::string save(const std::string& folder) override;
    std::string open(const Open& open) override;
    std::string make(const Executables::Task& task) override;
    std::vector<std::size_t> group_of() const override { return group_of_; }
    std::variant<std::uint64_t, NoResult> decode(int request, std::size_t graph,
                                                 bool plain) override;
    double take_seconds() override { return 0; }

  private:
    // ---- toy::StepResources
    CUdeviceptr allocate(const std::string& name, std::uint64_t bytes) override {
        return memory_->allocate(name, bytes);
    }
    toy::RankHeaps heaps(std::uint64_t bytes) override;
    CUfunction kernel(const std::string& name) override;

    void start(const RegionSettings& region, RegionMemory::Base base = RegionMemory::Base::exactly);
    void start_step();
    void start_capturing();
    void forget_graphs();
    std::string why_not(const Archive& archive) const;
    std::string restore(const std::string& folder);
    RankTags rank_tags() const;

    CapturedGraph capture(std::size_t graph);
    struct Launchable {
        std::shared_ptr<BuiltGraph> source;  // whose events it uses; none: it was captured
        Executable executable;
        std::size_t graph = 0;   ///< what it is
        bool is_proven = false;  ///< its first replay was right, or nothing is known of it
    };
    Launchable launchable(const Executables::Task& task);
    void refuse_unequal(const BuiltGraph& built, std::size_t graph) const;
    std::string update(std::size_t graph);

    std::uint64_t decode_with(int request, std::size_t graph, const Launchable* launchable);
    std::variant<std::uint64_t, NoResult> decoded(int request, std::size_t graph, bool plain);
    int batch(std::size_t graph) const { return settings_.batches.at(graph); }
    const Driver& driver() const { return *driver_; }

    EngineSettings settings_;
    drive::Strike strike_;
    std::shared_ptr<const Driver> driver_;
    Device device_;
    Stream stream_;
    std::vector<std::unique_ptr<const Archive>> archives_;  // opened; images_ points into them
    Images images_;
    std::unique_ptr<RegionMemory> memory_;
    // Of several ranks, which meet once.
    std::unique_ptr<Communicator> communicator_;
    std::string image_;  // of the step's kernels
    std::unique_ptr<toy::DecodeStep> step_;

    Mode mode_{};
    std::vector<std::size_t> group_of_;
    std::vector<Graph> graphs_;                                     // restored; by graph
    std::map<std::size_t, std::uint64_t> golden_;                   // by graph
    std::map<std::size_t, std::shared_ptr<BuiltGraph>> templates_;  // by group
    std::map<std::size_t, CapturedGraph> captured_;                 // by graph: dedup's
    std::map<std::size_t, Launchable> own_, shared_;                // by graph; by group
};

toy::RankHeaps LiveEngine::heaps(std::uint64_t bytes) {
    if (!communicator_) {
        const std::uint64_t behind = settings_.region.base + settings_.region.size;
        communicator_ = std::make_unique<Communicator>(device_, settings_.place, behind, bytes);
    }
    return {.rank = settings_.place.rank,
            .first = {communicator_->base()},
            .stride = communicator_->stride()};
}

RankTags LiveEngine::rank_tags() const {
    return {.rank = settings_.place.rank,
            .ranks = settings_.place.ranks,
            .heap = communicator_->base(),
            .stride = communicator_->stride(),
            .words = toy::rank_words()};
}

CUfunction LiveEngine::kernel(const std::string& name) {
    if (settings_.launch_us > 0) {
        const auto end = std::chrono::steady_clock::now() +
                         std::chrono::duration<double, std::micro>(settings_.launch_us);
        while (std::chrono::steady_clock::now() < end) {
        }
    }
    const Images::Resolved* resolved = images_.find(image_, name);
    if (resolved == nullptr) throw std::logic_error("the step's image has no kernel " + name);
    return resolved->function;
}

/// Memory, kernels and the step, in an order that is the same whether graphs are captured, saved or
/// restored: so is where everything lies.
void LiveEngine::start(const RegionSettings& region, RegionMemory::Base base) {
    own_.clear();
    shared_.clear();
    captured_.clear();
    templates_.clear();
    step_.reset();
    memory_.reset();
    memory_ = std::make_unique<RegionMemory>(device_, region, base);
    if (settings_.before_bytes > 0) memory_->allocate("start-up", settings_.before_bytes);
    memory_->pass_boundary();
    if (settings_.after_bytes > 0) memory_->allocate("too-late", settings_.after_bytes);
    image_ = images_.load(toy::decode_image());
}

void LiveEngine::start_step() {
    toy::StepResources& own = *this;
    step_ = std::make_unique<toy::DecodeStep>(driver(), own, settings_.step);
}

CapturedGraph LiveEngine::capture(std::size_t graph) {
    // The first step of a batch size allocates.
    return foundry::capture(driver(), stream_.get(),
                            [&] { step_->launch(batch(graph), stream_.get()); });
}

std::string LiveEngine::save(const std::string& folder) {
    return why_not_done([&]() -> std::string {
        start(settings_.region);
        start_step();
        GraphEncoder graphs;
        std::vector<GoldenResult> golden;
        for (std::size_t graph = 0; graph < settings_.batches.size(); ++graph) {
            const std::string window = std::to_string(batch(graph));
            memory_->begin(window);
            const CapturedGraph captured = capture(graph);
            memory_->end();
            graphs.add(read_graph(driver(), images_, captured.get(), batch(graph)));
            if (settings_.place.ranks > 1) continue;  // its collective waits for absent ranks
            const Launchable launchable{{}, Executable(driver(), captured.get()), graph, true};
            golden.push_back({batch(graph), decode_with(golden_request, graph, &launchable)});
        }
        const auto image = toy::decode_image();
        ArchiveContent content{.graphs = graphs};
        content.images.push_back({image_, image, read_image(image)});
        content.fingerprint = device_.fingerprint();
        content.trace = memory_->trace();
        const SavedMemory saved = replayed(content.trace, settings_.region);
        content.region = {.settings = saved.settings, .final = saved.final, .live = saved.live};
        content.golden = std::move(golden);
        if (settings_.place.ranks > 1) content.ranks = rank_tags();
        write_archive(folder, content, [&](const std::filesystem::path&) {
            if (strike_(FaultKind::disk_full)) throw UserError("no space is left on the device");
        });
        return {};
    });
}

/// The first reason why an archive cannot serve here; empty: it can.
std::string LiveEngine::why_not(const Archive& archive) const {
    const Manifest& manifest = archive.manifest();
    if (!archive.trace()) return "it was packed without a trace of memory";
    if (settings_.checks.fingerprint) {
        const auto other =
            differences(manifest.fingerprint.value_or(Fingerprint()), device_.fingerprint());
        if (!other.empty())
            return fmt::format("it was saved on another machine: {} differ{}",
                               fmt::join(other, ", "), other.size() == 1 ? "s" : "");
    }
    if (const int ranks = manifest.ranks ? manifest.ranks->ranks : 1;
        ranks != settings_.place.ranks)
        return fmt::format("its graphs are of {} rank{}, this server's of {}", ranks,
                           ranks == 1 ? "" : "s", settings_.place.ranks);
    std::vector<int> batches;
    for (std::size_t graph = 0; graph < archive.graphs().size(); ++graph)
        batches.push_back(static_cast<int>(archive.graphs().batch(graph)));
    if (batches != settings_.batches)
        return fmt::format("its batch sizes are {}, this server's {}", batches, settings_.batches);
    return {};
}

std::string LiveEngine::open(const Open& open) {
    mode_ = open.mode;
    forget_graphs();
    if (restores(mode_)) {
        std::string all;
        for (const std::string& folder : open.archives) {
            const std::string why = why_not_done([&] { return restore(folder); });
            if (why.empty()) return {};
            all += (all.empty() ? "" : "; ") + why;
        }
        return all.empty() ? "there is no archive" : all;
    }
    return why_not_done([&]() -> std::string {
        start_capturing();
        return {};
    });
}

void LiveEngine::forget_graphs() {
    graphs_.clear();
    golden_.clear();
    group_of_.clear();
}

void LiveEngine::start_capturing() {
    start(settings_.region, RegionMemory::Base::anywhere);  // nothing is restored
    start_step();
    std::map<std::string, std::size_t> groups;
    for (std::size_t graph = 0; graph < settings_.batches.size(); ++graph) {
        if (mode_ != Mode::dedup) {
            group_of_.push_back(graph);
            continue;
        }
        CapturedGraph captured = capture(graph);
        const Graph read = read_graph(driver(), images_, captured.get(), batch(graph));
        group_of_.push_back(
            groups.try_emplace(kernel_signature(read), groups.size()).first->second);
        captured_.emplace(graph, std::move(captured));
    }
}

std::string LiveEngine::restore(const std::string& folder) {
    forget_graphs();
    archives_.push_back(std::make_unique<const Archive>(folder));
    const Archive& archive = *archives_.back();
    if (std::string why = why_not(archive); !why.empty()) return folder + ": " + why;
    const Manifest& manifest = archive.manifest();
    const SavedMemory saved = replayed(*archive.trace(), manifest.region->settings);
    RegionSettings region = saved.settings;
    const std::uint64_t shift = mode_ == Mode::relocate ? relocated_by : 0;
    region.base += shift;
    start(region);
    for (const StoredImage& image : archive.images()) images_.load(archive.content(image));
    std::vector<Range> live = saved.live;
    const std::uint64_t boundary = region.base + region.scratch;
    for (Range& range : live)  // below the boundary is this process' own start-up
        range = {std::max(range.lo + shift, boundary), range.hi + shift};
    std::erase_if(live, [](const Range& range) { return range.hi <= range.lo; });
    const auto drifted = [&](std::uint64_t expected) {
        return settings_.checks.cursor && memory_->region().cursor() != expected;
    };
    const auto drift = [&](std::uint64_t expected) {
        return fmt::format(
            "{}: memory was allocated otherwise than when it was saved: the next address is {:#x}, "
            "not {:#x}",
            folder, memory_->region().cursor(), expected);
    };
    if (drifted(boundary)) return drift(boundary);
    memory_->map_ahead(live);
    start_step();
    if (manifest.ranks && (manifest.ranks->heap != communicator_->base() ||
                           manifest.ranks->stride != communicator_->stride()))
        return folder + ": its ranks' heaps lie elsewhere than this server's";
    const std::uint64_t first_window =
        shift + (saved.windows.empty() ? saved.final : saved.windows.front().start.cursor);
    if (drifted(first_window)) return drift(first_window);
    if (memory_->region().cursor() <= saved.final + shift)
        memory_->move_to({saved.final + shift, memory_->region().hint()});
    for (std::size_t graph = 0; graph < archive.graphs().size(); ++graph) {
        graphs_.push_back(archive.graphs().graph(graph));
        group_of_.push_back(archive.graphs().group(graph));
        if (manifest.ranks)
            patch_rank(graphs_.back(), *manifest.ranks, settings_.place.rank,
                       settings_.place.ranks);
        if (shift != 0) shift_addresses(graphs_.back(), saved.settings.range(), shift);
        if (settings_.checks.audit)
            for (const AuditItem& item : audit(graphs_.back(), region.range(), live))
                if (!item.range)
                    return fmt::format(
                        "{}: batch {}, node {}: {:#x} points to memory that is not "
                        "there",
                        folder, item.batch, item.node, item.address);
    }
    for (const auto& [batch, result] : manifest.golden) {
        const auto at = std::ranges::find(settings_.batches, batch);
        if (at != settings_.batches.end()) golden_[at - settings_.batches.begin()] = result;
    }
    return {};
}

LiveEngine::Launchable LiveEngine::launchable(const Executables::Task& task) {
    const std::size_t graph = task.graph, group = group_of_.at(graph);
    if (task.make == Make::capture)
        return {{}, Executable(driver(), capture(graph).get()), graph, true};
    if (task.make == Make::own) {
        const auto& source = templates_.at(group);
        source->rewrite(graphs_.at(graph));
        refuse_unequal(*source, graph);
        return {source, Executable(driver(), source->get()), graph, false};
    }
    auto source = std::make_shared<BuiltGraph>(device_, images_, graphs_.at(graph));
    refuse_unequal(*source, graph);
    Executable executable(driver(), source->get());
    // What a shared executable is updated from is its own graph.
    if (!templates_.contains(group) || (shares(mode_) && !shared_.contains(group)))
        templates_.insert_or_assign(group, source);
    return {std::move(source), std::move(executable), graph, false};
}

void LiveEngine::refuse_unequal(const BuiltGraph& built, std::size_t graph) const {
    if (!settings_.checks.read_back ||
        read_graph(driver(), images_, built.get(), batch(graph)) == graphs_[graph])
        return;
    throw UserError(fmt::format("batch {}: the graph that was built is not the one that was saved",
                                batch(graph)));
}

std::string LiveEngine::update(std::size_t graph) {
    Launchable& shared = shared_.at(group_of_.at(graph));
    stream_.synchronize();
    std::string why;
    if (mode_ == Mode::dedup) {
        why = shared.executable.update(captured_.at(graph).get());
    } else if (BuiltGraph& built = *templates_.at(group_of_[graph]); mode_ == Mode::r2) {
        built.write_nodes(graphs_.at(shared.graph), graphs_.at(graph), shared.executable);
    } else {
        built.rewrite(graphs_.at(graph));
        why = shared.executable.update(built.get());
    }
    shared.graph = graph;
    shared.is_proven = false;
    return why;
}

std::string LiveEngine::make(const Executables::Task& task) {
    const std::size_t group = group_of_.at(task.graph);
    if (task.make == Make::update) {
        if (!shared_.contains(group)) return "there is no executable to update";
        // Nodes of another graph would be paired with its own.
        if (mode_ != Mode::dedup &&
            (!templates_.contains(group) || shared_.at(group).source != templates_.at(group)))
            return "the group's executable is not of its template";
        std::string why = why_not_done([&] { return update(task.graph); });
        // One that failed may have changed a part of it.
        if (!why.empty()) shared_.erase(group);
        return why;
    }
    if (task.make == Make::own && !templates_.contains(group)) return "there is no template";
    return why_not_done([&]() -> std::string {
        Launchable made = launchable(task);
        if (shares(mode_) && !shared_.contains(group))
            shared_.emplace(group, std::move(made));
        else
            own_.insert_or_assign(task.graph, std::move(made));
        return {};
    });
}

std::uint64_t LiveEngine::decode_with(int request, std::size_t graph,
                                      const Launchable* launchable) {
    const auto decode = [&](std::span<const toy::Row> rows, const toy::RandomState& random) {
        step_->set_inputs(rows, random);
        if (launchable != nullptr)
            launchable->executable.launch(stream_.get());
        else
            step_->launch(batch(graph), stream_.get());
        stream_.synchronize();
        return step_->tokens(static_cast<int>(rows.size()));
    };
    return decode_request(settings_.step, request, batch(graph), settings_.decode_steps, decode);
}

std::variant<std::uint64_t, Engine::NoResult> LiveEngine::decode(int request, std::size_t graph,
                                                                 bool plain) {
    try {
        return decoded(request, graph, plain);
    } catch (const DriverError& error) {
        rethrow_if_lost(error);
        return NoResult{error.what()};
    }
}

std::variant<std::uint64_t, Engine::NoResult> LiveEngine::decoded(int request, std::size_t graph,
                                                                  bool plain) {
    if (plain) return decode_with(request, graph, nullptr);
    const std::size_t group = group_of_.at(graph);
    const bool own = own_.contains(graph);
    if (!own && (!shared_.contains(group) || shared_.at(group).graph != graph))
        return NoResult{"there is no executable of this graph"};
    Launchable& launchable = own ? own_.at(graph) : shared_.at(group);
    const auto drop = [&] {
        if (own)
            own_.erase(graph);
        else
            shared_.erase(group);
    };
    const auto golden = golden_.find(graph);
    if (settings_.checks.golden && !launchable.is_proven && golden != golden_.end()) {
        if (decode_with(golden_request, graph, &launchable) != golden->second) {
            drop();
            return NoResult{
                fmt::format("batch {}: the first replay gives other tokens than were "
                            "saved",
                            batch(graph))};
        }
        launchable.is_proven = true;
    }
    return decode_with(request, graph, &launchable);
}

}  // namespace

std::uint64_t reference_result(const EngineSettings& settings, int request, int batch) {
    std::vector<toy::ReferenceSequence> sequences(static_cast<std::size_t>(batch),
                                                  toy::ReferenceSequence(settings.step));
    return decode_request(settings.step, request, batch, settings.decode_steps,
                          [&](std::span<const toy::Row> rows, const toy::RandomState& random) {
                              std::vector<int> tokens;
                              for (std::size_t row = 0; row < rows.size(); ++row)
                                  tokens.push_back(sequences[row].next(rows[row].token, random));
                              return tokens;
                          });
}

std::unique_ptr<Engine> make_live_engine(const EngineSettings& settings, drive::Strike strike) {
    return std::make_unique<LiveEngine>(settings, std::move(strike));
}

}  // namespace assay::foundry
