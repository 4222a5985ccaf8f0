// CSV to samples.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "suite/base/date.hpp"
#include "suite/base/error.hpp"
#include "suite/base/quantity_text.hpp"
#include "suite/import_export/csv_document.hpp"
#include "suite/import_export/google_benchmark_file.hpp"
#include "suite/import_export/import.hpp"
#include "suite/import_export/rows.hpp"
#include "suite/import_export/session_days.hpp"
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
               const ResultsHere& here, const ImportOptions& options)
        : text_(text),
          source_(source),
          rows_(sink),
          here_(here),
          options_(options),
          separator_(separator_of(text)),
          imported_(store::now_utc()) {}

    CsvRead read() {
        refuse_google_benchmark();
        const auto lines = parse_csv(text_, source_, separator_);
        if (lines.empty()) throw UserError(source_ + ": the file is empty");
        header(lines.front());
        find_days(lines);
        for (std::size_t i = 1; i < lines.size(); ++i) line(lines[i]);
        warn_of_real_axes(lines);
        const long left_out = leave_out_what_is_here();
        if (!samples_.empty()) write();
        return {left_out, std::move(notes_)};
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
        rename(names.front());
        for (const char* required : {"experiment", "metric", "value"})
            if (!columns_.count(required) && !(metric_ && required == std::string_view("metric")))
                fail(names.front(),
                     fmt::format("the column '{0}' is missing; results have at least experiment, "
                                 "metric and value{1}",
                                 required, called_otherwise(required)));
        for (const auto& [name, at] : columns_)
            if (!is_known(name)) axes_.emplace(name, at);
    }

    /// "": no column is left that could be meant.
    std::string called_otherwise(std::string_view required) const {
        const bool others = std::any_of(columns_.begin(), columns_.end(),
                                        [](const auto& column) { return !is_known(column.first); });
        return others ? fmt::format(" (--column {}=NAME where it is called NAME)", required) : "";
    }

    /// Columns that the user says are ours. A value without a metric beside it is of the metric
    /// that its column is called by.
    void rename(const CsvField& at) {
        for (const auto& [ours, theirs] : options_.columns) {
            if (!is_known(ours))
                throw UserError(fmt::format("--column {}={}: no column of results is called '{}'",
                                            ours, theirs, ours));
            auto column = columns_.extract(theirs);
            if (column.empty())
                fail(at,
                     fmt::format("there is no column '{}' (--column {}={})", theirs, ours, theirs));
            column.key() = ours;
            if (!columns_.insert(std::move(column)).inserted)
                fail(at, fmt::format("there is a column '{}' beside '{}'", ours, theirs));
            if (ours == "value" && !columns_.count("metric") &&
                !options_.columns.contains("metric"))
                metric_ = CsvField{theirs, at.line, at.column};
        }
    }

    static bool is_known(std::string_view name) {
        for (const auto* known : {"session", "experiment", "variant", "profile", "provenance",
                                  "scenario", "seed", "round", "status", "metric", "labels", "unit",
                                  "better", "value", "sample", "started", "machine", "commit"})
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
        const std::string text = without_decimal_comma(*found);
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size())
            fail(*found, fmt::format("'{}' is '{}', not {}", name, found->text, wanted));
        return value;
    }

    /// Where semicolons separate fields, a comma may stand for the point; before three digits it
    /// could separate thousands, unless what is before it is zero.
    std::string without_decimal_comma(const CsvField& field) const {
        std::string text = field.text;
        const auto comma = text.find(',');
        if (separator_ != ';' || comma == text.npos) return text;
        const std::string_view before = std::string_view(text).substr(0, comma);
        if (text.size() - comma == 4 && before != "0" && before != "-0")
            fail(field, fmt::format("'{}' may be {} or {}: write numbers with a point", text,
                                    text.substr(0, comma) + '.' + text.substr(comma + 1),
                                    text.substr(0, comma) + text.substr(comma + 1)));
        text[comma] = '.';
        return text;
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

    /// Without that column, of several days several.
    std::string session_of(const CsvLine& line, const std::string& started) const {
        std::string typed = word(line, "session", "");
        if (typed.empty() && !days_.empty()) typed = "of " + days_.at(*store::parse_utc(started));
        for (const char* column : {"machine", "commit"})
            if (const std::string what = word(line, column, ""); !what.empty())
                typed += fmt::format("\n{} {}", column, what);
        return store::derived_uuid("csv session " + typed + '\n' + file_);
    }

    void find_days(const std::vector<CsvLine>& lines) {
        if (columns_.count("session")) return;
        std::set<Moment> started;
        for (std::size_t i = 1; i < lines.size(); ++i)
            if (lines[i].size() == width_) started.insert(*store::parse_utc(started_of(lines[i])));
        days_ = session_days(started);
        std::set<std::string> different;
        for (const auto& [at, day] : days_) different.insert(day);
        if (different.size() <= 1) return days_.clear();
        notes_.push_back(
            fmt::format("rows of {} days are as many sessions; a column `session` says otherwise",
                        different.size()));
    }

    /// A result that was taken for an axis leaves every row alone in its series.
    void warn_of_real_axes(const std::vector<CsvLine>& lines) {
        constexpr std::size_t few = 4;
        for (const auto& [axis, at] : axes_) {
            std::set<std::string> values;
            bool reals = lines.size() > few;
            for (std::size_t i = 1; i < lines.size() && reals; ++i) {
                const Value value = parse_value(lines[i][at].text);
                reals = std::holds_alternative<double>(value) &&
                        values.insert(lines[i][at].text).second;
            }
            if (reals)
                notes_.push_back(fmt::format(
                    "warning: the column '{}' is taken for an axis and has another number in every "
                    "row, so that each row is a series of its own; --column value={} reads it as "
                    "the "
                    "values, else leave it out of the file",
                    axis, axis));
        }
    }

    void line(const CsvLine& line) {
        if (line.size() != width_)
            fail(line.back(), fmt::format("{} fields, the first line has {}", line.size(), width_));
        store::Sample sample;
        sample.spec = spec_of(line);
        sample.started = started_of(line);
        sample.session = session_of(line, sample.started);
        sample.status = word(line, "status", "ok");
        if (!store::is_final_status(sample.status))
            fail(*field(line, "status"), fmt::format("there is no status '{}'", sample.status));
        const auto* metric = metric_ ? &*metric_ : field(line, "metric");
        std::optional<store::MetricValue> value;
        if (!metric->text.empty()) {
            if (field(line, "value")->text.empty())
                fail(*field(line, "value"), fmt::format("'{}' has no value", metric->text));
            value = {metric->text, labels_of(line),
                     number<double>(line, "value", "a number, nan, inf or -inf")};
            if (const auto* unit = field(line, "unit"); unit && !unit->text.empty())
                value->value *= unit_of(sample.spec.experiment, metric->text, *unit);
            if (const auto* better = field(line, "better"); better && !better->text.empty())
                direction_of(sample.spec.experiment, metric->text, *better);
        }
        const auto id = word(line, "sample", "");
        about_.try_emplace(sample.session, About{word(line, "machine", options_.machine),
                                                 word(line, "commit", "")});
        store::Sample& into = id.empty() ? without_id(line, sample, value, *metric)
                                         : with_id(line, sample, value, *metric);
        if (value) into.metrics.push_back(std::move(*value));
    }

    std::string started_of(const CsvLine& line) const {
        const auto text = word(line, "started", imported_);
        if (store::parse_utc(text)) return text;
        const auto at = read_date(text);
        if (!at) {
            const std::string why = impossible_date(text);
            fail(*field(line, "started"),
                 fmt::format("'started' is '{}', no time{}; write 2026-11-21T02:03:04.567Z (UTC)",
                             text, why.empty() ? "" : ": " + why));
        }
        return store::utc(*at);
    }

    /// What values of the line are multiplied with to be in the metric's unit.
    double unit_of(const std::string& experiment, const std::string& metric, const CsvField& unit) {
        if (const MetricSpec* declared = declared_metric(experiment, metric);
            declared && !declared->unit.empty()) {
            const auto factor = unit_factor(unit.text, declared->unit);
            if (!factor)
                fail(unit, fmt::format("'{}' of {} is declared in '{}', which '{}' is no unit of; "
                                       "convert its values",
                                       metric, experiment, declared->unit, unit.text));
            units_.emplace(std::pair(experiment, metric), declared->unit);
            return *factor;
        }
        const auto known = units_.emplace(std::pair(experiment, metric), unit.text).first->second;
        if (known != unit.text)
            fail(unit, fmt::format("the unit of '{}' of {} is '{}', and was '{}' further up; write "
                                   "all its values in one unit",
                                   metric, experiment, unit.text, known));
        return 1;
    }

    const MetricSpec* declared_metric(const std::string& id, const std::string& metric) const {
        const Experiment* experiment =
            options_.registry ? options_.registry->experiment(id) : nullptr;
        return experiment ? experiment->metric(metric) : nullptr;
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
        if (known.status != sample.status)
            fail(*field(line, "status"),
                 fmt::format("'status' is '{}', and was '{}' further up for "
                             "the sample {}",
                             sample.status, known.status, id));
        if (known.started != sample.started)
            fail(*field(line, "started"), fmt::format("'started' is '{}', and was '{}' further up "
                                                      "for the sample {}",
                                                      sample.started, known.started, id));
        if (to_json(known.spec) != to_json(sample.spec) || known.session != sample.session)
            fail(at, fmt::format("sample {} was another one further up", id));
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
            const About& about = about_.at(sample.session);
            session.machine = machine_of(about.machine);
            session.command = "assay import " + std::filesystem::path(source_).filename().string();
            session.suspects = nlohmann::json::object();
            if (!about.machine.empty()) session.suspects["host_name"] = about.machine;
            if (!about.commit.empty()) session.suspects["commit"] = about.commit;
            session.started = sample.started;
            session.planned = planned[sample.session];
            rows_.session(session);
            const bool on_a_machine = sample.spec.provenance == Provenance::measured ||
                                      sample.spec.provenance == Provenance::emulated;
            rows_.sample(sample, on_a_machine ? session.machine : "");
        }
        for (const auto& [key, unit] : units_) metric_unit(key, unit);
        for (const auto& [key, better] : directions_) metric_unit(key, "");
        for (const auto& sample : samples_)
            if (is_benchmark(sample.spec.experiment))  // without a unit, but with a direction
                for (const auto& metric : sample.metrics)
                    metric_unit({sample.spec.experiment, metric.name}, "");
    }

    /// It is not said where the values of a file come from: never compared with those of another
    /// one.
    std::string machine_of(const std::string& name) {
        nlohmann::json description = nlohmann::json::object();
        if (!name.empty()) description["machine"] = name;
        const std::string fingerprint = store::derived_uuid(
            name.empty() ? "csv machine " + file_ : "machine " + store::json_text(description));
        description["imported"] = "csv";
        rows_.machine(fingerprint, description);
        return fingerprint;
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
    const ImportOptions& options_;
    char separator_;
    std::string imported_;
    std::string file_ = store::derived_uuid(text_);
    std::map<std::string, std::size_t, std::less<>> columns_;
    std::map<std::string, std::size_t> axes_;
    std::size_t width_ = 0;
    std::optional<CsvField> metric_;      ///< of all rows, where no column tells it
    std::map<Moment, std::string> days_;  ///< empty: one session
    struct About {
        std::string machine, commit;
    };
    std::map<std::string, About> about_;  ///< of sessions
    std::vector<std::string> notes_;
    std::vector<store::Sample> samples_;
    std::vector<bool> is_here_;  ///< of the samples
    std::map<std::string, bool> sessions_here_;
    std::map<std::string, std::size_t> by_id_;
    std::map<MetricOf, std::string> units_;
    std::map<MetricOf, Direction> directions_;
};

}  // namespace

CsvRead read_csv_results(std::string_view text, const std::string& source, const RowSink& sink,
                         const ResultsHere& here, const ImportOptions& options) {
    return CsvResults(text, source, sink, here, options).read();
}

}  // namespace assay::import_export
