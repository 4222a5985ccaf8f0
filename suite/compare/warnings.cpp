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
#include "suite/compare/rows_output.hpp"
#include "suite/import_export/google_benchmark_file.hpp"
#include "suite/import_export/tools/benchmark_file.hpp"
#include "suite/report/text/row_name.hpp"
#include "suite/report/text/terminal_text.hpp"
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

/// What the sessions of a side were begun with: by name the beginnings of the SHA-256 of each.
using Programs = std::map<std::string, std::set<std::string>>;

/// Of "assay 1a2b3c4d5e6f, ./planner 0f1e2d3c4b5a": the suspect of a night's session.
Programs programs(const Arm& arm) {
    const std::string text = suspect(arm, "programs");
    Programs all;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(", ", at), text.size());
        const std::string part = text.substr(at, end - at);
        if (const auto blank = part.rfind(' '); blank != part.npos)
            all[part.substr(0, blank)].insert(part.substr(blank + 1));
        at = end + 2;
    }
    return all;
}

/// Of those the libraries that belong to this program.
Programs plug_ins(Programs all) {
    std::erase_if(all, [](const auto& program) { return !program.first.ends_with(".so"); });
    return all;
}

/// What follows the last '/'.
std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

using NameOf = std::string (*)(const RowId&);

std::string experiment_name(const RowId& id) {
    if (const auto imported = report::imported_benchmark(id)) return *imported;
    if (const auto benchmark = report::benchmark_name(id)) return benchmark->first;
    return report::printable(id.experiment);
}

std::string series_name(const RowId& id) { return report::row_name(id).series_text(); }

using Counts = std::map<std::string, std::size_t>;

/// How many rows of each name A has, or B.
Counts counts_of(std::span<const Row* const> rows, bool of_a, NameOf name) {
    Counts counts;
    for (const Row* row : rows)
        if ((of_a ? row->a : row->b) != nullptr) ++counts[name(row->id)];
    return counts;
}

/// "lte/fig8 (120 rows), lazarus/fig8 (3) and 91 others"
std::string counts_words(const Counts& counts) {
    constexpr std::size_t most = 3;
    if (counts.empty()) return "nothing that is compared";
    std::vector<std::pair<std::string, std::size_t>> names(counts.begin(), counts.end());
    std::stable_sort(names.begin(), names.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    std::vector<std::string> words;
    std::size_t others = 0;
    for (const auto& [name, n] : names)
        if (words.size() < most)
            words.push_back(fmt::format("{} ({}{})", name, n,
                                        !words.empty() ? ""
                                        : n == 1       ? " row"
                                                       : " rows"));
        else
            others += n;
    return fmt::format("{}{}", fmt::join(words, ", "),
                       others > 0 ? fmt::format(" and {} other rows", others) : std::string());
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
    for (Row& row : rows) {
        row.warnings.insert(row.warnings.end(), future.begin(), future.end());
        if (!machine_decided(row)) continue;
        row.warnings.insert(row.warnings.end(), sentences.begin(), sentences.end());
        const auto unknown = unknown_sentences(row);
        row.warnings.insert(row.warnings.end(), unknown.begin(), unknown.end());
        if (has_changed(row) && is_one_program(a, b, row.id))
            row.warnings.emplace_back(
                "A and B are of one program: a difference is the machine's or chance, not the "
                "code's");
    }
}

std::string nothing_in_common(std::span<const Row> rows) {
    const auto is_common = [](const Row& row) { return row.a != nullptr && row.b != nullptr; };
    if (rows.empty() || std::any_of(rows.begin(), rows.end(), is_common)) return {};
    const std::vector<const Row*> all = pointers_to(rows);
    const Counts in_a = counts_of(all, true, experiment_name);
    // Where both have the experiment, its cases or variants are others.
    const bool alike = std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
        return row.b != nullptr && in_a.contains(experiment_name(row.id));
    });
    const NameOf name = alike ? series_name : experiment_name;
    return fmt::format("A and B have no row in common: A has {}; B has {}",
                       counts_words(counts_of(all, true, name)),
                       counts_words(counts_of(all, false, name)));
}

std::vector<const Row*> of_one_side(std::span<const Row> rows) {
    std::vector<const Row*> all = pointers_to(rows);
    const Counts in_a = counts_of(all, true, experiment_name),
                 in_b = counts_of(all, false, experiment_name);
    std::erase_if(all, [&](const Row* row) {
        const std::string name = experiment_name(row->id);
        return in_a.contains(name) && in_b.contains(name);
    });
    return all;
}

std::string one_side_words(std::span<const Row* const> rows) {
    std::vector<std::string> parts;
    for (const bool of_a : {true, false})
        if (const Counts counts = counts_of(rows, of_a, experiment_name); !counts.empty())
            parts.push_back(fmt::format("only {} has {}", of_a ? "A" : "B", counts_words(counts)));
    return fmt::format("{}", fmt::join(parts, "; "));
}

bool is_one_program(const Arm& a, const Arm& b) {
    const std::string build = suspect(a, "build"), commit = suspect(a, "commit");
    if (const std::string other = suspect(b, "build"); !build.empty() || !other.empty())
        return build == other && build.find(',') == build.npos;
    return !commit.empty() && commit == suspect(b, "commit") && commit.find(',') == commit.npos &&
           !commit.ends_with("-dirty");
}

bool is_one_program(const Arm& a, const Arm& b, const RowId& row) {
    const Programs in_a = programs(a), in_b = programs(b);
    if (report::benchmark_name(row)) {
        const auto program = row.axes.find("program"), arguments = row.axes.find("arguments");
        if (program == row.axes.end()) return false;
        if (arguments != row.axes.end() && is_launcher(assay::to_string(arguments->second)))
            return false;
        const auto one = in_a.find(assay::to_string(program->second));
        return one != in_a.end() && one->second.size() == 1 && in_b.contains(one->first) &&
               in_b.at(one->first) == one->second;
    }
    if (plug_ins(in_a) != plug_ins(in_b) && !in_a.empty() && !in_b.empty()) return false;
    const std::string of_a = file_name(suspect(a, "executable")),
                      of_b = file_name(suspect(b, "executable"));
    return (of_a.empty() || of_b.empty() || of_a == of_b) && is_one_program(a, b);
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
