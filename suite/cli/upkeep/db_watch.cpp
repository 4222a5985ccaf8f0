#include "suite/cli/upkeep/db_watch.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>

#include "suite/base/error.hpp"
#include "suite/cli/database.hpp"
#include "suite/cli/upkeep/watch_output.hpp"
#include "suite/runner/interruption.hpp"

namespace assay::cli {
namespace {

/// How soon something is shown after it was stored, which is a quarter of a second after it
/// happened.
constexpr int look_every_ms = 200;
/// How soon a runner is missed that was killed.
constexpr int looks_per_check = 10;

/// Follows the sessions that run, and those that begin meanwhile.
class Watch {
  public:
    Watch(const Context& context, const WatchOptions& options)
        : context_(context),
          store_(open_existing(context)),
          began_(store::now_utc()),
          output_(watch_output(context.registry, options.json)) {
        if (store_.is_copy())
            throw NotSupportedHere(
                fmt::format("{} lies where nothing may be written: a copy of it is read, which "
                            "does not change; watch it from where the run writes it",
                            store_.path().string()));
        cursor_ = store_.before_what_runs();
    }

    bool anything_runs() const {
        return std::any_of(runs_.begin(), runs_.end(), [](const auto& of) { return of.second; });
    }
    bool anything_ran() const { return !runs_.empty(); }
    bool a_runner_died() const { return died_; }

    void look() {
        if (store_.replaced())
            store_ = store::Store::open(context_.database_path(), store::Access::read);
        const store::Changes changes = store_.changes_since(cursor_);
        cursor_ = changes.next;
        if (changes.everything) start_again();
        for (const std::string& id : changes.removed_samples)
            if (statuses_.erase(id) > 0) output_->removed(id);
        for (const store::Session& session : changes.sessions) take(session);
        for (const store::SampleChange& change : changes.samples) take(change);
        for (const store::Session& session : changes.sessions)  // after their last samples
            if (const auto of = runs_.find(session.id);
                of != runs_.end() && of->second && session.state != "running") {
                output_->ended(session);
                of->second = false;
            }
        std::cout << std::flush;
    }

    /// Whoever is killed does not say that it ends.
    void miss_runners() {
        for (auto& [id, runs] : runs_) {
            if (!runs || store_.has_living_runner(id)) continue;
            // It may have ended between two looks.
            if (store_.session(id)->state != "running") continue;
            std::cerr << fmt::format("{:.8}  its runner ended before it was finished\n", id);
            runs = false;
            died_ = true;
        }
    }

  private:
    void start_again() {
        if (!runs_.empty()) output_->again();
        runs_.clear();
        statuses_.clear();
    }
    /// Not what is imported meanwhile.
    void take(const store::Session& session) {
        const bool is_new = !runs_.contains(session.id);
        if (session.state == "running" || (is_new && session.started >= began_))
            runs_[session.id] = true;  // perhaps until the end of this look
        if (is_new && runs_.contains(session.id)) output_->begun(session);
    }
    void take(const store::SampleChange& change) {
        const store::Sample& sample = change.sample;
        if (!runs_.contains(sample.session)) return;
        const auto [before, is_new] = statuses_.emplace(sample.id, sample.status);
        const bool as_before = !is_new && before->second == sample.status;
        before->second = sample.status;
        output_->sample(change, as_before);
    }

    const Context& context_;
    store::Store store_;
    std::string began_;
    std::unique_ptr<WatchOutput> output_;
    store::Cursor cursor_;
    std::map<std::string, bool> runs_;             ///< sessions that are followed
    std::map<std::string, std::string> statuses_;  ///< of samples, as they were printed last
    bool died_ = false;
};

}  // namespace

int watch_runs(const Context& context, const WatchOptions& options) {
    const runner::Interruption interruption;
    Watch watch(context, options);
    for (int looks = 1;; ++looks) {
        watch.look();
        if (looks % looks_per_check == 0 || looks == 1) watch.miss_runners();
        if (!watch.anything_runs() && (watch.anything_ran() || !options.wait)) break;
        pollfd entry{interruption.fd(), POLLIN, 0};
        if (::poll(&entry, 1, look_every_ms) > 0 || !std::cout) return exit_ok;
    }
    if (!watch.anything_ran())
        std::cerr << "nothing is running; with --wait it waits for the next run\n";
    return watch.a_runner_died() ? exit_error : exit_ok;
}

}  // namespace assay::cli
