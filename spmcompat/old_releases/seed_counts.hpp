// The type for the counts of seeds that depend on the end of the text (see text_end.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace spmcompat {

// Pieces and their counts.
using SeedCounts = std::map<std::string, uint64_t, std::less<>>;

}  // namespace spmcompat
