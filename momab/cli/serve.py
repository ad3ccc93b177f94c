"""The command `momab serve`."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

import typer

from momab.cli.terminal import end_on_sigterm, interruptible


def serve_command(
    workers: Annotated[int, typer.Option(help="How many pages run at once.", min=1, max=16)] = 2,
    as_is: Annotated[
        bool, typer.Option("--as-is", help="Serve the site that is there, without building.")
    ] = False,
) -> None:
    """Serve the book on this machine, with a form on every page that runs it again.

    Builds the site first if something has changed, as `momab book` does.  Only this machine can
    reach the address, and only with the token in it.  Its port is the same each time if it is free,
    so addresses of runs stay valid after the new address was opened.  Ctrl-C ends everything.
    """
    from momab.book.project import Project
    from momab.errors import MomabError

    project = Project.find()  # what is missing without a checkout is no news
    from momab.book.build import build
    from momab.serve.app import Serving

    site = project.build / "html"
    if not as_is:
        site = build(project).site
    elif not (site / "index.html").is_file():
        raise MomabError("there is no site yet: `momab book` builds it.")

    end_on_sigterm()
    said = "stopped; what had finished is in _build/serve."
    with interruptible(said), closing(Serving(project, site, workers)) as serving:
        print(f"the book is at {serving.server.entrance} (Ctrl-C ends it)", flush=True)
        serving.server.run()
