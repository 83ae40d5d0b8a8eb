COMMON: int
INHERITED: int
HAN: int
HIRAGANA: int
KATAKANA: int

def script_of(code_point: int) -> int: ...
