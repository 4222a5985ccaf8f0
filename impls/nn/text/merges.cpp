#include "impls/nn/text/merges.hpp"

#include <algorithm>
#include <functional>

namespace assay::nn {

namespace {

std::uint64_t key(int left, int right) {
    return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 |
           static_cast<std::uint32_t>(right);
}

constexpr int gone = -1;  // token of a place that was merged into the one before it

/// The word as a list whose places can be merged.
struct Place {
    int token;
    int before, after;  ///< −1 and the number of places: none
};

/// A pair that could be merged when it was found. It is out of date when its tokens have changed.
struct Candidate {
    int rank;
    int place;  ///< of the left token
    int left, right, merged;

    bool operator>(const Candidate& other) const {
        return rank != other.rank ? rank > other.rank : place > other.place;
    }
};

}  // namespace

bool Merges::add(int left, int right, int rank, int merged) {
    return merges_.try_emplace(key(left, right), Merge{rank, merged}).second;
}

const Merges::Merge* Merges::find(int left, int right) const {
    const auto found = merges_.find(key(left, right));
    return found == merges_.end() ? nullptr : &found->second;
}

void Merges::apply(std::vector<int>& word) const {
    const int size = static_cast<int>(word.size());
    // Kept between calls: a text has many short words.
    thread_local std::vector<Place> places;
    thread_local std::vector<Candidate> heap;
    places.clear();
    heap.clear();
    for (int i = 0; i < size; ++i) places.push_back({word[i], i - 1, i + 1});

    const auto consider = [&](int place) {
        const int after = places[place].after;
        if (after >= size) return false;
        const int left = places[place].token, right = places[after].token;
        const Merge* merge = find(left, right);
        if (merge) heap.push_back({merge->rank, place, left, right, merge->merged});
        return merge != nullptr;
    };
    const std::greater<> later;
    for (int i = 0; i < size; ++i) consider(i);
    std::make_heap(heap.begin(), heap.end(), later);
    while (!heap.empty()) {
        std::pop_heap(heap.begin(), heap.end(), later);
        const Candidate best = heap.back();
        heap.pop_back();
        Place& left = places[best.place];
        if (left.token != best.left || left.after >= size) continue;
        Place& right = places[left.after];
        if (right.token != best.right) continue;
        left.token = best.merged;
        right.token = gone;
        left.after = right.after;
        if (left.after < size) places[left.after].before = best.place;
        if (left.before >= 0 && consider(left.before))
            std::push_heap(heap.begin(), heap.end(), later);
        if (consider(best.place)) std::push_heap(heap.begin(), heap.end(), later);
    }
    word.clear();
    for (int i = 0; i < size; i = places[i].after) word.push_back(places[i].token);
}

}  // namespace assay::nn
