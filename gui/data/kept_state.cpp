#include "gui/data/kept_state.hpp"

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QSaveFile>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace assay::gui {
namespace {

using nlohmann::json;

QString text(const std::string& words) { return QString::fromStdString(words); }

json look_json(const LastLook& look) {
    json experiments = json::object();
    for (const auto& [id, seen] : look.experiments)
        experiments[id] = {{"claims", seen.claims}, {"samples", seen.samples}};
    return {{"at", look.at.toStdString()},
            {"experiments", experiments},
            {"candidate", look.candidates},
            {"confirmed", look.confirmed}};
}

LastLook read_look(const json& object) {
    LastLook look{text(object.at("at").get<std::string>()),
                  {},
                  object.at("candidate"),
                  object.at("confirmed")};
    for (const auto& [id, seen] : object.at("experiments").items())
        look.experiments[id] = {seen.at("claims").get<VerdictCounts>(),
                                seen.at("samples").get<std::map<std::string, long>>()};
    return look;
}

std::filesystem::path file_of(const std::filesystem::path& database) {
    std::error_code error;
    const auto whole = std::filesystem::weakly_canonical(database, error);
    const QByteArray hash = QCryptographicHash::hash(
        QByteArray::fromStdString((error ? database : whole).string()), QCryptographicHash::Sha256);
    return state_folder() / ("window-" + hash.toHex().left(16).toStdString() + ".json");
}

}  // namespace

std::filesystem::path state_folder() {
    const auto folder = [](const char* name) -> std::filesystem::path {
        const char* value = std::getenv(name);
        return value ? value : "";
    };
    // The XDG specification says that a relative path is to be ignored.
    if (const auto given = folder("XDG_STATE_HOME"); given.is_absolute()) return given / "assay";
    return folder("HOME") / ".local" / "state" / "assay";
}

KeptState read_state(const std::filesystem::path& database) {
    KeptState state;
    QFile file(text(file_of(database).string()));
    if (!file.open(QIODevice::ReadOnly)) return state;
    const QByteArray bytes = file.readAll();
    try {
        const json object = json::parse(bytes.begin(), bytes.end());
        state.geometry = QByteArray::fromBase64(
            QByteArray::fromStdString(object.at("geometry").get<std::string>()));
        state.view = text(object.at("view").get<std::string>());
        state.theme = text(object.at("theme").get<std::string>());
        if (object.contains("look")) state.look = read_look(object["look"]);
    } catch (const json::exception&) {  // of another version, or cut short: begin anew
        return {};
    }
    return state;
}

void write_state(const std::filesystem::path& database, const KeptState& state) {
    json object{{"database", std::filesystem::absolute(database).string()},
                {"geometry", state.geometry.toBase64().toStdString()},
                {"view", state.view.toStdString()},
                {"theme", state.theme.toStdString()}};
    if (state.look) object["look"] = look_json(*state.look);
    const std::filesystem::path file = file_of(database);
    QDir().mkpath(text(file.parent_path().string()));
    QSaveFile out(text(file.string()));
    if (!out.open(QIODevice::WriteOnly)) return;  // it is only comfort
    out.write(QByteArray::fromStdString(object.dump(2)));
    out.commit();
}

}  // namespace assay::gui
