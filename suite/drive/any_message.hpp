// One message of any described type, as drivers carry it: as the value it is where sender and
// receiver share memory, as JSON where it came out of another process. Reading it is the same.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <variant>

#include "suite/drive/messages.hpp"

namespace assay::drive {

/// A message that overtakes others and interrupts what its receiver waits for (Worker::urgent):
/// ASSAY_URGENT(Abort) behind its ASSAY_MESSAGE.
template <class M>
concept Urgent = Message<M> && requires(const M* any) {
    is_urgent(any);
};

/// Copies share the value, which does not change.
class AnyMessage {
  public:
    AnyMessage() = default;  ///< none: name() is empty
    template <Message M>
    AnyMessage(M message)
        : kind_(&kind_of<M>), value_(std::make_shared<const M>(std::move(message))) {}
    template <Message... Ms>
    AnyMessage(std::variant<Ms...> message)
        : AnyMessage(std::visit([](auto& one) { return AnyMessage(std::move(one)); }, message)) {}
    /// Throws MessageError where it has no "type".
    static AnyMessage of_json(nlohmann::json object);

    std::string_view name() const { return kind_ ? kind_->name : std::string_view(text_name()); }
    bool urgent() const;

    template <Message M>
    bool is() const {
        return kind_ == &kind_of<M> || name() == detail::name<M>;
    }
    /// M: a message, or a variant of messages. Throws MessageError for any other.
    template <class M>
    M to() const {
        if (!kind_) return drive::message_to<M>(json());
        if constexpr (detail::is_variant<M>)
            return alternative<M>(std::type_identity<M>());
        else if (const M* message = get<M>())
            return *message;
        return drive::message_to<M>(to_json());  // the words of the refusal are there
    }
    /// The value itself, as long as a copy of this message is there; null where it is held as JSON,
    /// or as another one.
    template <Message M>
    const M* get() const {
        const bool held = kind_ && (kind_ == &kind_of<M> || kind_->type == typeid(M));
        return held ? static_cast<const M*>(value_.get()) : nullptr;
    }
    /// {"type": …, its fields}; "urgent": true where it is.
    nlohmann::json to_json() const;

  private:
    struct Kind {
        std::string_view name;
        const std::type_info& type;
        bool urgent;
        nlohmann::json (*to_json)(const void*);
    };
    template <Message M>
    static inline const Kind kind_of{detail::name<M>, typeid(M), Urgent<M>, [](const void* value) {
                                         return drive::to_message(*static_cast<const M*>(value));
                                     }};

    template <class V, class... Ms>
    V alternative(std::type_identity<std::variant<Ms...>>) const {
        std::optional<V> result;
        [[maybe_unused]] const bool found = ([&] {
            if (const Ms* message = get<Ms>()) result = *message;
            return result.has_value();
        }() || ...);
        if (result) return *std::move(result);
        return drive::message_to<V>(to_json());
    }
    const nlohmann::json& json() const {
        if (!value_) throw MessageError("no message");
        return *static_cast<const nlohmann::json*>(value_.get());
    }
    std::string_view text_name() const;

    const Kind* kind_ = nullptr;  // null: JSON, or nothing
    std::shared_ptr<const void> value_;
};

/// M: a message, or a variant of messages. Throws MessageError for any other.
template <class M>
M message_to(const AnyMessage& message) {
    return message.to<M>();
}

}  // namespace assay::drive

#define ASSAY_URGENT(Type) \
    constexpr void is_urgent(const Type*) {}
