"""Tables as CSV, as every tab hands them out."""

import pandas as pd

FORMULA_STARTS = tuple("=+-@\t\r")


def csv_text(frame: pd.DataFrame, header: bool = True) -> str:
    """CSV that a spreadsheet may open: a prompt or a token that begins like a formula is not run."""
    safe = frame.map(as_cell).rename(columns=as_cell)
    return safe.to_csv(index=False, header=header)


def as_cell(value: object) -> object:
    """An apostrophe before text that a spreadsheet would run; it doesn't show it. Numbers stay as they are."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value
