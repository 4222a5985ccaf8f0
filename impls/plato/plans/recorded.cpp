#include "impls/plato/plans/recorded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "impls/plato/plans/json_fields.hpp"
#include "suite/base/error.hpp"
#include "suite/base/json_text.hpp"

namespace assay::plato {
namespace {

std::string_view without_blanks(std::string_view text) {
    constexpr const char* blanks = " \t\r\n";
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string_view cut_off(std::string_view& rest, char separator) {
    const auto at = std::min(rest.find(separator), rest.size());
    const std::string_view before = without_blanks(rest.substr(0, at));
    rest.remove_prefix(std::min(at + 1, rest.size()));
    return before;
}

bool is_digits(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Whether a plan's line is written as models are asked to, and not only as they are understood.
bool is_as_asked(std::string_view line) {
    if (std::count(line.begin(), line.end(), '|') == 0) return without_blanks(line) == "END";
    std::string_view rest = line;
    std::string_view title = cut_off(rest, '|');
    if (!is_digits(cut_off(title, '.'))) return false;
    const bool has_difficulty = rest.find('|') != std::string_view::npos;
    std::string_view list = cut_off(rest, '|');
    if (!list.starts_with("deps:")) return false;
    list = without_blanks(list.substr(5));
    if (list != "-")
        for (bool more = true; more;) {
            more = list.find(',') != std::string_view::npos;
            if (!is_digits(cut_off(list, ','))) return false;
        }
    return !has_difficulty || without_blanks(rest).starts_with("d:");
}

/// The text form, a line at a time.
class TextReader {
  public:
    TextReader(std::string name, std::vector<RecordedAnswer>& into)
        : name_(std::move(name)), into_(into) {}

    void line(std::string_view line) {
        ++number_;
        if (line.starts_with("### ")) return part(without_blanks(line.substr(4)));
        if (line.starts_with("## ")) return begin(without_blanks(line.substr(3)));
        switch (where_) {
            case Where::before:
                return;
            case Where::question:
                return append(into_.back().question, line);
            case Where::plan:
                return plan_line(line);
            case Where::answer:
                return append(into_.back().answers.back(), line);
        }
    }
    void end() {
        if (into_.empty() || where_ == Where::before) return;
        RecordedAnswer& answer = into_.back();
        answer.question = without_blanks(answer.question);
        if (answer.question.empty()) fail("the record before has no question");
        if (answer.plan.empty()) fail("the record before has no plan; it begins with ### plan");
        for (std::string& text : answer.answers) text = without_blanks(text);
        if (answer.answers.size() != answer.plan.size())
            fail(fmt::format("the record before has {} nodes and {} answers", answer.plan.size(),
                             answer.answers.size()));
        for (std::size_t i = 0; i < answer.answers.size(); ++i)
            if (answer.answers[i].empty())
                fail(fmt::format("the answer of node {} is empty", i + 1));
    }

  private:
    enum class Where { before, question, plan, answer };

    [[noreturn]] void fail(const std::string& what) const {
        throw UserError(fmt::format("{}:{}: {}", name_, number_, what));
    }
    void begin(std::string_view id) {
        end();
        if (id.empty()) fail("a record begins with ## and its id");
        into_.push_back({.id = std::string(id), .question = {}, .plan = {}, .answers = {}});
        where_ = Where::question;
    }
    void part(std::string_view what) {
        if (where_ == Where::before)
            fail("this belongs to no record; one begins with ## and its id");
        if (what == "plan") {
            if (where_ != Where::question) fail("a record has one plan, behind its question");
            where_ = Where::plan;
            parser_ = {};
            return;
        }
        if (where_ == Where::question) fail("a record has ### plan before its answers");
        if (where_ == Where::plan) take_plan();
        RecordedAnswer& answer = into_.back();
        if (what != std::to_string(answer.answers.size() + 1))
            fail(fmt::format("### {} where ### {} is to come: answers stand in the order of nodes",
                             what, answer.answers.size() + 1));
        answer.answers.emplace_back();
        where_ = Where::answer;
    }
    void plan_line(std::string_view line) {
        if (without_blanks(line).empty()) return;
        if (parser_.ended()) fail("a plan ends with END");
        parser_.feed(line);
        parser_.feed("\n");
        if (parser_.repaired() > 0 || !is_as_asked(line))
            fail("this is no line of a plan; write \"2. TITLE | deps: 1\", or - for none");
        if (!parser_.dropped_dependencies().empty()) fail("a node depends on such before it");
        if (static_cast<int>(parser_.nodes().size()) > most_recorded_nodes ||
            parser_.dropped_nodes() > 0)
            fail(fmt::format("a plan has at most {} nodes", most_recorded_nodes));
    }
    void take_plan() {
        if (!parser_.ended()) fail("the plan before does not end with END");
        into_.back().plan = parser_.nodes();
    }
    static void append(std::string& text, std::string_view line) {
        text += line;
        text += '\n';
    }

    std::string name_;
    std::vector<RecordedAnswer>& into_;
    Where where_ = Where::before;
    PlanParser parser_;
    int number_ = 0;
};

RecordedAnswer answer_of(const nlohmann::json& object, const std::string& where) {
    const JsonFields fields(object, where, {"id", "question", "nodes"});
    RecordedAnswer answer;
    answer.id = fields.text("id");
    answer.question = without_blanks(fields.text("question"));
    if (answer.question.empty()) fields.fail("\"question\" is empty");
    const nlohmann::json& nodes = fields.at("nodes");
    if (!nodes.is_array() || nodes.empty() || nodes.size() > most_recorded_nodes)
        fields.fail(fmt::format("\"nodes\" must be a list of 1 to {} nodes", most_recorded_nodes));
    for (const nlohmann::json& each : nodes) {
        const int number = static_cast<int>(answer.plan.size()) + 1;
        const JsonFields node(each, fmt::format("{}: node {}", where, number),
                              {"title", "deps", "d", "answer"});
        PlannedNode& planned = answer.plan.emplace_back();
        planned.title = without_blanks(node.text("title"));
        if (planned.title.empty() || planned.title.find_first_of("|\r\n") != std::string::npos)
            node.fail("\"title\" must be text without | and line ends");
        planned.dependencies = node.dependencies("deps", number);
        if (node.has("d") && !node.at("d").is_null())
            planned.difficulty = static_cast<int>(node.count("d", 1, 5));
        answer.answers.emplace_back(without_blanks(node.text("answer")));
        if (answer.answers.back().empty()) node.fail("\"answer\" is empty");
    }
    return answer;
}

}  // namespace

std::vector<RecordedAnswer> read_recorded(std::istream& in, const std::string& name) {
    std::vector<RecordedAnswer> answers;
    std::set<std::string> ids;
    TextReader text(name, answers);
    std::optional<bool> is_json;
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
        const std::string_view content = without_blanks(line);
        if (!is_json && !content.empty()) is_json = content.front() == '{';
        const std::string where = fmt::format("{}:{}", name, number);
        const std::size_t had = answers.size();
        if (is_json.value_or(false)) {
            if (content.empty()) continue;
            try {
                answers.push_back(answer_of(parse_json(line), where));
            } catch (const JsonError& error) {
                throw UserError(fmt::format("{}:{}: {}; a record is one JSON object on a line",
                                            where, error.column, error.what()));
            }
        } else {
            text.line(line);
        }
        if (answers.size() > had && !ids.insert(answers.back().id).second)
            throw UserError(
                fmt::format("{}: the id \"{}\" stands here twice", where, answers.back().id));
    }
    if (!is_json.value_or(true)) text.end();
    if (answers.empty())
        throw UserError(name + ": no record; one begins with \"## ID\", or is a JSON object");
    return answers;
}

}  // namespace assay::plato
