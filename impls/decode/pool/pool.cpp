#include "impls/decode/pool/pool.hpp"

#include <algorithm>
#include <stdexcept>

#include "impls/decode/requests/request_check.hpp"

namespace assay::decode {
namespace {

auto by_seat(std::vector<Place>& places, Seat seat) {
    return std::lower_bound(places.begin(), places.end(), seat,
                            [](const Place& place, Seat wanted) { return place.seat < wanted; });
}

/// Whose engine an order is for.
std::optional<Seat> seat_of(const Order& order) {
    return std::visit(
        [](const auto& each) -> std::optional<Seat> {
            if constexpr (requires { each.seat; }) return each.seat;
            return std::nullopt;
        },
        order);
}

}  // namespace

// ---- whoever has requests -----------------------------------------------------------------------

Number Pool::ask(Ask ask) {
    const Number number = ++last_request_;
    Record& record = records_[number];
    record.ask = std::move(ask);
    if (const auto known = static_cast<std::int32_t>(record.ask.tokens.size()); known > 0)
        record.runs.push_back({.seat = -1, .version = 1, .tokens = known});
    ++open_;
    wait(number, record);
    return number;
}

void Pool::cancel(Number request) {
    Record& record = at(request);
    if (record.over) return;
    if (record.attempt >= 0) {
        decided_.push_back(Remove{record.attempt, record.seat});
        leave(record);
    }
    end(request, record, Done::How::cancelled, {.why = Finish::cancelled});
}

void Pool::take_back(Number request) {
    Record& record = at(request);
    if (record.attempt < 0) return;
    decided_.push_back(Remove{record.attempt, record.seat});
    leave(record);
    wait(request, record);
}

void Pool::move(Number request, Seat to, bool with_cache) {
    Record& record = at(request);
    if (record.attempt < 0 || record.move || record.ask.only || bound(request) || record.seat == to)
        return;
    record.move = to;
    decided_.push_back(Export{record.attempt, record.seat, with_cache});
}

void Pool::release(Number kept, std::optional<Seat> on) {
    const auto first = kept_.lower_bound({kept, on.value_or(std::numeric_limits<Seat>::min())});
    const auto last = kept_.upper_bound({kept, on.value_or(std::numeric_limits<Seat>::max())});
    for (auto each = first; each != last; ++each)
        decided_.push_back(Unkeep{each->second, each->first.second});
    kept_.erase(first, last);
    if (const auto record = records_.find(kept); !on && record != records_.end())
        record->second.released = true;
}

void Pool::forget(Number request) {
    if (!at(request).over) throw std::logic_error("a request that is not over is forgotten");
    records_.erase(request);
}

// ---- whoever runs engines -----------------------------------------------------------------------

void Pool::there(Seat seat, int model, int version, int most) {
    if (place(seat)) throw std::logic_error("a seat is there twice");
    const auto before = by_seat(places_, seat);
    bounds_.insert(bounds_.begin() + (before - places_.begin()), {.most = most});
    places_.insert(before, {.seat = seat, .model = model, .version = version, .takes = most > 0});
}

void Pool::version(Seat seat, int version) {
    if (Place* const there = place(seat)) there->version = version;
}

void Pool::open(Seat seat, bool open) {
    Place* const there = place(seat);
    if (!there) return;
    bounds_[static_cast<std::size_t>(there - places_.data())].open = open;
    count(*there, 0);
}

void Pool::lost(Seat seat) {
    if (place(seat)) lose(seat);
    // What may go nowhere else.
    std::vector<Number> stranded;
    for (const Waiting& each : pending_)
        if (const Record& record = at(each.request);
            record.ask.only == seat || refused_by_all(record))
            stranded.push_back(each.request);
    for (const Number request : stranded)
        if (at(request).ask.only)
            end(request, at(request), Done::How::dropped, {.why = Finish::cancelled});
        else
            end(request, at(request), Done::How::failed, {.why = Finish::failed});
}

void Pool::lose(Seat seat) {
    std::erase_if(decided_, [&](const Order& order) { return seat_of(order) == seat; });
    std::erase_if(kept_, [&](const auto& each) { return each.first.second == seat; });
    for (const Number request : with(seat)) lose(request, at(request));
    const auto gone = by_seat(places_, seat);
    bounds_.erase(bounds_.begin() + (gone - places_.begin()));
    places_.erase(gone);
}

bool Pool::made(Seat seat, Number attempt, std::span<const Token> tokens, int waiting,
                const EndedRequest* ended) {
    const auto found = attempts_.find(attempt);
    if (found == attempts_.end()) return false;
    const Number request = found->second;
    Record& record = at(request);
    if (record.seat != seat) return false;
    Place* const from = place(seat);
    from->waiting = std::min(waiting, from->given);
    if (!tokens.empty()) {
        record.admitted = true;
        record.ask.tokens.insert(record.ask.tokens.end(), tokens.begin(), tokens.end());
        const auto count = static_cast<std::int32_t>(tokens.size());
        if (!record.runs.empty() && record.runs.back().seat == seat &&
            record.runs.back().version == from->version)
            record.runs.back().tokens += count;
        else
            record.runs.push_back({seat, from->version, count});
    }
    if (!ended) return true;
    const bool well =
        ended->why == Finish::stop || ended->why == Finish::length || ended->why == Finish::context;
    const BatchRequest& asked = record.ask.request;
    if (well && asked.links && asked.links->keep) {
        const Number of = record.ask.copy_of >= 0 ? record.ask.copy_of : request;
        if (const auto original = records_.find(of);
            original == records_.end() || original->second.released) {
            decided_.push_back(Unkeep{attempt, seat});
        } else {
            const auto [kept, fresh] = kept_.try_emplace({of, seat}, attempt);
            if (!fresh) decided_.push_back(Unkeep{std::exchange(kept->second, attempt), seat});
        }
    }
    leave(record);
    end(request, record, well ? Done::How::ended : Done::How::failed, *ended);
    return true;
}

void Pool::taken(Seat seat, Number attempt) {
    Record* const record = living_record(seat, attempt);
    if (!record) return;
    record->taken = true;
    record->handle = 0;
}

void Pool::refused(Seat seat, Number attempt) {
    Record* const record = living_record(seat, attempt);
    if (!record) return;
    if (record->taken) {  // the engine refuses to export it: it stays where it is
        record->move.reset();
        return;
    }
    const Number request = attempts_.at(attempt);
    const bool with_state = std::exchange(record->handle, 0) != 0;
    leave(*record);
    // Without what was damaged, or of other weights, it goes on from its tokens.
    if (with_state) return give(request, *record, seat, 0);
    record->refused_by.push_back(seat);
    if (!record->ask.only && !refused_by_all(*record)) return wait(request, *record);
    end(request, *record, Done::How::failed, {.why = Finish::failed});
}

bool Pool::has_refused(const Record& record, Seat seat) {
    return std::ranges::find(record.refused_by, seat) != record.refused_by.end();
}

/// That are there.
bool Pool::refused_by_all(const Record& record) const {
    bool any = false;
    for (const Place& place : places_) {
        if (place.model != record.ask.model) continue;
        if (!has_refused(record, place.seat)) return false;
        any = true;
    }
    return any;
}

/// Those that have refused it do not take.
std::span<const Place> Pool::open_to(const Record& record) {
    if (record.refused_by.empty()) return places_;
    fewer_ = places_;
    for (Place& each : fewer_)
        if (has_refused(record, each.seat)) each.takes = false;
    return fewer_;
}

void Pool::exported(Seat seat, Number attempt, std::uint64_t handle) {
    Record* const record = living_record(seat, attempt);
    if (!record || !record->move) {
        if (handle != 0) decided_.push_back(Discard{handle});
        return;
    }
    const Number request = attempts_.at(attempt);
    const Seat to = *record->move;
    leave(*record);
    const Place* const there = place(to);
    if (there && there->takes && there->model == record->ask.model)
        return give(request, *record, to, handle);
    if (handle != 0) decided_.push_back(Discard{handle});
    wait(request, *record);
}

void Pool::turn(Chooser& chooser, std::vector<Order>& orders) {
    for (auto each = pending_.begin(); each != pending_.end();) {
        if (std::none_of(places_.begin(), places_.end(), [](const Place& p) { return p.takes; }))
            break;
        const Number request = each->request;
        Record& record = at(request);
        const std::optional<Seat> seat =
            record.ask.only ? record.ask.only : chooser.choose(request, open_to(record));
        const Place* const there = seat ? place(*seat) : nullptr;
        const bool can =
            there && there->takes && has_linked(request, *seat) && !has_refused(record, *seat);
        if (!seat || (record.ask.only && !can)) {
            ++each;
            continue;
        }
        if (!can || there->model != record.ask.model)
            throw std::logic_error(
                "a request is given to no seat that takes one, has its model, and has what it is "
                "linked to");
        each = pending_.erase(each);
        give(request, record, *seat, 0);
    }
    orders.insert(orders.end(), std::make_move_iterator(decided_.begin()),
                  std::make_move_iterator(decided_.end()));
    decided_.clear();
}

// ---- what is known ------------------------------------------------------------------------------

std::optional<Seat> Pool::seat(Number request) const {
    const Record& record = at(request);
    return record.attempt >= 0 ? std::optional(record.seat) : std::nullopt;
}

std::optional<Number> Pool::living(Seat seat, Number attempt) const {
    const auto found = attempts_.find(attempt);
    if (found == attempts_.end() || at(found->second).seat != seat) return std::nullopt;
    return found->second;
}

std::vector<Number> Pool::with(Seat seat) const {
    std::vector<Number> requests;
    for (const auto& [attempt, request] : attempts_)
        if (at(request).seat == seat) requests.push_back(request);
    std::sort(requests.begin(), requests.end());
    return requests;
}

std::optional<Number> Pool::kept(Number request, Seat seat) const {
    const auto found = kept_.find({request, seat});
    return found == kept_.end() ? std::nullopt : std::optional(found->second);
}

bool Pool::has_linked(Number request, Seat seat) const {
    const std::optional<Links>& links = at(request).ask.request.links;
    return !links ||
           std::all_of(links->linked.begin(), links->linked.end(), [&](const LinkedTokens& each) {
               return kept_.contains({each.kept, seat});
           });
}

RequestState Pool::state(const Give& give, const std::string& model) const {
    const Record& record = at(give.request);
    RequestState state;
    state.model = model;
    state.request = as_served(record.ask.request);
    if (state.request.links) {
        std::vector<LinkedTokens>& linked = state.request.links->linked;
        // What was released since the Give is there as long as this attempt.
        const bool present = give.attempt >= 0 && give.attempt == record.attempt;
        for (std::size_t i = 0; i < linked.size(); ++i)
            linked[i].kept = present ? record.linked[i] : kept_.at({linked[i].kept, give.seat});
    }
    auto run = record.runs.begin();
    std::int32_t of_run = 0;
    for (const Token& token : std::span(record.ask.tokens).first(give.from)) {
        if (of_run == run->tokens) ++run, of_run = 0;
        ++of_run;
        state.append(token.id, run->version, token.logprob, token.sampled);
    }
    state.admitted = record.admitted;
    return state;
}

// ---- what becomes of a request ------------------------------------------------------------------

Place* Pool::place(Seat seat) {
    const auto found = by_seat(places_, seat);
    return found != places_.end() && found->seat == seat ? &*found : nullptr;
}
const Place* Pool::place(Seat seat) const { return const_cast<Pool*>(this)->place(seat); }

Pool::Record* Pool::living_record(Seat seat, Number attempt) {
    const auto request = living(seat, attempt);
    return request ? &at(*request) : nullptr;
}

/// To what is kept somewhere, or can be computed once more.
bool Pool::can_be_linked(const Record& record) const {
    const std::optional<Links>& links = record.ask.request.links;
    if (!links) return true;
    return std::ranges::all_of(links->linked, [&](const LinkedTokens& each) {
        const auto original = records_.find(each.kept);
        if (original != records_.end() && !original->second.released) return true;
        const auto kept = kept_.lower_bound({each.kept, std::numeric_limits<Seat>::min()});
        return kept != kept_.end() && kept->first.first == each.kept;
    });
}

void Pool::wait(Number request, Record& record) {
    if (!can_be_linked(record))
        return end(request, record, Done::How::dropped, {.why = Finish::cancelled});
    pending_.insert({record.ask.request.priority, request});
}

/// Its attempt lives no more.
void Pool::leave(Record& record) {
    attempts_.erase(record.attempt);
    record.attempt = -1;
    record.move.reset();
    record.taken = false;
    if (record.handle != 0) decided_.push_back(Discard{std::exchange(record.handle, 0)});
    if (Place* const from = place(record.seat)) count(*from, -1);
}

void Pool::count(Place& place, int more) {
    const Bounds& bounds = bounds_[static_cast<std::size_t>(&place - places_.data())];
    place.given += more;
    place.waiting = std::min(place.waiting, place.given);
    place.takes = bounds.open && place.given < bounds.most;
}

void Pool::lose(Number request, Record& record) {
    leave(record);
    if (record.ask.loss == Loss::drop || record.ask.only)
        return end(request, record, Done::How::dropped, {.why = Finish::cancelled});
    if (record.ask.loss == Loss::restart) {
        record.ask.tokens.clear();
        record.runs.clear();
        record.admitted = false;
    }
    wait(request, record);
}

void Pool::give(Number request, Record& record, Seat seat, std::uint64_t handle) {
    record.attempt = ++last_attempt_;
    record.seat = seat;
    record.handle = handle;
    attempts_[record.attempt] = request;
    record.linked.clear();
    if (const std::optional<Links>& links = record.ask.request.links)
        for (const LinkedTokens& each : links->linked)
            record.linked.push_back(kept_.at({each.kept, seat}));
    count(*place(seat), 1);
    decided_.push_back(Give{request, seat, record.attempt, record.ask.tokens.size(), handle});
}

void Pool::end(Number request, Record& record, Done::How how, EndedRequest end) {
    pending_.erase({record.ask.request.priority, request});
    record.over = true;
    --open_;
    end.request = request;
    decided_.push_back(Done{request, how, std::move(end)});
}

}  // namespace assay::decode
