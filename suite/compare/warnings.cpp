#include "suite/compare/warnings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "suite/compare/matching.hpp"
#include "suite/import_export/google_benchmark_file.hpp"
#include "suite/store/ids.hpp"

namespace assay::compare {
namespace {

/// Of the warnings before a run, those about what else the machine was doing; the others are
/// about how it is set up.
constexpr std::array busy_words{"load", "processes"};

/// Clocks of one processor that is read twice differ by less.
constexpr double clock_tolerance = 0.01;

/// With fewer sessions a side, how sessions differ is hardly known.
constexpr std::size_t few_sessions = 4;

/// 1: larger in B beyond the margin, as the whole interval says; -1: smaller; 0: neither.
int moved(const Row& row) {
    if (!std::isfinite(row.low) || !std::isfinite(row.high)) return 0;
    if (row.low > 1 && row.ratio > 1 + row.margin) return 1;
    if (row.high < 1 && row.ratio < 1 / (1 + row.margin)) return -1;
    return 0;
}

std::string change_text(const Row& row) {
    const double percent = (row.ratio - 1) * 100;
    return fmt::format("{} {:.3g} % {}", row.id.metric, std::abs(percent),
                       percent > 0 ? "up" : "down");
}

bool machine_decided(const Row& row) {
    const bool on_machine =
        row.id.provenance == Provenance::measured || row.id.provenance == Provenance::emulated;
    return on_machine && row.a != nullptr && row.b != nullptr && !row.a->points.empty() &&
           !row.b->points.empty() && row.verdict != RowVerdict::not_comparable &&
           row.reason_code != Reason::identical && row.reason_code != Reason::changed;
}

bool has_changed(const Row& row) {
    return row.verdict == RowVerdict::faster || row.verdict == RowVerdict::slower;
}

/// Of "load, governor": those that are busy words, or those that are not.
std::set<std::string> words_of(const std::string& warnings, bool busy) {
    std::set<std::string> words;
    for (std::size_t at = 0; at < warnings.size();) {
        const auto end = std::min(warnings.find(", ", at), warnings.size());
        std::string word = warnings.substr(at, end - at);
        const bool is_busy =
            std::find(busy_words.begin(), busy_words.end(), word) != busy_words.end();
        if (is_busy == busy && !word.empty()) words.insert(std::move(word));
        at = end + 2;
    }
    return words;
}

/// "load, processes", with "in 2 of 5 sessions" where that is not all of them; "" for none.
std::string told(const Arm& arm, bool busy) {
    std::set<std::string> words;
    std::size_t warned = 0;
    for (const ArmSession& session : arm.sessions) {
        const auto of_session = words_of(session.warnings, busy);
        warned += of_session.empty() ? 0 : 1;
        words.insert(of_session.begin(), of_session.end());
    }
    if (words.empty()) return {};
    std::string text = fmt::format("{}", fmt::join(words, ", "));
    if (warned < arm.sessions.size())
        text += fmt::format(", in {} of {} sessions", warned, arm.sessions.size());
    return text;
}

std::string busy_sentence(const Arm& a, const Arm& b) {
    const std::string in_a = told(a, true), in_b = told(b, true);
    if (in_a.empty() && in_b.empty()) return {};
    if (!in_a.empty() && !in_b.empty())
        return fmt::format(
            "the machine was busy when A ({}) and B ({}) were measured: a difference may be its, "
            "not the code's",
            in_a, in_b);
    const bool only_a = in_b.empty();
    return fmt::format(
        "the machine was busy when {} was measured ({}) and not when {} was: a difference may be "
        "its, not the code's",
        only_a ? "A" : "B", only_a ? in_a : in_b, only_a ? "B" : "A");
}

std::string setting_sentence(const Arm& a, const Arm& b) {
    const std::string in_a = told(a, false), in_b = told(b, false);
    if (in_a == in_b) return {};
    const auto said = [](const std::string& text) { return text.empty() ? "nothing" : text; };
    return fmt::format("the machine was not set up alike: before A it warned of {}, before B of {}",
                       said(in_a), said(in_b));
}

std::string suspect(const Arm& arm, const char* key) {
    const auto found = arm.suspects.find(key);
    return found == arm.suspects.end() ? std::string() : found->second;
}

/// Of a benchmark's row: what a side does not know of its machine, so that it may be another one.
std::vector<std::string> unknown_sentences(const Row& row) {
    std::vector<std::string> sentences;
    if (!row.a || !row.b || !row.id.experiment.starts_with(benchmark_prefix)) return sentences;
    for (const auto& [mine, other, name] :
         {std::tuple(row.a, row.b, "A"), std::tuple(row.b, row.a, "B")})
        if (const auto keys = unknown_context(*mine, *other, {}); !keys.empty())
            sentences.push_back(
                fmt::format("{} does not tell its {}: they may be other ones than those of {}",
                            name, fmt::join(keys, ", "), name[0] == 'A' ? "B" : "A"));
    return sentences;
}

/// Files of Google Benchmark tell of no machine but its processors and caches: two hosts may look
/// like one.
std::string host_sentence(const Arm& a, const Arm& b) {
    const std::string in_a = suspect(a, "host_name"), in_b = suspect(b, "host_name");
    if (in_a.empty() || in_b.empty() || in_a == in_b) return {};
    return fmt::format(
        "A was measured on the host {} and B on {}: a difference may be the machine's, not the "
        "code's",
        in_a, in_b);
}

/// The clock that such a file names, in MHz; 0: none, or several.
double clock_mhz(const Arm& arm) {
    const std::string text = suspect(arm, "mhz_per_cpu");
    double mhz = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), mhz);
    return error == std::errc() && stop == text.data() + text.size() ? mhz : 0;
}

std::string clock_sentence(const Arm& a, const Arm& b) {
    const double in_a = clock_mhz(a), in_b = clock_mhz(b);
    if (!(in_a > 0) || !(in_b > 0) ||
        std::abs(in_a - in_b) <= clock_tolerance * std::max(in_a, in_b))
        return {};
    return fmt::format(
        "the processors had another clock, {:g} MHz in A and {:g} MHz in B (mhz_per_cpu): a "
        "difference may be the machine's, not the code's",
        in_a, in_b);
}

/// "A: session 1a2b3c4d is dated 2031-01-01 02:03, in the future: …" of the first such session.
std::vector<std::string> future_sentences(const Arm& a, const Arm& b) {
    std::vector<std::string> sentences;
    for (const auto& [name, arm] : {std::pair("A", &a), std::pair("B", &b)})
        for (const ArmSession& session : arm->sessions) {
            const std::string words = store::future_words(session.started);
            if (words.empty()) continue;
            sentences.push_back(fmt::format(
                "{}: {} {}", name,
                session.id.empty() ? "the file" : fmt::format("session {:.8}", session.id), words));
            break;
        }
    return sentences;
}

bool in_turns(const Arm& arm) {
    return std::any_of(arm.sessions.begin(), arm.sessions.end(),
                       [](const ArmSession& session) { return session.in_turns; });
}

}  // namespace

void warn_of_disagreeing_times(std::vector<Row>& rows) {
    std::map<RowId, std::pair<Row*, Row*>> times;  // real, CPU
    for (Row& row : rows) {
        if (!row.id.labels.empty()) continue;
        if (row.id.metric == "real_time") times[row.id.series()].first = &row;
        if (row.id.metric == "cpu_time") times[row.id.series()].second = &row;
    }
    for (const auto& [series, of] : times) {
        const auto [real, cpu] = of;
        if (real == nullptr || cpu == nullptr || moved(*real) * moved(*cpu) >= 0) continue;
        const std::string sentence = fmt::format(
            "real and CPU time disagree: {}, {}. What waits (locks, input and output, sleep), runs "
            "on another number of threads or met other load on the machine moves them apart; "
            "neither alone says faster or slower",
            change_text(*real), change_text(*cpu));
        for (Row* row : {real, cpu}) row->warnings.push_back(sentence);
    }
}

void warn_of_new_failures(std::vector<Row>& rows) {
    const auto runs = [](const Series& side) {
        return static_cast<double>(side.points.size()) + side.failed;
    };
    for (Row& row : rows) {
        if (row.a == nullptr || row.b == nullptr || row.a->points.empty() ||
            row.b->points.empty() || row.verdict == RowVerdict::failed)
            continue;
        if (row.b->failed * runs(*row.a) <= row.a->failed * runs(*row.b)) continue;
        row.warnings.push_back(fmt::format(
            "{} of {:.0f} samples of B failed ({} of {:.0f} of A): only the others are compared{}",
            row.b->failed, runs(*row.b), row.a->failed, runs(*row.a),
            row.b->errors.empty() ? "" : "; B says: " + row.b->errors.front()));
    }
}

void warn_of_circumstances(std::vector<Row>& rows, const Arm& a, const Arm& b) {
    const std::vector<std::string> future = future_sentences(a, b);
    std::vector<std::string> sentences;
    for (std::string sentence :
         {host_sentence(a, b), clock_sentence(a, b), busy_sentence(a, b), setting_sentence(a, b)})
        if (!sentence.empty()) sentences.push_back(std::move(sentence));
    const bool one_program = is_one_program(a, b);
    for (Row& row : rows) {
        row.warnings.insert(row.warnings.end(), future.begin(), future.end());
        if (!machine_decided(row)) continue;
        row.warnings.insert(row.warnings.end(), sentences.begin(), sentences.end());
        const auto unknown = unknown_sentences(row);
        row.warnings.insert(row.warnings.end(), unknown.begin(), unknown.end());
        if (one_program && has_changed(row))
            row.warnings.emplace_back(
                "A and B are of one program: a difference is the machine's or chance, not the "
                "code's");
    }
}

bool is_one_program(const Arm& a, const Arm& b) {
    const std::string build = suspect(a, "build"), commit = suspect(a, "commit");
    if (const std::string other = suspect(b, "build"); !build.empty() || !other.empty())
        return build == other && build.find(',') == build.npos;
    return !commit.empty() && commit == suspect(b, "commit") && commit.find(',') == commit.npos &&
           !commit.ends_with("-dirty");
}

std::vector<std::string> better_in_turns(const std::vector<Row>& rows, const Arm& a, const Arm& b) {
    std::vector<std::string> experiments;
    if (in_turns(a) && in_turns(b)) return experiments;
    if (a.sessions.size() >= few_sessions && b.sessions.size() >= few_sessions) return experiments;
    for (const Row& row : rows) {
        const std::string& id = row.id.experiment;
        if (!machine_decided(row) || row.verdict == RowVerdict::same ||
            id.starts_with(benchmark_prefix) ||
            std::find(experiments.begin(), experiments.end(), id) != experiments.end())
            continue;
        experiments.push_back(id);
    }
    return experiments;
}

}  // namespace assay::compare
