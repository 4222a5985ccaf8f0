#include "suite/drive/any_message.hpp"

namespace assay::drive {

AnyMessage AnyMessage::of_json(nlohmann::json object) {
    detail::type_of(object, Place{});
    AnyMessage message;
    message.value_ = std::make_shared<const nlohmann::json>(std::move(object));
    return message;
}

std::string_view AnyMessage::text_name() const {
    return value_ ? std::string_view(json().at("type").get_ref<const std::string&>())
                  : std::string_view();
}

bool AnyMessage::urgent() const {
    if (kind_) return kind_->urgent;
    return value_ && json().value("urgent", false);
}

nlohmann::json AnyMessage::to_json() const {
    if (!value_) throw MessageError("no message");
    if (!kind_) return json();
    nlohmann::json object = kind_->to_json(value_.get());
    if (kind_->urgent) object["urgent"] = true;
    return object;
}

}  // namespace assay::drive
