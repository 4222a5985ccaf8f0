// A journal: the recording of a policy's decisions (recording.hpp) in a file that outlives the
// process, and the policy restored from it. A decision is in the file before its actions are
// carried out, so a driver that is killed at any moment can be started again and goes on:
//
//     Journal journal(path, "rl/scheduler", settings);             // a new run
//     RecordedPolicy<P> policy([&](const auto& one) { journal.append(one); }, settings);
//
//     std::ifstream file(path);                                    // after a kill
//     auto was = restored<P>(file, "rl/scheduler", settings);
//     auto journal = Journal::continued(path, "rl/scheduler", settings);
//     RecordedPolicy<P> policy([&](const auto& one) { journal.append(one); },
//                              std::move(was.policy));
//     …                                                            // as RestoredPolicy says
//
// A line counts when its '\n' is in the file. What follows the last '\n' was being written when the
// writer was killed; its actions were not carried out, and it is dropped. Only a power cut can take
// back decisions whose actions were: those after the last sync().
#pragma once

#include <cstdint>
#include <filesystem>
#include <istream>
#include <nlohmann/json.hpp>
#include <optional>
#include <streambuf>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "suite/base/file_descriptor.hpp"
#include "suite/drive/recording.hpp"

namespace assay::drive {

/// The file that decisions are appended to, by one process at a time (nothing checks that). When a
/// decision cannot be written, the file ends with the one before it, and later calls throw
/// std::logic_error: a journal without one of its decisions could not be restored.
class Journal {
  public:
    /// Begins one. Throws UserError for a file that has something in it, and where none can be
    /// written. `policy`: "system/policy".
    template <class Settings>
    Journal(const std::filesystem::path& path, std::string_view policy, const Settings& settings)
        : Journal(path, policy, to_json(settings), Start::new_file) {}

    /// Goes on with the one that is there, after its last whole line; with an empty file it begins.
    /// Throws UserError, and leaves the file as it is, where that is no journal of this policy with
    /// these settings.
    template <class Settings>
    static Journal continued(const std::filesystem::path& path, std::string_view policy,
                             const Settings& settings) {
        return {path, policy, to_json(settings), Start::old_file};
    }

    /// One write of the whole line. When it returns, a kill of this process cannot lose the
    /// decision any more; its actions may be carried out. Throws UserError for a full disk and the
    /// like.
    template <Policy P>
    void append(const Decision<P>& decision) {
        begin_change();
        append_line(lines_.next(decision));
    }

    /// Returns when the device has all that was appended, so that a power cut cannot lose it
    /// either. Throws UserError.
    void sync();

  private:
    enum class Start { new_file, old_file };
    Journal(const std::filesystem::path&, std::string_view policy, const nlohmann::json& settings,
            Start);

    void find_end(std::string_view policy, const nlohmann::json& settings);
    void begin_change();
    void append_line(const std::string& line);
    [[noreturn]] void fail(const char* what, const char* and_so = "") const;

    std::filesystem::path path_;
    FileDescriptor file_;
    std::uint64_t bytes_ = 0;  ///< of whole lines
    RecordingLines lines_;
    bool complete_ = true;      ///< all decisions so far are in the file
    bool name_synced_ = false;  ///< the device has the file's name
};

/// Reads the whole lines of a journal. Throws UserError as RecordingReader does, for a journal of
/// other settings, and where the stream cannot be read.
class JournalReader {
  public:
    JournalReader(std::istream& in, std::string_view policy, const nlohmann::json& settings);

    bool next();  ///< to the next decision; false: there is none
    const RecordingReader& decision() const { return *recording_; }  ///< after next()
    std::uint64_t whole_bytes() const { return lines_.bytes; }       ///< read so far

  private:
    void require_read() const;

    struct WholeLines : std::streambuf {
        explicit WholeLines(std::istream& from) : in(from) {}
        int_type underflow() override;

        std::istream& in;
        std::string line;  ///< at the end: what is torn
        std::uint64_t bytes = 0;
    };

    WholeLines lines_;
    std::istream in_{&lines_};
    std::optional<RecordingReader> recording_;  ///< none: there is no whole line
};

struct PendingTimer {
    std::uint64_t id = 0;
    double due_s = 0;  ///< scenario time
    bool operator==(const PendingTimer&) const = default;
};

/// A policy as it was after the last decision in its journal. For the run to continue as if it had
/// not been interrupted, a driver
/// 1. lets scenario time go on from now_s;
/// 2. starts `timers` again, in this order; overdue ones come at once;
/// 3. carries out last_actions. Those of earlier decisions have been carried out; of these, none,
///    some or all have. A worker that outlives the driver may receive one twice and has to
///    recognise it, by a number in it for example;
/// 4. tells the policy what has happened since, beginning with the Died of each worker that ended
///    together with the driver. An event that is not in the journal is unknown to the policy: a
///    worker that outlives the driver has to say it again.
/// With no decisions the run has not begun: the driver does what it does for a new one.
template <Policy P>
struct RestoredPolicy {
    P policy;
    std::size_t decisions = 0;
    double now_s = 0;  ///< of the last decision
    std::vector<typename P::Action> last_actions;
    std::vector<PendingTimer> timers;  ///< started before the last decision and not come back
};

/// Makes a P of `settings` and tells it of all whole decisions. `policy`: "system/policy". Throws
/// UserError as JournalReader does, with an explanation() where P decides otherwise than the
/// journal says, and whatever a P made of such settings throws.
template <Policy P, class Settings>
RestoredPolicy<P> restored(std::istream& journal, std::string_view policy,
                           const Settings& settings);

// ---- how ---------------------------------------------------------------------------------------

namespace detail {

/// Takes the one with this id that is due first out of `timers`.
void remove_first_due(std::vector<PendingTimer>& timers, std::uint64_t id);
[[noreturn]] void refuse_other_decision(const PolicyReplay::Difference&);

/// `one`, if it holds a T.
template <class T, class... Ts>
const T* held(const std::variant<Ts...>& one) {
    if constexpr ((std::is_same_v<T, Ts> || ...))
        return std::get_if<T>(&one);
    else
        return nullptr;
}

}  // namespace detail

template <Policy P, class Settings>
RestoredPolicy<P> restored(std::istream& journal, std::string_view policy,
                           const Settings& settings) {
    JournalReader reader(journal, policy, to_json(settings));
    RestoredPolicy<P> was{.policy = P(settings)};
    while (reader.next()) {
        for (const auto& action : was.last_actions)
            if (const auto* start = detail::held<StartTimer>(action))
                was.timers.push_back({start->id, was.now_s + start->after_s});
        const auto event = reader.decision().event<typename P::Event>();
        if (const auto* timer = detail::held<Timer>(event))
            detail::remove_first_due(was.timers, timer->id);
        if (const auto difference =
                decide_again(was.policy, reader.decision(), was.decisions, was.last_actions))
            detail::refuse_other_decision(*difference);
        was.now_s = reader.decision().now_s();
        ++was.decisions;
    }
    return was;
}

}  // namespace assay::drive
