"""How notebooks become a book: reading, executing, editions, staging, building."""

import sys
from typing import Any, cast

# With this package, which JupyterLab brings, jsonschema compiles 38 grammars of addresses in every
# process: a second for something that no notebook has.
cast(Any, sys.modules).setdefault("rfc3987_syntax", None)
