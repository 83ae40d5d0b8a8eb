COMMON: int
INHERITED: int
HAN: int
HIRAGANA: int
KATAKANA: int

def script_of(code_point: int) -> int: ...
def script_runs(text: str) -> list[str]: ...
