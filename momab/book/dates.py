"""When something was made, as a banner or a colophon says it."""

from __future__ import annotations

import time


def today() -> str:
    """The date and the time of day, as in 18 November 2026, 20:15."""
    now = time.localtime()
    return f"{now.tm_mday} {time.strftime('%B %Y, %H:%M', now)}"
