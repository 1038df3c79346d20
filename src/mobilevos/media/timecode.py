"""Timecode of film and television: hours:minutes:seconds:frames, with ; before the frames where numbers are dropped."""

from __future__ import annotations

import re
from fractions import Fraction


def advanced(timecode: str, frames: int, rate: Fraction) -> str | None:
    """The timecode so many frames later; None for a text that is none.

    At 29.97 frames a second the first two numbers of each minute but every tenth are left out (;), at 59.94 four, so
    that the timecode keeps in step with the clock.

    >>> advanced("00:00:59;29", 1, Fraction(30000, 1001))
    '00:01:00;02'
    """
    match = re.fullmatch(r"([0-9]{2}):([0-9]{2}):([0-9]{2})([:;.])([0-9]{2,3})", timecode)
    nominal = round(rate)
    if not match or not nominal:
        return None
    hours, minutes, seconds, number = (int(match[i]) for i in (1, 2, 3, 5))
    dropped = 0 if match[4] == ":" else round(nominal / 15)
    minutes += 60 * hours
    count = (60 * minutes + seconds) * nominal + number - dropped * (minutes - minutes // 10) + frames
    count %= 24 * 6 * (600 * nominal - 9 * dropped)  # a day
    if dropped:
        tens, rest = divmod(count, 600 * nominal - 9 * dropped)
        count += 9 * dropped * tens + dropped * max(0, (rest - dropped) // (60 * nominal - dropped))
    rest, number = divmod(count, nominal)
    return f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}{match[4]}{number:02d}"
