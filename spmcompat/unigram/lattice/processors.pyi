import numpy as np
from numpy.typing import NDArray

def has_avx2() -> bool: ...
def log_sum_exp(
    x: NDArray[np.float32], y: NDArray[np.float32], avx2: bool, with_log1p: bool = True
) -> NDArray[np.float32]: ...
def log_sum_exp_exact(
    x: NDArray[np.float32], y: NDArray[np.float32], with_log1p: bool = True
) -> NDArray[np.float32]: ...
def add_exp(
    sums: NDArray[np.float32],
    frequencies: NDArray[np.float32],
    x: NDArray[np.float32],
    avx2: bool,
) -> NDArray[np.float32]: ...
def add_exp_exact(
    sums: NDArray[np.float32], frequencies: NDArray[np.float32], x: NDArray[np.float32]
) -> NDArray[np.float32]: ...
