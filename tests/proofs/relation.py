"""The definitions of the formal proofs, written once more in exact Python.

Every function quotes the Coq text that it transcribes; a test looks these texts up in the sources,
so that a definition cannot change there without being read again here.  Arms and objectives are
numbered from 0 in both.
"""

from dataclasses import dataclass, field
from fractions import Fraction

from tests.proofs.surds import Scale, Surd


def exact(x):
    """A fraction as it is, and a number of the engine as the fraction that it is."""
    return x if isinstance(x, Fraction) else Fraction(float(x))


@dataclass
class Instance:
    """Means as fractions."""

    mu: list
    K: int = field(init=False)
    d: int = field(init=False)

    def __post_init__(self):
        self.mu = [[exact(x) for x in row] for row in self.mu]
        self.K, self.d = len(self.mu), len(self.mu[0])

    def gap(self, a):
        """Definition gap (a : nat) : R :=
        Rmax 0 (maxb K (fun b => minb d (fun j => mu b j - mu a j))).
        """
        mu = self.mu
        pairs = ((min(mu[b][j] - mu[a][j] for j in range(self.d))) for b in range(self.K))
        return max(Fraction(0), *pairs)

    def gap_max(self):
        """Definition gap_max : R := maxb K gap."""
        return max(self.gap(a) for a in range(self.K))

    def best(self, j):
        """Definition best (j : nat) : R := maxb K (fun a => mu a j)."""
        return max(self.mu[a][j] for a in range(self.K))

    def deficit(self, a, j):
        """Definition deficit (a j : nat) : R := best j - mu a j."""
        return self.best(j) - self.mu[a][j]

    def least_deficit(self, a):
        """Definition least_deficit (a : nat) : R := minb d (deficit a)."""
        return min(self.deficit(a, j) for j in range(self.d))

    def maximiser(self, a, j):
        """Definition maximiser (a j : nat) : Prop := deficit a j = 0."""
        return self.deficit(a, j) == 0

    def unique_maximiser(self, a, j):
        """Definition unique_maximiser (a j : nat) : Prop :=
        forall b, (b < K)%nat -> b <> a -> mu b j < mu a j.
        """
        return all(self.mu[b][j] < self.mu[a][j] for b in range(self.K) if b != a)

    def lead(self, j):
        """Definition lead (j : nat) : R := Rmax 0 (maxb K (fun a => mu a j - best_other a j))."""

        def best_other(a):
            return max(self.mu[b][j] for b in range(self.K) if b != a)

        return max(Fraction(0), *(self.mu[a][j] - best_other(a) for a in range(self.K)))

    def g_dagger(self):
        """Definition g_dagger : R := maxb d lead."""
        return max(self.lead(j) for j in range(self.d))

    def dominates(self, x, y):
        """(forall j, (j < d)%nat -> y j <= x j) /\\ exists j, (j < d)%nat /\\ y j < x j."""
        return all(v <= u for u, v in zip(x, y)) and any(v < u for u, v in zip(x, y))

    def pareto_optimal(self, a):
        """Definition pareto_optimal (a : nat) : Prop := undominated (mu a)."""
        return not any(self.dominates(row, self.mu[a]) for row in self.mu)


@dataclass
class History:
    """Counts and totals of the pulls so far, and what is compared with them."""

    instance: Instance
    scale: Scale
    count: list = field(init=False)
    total: list = field(init=False)
    length: int = 0
    pairs: dict = field(default_factory=dict)  # the races of this decision

    def __post_init__(self):
        self.count = [0] * self.instance.K
        self.total = [[Fraction(0)] * self.instance.d for _ in range(self.instance.K)]

    def pull(self, a, x):
        """Definition pull (Y : table) (h : history) (a : nat) : history :=
        (a, Y a (count h a)) :: h.
        """
        self.length += 1
        self.pairs.clear()
        self.count[a] += 1
        self.total[a] = [s + Fraction(float(v)) for s, v in zip(self.total[a], x)]

    def mean(self, a, j):
        """Definition mean (h : history) (a j : nat) : R := total h a j / INR (count h a)."""
        return self.total[a][j] / self.count[a]

    def beta(self, a):
        """Definition radius (c : R) (T n : nat) : R := sqrt (c * ln (INR T) / INR n)."""
        return Surd.radius(self.count[a])

    def U(self, a, j):  # noqa: N802
        """Definition U (h : history) (a j : nat) : R := mean h a j + beta h a."""
        return Surd.rational(self.mean(a, j)) + self.beta(a)

    def L(self, a, j):  # noqa: N802
        """Definition L (h : history) (a j : nat) : R := mean h a j - beta h a."""
        return Surd.rational(self.mean(a, j)) - self.beta(a)

    def leaders(self, j):
        """Definition leader (h : history) (j b : nat) : Prop :=
        (b < K)%nat /\\ forall a, (a < K)%nat -> U h a j <= U h b j.
        """
        return self._largest(j, range(self.instance.K))

    def challengers(self, j, b):
        """Definition challenger (h : history) (j b e : nat) : Prop :=
        (e < K)%nat /\\ e <> b /\\ forall a, (a < K)%nat -> a <> b -> U h a j <= U h e j.
        """
        return self._largest(j, [a for a in range(self.instance.K) if a != b])

    def _largest(self, j, arms):
        bounds = {a: self.U(a, j) for a in arms}
        top = arms[0]
        for a in arms[1:]:
            top = a if self.scale.lt(bounds[top], bounds[a]) else top
        return [b for b in arms if self.scale.le(bounds[top], bounds[b])]

    def races(self, j):
        """All pairs that objective j may race: every way to break its ties."""
        if j not in self.pairs:
            self.pairs[j] = [(b, e) for b in self.leaders(j) for e in self.challengers(j, b)]
        return self.pairs[j]

    def certifies(self, b, e, j):
        """Definition certifies (h : history) (b e : nat -> nat) (j : nat) : Prop :=
        L h (b j) j > U h (e j) j.
        """
        return self.scale.lt(self.U(e, j), self.L(b, j))

    def width(self, b, e):
        """Definition width (h : history) (b e : nat -> nat) (j : nat) : R :=
        beta h (b j) + beta h (e j).
        """
        return self.beta(b) + self.beta(e)

    def inside(self):
        """Definition inside (h : history) : Prop :=
        forall a j, (a < K)%nat -> (j < d)%nat -> Rabs (mean h a j - mu a j) <= beta h a.
        """
        instance = self.instance
        return all(
            self.scale.le(Surd.rational(abs(self.mean(a, j) - instance.mu[a][j])), self.beta(a))
            for a in range(instance.K)
            for j in range(instance.d)
        )

    def certificates(self):
        """The (arm, objective) that a decision `certify` may store:

        | certify b e j :
            races h b e -> (j < d)%nat -> certifies h b e j ->
            decision h None (b j) (Some (b j))
        """
        pairs = [(j, pair) for j in range(self.instance.d) for pair in self.races(j)]
        return {(b, j) for j, (b, e) in pairs if self.certifies(b, e, j)}

    def explorations(self, a):
        """The witnesses (objective, leader, challenger) for which arm a may be explored:

        | explore b e j a :
            races h b e -> (forall i, (i < d)%nat -> ~ certifies h b e i) ->
            sampled h b e j a ->
            decision h None a None.

        (j < d)%nat /\\ (forall i, (i < d)%nat -> width h b e i <= width h b e j) /\\
        (a = b j \\/ a = e j) /\\ beta h (b j) <= beta h a /\\ beta h (e j) <= beta h a.

        Ties are broken objective by objective, so a witness for j extends to all of them
        exactly if every objective has an uncertified pair that is no wider.
        """
        objectives, le = range(self.instance.d), self.scale.le
        open_pairs = [
            [(b, e) for b, e in self.races(j) if not self.certifies(b, e, j)] for j in objectives
        ]
        return [
            (j, b, e)
            for j in objectives
            for b, e in open_pairs[j]
            if a in (b, e)
            and le(self.beta(b), self.beta(a))
            and le(self.beta(e), self.beta(a))
            and all(
                any(le(self.width(*pair), self.width(b, e)) for pair in open_pairs[i])
                for i in objectives
            )
        ]
