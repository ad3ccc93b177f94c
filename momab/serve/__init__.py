"""`momab serve`: the site on this machine, with a form on every page that runs it again.

`pages` describes a page's form and writes what is shown, `worker` executes a notebook in a process
that is warm and can be killed, `jobs` is the one queue, `runs` keeps what finished, `compare` sets
a run beside the default, `tables` takes a visitor's own data,
`policies` their own policy, `app` has the routes.  Who may ask is
decided in `momab._util.loopback`.
"""
