// What a policy was told and what it did about it, as text: kept with a sample, and told again to
// the policy alone, without workers, to find out whether it still decides the same.
//
// JSON lines. The first says what the policy was made with:
//     {"format":1,"policy":"lazarus/controller","settings":{…}}
// Each other one is a decision, {"now_s":…,"event":{…},"actions":[…]}, of which it has only what is
// not as in the decision before (a merge patch, RFC 7386): where ten workers report one step, nine
// lines are {"event":{"worker":…}}, and a recording is a third of its size.
#pragma once

#include <istream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "suite/drive/messages.hpp"
#include "suite/drive/policy.hpp"
#include "suite/experiment/policy_replay.hpp"

namespace assay::drive {

/// Another one is refused.
inline constexpr int recording_format = 1;

/// The lines of a recording, each with its '\n'. Remembers one decision. Bytes that are no UTF-8
/// become U+FFFD.
class RecordingLines {
  public:
    /// A value as it is written.
    static std::string text(const nlohmann::json& value);

    /// The one in front of all decisions. `policy`: "system/policy".
    static std::string first(std::string_view policy, nlohmann::json settings);

    /// `before`: the decision that the next one is written after, as RecordingReader has it; by
    /// default there is none.
    explicit RecordingLines(nlohmann::json before = nlohmann::json::object())
        : before_(std::move(before)) {}

    template <Policy P>
    std::string next(const Decision<P>& decision) {
        return line({{"now_s", to_json(decision.now_s)},
                     {"event", to_message(decision.event)},
                     {"actions", to_json(decision.actions)}});
    }

  private:
    std::string line(nlohmann::json decision);

    nlohmann::json before_;
};

/// Writes decisions as they are made: for a sink of RecordedPolicy.
class RecordingWriter {
  public:
    /// `policy`: "system/policy". `out` must outlive it.
    template <class Settings>
    RecordingWriter(std::ostream& out, std::string_view policy, const Settings& settings)
        : out_(out) {
        out_ << RecordingLines::first(policy, to_json(settings));
    }

    template <Policy P>
    void write(const Decision<P>& decision) {
        out_ << lines_.next(decision);
    }

  private:
    std::ostream& out_;
    RecordingLines lines_;
};

/// Reads one decision at a time. Throws UserError, naming the line, for what is no recording of
/// this policy as this build knows it.
class RecordingReader {
  public:
    RecordingReader(std::istream& in, std::string_view policy);

    template <class Settings>
    Settings settings() const {
        return read<Settings>(settings_);
    }
    const nlohmann::json& settings_text() const { return settings_; }

    bool next();  ///< to the next decision; false: there is none

    double now_s() const { return read<double>(decision_.at("now_s")); }
    template <class Event>
    Event event() const {
        return read<Event>(event_text());
    }
    template <class Action>
    std::vector<Action> actions() const {
        return read<std::vector<Action>>(actions_text());
    }
    const nlohmann::json& decision_text() const { return decision_; }
    const nlohmann::json& event_text() const { return decision_.at("event"); }
    const nlohmann::json& actions_text() const { return decision_.at("actions"); }

  private:
    // What is written again must be what was there, or something in it means nothing here.
    template <class T>
    T read(const nlohmann::json& value) const {
        try {
            T result = from_json<T>(value);
            if (to_json(result) == value) return result;
        } catch (const MessageError& error) {
            refuse(error.what());
        }
        refuse("it has fields that this build does not know");
    }

    nlohmann::json line();
    [[noreturn]] void refuse(const std::string& why) const;

    std::istream& in_;
    std::size_t lines_ = 0;
    nlohmann::json settings_, decision_ = nlohmann::json::object();
};

template <Policy P, class Settings>
struct Recording {
    Settings settings;
    std::vector<Decision<P>> decisions;
};

template <Policy P, class Settings>
std::string recording_text(std::string_view policy, const Settings& settings,
                           const std::vector<Decision<P>>& decisions) {
    std::ostringstream text;
    RecordingWriter writer(text, policy, settings);
    for (const auto& decision : decisions) writer.write(decision);
    return std::move(text).str();
}

/// What recording_text() was given. Throws UserError as RecordingReader does.
template <Policy P, class Settings>
Recording<P, Settings> read_recording(std::istream& in, std::string_view policy) {
    RecordingReader reader(in, policy);
    Recording<P, Settings> recording{reader.settings<Settings>(), {}};
    while (reader.next())
        recording.decisions.push_back({reader.event<typename P::Event>(), reader.now_s(),
                                       reader.actions<typename P::Action>()});
    return recording;
}

/// Tells `policy` of the event that `recording` is at; `actions` become its own. Returns in what
/// they are not the recorded ones. They are compared as they are written: an action that this build
/// does not know is a difference like any other. `decision`: its place in the recording.
template <Policy P>
std::optional<PolicyReplay::Difference> decide_again(P& policy, const RecordingReader& recording,
                                                     std::size_t decision,
                                                     std::vector<typename P::Action>& actions) {
    const auto event = recording.event<typename P::Event>();
    actions.clear();
    std::optional<std::string> threw;
    try {
        policy.on(event, recording.now_s(), actions);
    } catch (const std::exception& error) {
        threw = error.what();
    }
    nlohmann::json now = to_json(actions);
    if (!threw && now == recording.actions_text()) return std::nullopt;
    return PolicyReplay::Difference{.decision = decision,
                                    .now_s = recording.now_s(),
                                    .event = recording.event_text(),
                                    .recorded = recording.actions_text(),
                                    .now = std::move(now),
                                    .threw = std::move(threw)};
}

/// Makes a policy of the recorded settings and tells it of the recorded events. Throws UserError as
/// RecordingReader does, and whatever a P made of such settings throws.
template <Policy P, class Settings>
PolicyReplay replay_policy(std::istream& in, std::string_view policy_name) {
    RecordingReader recording(in, policy_name);
    P policy(recording.settings<Settings>());
    PolicyReplay replay;
    std::vector<typename P::Action> actions;
    for (; recording.next(); ++replay.decisions)
        if (!replay.difference)  // the rest is only counted
            replay.difference = decide_again(policy, recording, replay.decisions, actions);
    return replay;
}

/// Of what first_difference() has found.
template <Policy P>
std::string explanation(const std::vector<Decision<P>>& recorded, const Difference<P>& found) {
    const Decision<P>& was = recorded.at(found.decision);
    return assay::explanation({.decision = found.decision,
                               .now_s = was.now_s,
                               .event = to_message(was.event),
                               .recorded = to_json(was.actions),
                               .now = to_json(found.actions),
                               .threw = {}});
}

}  // namespace assay::drive
