"""A web server for one person on one machine; it is all that knows the web framework.

A local tool is a list of routes with handlers derived from `Handler` (or `Files`), given to
`Loopback`.  Nobody but the person who started it gets in; see `momab.web.loopback`.
"""

from momab.web.loopback import Files, Handler, Loopback, RefusedError, content_policy

__all__ = ["Files", "Handler", "Loopback", "RefusedError", "content_policy"]
