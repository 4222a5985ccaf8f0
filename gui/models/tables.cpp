#include "gui/models/tables.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "gui/models/words.hpp"
#include "suite/report/text/text_table.hpp"

namespace assay::gui {
namespace {

QString with_unit(const std::optional<double>& value, const std::string& unit) {
    if (!value) return {};
    return text(report::number(*value) + (unit.empty() ? "" : " " + unit));
}

// A mark beside the word, so that a verdict is seen without reading, and without colours.
QString verdict_text(const JudgedClaim& judged) {
    if (judged.claim->kind == ClaimKind::setting) return QStringLiteral("· setting");
    switch (judged.check.verdict) {
        case ClaimVerdict::supported:
            return QStringLiteral("✓ holds");
        case ClaimVerdict::contradicted:
            return QStringLiteral("✗ contradicted");
        case ClaimVerdict::open_discrepancy:
            return QStringLiteral("≠ discrepancy");
        case ClaimVerdict::calibrated:
            return QStringLiteral("≈ calibrated");
        case ClaimVerdict::not_run:
            return QStringLiteral("– not run");
        case ClaimVerdict::not_checkable_here:
            return QStringLiteral("– not here");
    }
    return {};
}

QString verdict_text(const compare::Row& row) {
    using compare::RowVerdict;
    const char* mark = row.verdict == RowVerdict::slower || row.verdict == RowVerdict::failed ? "▼ "
                       : row.verdict == RowVerdict::faster ? "▲ "
                       : row.verdict == RowVerdict::same   ? "= "
                                                           : "? ";
    QString words = QString::fromUtf8(mark) + text(to_string(row.verdict));
    return row.warnings.empty() ? words : words + QStringLiteral(" (!)");
}

QString ratio_text(double ratio) {
    return std::isfinite(ratio) ? QString::number(ratio, 'f', 3) : QString();
}

QString detail_text(const TimelineMark& mark) {
    return mark.detail.is_object() && mark.detail.empty() ? QString() : text(mark.detail.dump());
}

QString changes_text(const report::Trend& trend) {
    if (trend.changes.empty()) return QStringLiteral("none");
    const report::TrendChange& last = trend.changes.back();
    const auto& point = trend.points[static_cast<std::size_t>(last.at.index)];
    return QStringLiteral("%1, last %2 on %3 %4")
        .arg(trend.changes.size())
        .arg(text(report::change_text(last.at)), text(point.started.substr(0, 10)),
             text(name_of(last.turn)));
}

QString notes_text(const TrendHistory& history) {
    QStringList lines;
    for (const std::string& sentence : history.trend.left_out) lines << text(sentence);
    for (const report::TrendChange& change : history.trend.changes)
        for (const report::SuspectChange& suspect : change.suspects)
            lines << text(
                fmt::format("{} was {}, then {}", suspect.name, suspect.before, suspect.after));
    for (const SessionNote& note : history.notes)
        lines << text(fmt::format("{:.10} {}", note.at, note.text));
    return lines.join('\n');
}

}  // namespace

ClaimsModel* make_claims_model(QObject* parent) {
    return new ClaimsModel(
        {{"Verdict", [](const JudgedClaim& row) { return verdict_text(row); }},
         {"Paper",
          [](const JudgedClaim& row) { return with_unit(row.claim->value, row.claim->unit); },
          true},
         {"Ours",
          [](const JudgedClaim& row) { return with_unit(row.check.obtained, row.claim->unit); },
          true, "of several cases the least favourable one"},
         {"The paper says", [](const JudgedClaim& row) { return text(row.claim->says); }}},
        [](const JudgedClaim& row) {
            return text(
                fmt::format("{}\n{}\n{}", row.claim->id, row.claim->says, row.check.reason));
        },
        parent);
}

MarksModel* make_marks_model(QObject* parent) {
    return new MarksModel(
        {{"Time, s", [](const TimelineMark& row) { return QString::number(row.t_s, 'f', 3); },
          true},
         {"What", [](const TimelineMark& row) { return text(row.kind); }},
         {"Rank",
          [](const TimelineMark& row) { return row.rank ? QVariant(*row.rank) : QVariant(); },
          true},
         {"Took, s",
          [](const TimelineMark& row) {
              return row.seconds ? QString::number(*row.seconds, 'f', 3) : QString();
          },
          true},
         {"Detail", [](const TimelineMark& row) { return detail_text(row); }}},
        [](const TimelineMark& row) {
            return text(fmt::format("{} at {:.6f} s\n{}", row.kind, row.t_s, row.detail.dump(2)));
        },
        parent);
}

TrendsModel* make_trends_model(QObject* parent) {
    return new TrendsModel(
        {{"Row", [](const TrendHistory& row) { return text(row.row); }},
         {"Sessions", [](const TrendHistory& row) { return qlonglong(row.trend.points.size()); },
          true},
         {"Newest",
          [](const TrendHistory& row) {
              return with_unit(row.trend.points.back().median, row.trend.unit);
          },
          true},
         {"Changes", [](const TrendHistory& row) { return changes_text(row.trend); }}},
        [](const TrendHistory& row) {
            return text(row.trend.title() + "\n" + row.trend.context() + "\n") + notes_text(row);
        },
        parent);
}

RowsModel* make_rows_model(QObject* parent) {
    return new RowsModel(
        {{"Row", [](const compare::Row& row) { return text(row.id.text()); }},
         {"B / A", [](const compare::Row& row) { return ratio_text(row.ratio); }, true},
         {"Interval",
          [](const compare::Row& row) {
              const QString low = ratio_text(row.low), high = ratio_text(row.high);
              return low.isEmpty() || high.isEmpty() ? QString() : low + " – " + high;
          },
          true, "of the ratio"},
         {"n",
          [](const compare::Row& row) {
              return QStringLiteral("%1, %2").arg(row.n_a).arg(row.n_b);
          },
          true, "values of A and of B"},
         {"Verdict", [](const compare::Row& row) { return verdict_text(row); }}},
        [](const compare::Row& row) {
            std::string words = row.id.text() + "\n" + row.reason;
            for (const std::string& warning : row.warnings) words += "\n(!) " + warning;
            for (const std::string& error : row.errors) words += "\n" + error;
            return text(words);
        },
        parent);
}

}  // namespace assay::gui
