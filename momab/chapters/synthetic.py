"""The synthetic family: the paper's Figures 1 and 2, for the page and for `momab reproduce`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl

from momab.chapters.figures.style import STYLE, palette, policy_style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def synthetic_comparison(runs: pd.DataFrame) -> Figure:
    """Figure 1: regret of both policies against the Pareto gap delta and the number m.

    ``runs`` are those of Table 2; bars are 95 % intervals of the mean.
    """
    import seaborn as sns
    from matplotlib.figure import Figure

    setting = runs["instance"].str.split(", ", expand=True).astype(float)
    runs = runs.assign(delta=setting[0], m=setting[1])
    near, many = runs[runs["m"] == 1], runs[runs["delta"] == 0.02]
    with mpl.rc_context(STYLE):
        fig = Figure(figsize=(4.6, 3.0), layout="constrained")
        left, right = fig.subplots(1, 2, sharey=True)
        for axes, rows, key in ((left, near, "delta"), (right, many, "m")):
            sns.lineplot(
                rows, x=key, y="pareto_regret", hue="policy", style="policy", palette=palette,
                markers=["o", "s"], dashes=False, errorbar=("se", 1.96), err_style="bars",
                legend=axes is left, ax=axes,
            )  # fmt: skip
        left.set(xlabel=r"gap $\delta$ of one near-optimal arm", ylabel="Pareto regret")
        left.set(yscale="log", xticks=[0.12, 0.08, 0.04, 0.01])
        left.invert_xaxis()
        right.set(xlabel=r"number $m$, $\delta = 0.02$", xticks=sorted(set(many["m"])))
        handles = left.get_legend_handles_labels()
        left.get_legend().remove()
        fig.legend(*handles, loc="outside upper left", ncols=2)
    return fig


def synthetic_trajectories(paths: pd.DataFrame) -> Figure:
    """Figure 2: regret and certified share along the runs of two settings.

    ``paths`` is :func:`momab.study.run_paths`; bands reach from the 5 % to the 95 % quantile.
    """
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        fig = Figure(figsize=(4.6, 4.0), layout="constrained")
        axes = fig.subplots(
            2, paths["instance"].nunique(), sharex=True, sharey="row", height_ratios=(3, 1)
        )
        for (above, below), (instance, rows) in zip(
            axes.T, paths.groupby("instance", sort=False), strict=True
        ):
            for name, path in rows.groupby("policy", sort=False):
                colour, _ = policy_style(str(name))
                above.fill_between(
                    path["t"], path["q05"], path["q95"], color=colour, alpha=0.2, lw=0
                )
                above.plot(path["t"], path["mean"], color=colour, label=str(name))
                if path["certified"].any():
                    below.plot(path["t"], path["certified"], color=colour)
            delta, m = str(instance).split(", ")
            above.set_title(rf"$\delta = {delta}$, $m = {m}$")
            above.set(xscale="log", yscale="log")
            below.set(xlabel="round", ylim=(-0.05, 1.05))
        axes[0, 0].set_ylabel("Pareto regret")
        axes[1, 0].set_ylabel("certified")
        fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper left", ncols=2)
    return fig
