// The losses of pieces, and the choice of the pieces that stay.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "spmcompat/unigram/pieces.hpp"

namespace spmcompat {

// The pieces that may stay in the vocabulary, by descending loss, then by id.
struct Losses {
  std::vector<uint32_t> ids;
  std::vector<double> losses;  // of the same pieces
  size_t irreplaceable = 0;    // the number of pieces at the front whose losses are infinite
};

// Keeps `size` pieces. If more pieces are irreplaceable, keeps these or, with `keeps_others`, all
// pieces, as in the reference.
inline KeptPieces select_by_loss(const Pieces& pieces, const Losses& losses, size_t size,
                                 bool keeps_others) {
  std::vector<uint32_t> kept = losses.ids;
  if (losses.irreplaceable > size) size = keeps_others ? kept.size() : losses.irreplaceable;
  kept.resize(std::min(size, kept.size()));
  return KeptPieces(pieces, kept);
}

}  // namespace spmcompat
