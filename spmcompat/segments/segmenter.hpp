// Cuts the distinct pretokens into segments for seeding and EM.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "spmcompat/containers/shared_table.hpp"
#include "spmcompat/counting/pretoken_table.hpp"
#include "spmcompat/counting/sentence_order.hpp"
#include "spmcompat/pretokenization/cuts.hpp"
#include "spmcompat/pretokenization/piece_rule.hpp"
#include "spmcompat/runtime/crew.hpp"
#include "spmcompat/segments/segmented_corpus.hpp"
#include "spmcompat/unicode/marks.hpp"
#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

class Segmenter {
 public:
  // With `seed_tree_of_characters`, the symbols that follow a segment are characters; without it,
  // they are bytes. The pretokens are divided into `parts` parts, which are sorted and cut in
  // parallel.
  Segmenter(PretokenTable pretokens, const PieceRule& rule, bool seed_tree_of_characters,
            size_t parts)
      : pretokens_(std::move(pretokens)),
        rule_(rule),
        seed_tree_of_characters_(seed_tree_of_characters),
        segments_(kShardBits, false),
        sorted_(parts),
        cuts_(parts),
        last_segment_(pretokens_.shards()) {
    pretokens_.drop_index();
    for (uint32_t shard = 0; shard < pretokens_.shards(); ++shard) {
      pretokens_.for_each_context(shard, [this](const ContextCount&) { has_contexts_ = true; });
    }
    for (uint32_t shard = 0; shard < pretokens_.shards() && has_contexts_; ++shard) {
      last_segment_[shard].resize(pretokens_.size(shard));
    }
  }

  // Cuts the pretokens. Writes them in the order of the reference, because this order determines
  // the partial sum to which each pretoken is added. If `order` is given, writes the sentences in
  // the order of the text instead, each as one pretoken. Writes the segments in the order in which
  // they first occur in the sorted pretokens.
  void cut(const SentenceOrder* order, SegmentedCorpus& out, Crew& crew) {
    crew.for_each(parts(), [this](size_t part) { sort_pretokens(part); });
    divide();
    crew.for_each(parts(), [this](size_t part) { merge(part); });
    std::vector<std::vector<Key>>().swap(sorted_);
    crew.for_each(parts(), [this](size_t part) { cut(part); });
    take_contexts(crew);
    if (order == nullptr) pretokens_.drop_ids();
    number_segments(out, crew);
    copy_segments(out, crew);
    if (order == nullptr) {
      out.pretoken_count.swap(totals_);
    } else {
      arrange(*order, out, crew);
    }
  }

  // Cuts the pretokens and writes only the segments, in any order.
  void cut_alone(SegmentedCorpus& out, Crew& crew) {
    crew.for_each(pretokens_.shards(), [this](uint32_t shard) { cut_shard(shard); });
    take_contexts(crew);
    pretokens_.drop_ids();
    for (uint32_t shard = 0; shard < segments_.shards(); ++shard) {
      for (uint32_t i = 0; i < segments_.size(shard); ++i) {
        numbered_.push_back(segments_.id(shard, i));
      }
    }
    copy_segments(out, crew);
  }

 private:
  static constexpr size_t kAhead = 16;  // prefetch distance, in pretokens

  struct Key {
    uint64_t total, head, middle;
    uint32_t pretoken;
  };
  struct Before {
    const PretokenTable* pretokens;
    bool operator()(const Key& a, const Key& b) const {
      if (a.total != b.total) return a.total > b.total;
      if (a.head != b.head) return a.head < b.head;
      if (a.middle != b.middle) return a.middle < b.middle;
      return (*pretokens)[a.pretoken] < (*pretokens)[b.pretoken];
    }
  };
  struct Cuts {
    std::vector<uint32_t> segments;  // the segments of all pretokens of the part
    std::vector<uint32_t> lengths;   // the number of segments of each pretoken
  };

  size_t parts() const { return cuts_.size(); }

  // Sorts the pretokens of the part's shards.
  void sort_pretokens(size_t part) {
    std::vector<Key>& keys = sorted_[part];
    size_t size = 0;
    for (uint32_t shard = part; shard < pretokens_.shards(); shard += sorted_.size()) {
      size += pretokens_.size(shard);
    }
    keys.reserve(size);
    for (uint32_t shard = part; shard < pretokens_.shards(); shard += sorted_.size()) {
      const std::vector<uint64_t> totals = pretokens_.totals(shard);
      for (uint32_t i = 0; i < totals.size(); ++i) {
        if (totals[i] > 0) keys.push_back(key_of(totals[i], pretokens_.id(shard, i)));
      }
    }
    std::sort(keys.begin(), keys.end(), Before{&pretokens_});
  }

  // Divides the sequence of all pretokens into parts. The sequence is sorted by descending count,
  // then by bytes.
  void divide() {
    const auto longer = [](const auto& a, const auto& b) { return a.size() < b.size(); };
    const std::vector<Key>& longest = *std::max_element(sorted_.begin(), sorted_.end(), longer);
    for (size_t part = 0; part <= parts(); ++part) {
      begin_.emplace_back();
      for (const std::vector<Key>& keys : sorted_) {
        auto at = part == parts() ? keys.end() : keys.begin();
        if (part > 0 && part < parts() && !longest.empty()) {
          const Key& first = longest[longest.size() * part / parts()];
          at = std::lower_bound(keys.begin(), keys.end(), first, Before{&pretokens_});
        }
        begin_.back().push_back(at - keys.begin());
      }
    }
    sequence_.resize(begin(parts()));
    totals_.resize(begin(parts()));
  }

  void merge(size_t part) {
    std::vector<std::pair<const Key*, const Key*>> heap;
    for (size_t i = 0; i < sorted_.size(); ++i) {
      const Key* keys = sorted_[i].data();
      const size_t begin = begin_[part][i], end = begin_[part + 1][i];
      if (begin < end) heap.emplace_back(keys + begin, keys + end);
    }
    const Before before{&pretokens_};
    const auto later = [before](const auto& a, const auto& b) {
      return before(*b.first, *a.first);
    };
    std::make_heap(heap.begin(), heap.end(), later);
    for (size_t at = begin(part); !heap.empty(); ++at) {
      std::pop_heap(heap.begin(), heap.end(), later);
      const Key& key = *heap.back().first++;
      sequence_[at] = key.pretoken;
      totals_[at] = static_cast<int64_t>(key.total);
      if (heap.back().first == heap.back().second) {
        heap.pop_back();
      } else {
        std::push_heap(heap.begin(), heap.end(), later);
      }
    }
  }

  void cut(size_t part) {
    const size_t end = begin(part + 1);
    Cuts& cuts = cuts_[part];
    SharedTableBuffer<SegmentUse> buffer(segments_);
    for (size_t i = begin(part); i < end; ++i) {
      if (i + kAhead < end) {
        pretokens_.prefetch(sequence_[i + kAhead]);
        pretokens_.prefetch_use(sequence_[i + kAhead]);
      }
      if (i + kAhead / 2 < end) __builtin_prefetch(pretokens_[sequence_[i + kAhead / 2]].data());
      cut_pretoken(sequence_[i], totals_[i], cuts, buffer);
      if (buffer.full()) buffer.flush(cuts.segments);
    }
    buffer.flush(cuts.segments);
    if (has_contexts_) note_last_segments(sequence_.data() + begin(part), cuts);
  }

  void cut_shard(uint32_t shard) {
    const std::vector<uint64_t> totals = pretokens_.totals(shard);
    std::vector<uint32_t> pretokens;
    Cuts cuts;
    SharedTableBuffer<SegmentUse> buffer(segments_);
    for (uint32_t i = 0; i < totals.size(); ++i) {
      if (totals[i] == 0) continue;
      pretokens.push_back(pretokens_.id(shard, i));
      cut_pretoken(pretokens.back(), totals[i], cuts, buffer);
      if (buffer.full()) buffer.flush(cuts.segments);
    }
    buffer.flush(cuts.segments);
    if (has_contexts_) note_last_segments(pretokens.data(), cuts);
  }

  // Takes the contexts that PretokenUse does not count. Adds each context to the last segment of
  // its pretoken.
  void take_contexts(Crew& crew) {
    crew.for_each(pretokens_.shards(), [this](uint32_t shard) {
      pretokens_.for_each_context(shard, [this](const ContextCount& c) {
        if (c.count == 0) return;
        const Followers followers = followers_of(c.next, c.count);
        segments_.update(last_segment(c.pretoken),
                         [&](SegmentUse& use) { use.followers.add(followers); });
      });
    });
    segments_.drop_index();
  }

  // Returns a key that contains the first bytes of a pretoken as two numbers. Most pretokens begin
  // with a space mark, so the key stores two bits instead of the three bytes of this mark.
  Key key_of(uint64_t total, uint32_t id) const {
    std::string_view text = pretokens_[id];
    const bool marked = text.substr(0, kSpaceUtf8.size()) == kSpaceUtf8;
    const uint64_t kind = marked ? 1 : text < kSpaceUtf8 ? 0 : 2;
    if (marked) text.remove_prefix(kSpaceUtf8.size());
    char bytes[16] = {};
    std::memcpy(bytes, text.data(), std::min(text.size(), sizeof bytes));
    const uint64_t head = __builtin_bswap64(load<uint64_t>(bytes));
    const uint64_t middle = __builtin_bswap64(load<uint64_t>(bytes + 8));
    return {total, kind << 62 | head >> 2, head << 62 | middle >> 2, id};
  }

  // Returns the index in sequence_ at which a part begins.
  size_t begin(size_t part) const {
    return std::accumulate(begin_[part].begin(), begin_[part].end(), size_t{0});
  }

  uint32_t symbol_of(char32_t c) const {
    if (seed_tree_of_characters_) return c;
    std::string text;
    append_utf8(c, text);
    return static_cast<unsigned char>(text[0]);
  }
  Followers followers_of(uint32_t next, uint64_t count) const {
    Followers followers;
    if (next < kSentenceEnd) {
      followers.next.add(symbol_of(next));
      return followers;
    }
    followers.next.add(0);
    followers.after_end.add(next == kTextEnd ? NextCharacter::kTextEnd
                                             : symbol_of(next & ~kSentenceEnd));
    followers.at_end = count;
    return followers;
  }
  SegmentUse use_before(char32_t next, uint64_t total) const {
    SegmentUse use;
    use.count = total;
    use.followers.next.add(symbol_of(next));
    return use;
  }
  SegmentUse use_of_last(uint32_t pretoken, uint64_t total) const {
    // The unknown mark may have replaced the space mark after the pretoken, but only if boundary
    // marks end pretokens: otherwise, the pretokens would have been joined. If symbols are bytes,
    // this does not matter, because both marks begin with the same byte.
    const PretokenUse& use = pretokens_.use(pretoken);
    SegmentUse result;
    result.count = total;
    if (use.inner > 0) result.followers.add(followers_of(kSpaceMark, use.inner));
    if (use.last > 0) result.followers.add(followers_of(kSentenceEnd | kSpaceMark, use.last));
    return result;
  }

  void cut_pretoken(uint32_t id, uint64_t total, Cuts& cuts,
                    SharedTableBuffer<SegmentUse>& buffer) {
    const std::string_view pretoken = pretokens_[id];
    const char* const end = pretoken.data() + pretoken.size();
    const size_t before = cuts.segments.size();
    for_each_segment(pretoken, rule_, [&](std::string_view segment, char32_t next) {
      const bool is_last = segment.data() + segment.size() == end;
      const SegmentUse use = is_last ? use_of_last(id, total) : use_before(next, total);
      buffer.add(segment, use, cuts.segments.size());
      cuts.segments.push_back(kNoPretoken);
    });
    cuts.lengths.push_back(static_cast<uint32_t>(cuts.segments.size() - before));
  }

  void note_last_segments(const uint32_t* pretokens, const Cuts& cuts) {
    size_t at = 0;
    for (size_t i = 0; i < cuts.lengths.size(); ++i) {
      at += cuts.lengths[i];
      last_segment(pretokens[i]) = cuts.segments[at - 1];
    }
  }
  uint32_t& last_segment(uint32_t pretoken) {
    return last_segment_[pretokens_.shard_of(pretoken)][pretokens_.index_of(pretoken)];
  }

  // Numbers the segments, and writes the pretokens as sequences of these numbers.
  void number_segments(SegmentedCorpus& out, const Crew& crew) {
    std::vector<std::vector<uint32_t>> number(segments_.shards());
    for (uint32_t shard = 0; shard < segments_.shards(); ++shard) {
      number[shard].assign(segments_.size(shard), kNoPretoken);
    }
    size_t size = 0;
    for (const Cuts& cuts : cuts_) size += cuts.segments.size();
    out.pretoken_segments.reserve(size);
    out.pretoken_begin.reserve(sequence_.size() + 1);
    out.pretoken_begin.push_back(0);
    for (Cuts& cuts : cuts_) {
      for (const uint32_t segment : cuts.segments) {
        crew.check_cancelled();
        uint32_t& numbered = number[segments_.shard_of(segment)][segments_.index_of(segment)];
        if (numbered == kNoPretoken) {
          numbered = static_cast<uint32_t>(numbered_.size());
          numbered_.push_back(segment);
        }
        out.pretoken_segments.push_back(numbered);
      }
      for (const uint32_t length : cuts.lengths) {
        out.pretoken_begin.push_back(out.pretoken_begin.back() + length);
      }
      cuts = Cuts();
    }
  }

  void copy_segments(SegmentedCorpus& out, const Crew& crew) {
    size_t bytes = 0;
    out.uses.reserve(numbered_.size());
    for (size_t i = 0; i < numbered_.size(); ++i) {
      crew.check_cancelled();
      if (i + kAhead < numbered_.size()) {
        segments_.prefetch(numbered_[i + kAhead]);
        segments_.prefetch_use(numbered_[i + kAhead]);
      }
      bytes += segments_[numbered_[i]].size();
      out.uses.push_back(segments_.use(numbered_[i]));
    }
    segments_.drop_uses();
    out.segments.reserve(numbered_.size(), bytes);
    for (size_t i = 0; i < numbered_.size(); ++i) {
      crew.check_cancelled();
      if (i + kAhead < numbered_.size()) segments_.prefetch(numbered_[i + kAhead]);
      if (i + kAhead / 2 < numbered_.size()) {
        __builtin_prefetch(segments_[numbered_[i + kAhead / 2]].data());
      }
      out.segments.add(segments_[numbered_[i]]);
    }
  }

  // Replaces the pretokens in `out` with the sentences, each as one pretoken.
  void arrange(const SentenceOrder& order, SegmentedCorpus& out, const Crew& crew) const {
    // For each shard: the indexes of its pretokens in sequence_.
    std::vector<std::vector<uint32_t>> index(pretokens_.shards());
    for (uint32_t shard = 0; shard < pretokens_.shards(); ++shard) {
      index[shard].resize(pretokens_.size(shard));
    }
    for (uint32_t i = 0; i < sequence_.size(); ++i) {
      crew.check_cancelled();
      index[pretokens_.shard_of(sequence_[i])][pretokens_.index_of(sequence_[i])] = i;
    }
    std::vector<uint64_t> begin(1, 0);
    std::vector<uint32_t> segments;
    const auto add_sentence = [&](size_t i) {
      crew.check_cancelled();
      const uint32_t sentence = order.last[i];
      const uint32_t from = index[pretokens_.shard_of(sentence)][pretokens_.index_of(sentence)];
      segments.insert(segments.end(), out.pretoken_segments.begin() + out.pretoken_begin[from],
                      out.pretoken_segments.begin() + out.pretoken_begin[from + 1]);
      begin.push_back(segments.size());
      out.pretoken_count.push_back(order.count_of(i));
    };
    const auto add_empty = [&](int64_t count) {
      begin.push_back(segments.size());
      out.pretoken_count.push_back(count);
    };
    order.for_each(add_sentence, add_empty);
    out.pretoken_segments.swap(segments);
    out.pretoken_begin.swap(begin);
  }

  PretokenTable pretokens_;
  PieceRule rule_;
  bool seed_tree_of_characters_;
  SharedTable<SegmentUse> segments_;
  std::vector<std::vector<Key>> sorted_;    // by part: the sorted pretokens of its shards
  std::vector<std::vector<size_t>> begin_;  // by part: where it begins in each vector of `sorted_`
  std::vector<uint32_t> sequence_;          // all pretokens, by descending count, then by bytes
  std::vector<int64_t> totals_;             // the count of each pretoken in sequence_
  std::vector<Cuts> cuts_;                  // by part: the segments of its pretokens
  bool has_contexts_ = false;
  // For each shard: the last segment of each pretoken.
  std::vector<std::vector<uint32_t>> last_segment_;
  std::vector<uint32_t> numbered_;  // the segments in the order of their numbers
};

}  // namespace spmcompat
