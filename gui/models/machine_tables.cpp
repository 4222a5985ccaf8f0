#include "gui/models/machine_tables.hpp"

#include <fmt/format.h>

#include "gui/models/words.hpp"

namespace assay::gui {
namespace {

// A mark beside the word, so that it is seen without reading, and without colours.
QString level_text(const Finding& finding) {
    if (finding.level == "ok") return QStringLiteral("✓ ok");
    return (finding.level == "fail" ? QStringLiteral("✗ ") : QStringLiteral("! ")) +
           text(finding.level);
}

QString value_text(const std::string& value) {
    return value.empty() ? QStringLiteral("–") : text(value);
}

QString beside_text(const std::optional<std::string>& value, bool differs) {
    if (!value) return {};
    return (differs ? QStringLiteral("≠ ") : QString()) + value_text(*value);
}

QString differs_text(const MachineFact& fact) {
    if (fact.differs_before() && fact.differs_elsewhere()) return QStringLiteral("≠ both");
    if (fact.differs_before()) return QStringLiteral("≠ before");
    if (fact.differs_elsewhere()) return QStringLiteral("≠ elsewhere");
    return {};
}

QString range_text(const std::optional<store::ReadingRange>& range, double unit, int digits) {
    if (!range) return {};
    const QString low = QString::number(range->low / unit, 'f', digits),
                  high = QString::number(range->high / unit, 'f', digits);
    return low == high ? low : low + " – " + high;
}

QString reasons_text(const store::DeviceReadings& device) {
    QStringList reasons;
    for (const auto& [reason, n] : device.reasons)
        reasons << QStringLiteral("%1 (%2)").arg(text(reason)).arg(n);
    return reasons.join(QStringLiteral(", "));
}

}  // namespace

FindingsModel* make_findings_model(QObject* parent) {
    return new FindingsModel(
        {{"Level", [](const Finding& row) { return level_text(row); }},
         {"Check", [](const Finding& row) { return text(row.check); }},
         {"What `assay doctor` says", [](const Finding& row) { return text(row.says); }}},
        [](const Finding& row) { return text(row.check + "\n" + row.level + ": " + row.says); },
        parent);
}

FactsModel* make_facts_model(QObject* parent) {
    return new FactsModel(
        {{"Fact", [](const MachineFact& row) { return text(row.name); }},
         {"Differs", [](const MachineFact& row) { return differs_text(row); }, false,
          "≠ before: from the session before on this machine; ≠ elsewhere: from another machine's"},
         {"This session", [](const MachineFact& row) { return value_text(row.value); }},
         {"Before, same machine",
          [](const MachineFact& row) { return beside_text(row.before, row.differs_before()); }},
         {"Another machine",
          [](const MachineFact& row) {
              return beside_text(row.elsewhere, row.differs_elsewhere());
          }}},
        [](const MachineFact& row) {
            return text(row.name) + "\n" + value_text(row.value) +
                   (row.before ? "\nbefore: " + value_text(*row.before) : QString()) +
                   (row.elsewhere ? "\nanother machine: " + value_text(*row.elsewhere) : QString());
        },
        parent);
}

DevicesModel* make_devices_model(QObject* parent) {
    using Device = store::DeviceReadings;
    return new DevicesModel(
        {{"Device", [](const Device& row) { return text(row.device); }},
         {"Readings", [](const Device& row) { return qlonglong(row.readings); }, true},
         {"Clock, GHz", [](const Device& row) { return range_text(row.clock_hz, 1e9, 2); }, true},
         {"Temp., °C", [](const Device& row) { return range_text(row.temperature_c, 1, 0); }, true,
          "temperature, lowest and highest"},
         {"Power, W", [](const Device& row) { return range_text(row.power_w, 1, 0); }, true},
         {"Throttled", [](const Device& row) { return qlonglong(row.throttled); }, true,
          "readings at which the device held itself back"},
         {"Why", [](const Device& row) { return reasons_text(row); }, false,
          "each reason, and in how many readings"}},
        [](const Device& row) {
            return text(fmt::format("{}\n{} readings, {} throttled", row.device, row.readings,
                                    row.throttled)) +
                   (row.reasons.empty() ? QString() : ": " + reasons_text(row));
        },
        parent);
}

}  // namespace assay::gui
