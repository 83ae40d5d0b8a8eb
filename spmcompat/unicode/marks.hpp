// The marks that replace or precede characters in normalized text, as in marks.py.
//
// The boundary mark is not defined here, because it differs between releases (see releases.py).
#pragma once

#include <string_view>

namespace spmcompat {

constexpr char32_t kSpaceMark = 0x2581;  // replaces a space
constexpr std::string_view kSpaceUtf8 = "\xe2\x96\x81";

constexpr char32_t kUnknownMark = 0x2585;  // replaces a character that is not in the alphabet
constexpr std::string_view kUnknownUtf8 = "\xe2\x96\x85";

// Precedes a small letter that was a capital, with the rules nmt_nfkc_mark_case.
constexpr char32_t kCaseMark = 0x34e;

}  // namespace spmcompat
