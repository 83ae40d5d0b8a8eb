// Counts of seeds that the end of the text corrects; text_end.hpp finds them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace spmcompat {

// Pieces and their counts.
using SeedCounts = std::map<std::string, uint64_t, std::less<>>;

}  // namespace spmcompat
