"""Models without a network, to judge the real one by: how often each byte comes, alone or after the four before."""

import numpy as np


class ByteGrams:
    """Interpolated n-grams (Witten-Bell): a context that many kinds of byte followed leans more on a shorter one."""

    def __init__(self, text: str, order: int):
        data = np.frombuffer(text.encode(), dtype=np.uint8)
        self.tables = [GramTable(data, length) for length in range(1, order + 1)]

    def bits_per_byte(self, text: str) -> float:
        data = np.frombuffer(text.encode(), dtype=np.uint8)
        probability = np.full(len(data), 1 / 256)
        for table in self.tables:
            probability = table.refine(data, probability)
        return float(-np.log2(probability).mean())


class GramTable:
    """Counts of every gram of one length, and of what stands before its last byte."""

    def __init__(self, data: np.ndarray, length: int):
        self.length = length
        self.grams, self.counts = np.unique(grams_of(data, length), return_counts=True)
        self.contexts, first = np.unique(self.grams >> 8, return_index=True)
        self.totals = np.add.reduceat(self.counts, first)
        self.kinds = np.diff([*first, len(self.grams)])

    def refine(self, data: np.ndarray, lower: np.ndarray) -> np.ndarray:
        """Probability of each byte, given that of the order below; the first bytes have too little before them."""
        grams = grams_of(data, self.length)
        seen = look_up(self.grams, self.counts, grams)
        total = look_up(self.contexts, self.totals, grams >> 8)
        kinds = look_up(self.contexts, self.kinds, grams >> 8)
        below = lower[self.length - 1 :]
        refined = np.where(total > 0, (seen + kinds * below) / np.maximum(total + kinds, 1), below)
        return np.concatenate([lower[: self.length - 1], refined])


def grams_of(data: np.ndarray, length: int) -> np.ndarray:
    """Each run of `length` bytes as one number."""
    grams = np.zeros(len(data) - length + 1, dtype=np.int64)
    for offset in range(length):
        grams = grams << 8 | data[offset : len(grams) + offset]
    return grams


def look_up(keys: np.ndarray, values: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, values[at], 0)
