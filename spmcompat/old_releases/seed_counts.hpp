// The counts of seeds that change because of the end of the text; text_end.hpp computes them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace spmcompat {

// Pieces and their counts.
using SeedCounts = std::map<std::string, uint64_t, std::less<>>;

}  // namespace spmcompat
