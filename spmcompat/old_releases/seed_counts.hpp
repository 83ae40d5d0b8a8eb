// A type for the results of text_end.hpp: seeds whose counts depend on the end of the text.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace spmcompat {

// Pieces and their counts.
using SeedCounts = std::map<std::string, uint64_t, std::less<>>;

}  // namespace spmcompat
