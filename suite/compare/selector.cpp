#include "suite/compare/selector.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <set>

#include "suite/base/date.hpp"
#include "suite/base/error.hpp"
#include "suite/base/suggested_command.hpp"
#include "suite/store/ids.hpp"
#include "suite/store/store.hpp"

namespace assay::compare {
namespace {

using store::Session;
using Sessions = std::vector<Session>;

constexpr std::size_t most_listed = 8;

/// "2026-11-21 02:03"
std::string minute(const std::string& started) {
    std::string text = started.substr(0, 16);
    std::replace(text.begin(), text.end(), 'T', ' ');
    return text;
}

std::string suspect(const Session& session, const char* key) {
    const auto found = session.suspects.find(key);
    return found != session.suspects.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string list(const Sessions& newest_first) {
    if (newest_first.empty())
        return "the database has no sessions; " + suggested("run") + " makes them";
    std::string text = "the sessions are, newest first:";
    for (std::size_t i = 0; i < std::min(newest_first.size(), most_listed); ++i) {
        const Session& session = newest_first[i];
        text += fmt::format("\n  {}  {}  {:<11}  commit {:.10}  machine {:.8}  {}",
                            session.id.substr(0, 8), minute(session.started), session.state,
                            suspect(session, "commit"), session.machine, session.command);
    }
    if (newest_first.size() > most_listed)
        text += fmt::format("\n  and {} older ones", newest_first.size() - most_listed);
    return text;
}

[[noreturn]] void nothing(const std::string& selector, const Sessions& all) {
    throw UserError(fmt::format("'{}' names no session; {}", selector, list(all)));
}

Sessions filtered(const Sessions& all, const std::function<bool(const Session&)>& wanted) {
    Sessions found;
    for (const Session& session : all)
        if (session.state != "running" && wanted(session)) found.push_back(session);
    return found;
}

Sessions nth_newest(const Sessions& all, const std::string& selector) {
    std::size_t back = 0;
    if (selector != "latest") {
        const char* end = selector.data() + selector.size();
        const auto [stop, error] = std::from_chars(selector.data() + 7, end, back);
        if (error != std::errc() || stop != end)
            throw UserError(fmt::format("'{}': write latest~N, for example latest~1", selector));
    }
    const Sessions finished =
        filtered(all, [](const Session& session) { return session.state == "finished"; });
    if (back >= finished.size())
        throw UserError(fmt::format("'{}': there are {} finished sessions; {}", selector,
                                    finished.size(), list(all)));
    return {finished[back]};
}

/// Sessions whose `property` begins so. Several values are ambiguous unless one is meant exactly.
Sessions by_prefix(const Sessions& all, const std::string& prefix, const char* what,
                   const std::function<std::string(const Session&)>& property) {
    if (prefix.empty()) throw UserError(fmt::format("'{}:': write what it begins with", what));
    std::set<std::string> values;
    Sessions found = filtered(all, [&](const Session& session) {
        const std::string value = property(session);
        if (!value.starts_with(prefix)) return false;
        values.insert(value);
        return true;
    });
    if (values.contains(prefix)) {
        std::erase_if(found, [&](const Session& session) { return property(session) != prefix; });
    } else if (values.size() > 1) {
        throw UserError(fmt::format("'{}:{}' is ambiguous: {}; type more of it", what, prefix,
                                    fmt::join(values, ", ")));
    }
    return found;
}

/// A beginning of "2026-11-21T02:03:04.567Z"; a space may stand for the T.
std::string checked_time(std::string text, const std::string& selector) {
    std::replace(text.begin(), text.end(), ' ', 'T');
    constexpr std::string_view shape = "0000-00-00T00:00:00.000Z";
    bool good = text.size() == 4 || text.size() == 7 || text.size() == 10 || text.size() == 13 ||
                text.size() == 16 || text.size() == 19 || text.size() == shape.size();
    for (std::size_t i = 0; good && i < text.size(); ++i)
        good = shape[i] == '0' ? text[i] >= '0' && text[i] <= '9' : text[i] == shape[i];
    if (!good)
        throw UserError(fmt::format(
            "'{}': '{}' is no time; write 2026-11-21 or 2026-11-21T02:03 (UTC), or since:7d",
            selector, text));
    const std::string from = text + std::string("0000-01-01T00:00:00.000Z").substr(text.size());
    if (const std::string why = impossible_date(from); !why.empty())
        throw UserError(fmt::format("'{}': '{}' is no time: {}", selector, text, why));
    return text;
}

/// "12h", "7d", "2w" before `now`; nullopt: not written so.
std::optional<std::string> ago(const std::string& text, std::chrono::system_clock::time_point now) {
    int count = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, count);
    if (error != std::errc() || stop + 1 != end || count < 0 || count > 100000) return {};
    const std::string_view units = "hdw";
    const auto unit = units.find(*stop);
    if (unit == units.npos) return {};
    constexpr int hours[] = {1, 24, 24 * 7};
    // The clock counts nanoseconds and reaches back three centuries only.
    constexpr int longest = 24 * 366 * 50;
    return store::utc(now - std::chrono::hours(std::min(hours[unit] * count, longest)));
}

Sessions since(const Sessions& all, const std::string& from) {
    return filtered(all, [&](const Session& session) { return session.started >= from; });
}

Sessions between(const Sessions& all, const std::string& span, const std::string& selector) {
    const auto dots = span.find("..");
    if (dots == span.npos)
        throw UserError(fmt::format(
            "'{}': write between:FROM..TO, for example between:2026-11-01..2026-11-07", selector));
    const std::string from = checked_time(span.substr(0, dots), selector);
    const std::string to = checked_time(span.substr(dots + 2), selector);
    if (to < from.substr(0, to.size()))
        throw UserError(fmt::format("'{}' ends before it begins: write between:{}..{}", selector,
                                    span.substr(dots + 2), span.substr(0, dots)));
    return filtered(all, [&](const Session& session) {
        return session.started >= from && session.started.substr(0, to.size()) <= to;
    });
}

Sessions named_baseline(const store::Store& store, const Sessions& all, const std::string& name) {
    std::vector<std::string> known;
    for (const store::Baseline& baseline : store.baselines()) {
        known.push_back(baseline.name);
        if (baseline.name != name) continue;
        const auto accepted = std::find_if(all.begin(), all.end(), [&](const Session& session) {
            return session.id == baseline.session;
        });
        if (accepted != all.end()) return {*accepted};
        throw UserError(fmt::format("the session {} of baseline '{}' is no longer there; {}",
                                    baseline.session.substr(0, 8), name, list(all)));
    }
    if (known.empty())
        throw UserError(fmt::format("no baseline is called '{}'; there is none", name));
    throw UserError(
        fmt::format("no baseline is called '{}'; known: {}", name, fmt::join(known, ", ")));
}

Sessions by_id(const store::Store& store, const Sessions& all, const std::string& typed) {
    std::string id;
    try {
        id = store.resolve_session(typed);
    } catch (const store::StoreError& error) {
        throw UserError(
            fmt::format("'{}' is neither a file nor a session: {} Or write latest, "
                        "baseline:NAME, commit:…, machine:…, since:…, between:…; {}",
                        typed, error.what(), list(all)));
    }
    for (const Session& session : all)
        if (session.id == id) return {session};
    nothing(typed, all);
}

Sessions selected(const store::Store& store, const std::string& selector,
                  std::chrono::system_clock::time_point now) {
    const Sessions all = newest_first(store);
    if (selector == "latest" || selector.starts_with("latest~")) return nth_newest(all, selector);
    const auto colon = selector.find(':');
    if (colon == selector.npos) return by_id(store, store.sessions(), selector);
    const std::string kind = selector.substr(0, colon), rest = selector.substr(colon + 1);
    Sessions found;
    const auto span = kind == "since" ? ago(rest, now) : std::nullopt;
    if (kind == "baseline")
        found = named_baseline(store, store.sessions(), rest);
    else if (kind == "commit")
        found = by_prefix(all, rest, "commit",
                          [](const Session& session) { return suspect(session, "commit"); });
    else if (kind == "machine")
        found =
            by_prefix(all, rest, "machine", [](const Session& session) { return session.machine; });
    else if (kind == "since")
        found = since(all, span ? *span : checked_time(rest, selector));
    else if (kind == "between")
        found = between(all, rest, selector);
    else
        throw UserError(
            fmt::format("'{}': no selector begins with '{}:'; known: baseline, commit, "
                        "machine, since, between",
                        selector, kind));
    if (found.empty()) nothing(selector, all);
    return found;
}

}  // namespace

std::vector<store::Session> newest_first(const store::Store& store) {
    Sessions sessions = store.sessions();
    std::erase_if(sessions, [](const Session& session) {
        return session.suspects.contains(store::rerun_mark);
    });
    return sessions;
}

bool has_selector_kind(const std::string& typed) {
    for (const char* kind : {"baseline:", "commit:", "machine:", "since:", "between:"})
        if (typed.starts_with(kind)) return true;
    return false;
}

std::string says_of(const std::vector<Session>& oldest_first) {
    const Session& first = oldest_first.front();
    constexpr std::string_view import = "assay import ";
    if (oldest_first.size() == 1)
        return fmt::format(
            "session {} of {}{}", first.id.substr(0, 8), minute(first.started),
            first.command.starts_with(import)
                ? fmt::format(", imported from {}", first.command.substr(import.size()))
                : std::string());
    return fmt::format("{} sessions of {} to {}", oldest_first.size(), minute(first.started),
                       minute(oldest_first.back().started));
}

Selection select_sessions(const store::Store& store, const std::string& selector,
                          std::chrono::system_clock::time_point now) {
    Sessions sessions = selected(store, selector, now);
    std::reverse(sessions.begin(), sessions.end());
    std::string says = says_of(sessions);
    return {std::move(sessions), std::move(says)};
}

}  // namespace assay::compare
