"""chapters.algorithm."""

from __future__ import annotations

import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from momab._util.validate import IntArray, whole_number
from momab.auditing.trace import CASES, CERTIFICATE, LEADER, Rounds, Trace
from momab.engine.policies.base import Policy
from momab.engine.simulate import simulate
from momab.figures.style import BLUE, FAINT, INK, LINES, ORANGE, STYLE, axes_grid, new_axes
from momab.model.instances import Instance

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def frame_rounds(trace: Trace, frames: int, first: int = 40) -> IntArray:
    """Choose at most ``frames`` decisions: the first ones all, then evenly, the last included."""
    frames = whole_number(frames, "frames", least=2)
    start, stop = trace.K, trace.recorded
    opening = np.arange(start, min(stop, start + min(first, frames // 2)))
    # backwards, so that a single one is the last decision
    rest = np.linspace(stop - 1, opening[-1] + 1, frames - len(opening))
    return np.unique(
        np.concatenate([opening, np.rint(rest).astype(np.int64)]).clip(start, stop - 1)
    )


def state_table(trace: Trace, t: int) -> tuple[pd.DataFrame, pd.DataFrame, Rounds]:
    """Every variable of Algorithm 1 at one decision: a table by arm, one by objective."""
    import pandas as pd

    r = trace.rounds(t, t + 1)
    by_arm = pd.DataFrame({"arm": np.arange(1, trace.K + 1), "N": r.counts[0], "β": r.beta[0]})
    for j in range(trace.d):
        bounds = zip(r.L[0, :, j], r.means[0, :, j], r.U[0, :, j])
        column = [" ".join(f"{x:.3f}" for x in three) for three in bounds]
        by_arm[f"L, mean, U on objective {j + 1}"] = column
    each = np.arange(trace.d)
    by_objective = pd.DataFrame(
        {
            "objective": each + 1,
            "leader b": r.b[0] + 1,
            "challenger c": r.c[0] + 1,
            "width W": r.W[0],
            "L of b": r.L[0, r.b[0], each],
            "U of c": r.U[0, r.c[0], each],
            "certifies": np.where(r.certified[0], "yes", "no"),
        }
    )
    return by_arm, by_objective, r


def why(trace: Trace, rounds: Rounds, i: int = 0) -> str:
    """One sentence on why a decision pulled what it pulled, with arms counted from 1."""
    arm, j, case = int(rounds.arm[i]) + 1, int(rounds.objective[i]), int(rounds.case[i])
    if CASES[case] == "committed":
        return f"Arm {arm} is pulled because it is the stored arm."
    b, c = int(rounds.b[i, j]) + 1, int(rounds.c[i, j]) + 1
    if case == CERTIFICATE:
        return (
            f"Objective {j + 1} certifies: the lower bound of arm {b} exceeds every other upper "
            f"bound. Arm {b} is stored, and pulled from now on."
        )
    W, beta = rounds.W[i], rounds.beta[i]
    tied = int((W.max() - 1e-12 <= W).sum())
    widest = (
        f"Objective {j + 1} is the widest"
        if tied == 1
        else (f"Objective {j + 1} is one of {tied} that are equally wide")
    )
    role, other = ("leader", c) if case == LEADER else ("challenger", b)
    radii = (
        f"the larger radius of the pair {{{b}, {c}}}"
        if abs(beta[arm - 1] - beta[other - 1]) > 1e-12
        else f"the same radius as arm {other}, and the coin chose it"
    )
    return f"{widest}; arm {arm}, its {role}, has {radii}."


def certificate_rounds(
    instance: Instance, rules: Mapping[str, Policy], horizon: int, runs: int, seed: int
) -> pd.DataFrame:
    """When the certificate comes under several rules: quartiles of its round, as in the paper."""
    import pandas as pd

    played = simulate(
        instance, rules, horizon, runs, seed, checkpoints=1, workers=1, progress=False
    ).runs
    rows: list[dict[str, Any]] = []
    for name, mine in played.groupby("policy", sort=False):
        found = mine["cert_round"].dropna().astype(float) + 1
        quartiles = found.quantile([0.25, 0.5, 0.75]).tolist()
        shown = dict(zip(("lower quartile", "median round", "upper quartile"), quartiles))
        rows.append({"rule": name, "runs": runs, "certify": len(found), **shown})
    return pd.DataFrame(rows)


_DASHES = ("-", "--", "-.", ":")


def _thin(length: int, most: int = 160) -> Any:
    """Indices of at most ``most`` points of a curve over rounds, dense at the start."""
    return np.unique(np.rint(np.geomspace(1, length, min(length, most))).astype(np.int64)) - 1


def races(trace: Trace, rounds: Rounds) -> Figure:
    """Per objective, the leader's lower bound against the challenger's upper bound."""
    d = min(trace.d, 6)
    columns = min(d, 3)
    rows = -(-d // columns)
    keep = _thin(len(rounds.t))
    number = rounds.t[keep] + 1
    with mpl.rc_context(STYLE):
        fig, axes = axes_grid(rows, columns, (2.75 * columns + 0.5, 2.8 * rows + 0.3))
        for j, ax in enumerate(axes):
            if j >= d:
                ax.set_axis_off()
                continue
            each = np.arange(len(rounds.t))
            lower = rounds.L[each, rounds.b[:, j], j][keep]
            upper = rounds.U[each, rounds.c[:, j], j][keep]
            ax.fill_between(number, lower, upper, color=FAINT, alpha=0.5, lw=0)
            ax.plot(number, upper, color=ORANGE, ls="--", label="$U$ of the challenger")
            ax.plot(number, lower, color=BLUE, label="$L$ of the leader")
            if rounds.certified[-1, j]:
                ax.plot(number[-1], lower[-1], marker="*", ms=15, color=INK, label="certificate")
            ax.set_xscale("log")
            ax.set(title=f"objective {j + 1}", ylim=(-0.6, 1.6), xlabel="round")
            if j % columns:
                ax.tick_params(labelleft=False)
        handles, labels = _legend(axes)
        fig.legend(handles, labels, loc="outside upper left", ncols=3)
    return fig


def _legend(axes: Sequence[Axes]) -> tuple[list[Any], list[str]]:
    """Every label once."""
    seen: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels()):
            seen.setdefault(label, handle)
    return list(seen.values()), list(seen)


def sampling(trace: Trace, rounds: Rounds) -> Figure:
    """Left, how often each arm was pulled; right, the width of every objective's pair."""
    keep = _thin(len(rounds.t))
    number = rounds.t[keep] + 1
    with mpl.rc_context(STYLE):
        fig, (left, right) = new_axes(2, (8.4, 3.6))
        for a in range(min(trace.K, 8)):
            style: dict[str, Any] = {
                "color": LINES[a],
                "ls": _DASHES[a % 4],
                "lw": 3.4 - 0.4 * min(a, 5),
            }
            left.plot(number, rounds.counts[keep, a], label=f"arm {a + 1}", **style)
        left.set(xlabel="round", title="pulls of each arm")
        left.legend(handlelength=2.6, labelspacing=0.3)
        for j in range(min(trace.d, 8)):
            style = {"color": LINES[j], "ls": _DASHES[j % 4], "lw": 4.0 - 1.2 * min(j, 2)}
            right.plot(number, rounds.W[keep, j], label=f"objective {j + 1}", **style)
        right.set_xscale("log")
        right.set_yscale("log")
        right.set(xlabel="round", title="width of each pair")
        right.legend(handlelength=2.6, labelspacing=0.3)
        for ax in (left, right):
            ax.xaxis.set_major_formatter("{x:,.0f}")
    return fig


def _role(b: int, c: int, a: int) -> str:
    return "b" if a == b else "c" if a == c else "o"


_W, _H, _TOP, _BOTTOM = 236, 236, 30, 184


_YLOW, _YHIGH = -0.5, 1.5


def _y(value: float) -> float:
    clamped = min(max(value, _YLOW), _YHIGH)
    return round(_BOTTOM - (clamped - _YLOW) / (_YHIGH - _YLOW) * (_BOTTOM - _TOP), 1)


def slow_motion(trace: Trace, shown: int, frames: int = 160) -> str:
    """A run to step through, as one piece of HTML that needs no kernel and no network.

    Without scripts, and in print, it shows the decision at ``shown`` pulls.  The reader moves
    through at most ``frames`` decisions with buttons, a slider or the arrow keys.
    """
    picks = frame_rounds(trace, frames - 1)
    picks = np.unique(np.append(picks, shown))
    pieces = [trace.rounds(int(t), int(t) + 1) for t in picks]
    start = int(np.searchsorted(picks, shown))
    data: dict[str, Any] = {
        "S": trace.scale,
        "mu": np.round(trace.means, 4).tolist(),
        "t": [int(t) + 1 for t in picks],
        "n": [r.counts[0].tolist() for r in pieces],
        "m": [np.round(r.means[0], 5).tolist() for r in pieces],
        "b": [r.b[0].tolist() for r in pieces],
        "c": [r.c[0].tolist() for r in pieces],
        "j": [int(r.objective[0]) for r in pieces],
        "a": [int(r.arm[0]) for r in pieces],
        "cert": [r.certified[0].astype(int).tolist() for r in pieces],
        "why": [why(trace, r) for r in pieces],
        "start": start,
        "box": [_TOP, _BOTTOM, _YLOW, _YHIGH],
    }
    text = json.dumps(data, separators=(",", ":"))
    name = "slow-" + hashlib.sha256(text.encode()).hexdigest()[:8]
    first = pieces[start]
    panels = "".join(_panel(trace, first, j) for j in range(trace.d))
    return _WIDGET % {
        "id": name,
        "panels": panels,
        "arms": _arm_rows(trace, first),
        "objectives": _objective_rows(trace, first),
        "why": html.escape(data["why"][start]),
        "round": f"{int(shown) + 1:,}",
        "last": len(picks) - 1,
        "start": start,
        "data": text.replace("</", "<\\/"),
    }


def show_slow_motion(trace: Trace, shown: int, frames: int = 160) -> None:
    """Show :func:`slow_motion` in a notebook."""
    from IPython.display import display

    text = f"Round {shown + 1:,}. {why(trace, trace.rounds(shown, shown + 1))}"
    display({"text/html": slow_motion(trace, shown, frames), "text/plain": text}, raw=True)


def _panel(trace: Trace, r: Rounds, j: int) -> str:
    K = trace.K
    b, c = int(r.b[0, j]), int(r.c[0, j])
    step = (_W - 44) / K
    sampled = int(r.objective[0]) == j
    ticks = "".join(
        f'<line class="grid" x1="34" x2="{_W - 6}" y1="{_y(v)}" y2="{_y(v)}"/>'
        f'<text class="tick" x="29" y="{_y(v) + 4}" text-anchor="end">{v:g}</text>'
        for v in (-0.5, 0.0, 0.5, 1.0, 1.5)
    )
    bars = ""
    for a in range(K):
        x = round(34 + step * (a + 0.5), 1)
        low, high, mid = (_y(float(v[0, a, j])) for v in (r.L, r.U, r.means))
        true = _y(float(trace.means[a, j]))
        pulled = sampled and int(r.arm[0]) == a
        bars += (
            f'<g class="arm {_role(b, c, a)}">'
            f'<line class="bar" x1="{x}" x2="{x}" y1="{low}" y2="{high}"/>'
            f'<circle cx="{x}" cy="{mid}" r="4"/>'
            f'<line class="true" x1="{x - 7}" x2="{x + 7}" y1="{true}" y2="{true}"/>'
            f'<text class="name" x="{x}" y="{_BOTTOM + 18}" text-anchor="middle">{a + 1}</text>'
            f'<text class="role" x="{x}" y="{_BOTTOM + 33}" text-anchor="middle">'
            f"{'b' if a == b else 'c' if a == c else ''}</text>"
            f'<text class="pull" x="{x}" y="{_BOTTOM + 49}" text-anchor="middle">'
            f"{'▲' if pulled else ''}</text></g>"
        )
    edges = "".join(
        f'<line class="{k}" x1="34" x2="{_W - 6}" y1="{_y(v)}" y2="{_y(v)}"/>'
        for k, v in (("lb", float(r.L[0, b, j])), ("uc", float(r.U[0, c, j])))
    )
    state = "certifies" if r.certified[0, j] else "sampled" if sampled else ""
    return (
        f'<svg viewBox="0 0 {_W} {_H}" role="img" aria-label="Confidence intervals of all arms '
        f'on objective {j + 1}; the numbers are in the tables below." '
        f'class="panel{" on" if sampled else ""}">'
        f'<rect class="frame" x="1" y="1" width="{_W - 2}" height="{_H - 2}" rx="6"/>'
        f'<text class="title" x="10" y="19">objective {j + 1}</text>'
        f'<text class="state" x="{_W - 10}" y="19" text-anchor="end">{state}</text>'
        f"{ticks}{edges}{bars}</svg>"
    )


def _arm_rows(trace: Trace, r: Rounds) -> str:
    rows = ""
    for a in range(trace.K):
        cells = f"<td>{int(r.counts[0, a]):,}</td><td>{r.beta[0, a]:.3f}</td>"
        for j in range(trace.d):
            bounds = " ".join(f"{v[0, a, j]:.3f}" for v in (r.L, r.means, r.U))
            cells += f"<td>{bounds}</td>"
        rows += f'<tr><th scope="row">arm {a + 1}</th>{cells}</tr>'
    head = "".join(f'<th scope="col">L, mean, U on objective {j + 1}</th>' for j in range(trace.d))
    return (
        f'<thead><tr><td></td><th scope="col">N</th><th scope="col">β</th>{head}</tr></thead>'
        f"<tbody>{rows}</tbody>"
    )


def _objective_rows(trace: Trace, r: Rounds) -> str:
    rows = ""
    for j in range(trace.d):
        b, c = int(r.b[0, j]), int(r.c[0, j])
        numbers = f"{r.W[0, j]:.3f}", f"{r.L[0, b, j]:.4f}", f"{r.U[0, c, j]:.4f}"
        cells = "".join(f"<td>{x}</td>" for x in (b + 1, c + 1, *numbers))
        verdict = "yes" if r.certified[0, j] else "no"
        rows += f'<tr><th scope="row">objective {j + 1}</th>{cells}<td>{verdict}</td></tr>'
    names = ("leader b", "challenger c", "width W", "L of b", "U of c", "L > U?")
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    return f"<thead><tr><td></td>{head}</tr></thead><tbody>{rows}</tbody>"


_WIDGET = """<div class="momab-slow" id="%(id)s">
<style>
#%(id)s{--i:var(--fig-ink,#1f2933);--m:var(--fig-muted,#5f6b7a);--f:var(--fig-faint,#c9d1da);
--b:var(--fig-blue,#0072b2);--o:var(--fig-orange,#d55e00);--g:var(--fig-green,#009e73);
color:var(--i);background:var(--fig-paper,#fff);margin:1.6rem 0;
font-family:var(--sans,system-ui,sans-serif);font-size:.93rem;line-height:1.45}
#%(id)s .panels{display:flex;flex-wrap:wrap;gap:.5rem;justify-content:center}
#%(id)s svg{width:236px;max-width:100%%;height:auto;flex:0 1 236px}
#%(id)s svg text{fill:var(--m);font-size:12px}
#%(id)s svg .title,#%(id)s svg .state{fill:var(--i);font-size:13px;font-weight:640}
#%(id)s svg .state{fill:var(--g)}
#%(id)s .frame{fill:none;stroke:var(--f)}
#%(id)s .on .frame{stroke:var(--g);stroke-width:2}
#%(id)s .grid{stroke:var(--f);stroke-width:.6}
#%(id)s .bar{stroke:var(--m);stroke-width:2.5}
#%(id)s circle{fill:var(--m)}
#%(id)s .b .bar{stroke:var(--b);stroke-width:6}
#%(id)s .b circle{fill:var(--b);stroke:var(--fig-paper,#fff)}
#%(id)s .c .bar{stroke:var(--o);stroke-width:4;stroke-dasharray:7 3}
#%(id)s .c circle{fill:var(--o)}
#%(id)s svg .b .role{fill:var(--b);font-weight:700}
#%(id)s svg .c .role{fill:var(--o);font-weight:700}
#%(id)s svg .pull{fill:var(--g);font-size:15px}
#%(id)s .true{stroke:var(--i);stroke-width:1.6}
#%(id)s .lb{stroke:var(--b);stroke-width:1.2}
#%(id)s .uc{stroke:var(--o);stroke-width:1.2;stroke-dasharray:5 3}
#%(id)s .controls{display:flex;flex-wrap:wrap;gap:.4rem;align-items:center;margin:.8rem 0}
#%(id)s [hidden]{display:none}
#%(id)s button{font:inherit;color:var(--i);background:transparent;border:1px solid var(--m);
border-radius:5px;padding:.3rem .7rem;min-height:2.2rem;cursor:pointer}
#%(id)s input{flex:1 1 12rem;min-width:8rem;accent-color:var(--b)}
#%(id)s .line{min-height:3em;margin:.5rem 0}
#%(id)s table{border-collapse:collapse;font-variant-numeric:tabular-nums;color:var(--i)}
#%(id)s th,#%(id)s td{padding:.2rem .8rem .2rem 0;border-bottom:1px solid var(--f);
text-align:left;white-space:nowrap;font-weight:400}
#%(id)s thead th{font-weight:640;white-space:normal}
#%(id)s .box{overflow-x:auto;margin:.6rem 0}
@media print{#%(id)s .controls{display:none}}
</style>
<div class="panels">%(panels)s</div>
<div class="controls" hidden>
<button type="button" data-go="prev" aria-label="Previous frame">&#8592;</button>
<button type="button" data-go="play">Play</button>
<button type="button" data-go="next" aria-label="Next frame">&#8594;</button>
<input type="range" min="0" max="%(last)d" value="%(start)d" step="1" aria-label="Round of the run">
</div>
<p class="line"><strong>Round <span class="round">%(round)s</span>.</strong>
<span class="why" aria-live="polite">%(why)s</span></p>
<div class="box" tabindex="0" role="region" aria-label="The races">
<table class="objectives">%(objectives)s</table></div>
<div class="box" tabindex="0" role="region" aria-label="The arms">
<table class="arms">%(arms)s</table></div>
<script type="application/json">%(data)s</script>
<script>
(function () {
  var root = document.getElementById("%(id)s");
  if (!root || root.dataset.ready) return;
  root.dataset.ready = "1";
  var D = JSON.parse(root.querySelector('script[type="application/json"]').textContent);
  var find = function (s) { return root.querySelector(s); };
  var all = function (e, s) { return Array.prototype.slice.call(e.querySelectorAll(s)); };
  var panels = all(root, "svg"), slider = find("input"), play = find('[data-go="play"]');
  var arms = all(find(".arms"), "tbody tr"), races = all(find(".objectives"), "tbody tr");
  var live = find(".why"), last = D.t.length - 1, now = D.start, timer = null;
  var Y = function (v) {
    v = Math.min(Math.max(v, D.box[2]), D.box[3]);
    return D.box[1] - (v - D.box[2]) / (D.box[3] - D.box[2]) * (D.box[1] - D.box[0]);
  };
  var set = function (e, o) { for (var k in o) e.setAttribute(k, o[k]); };
  var show = function (f) {
    now = f = Math.min(Math.max(f, 0), last);
    var beta = D.n[f].map(function (n) { return Math.sqrt(D.S / n); });
    var M = D.m[f];
    panels.forEach(function (p, j) {
      var b = D.b[f][j], c = D.c[f][j], on = D.j[f] === j;
      p.setAttribute("class", on ? "panel on" : "panel");
      p.querySelector(".state").textContent = D.cert[f][j] ? "certifies" : on ? "sampled" : "";
      set(p.querySelector(".lb"), {y1: Y(M[b][j] - beta[b]), y2: Y(M[b][j] - beta[b])});
      set(p.querySelector(".uc"), {y1: Y(M[c][j] + beta[c]), y2: Y(M[c][j] + beta[c])});
      all(p, ".arm").forEach(function (g, a) {
        var role = a === b ? "b" : a === c ? "c" : "o";
        g.setAttribute("class", "arm " + role);
        set(g.querySelector(".bar"), {y1: Y(M[a][j] - beta[a]), y2: Y(M[a][j] + beta[a])});
        g.querySelector("circle").setAttribute("cy", Y(M[a][j]));
        g.querySelector(".role").textContent = role === "o" ? "" : role;
        g.querySelector(".pull").textContent = on && D.a[f] === a ? "\\u25b2" : "";
      });
      var cells = races[j].cells;
      [b + 1, c + 1, (beta[b] + beta[c]).toFixed(3), (M[b][j] - beta[b]).toFixed(4),
       (M[c][j] + beta[c]).toFixed(4), D.cert[f][j] ? "yes" : "no"]
        .forEach(function (x, i) { cells[i + 1].textContent = x; });
    });
    arms.forEach(function (row, a) {
      row.cells[1].textContent = D.n[f][a].toLocaleString("en");
      row.cells[2].textContent = beta[a].toFixed(3);
      M[a].forEach(function (m, j) {
        row.cells[3 + j].textContent =
          [m - beta[a], m, m + beta[a]].map(function (x) { return x.toFixed(3); }).join(" ");
      });
    });
    find(".round").textContent = D.t[f].toLocaleString("en");
    live.textContent = D.why[f];
    slider.value = f;
    slider.setAttribute("aria-valuetext", "round " + D.t[f]);
  };
  var stop = function () {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play";
    live.setAttribute("aria-live", "polite");
  };
  root.addEventListener("click", function (e) {
    var go = e.target.closest("[data-go]");
    if (!go) return;
    if (go.dataset.go !== "play") {
      stop();
      show(now + (go.dataset.go === "next" ? 1 : -1));
      return;
    }
    if (timer) { stop(); return; }
    if (now === last) show(0);
    play.textContent = "Pause";
    live.setAttribute("aria-live", "off");
    timer = setInterval(function () { if (now >= last) stop(); else show(now + 1); }, 220);
  });
  slider.addEventListener("input", function () { stop(); show(+slider.value); });
  var calm = window.matchMedia && matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (calm) play.hidden = true;
  find(".controls").hidden = false;
  show(now);
})();
</script>
</div>"""
