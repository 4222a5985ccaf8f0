// CSV to samples.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>

#include "suite/base/date.hpp"
#include "suite/base/error.hpp"
#include "suite/import_export/csv_document.hpp"
#include "suite/import_export/google_benchmark_file.hpp"
#include "suite/import_export/import.hpp"
#include "suite/import_export/rows.hpp"
#include "suite/store/ids.hpp"
#include "suite/store/row_codec.hpp"
#include "suite/store/store.hpp"

namespace assay::import_export {
namespace {

using CsvLine = std::vector<CsvField>;
using MetricOf = std::pair<std::string, std::string>;  // experiment, metric

class CsvResults {
  public:
    CsvResults(std::string_view text, const std::string& source, const RowSink& sink,
               const ResultsHere& here)
        : text_(text), source_(source), rows_(sink), here_(here), imported_(store::now_utc()) {}

    /// How many samples were left out.
    long read() {
        refuse_google_benchmark();
        const auto lines = parse_csv(text_, source_);
        if (lines.empty()) throw UserError(source_ + ": the file is empty");
        header(lines.front());
        for (std::size_t i = 1; i < lines.size(); ++i) line(lines[i]);
        const long left_out = leave_out_what_is_here();
        if (!samples_.empty()) write();
        return left_out;
    }

  private:
    [[noreturn]] void fail(const CsvField& at, const std::string& what) const {
        throw UserError(fmt::format("{}:{}:{}: {}", source_, at.line, at.column, what));
    }

    /// Its header stands below lines of context, which are no CSV.
    void refuse_google_benchmark() const {
        constexpr std::string_view header = "name,iterations,real_time,cpu_time,time_unit";
        const auto at = text_.find(header);
        if (at != 0 && (at == text_.npos || text_[at - 1] != '\n')) return;
        throw UserError(fmt::format(
            "{}: Google Benchmark's CSV, of which the machine cannot be told; write the file with "
            "--benchmark_out_format=json",
            source_));
    }

    void header(const CsvLine& names) {
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (names[i].text.empty()) fail(names[i], "a column without a name");
            if (!columns_.emplace(names[i].text, i).second)
                fail(names[i], fmt::format("a second column '{}'", names[i].text));
        }
        width_ = names.size();
        for (const char* required : {"experiment", "metric", "value"})
            if (!columns_.count(required))
                fail(names.front(),
                     fmt::format("the column '{}' is missing; results have at least experiment, "
                                 "metric and value",
                                 required));
        for (const auto& [name, at] : columns_)
            if (!is_known(name)) axes_.emplace(name, at);
    }

    static bool is_known(std::string_view name) {
        for (const auto* known : {"session", "experiment", "variant", "profile", "provenance",
                                  "scenario", "seed", "round", "status", "metric", "labels", "unit",
                                  "better", "value", "sample", "started"})
            if (name == known) return true;
        return false;
    }

    const CsvField* field(const CsvLine& line, std::string_view name) const {
        const auto at = columns_.find(name);
        return at == columns_.end() ? nullptr : &line[at->second];
    }
    std::string word(const CsvLine& line, std::string_view name, std::string_view otherwise) const {
        const auto* found = field(line, name);
        return found && !found->text.empty() ? found->text : std::string(otherwise);
    }

    template <class Number>
    Number number(const CsvLine& line, std::string_view name, const char* wanted) const {
        const auto* found = field(line, name);
        Number value{};
        if (!found || found->text.empty()) return value;
        const auto& text = found->text;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size())
            fail(*found, fmt::format("'{}' is '{}', not {}", name, text, wanted));
        return value;
    }

    template <class Enum>
    Enum named(const CsvLine& line, const char* name, std::string_view otherwise) const {
        const auto text = word(line, name, otherwise);
        const auto found = of_word<Enum>(text);
        if (!found) fail(*field(line, name), fmt::format("there is no {} '{}'", name, text));
        return *found;
    }

    SampleSpec spec_of(const CsvLine& line) const {
        SampleSpec spec;
        spec.experiment = word(line, "experiment", "");
        if (spec.experiment.empty()) fail(*field(line, "experiment"), "an experiment without id");
        spec.variant = word(line, "variant", "");
        for (const auto& [axis, at] : axes_)
            if (!line[at].text.empty()) {
                auto value = parse_value(line[at].text);
                if (const auto* real = std::get_if<double>(&value); real && !std::isfinite(*real))
                    value = line[at].text;
                spec.axes.emplace(axis, std::move(value));
            }
        spec.profile = named<Profile>(line, "profile", "toy");
        spec.provenance = named<Provenance>(line, "provenance", "measured");
        spec.scenario = word(line, "scenario", "");
        spec.seed = number<std::uint64_t>(line, "seed", "a whole number from 0 to 2^64-1");
        spec.round = number<int>(line, "round", "a whole number");
        if (spec.round < 0 || spec.round > 1'000'000'000)
            fail(*field(line, "round"), "'round' must be from 0 to 10^9");
        return spec;
    }

    /// "layer=3 rank=0"; a word without '=' goes on with the value before it.
    Labels labels_of(const CsvLine& line) const {
        std::vector<std::pair<std::string, std::string>> parts;
        const auto* found = field(line, "labels");
        if (!found) return {};
        for (std::size_t at = 0; at < found->text.size();) {
            const auto end = std::min(found->text.find(' ', at), found->text.size());
            const auto part = found->text.substr(at, end - at);
            if (const auto equals = part.find('='); equals != part.npos && equals > 0)
                parts.emplace_back(part.substr(0, equals), part.substr(equals + 1));
            else if (!parts.empty())
                parts.back().second += ' ' + part;
            else if (!part.empty())
                fail(*found, fmt::format("the label '{}' has no value: write name=value", part));
            at = end + 1;
        }
        Labels labels;
        for (auto& [name, value] : parts) {
            auto parsed = parse_value(value);
            if (const auto* real = std::get_if<double>(&parsed); real && !std::isfinite(*real))
                parsed = value;
            labels[name] = std::move(parsed);
        }
        return labels;
    }

    std::string session_of(const CsvLine& line) const {
        const auto typed = word(line, "session", "");
        return store::derived_uuid("csv session " + typed + '\n' + file_);
    }

    void line(const CsvLine& line) {
        if (line.size() != width_)
            fail(line.back(), fmt::format("{} fields, the first line has {}", line.size(), width_));
        store::Sample sample;
        sample.spec = spec_of(line);
        sample.session = session_of(line);
        sample.status = word(line, "status", "ok");
        if (!store::is_final_status(sample.status))
            fail(*field(line, "status"), fmt::format("there is no status '{}'", sample.status));
        sample.started = started_of(line);
        const auto* metric = field(line, "metric");
        std::optional<store::MetricValue> value;
        if (!metric->text.empty()) {
            if (field(line, "value")->text.empty())
                fail(*field(line, "value"), fmt::format("'{}' has no value", metric->text));
            value = {metric->text, labels_of(line),
                     number<double>(line, "value", "a number, nan, inf or -inf")};
            if (const auto* unit = field(line, "unit"); unit && !unit->text.empty())
                unit_of(sample.spec.experiment, metric->text, *unit);
            if (const auto* better = field(line, "better"); better && !better->text.empty())
                direction_of(sample.spec.experiment, metric->text, *better);
        }
        const auto id = word(line, "sample", "");
        store::Sample& into = id.empty() ? without_id(line, sample, value, *metric)
                                         : with_id(line, sample, value, *metric);
        if (value) into.metrics.push_back(std::move(*value));
    }

    std::string started_of(const CsvLine& line) const {
        const auto text = word(line, "started", imported_);
        if (store::parse_utc(text)) return text;
        const auto at = read_date(text);
        if (!at)
            fail(*field(line, "started"),
                 fmt::format("'started' is '{}', no time; write 2026-11-21T02:03:04.567Z (UTC)",
                             text));
        return store::utc(*at);
    }

    void unit_of(const std::string& experiment, const std::string& metric, const CsvField& unit) {
        const auto known = units_.emplace(std::pair(experiment, metric), unit.text).first->second;
        if (known != unit.text)
            fail(unit, fmt::format("the unit of '{}' of {} is '{}', and was '{}' further up; write "
                                   "all its values in one unit",
                                   metric, experiment, unit.text, known));
    }

    void direction_of(const std::string& experiment, const std::string& metric,
                      const CsvField& better) {
        const auto told = of_word<Direction>(better.text);
        if (!told)
            fail(better,
                 fmt::format("'better' is '{}'; write {}", better.text, words_of<Direction>()));
        if (directions_.emplace(std::pair(experiment, metric), *told).first->second != *told)
            fail(better, fmt::format("of '{}' of {} {} is better here, and it was said otherwise "
                                     "further up",
                                     metric, experiment, better.text));
    }

    static bool has(const store::Sample& sample, const store::MetricValue& metric) {
        return std::any_of(sample.metrics.begin(), sample.metrics.end(), [&](const auto& known) {
            return known.name == metric.name && known.labels == metric.labels;
        });
    }

    store::Sample& with_id(const CsvLine& line, store::Sample& sample,
                           const std::optional<store::MetricValue>& value, const CsvField& at) {
        const auto& id = field(line, "sample")->text;
        if (!store::is_uuid(id)) fail(at, fmt::format("the sample '{}' is no UUID", id));
        sample.id = store::derived_uuid("csv sample " + id + '\n' + file_);
        const auto [found, is_new] = by_id_.emplace(id, samples_.size());
        if (is_new) {
            samples_.push_back(sample);
            is_here_.push_back(here_.sample && here_.sample(id));
        }
        auto& known = samples_[found->second];
        if (to_json(known.spec) != to_json(sample.spec) || known.session != sample.session)
            fail(at, fmt::format("sample {} was another one further up", id));
        if (known.status != sample.status)
            fail(*field(line, "status"),
                 fmt::format("'status' is '{}', and was '{}' further up for "
                             "the sample {}",
                             sample.status, known.status, id));
        if (known.started != sample.started)
            fail(*field(line, "started"), fmt::format("'started' is '{}', and was '{}' further up "
                                                      "for the sample {}",
                                                      sample.started, known.started, id));
        if (value && has(known, *value))
            fail(at, fmt::format("'{}' a second time for the sample {}", value->name, id));
        return known;
    }

    store::Sample& without_id(const CsvLine& line, store::Sample& sample,
                              const std::optional<store::MetricValue>& value, const CsvField& at) {
        for (;; ++sample.spec.round) {
            sample.id = store::derived_uuid("csv sample " + sample.session + sample.status +
                                            store::json_text(to_json(sample.spec)));
            const auto [found, is_new] = by_id_.emplace(sample.id, samples_.size());
            if (is_new) {
                samples_.push_back(sample);
                is_here_.push_back(is_session_here(word(line, "session", "")));
            }
            auto& known = samples_[found->second];
            if (is_new || !value || !has(known, *value)) return known;
            if (columns_.count("round"))
                fail(at, fmt::format("'{}' a second time in one round", value->name));
        }
    }

    bool is_session_here(const std::string& id) {
        if (!here_.session || !store::is_uuid(id)) return false;
        const auto [known, is_new] = sessions_here_.emplace(id, false);
        if (is_new) known->second = here_.session(id);
        return known->second;
    }

    long leave_out_what_is_here() {
        std::vector<store::Sample> others;
        for (std::size_t i = 0; i < samples_.size(); ++i)
            if (!is_here_[i]) others.push_back(std::move(samples_[i]));
        const auto left_out = static_cast<long>(samples_.size() - others.size());
        samples_ = std::move(others);
        return left_out;
    }

    void write() {
        rows_.machine(machine_, {{"imported", "csv"}});
        std::map<std::string, std::int64_t> planned;
        for (const auto& sample : samples_) ++planned[sample.session];
        // A file that is only partly in rounds could have a round twice.
        std::map<std::string, std::string> attempts;
        for (const auto& sample : samples_) {
            const auto attempt = sample.session + store::json_text(to_json(sample.spec));
            if (const auto [other, is_new] = attempts.emplace(attempt, sample.id); !is_new)
                throw UserError(fmt::format(
                    "{}: the samples {} and {} have the same experiment, variant, axes, seed and "
                    "round; give them a column 'round'",
                    source_, other->second, sample.id));
            store::Session session;
            session.id = sample.session;
            session.machine = machine_;
            session.command = "assay import " + std::filesystem::path(source_).filename().string();
            session.suspects = nlohmann::json::object();
            session.started = sample.started;
            session.planned = planned[sample.session];
            rows_.session(session);
            const bool on_a_machine = sample.spec.provenance == Provenance::measured ||
                                      sample.spec.provenance == Provenance::emulated;
            rows_.sample(sample, on_a_machine ? machine_ : "");
        }
        for (const auto& [key, unit] : units_) metric_unit(key, unit);
        for (const auto& [key, better] : directions_) metric_unit(key, "");
        for (const auto& sample : samples_)
            if (is_benchmark(sample.spec.experiment))  // without a unit, but with a direction
                for (const auto& metric : sample.metrics)
                    metric_unit({sample.spec.experiment, metric.name}, "");
    }

    /// The first of a metric counts.
    void metric_unit(const MetricOf& metric, const std::string& unit) {
        const auto& [experiment, name] = metric;
        const auto told = directions_.find(metric);
        rows_.metric_unit({experiment, name, unit,
                           told != directions_.end()  ? told->second
                           : is_benchmark(experiment) ? benchmark_direction(name)
                                                      : Direction::none});
    }

    /// What a file of Google Benchmark brought into the database that was exported.
    static bool is_benchmark(std::string_view experiment) {
        return experiment.starts_with(benchmark_prefix);
    }

    std::string_view text_;
    const std::string& source_;
    ArrivingRows rows_;
    const ResultsHere& here_;
    std::string imported_;
    std::string file_ = store::derived_uuid(text_);
    // Nobody says where the values come from: never compared with those of another file.
    std::string machine_ = store::derived_uuid("csv machine " + file_);
    std::map<std::string, std::size_t, std::less<>> columns_;
    std::map<std::string, std::size_t> axes_;
    std::size_t width_ = 0;
    std::vector<store::Sample> samples_;
    std::vector<bool> is_here_;  ///< of the samples
    std::map<std::string, bool> sessions_here_;
    std::map<std::string, std::size_t> by_id_;
    std::map<MetricOf, std::string> units_;
    std::map<MetricOf, Direction> directions_;
};

}  // namespace

long read_csv_results(std::string_view text, const std::string& source, const RowSink& sink,
                      const ResultsHere& here) {
    return CsvResults(text, source, sink, here).read();
}

}  // namespace assay::import_export
