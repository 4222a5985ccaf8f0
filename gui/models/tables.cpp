#include "gui/models/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "gui/models/words.hpp"
#include "suite/report/text/claims_summary.hpp"
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
            return QStringLiteral("✗ contradicted");  // explained or not: claim_details()
        case ClaimVerdict::undecided:
            return QStringLiteral("? undecided");
        case ClaimVerdict::calibrated:
            return QStringLiteral("≈ calibrated");
        case ClaimVerdict::not_run:
            return QStringLiteral("– not run");
        case ClaimVerdict::not_checkable_here:
            return QStringLiteral("– not here");
    }
    return {};
}

QString saying(const JudgedClaim& judged) {
    const ClaimKind kind = judged.claim->kind;
    if (kind == ClaimKind::claim || kind == ClaimKind::setting) return text(judged.claim->says);
    return text(fmt::format("({}) {}", to_string(kind), judged.claim->says));
}

QString claim_details(const JudgedClaim& judged) {
    const auto& [claim, check] = judged;
    const std::string why = report::explanation_text(*claim, check);
    return text(fmt::format("{}\n{}\n{}{}{}", claim->id, claim->says, check.reason,
                            why.empty() ? "" : "\n", why));
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
    return mark.detail.empty() ? QString() : text(mark.detail.dump());
}

QString changes_text(const report::Trend& trend) {
    if (trend.changes.empty()) return QStringLiteral("none");
    const report::TrendChange& last = trend.changes.back();
    const auto& point = trend.points[static_cast<std::size_t>(last.at.index)];
    return QStringLiteral("%1, last %2 on %3 %4")
        .arg(trend.changes.size())
        .arg(text(report::change_text(last.at)), text(point.started.substr(0, 10)),
             text(to_string(last.turn)));
}

/// "A: 1.2, 1.3, 1.25 s": the values of one side, as they started; empty: it has none.
std::string values_text(char side, const compare::Series* series) {
    constexpr std::size_t most = 12;
    if (!series || series->points.empty()) return {};
    std::string words;
    for (std::size_t i = 0; i < std::min(most, series->points.size()); ++i)
        words += (i > 0 ? ", " : "") + report::number(series->points[i].value);
    if (series->points.size() > most)
        words += fmt::format(" and {} more", series->points.size() - most);
    return fmt::format("\n{}: {}{}{}", side, words, series->unit.empty() ? "" : " ", series->unit);
}

QString left_out_text(const report::Trend& trend) {
    QStringList lines;
    for (const std::string& sentence : trend.left_out) lines << text(sentence);
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
         {"The paper says", saying}},
        claim_details, parent);
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
            return text(fmt::format("{}{} at {:.6f} s{}{}", row.kind,
                                    row.rank ? fmt::format(" of rank {}", *row.rank) : "", row.t_s,
                                    row.detail.empty() ? "" : "\n",
                                    row.detail.empty() ? "" : row.detail.dump(2)));
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
            return text(row.trend.title() + "\n" + row.trend.context() + "\n") +
                   left_out_text(row.trend);
        },
        parent);
}

RowsModel* make_rows_model(QObject* parent) {
    return new RowsModel(
        {{"Row", [](const ComparedRow& one) { return text(one.name); }},
         {"B / A", [](const ComparedRow& one) { return ratio_text(one.row.ratio); }, true},
         {"Interval",
          [](const ComparedRow& one) {
              const QString low = ratio_text(one.row.low), high = ratio_text(one.row.high);
              return low.isEmpty() || high.isEmpty() ? QString() : low + " – " + high;
          },
          true, "of the ratio"},
         {"n",
          [](const ComparedRow& one) {
              return QStringLiteral("%1, %2").arg(one.row.n_a).arg(one.row.n_b);
          },
          true, "values of A and of B"},
         {"Verdict", [](const ComparedRow& one) { return verdict_text(one.row); }}},
        [](const ComparedRow& one) {
            std::string words = one.name + "\n" + one.row.reason + values_text('A', one.row.a) +
                                values_text('B', one.row.b);
            for (const std::string& warning : one.row.warnings) words += "\n(!) " + warning;
            for (const std::string& error : one.row.errors) words += "\n" + error;
            return text(words);
        },
        parent);
}

SamplesModel* make_samples_model(QObject* parent) {
    return new SamplesModel(
        {{"Sample", [](const ClaimSample& row) { return text(row.id.substr(0, 8)); }, false,
          "a click shows what happened in it"},
         {"Variant", [](const ClaimSample& row) { return text(row.variant); }},
         {"Case", [](const ClaimSample& row) { return text(row.axes); }},
         {"Seed", [](const ClaimSample& row) { return QVariant(qulonglong(row.seed)); }, true},
         {"Value", [](const ClaimSample& row) { return with_unit(row.value, ""); }, true,
          "of the claim's metric; of several the first that it asks for"}},
        [](const ClaimSample& row) {
            return text(fmt::format("{}\n{} {}, {}, {}", row.id, row.variant, row.axes, row.profile,
                                    row.provenance));
        },
        parent);
}

TrendEventsModel* make_trend_events_model(QObject* parent) {
    return new TrendEventsModel(
        {{"When", [](const TrendEvent& row) { return text(row.at.substr(0, 10)); }},
         {"What", [](const TrendEvent& row) { return text(row.what); }},
         {"Says", [](const TrendEvent& row) { return text(row.says); }}},
        [](const TrendEvent& row) {
            return text(fmt::format("{} of {}\n{}", row.what, row.at, row.says));
        },
        parent);
}

}  // namespace assay::gui
