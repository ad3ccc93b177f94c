"""The exceptions of the package: bad input, and a build that failed."""


class MomabError(ValueError):
    """Bad input, explained in one sentence that says what is wrong and what is allowed.

    The command line prints the sentence and exits with code 2; nothing is written before
    the check that raises it.
    """


class BuildError(MomabError):
    """The input was fine but a notebook or a page failed; the command exits with code 1."""

    exit_code = 1


class NoArmError(MomabError):
    """A policy selected something that is not an arm."""
