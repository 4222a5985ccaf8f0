#include "suite/cli/terminal/live_progress.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <vector>

#include "suite/base/quantity_text.hpp"
#include "suite/cli/terminal/printable_output.hpp"
#include "suite/cli/terminal/terminal.hpp"
#include "suite/report/text/terminal_text.hpp"

namespace assay::cli {
namespace {

/// Longer cases lose their middle.
constexpr std::size_t longest_case = 64;

std::string axes_text(const nlohmann::json& body) {
    return report::shortened(assay::to_string(case_from_json(body.at("case"))), longest_case);
}

/// "lazarus/fig8 mro model=gpt-l step=200 seed 1".
std::string case_text(const nlohmann::json& body) {
    const std::string axes = axes_text(body);
    return fmt::format("{} {}{}{} seed {}", body.at("experiment").get<std::string>(),
                       body.at("variant").get<std::string>(), axes.empty() ? "" : " ", axes,
                       body.at("seed").get<std::uint64_t>());
}

std::string event_text(const nlohmann::json& body) {
    std::string text = fmt::format("{:.2f} s {}", body.at("t_s").get<double>(),
                                   body.at("event").get<std::string>());
    if (const int rank = body.at("rank").get<int>(); rank >= 0)
        text += fmt::format(" rank {}", rank);
    return text;
}

/// "lte slower, relu same"; of many rows "1000 rows: 2 same, 998 slower".
std::string verdicts_text(const nlohmann::json& contrasts) {
    constexpr std::size_t most_named = 12;
    const bool one_metric =
        std::all_of(contrasts.begin(), contrasts.end(), [&](const nlohmann::json& each) {
            return each.at("metric") == contrasts.front().at("metric");
        });
    std::vector<std::string> named;
    std::map<std::string, int> counts;
    for (const nlohmann::json& contrast : contrasts) {
        const auto verdict = contrast.at("verdict").get<std::string>();
        ++counts[verdict];
        named.push_back(
            fmt::format("{} {}{}", contrast.at("variant").get<std::string>(),
                        one_metric ? "" : contrast.at("metric").get<std::string>() + ' ', verdict));
    }
    if (named.size() <= most_named) return fmt::format("{}", fmt::join(named, ", "));
    std::vector<std::string> counted;
    for (const auto& [verdict, count] : counts)
        counted.push_back(fmt::format("{} {}", count, verdict));
    return fmt::format("{} rows: {}", named.size(), fmt::join(counted, ", "));
}

/// "lte/fig8 sparsity=0.9 after 7 rounds: lte slower, relu same".
std::string decided_text(const nlohmann::json& body) {
    const std::string axes = axes_text(body);
    return fmt::format("{}{}{} after {} rounds: {}", body.at("experiment").get<std::string>(),
                       axes.empty() ? "" : " ", axes, body.at("rounds").get<int>(),
                       verdicts_text(body.at("contrasts")));
}

/// As many bytes as fit into `columns`, not cutting a UTF-8 character in two.
std::string cut(std::string text, int columns) {
    std::size_t end = static_cast<std::size_t>(std::max(columns, 0));
    if (text.size() <= end) return text;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    text.resize(end);
    return text;
}

}  // namespace

int terminal_width() {
    if (::isatty(STDERR_FILENO) == 0 || !terminal_is_capable()) return 0;
    winsize size{};
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
    return size.ws_col;
}

nlohmann::json event_line(const runner::Notice& notice) {
    nlohmann::json line = notice.body.is_object() ? notice.body : nlohmann::json::object();
    line["kind"] = notice.kind;
    line["done"] = notice.done;
    line["failed"] = notice.failed;
    line["planned"] = notice.planned;
    line["eta_s"] = notice.eta_s;
    if (notice.saved > 0) line["saved"] = notice.saved;
    return line;
}

LiveProgress::LiveProgress(int width) : width_(width) {}

LiveProgress::~LiveProgress() {
    if (drawn_) overwrite_line("");
}

void LiveProgress::print(const std::string& line) {
    if (drawn_) overwrite_line("");
    drawn_ = false;
    print_line(std::cerr, line);
}

void LiveProgress::tell_faults(const std::string& scenario) {
    if (scenario.empty() || !told_scenarios_.insert(scenario).second) return;
    std::string line = "faults: ";
    for (const char c : scenario) {
        if (c != ' ') line += c;  // no fault has blanks, but some plans have them between faults
        if (c == ';') line += ' ';
    }
    print(line);
}

void LiveProgress::redraw(const runner::Notice& notice) {
    if (width_ == 0) return;
    if (const int now = terminal_width(); now > 0) width_ = now;  // windows are resized
    std::string line = fmt::format("[{}/{}", notice.done, notice.planned);
    if (notice.failed > 0) line += fmt::format(", {} failed", notice.failed);
    if (notice.saved > 0) line += fmt::format(", {} saved", notice.saved);
    line += fmt::format(", {} left] {}", duration_text(notice.eta_s), current_);
    if (!last_.empty()) line += " | " + last_;
    overwrite_line(cut(report::printable(line), width_ - 1));
    drawn_ = true;
}

void LiveProgress::show_case_of(const nlohmann::json& body) {
    if (const auto found = running_.find(body.at("sample")); found != running_.end())
        current_ = found->second;
}

void LiveProgress::on(const runner::Notice& notice) {
    const nlohmann::json& body = notice.body;
    if (notice.kind == "session") {
        const bool resumed = body.at("resumed").get<bool>();
        print(fmt::format("{} session {}, {} to run{}", resumed ? "resuming" : "new",
                          body.at("session").get<std::string>().substr(0, 8), notice.planned,
                          resumed ? fmt::format(", {} of them done before",
                                                body.at("finished_before").get<long>())
                                  : ""));
    } else if (notice.kind == "sample_started") {
        tell_faults(body.at("scenario").get<std::string>());
        current_ = running_[body.at("sample")] = case_text(body);
        last_.clear();
        redraw(notice);
    } else if (notice.kind == "state_removed") {
        print(fmt::format("removed checkpoints of session {}, {}: {}",
                          body.at("session").get<std::string>().substr(0, 8),
                          bytes_text(body.at("bytes").get<double>()),
                          body.at("why").get<std::string>()));
    } else if (notice.kind == "note") {
        print(body.at("says").get<std::string>());
    } else if (notice.kind == "decided") {
        print(decided_text(body));
    } else if (notice.kind == "event") {
        show_case_of(body);
        last_ = event_text(body);
        redraw(notice);
    } else if (notice.kind == "progress") {
        show_case_of(body);
        last_ = fmt::format("{:.0f} % {}", body.at("fraction").get<double>() * 100,
                            body.at("what").get<std::string>());
        redraw(notice);
    } else if (notice.kind == "sample_finished") {
        const std::string status = body.at("status").get<std::string>();
        running_.erase(body.at("sample"));
        std::string line = fmt::format("[{}/{}, {} left] {}: {} in {}", notice.done, notice.planned,
                                       duration_text(notice.eta_s), case_text(body), status,
                                       duration_text(body.at("seconds").get<double>()));
        bool new_to_tell = status != "ok";
        if (status == to_string(SampleStatus::unsupported)) {
            // What a machine lacks, it lacks for many samples.
            const std::string reason = body.at("reason").get<std::string>();
            new_to_tell = told_reasons_.insert(reason).second;
            line += new_to_tell ? fmt::format(" ({})", reason) : " (as said before)";
        } else if (status != "ok") {
            line += fmt::format(" ({})", body.at("reason").get<std::string>());
        }
        // A terminal keeps lines only for what needs a look; its status line says the rest.
        if (width_ == 0 || new_to_tell)
            print(line);
        else
            redraw(notice);
    }
}

}  // namespace assay::cli
