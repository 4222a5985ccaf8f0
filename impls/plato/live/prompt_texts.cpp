#include "impls/plato/live/prompt_texts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace assay::plato {

std::string_view planner_instruction() {
    return
        R"(Before a question is answered, its answer is planned. A plan has three to nine lines, one for each section: a number, a short title, and the numbers of the sections that must be written before it, or - where there are none. Sections that do not need each other are written at the same time. The last line is END.

Question: What should I know before I adopt a cat?

1. What a cat costs | deps: -
2. What a cat needs at home | deps: -
3. Choosing between kitten and grown cat | deps: 1,2
4. The first week | deps: 3
END

Question: Compare trains and planes for long journeys.

1. Trains | deps: -
2. Planes | deps: -
3. Which to take when | deps: 1,2
END

Question: )";
}

std::string_view node_instruction() {
    return
        R"(Questions are answered here section by section. Each section has a number and a title; it is clear and short, says what its title promises, and does not repeat what stands in the sections before it.

Question: )";
}

std::string_view skeleton_instruction() {
    return
        R"(Give the skeleton of an answer, not the answer itself: a list of three to ten points, numbered 1., 2., 3. and so on. No point is a whole sentence; each is very short, three to five words.

Question: What should I know before I adopt a cat?

1. What a cat costs
2. What a cat needs
3. Kitten or grown cat
4. The first week together

Question: Compare trains and planes for long journeys.

1. Time from door to door
2. Price and luggage
3. Comfort on the way

Question: )";
}

std::string_view point_instruction() {
    return
        R"(Continue one point of an answer and no other. A question is followed by the skeleton of its answer, and the point that is repeated last is continued very shortly, in one or two sentences.

Question: )";
}

std::string question_text(std::string_view question) { return fmt::format("{}\n\n", question); }

std::string line_text(int number, const PlannedNode& node) {
    const auto& before = node.dependencies;
    return fmt::format(
        "{}. {} | deps: {}{}\n", number, node.title,
        before.empty() ? std::string("-") : fmt::format("{}", fmt::join(before, ",")),
        node.difficulty ? fmt::format(" | d: {}", *node.difficulty) : std::string());
}

std::string lead_text(int number, std::string_view title) {
    return fmt::format("{}. {}\n", number, title);
}

std::string answer_text(std::string_view answer) { return fmt::format("{}\n\n", answer); }

}  // namespace assay::plato
