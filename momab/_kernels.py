"""Every compiled kernel."""

from __future__ import annotations

from typing import Any

KERNELS: dict[type, Any] = {}
