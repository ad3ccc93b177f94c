"""The one exception that bad input raises."""


class MomabError(ValueError):
    """Bad input, explained in one sentence that says what is wrong and what is allowed.

    The command line prints the sentence and exits with code 2; nothing is written before
    the check that raises it.
    """
