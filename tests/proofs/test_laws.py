"""The finite laws of the formal proofs, written once more in Python, on small exact examples."""

from fractions import Fraction
from itertools import product as pairs

import pytest

from tests.proofs.quoting import stands_in_the_sources
from tests.proofs.relation import History, Instance
from tests.proofs.surds import Scale

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


def E(D, f):  # noqa: N802
    """Fixpoint E {X} (D : law X) (f : X -> R) : R :=
    match D with
    | [] => 0
    | (w, x) :: D => w * f x + E D f
    end.
    """
    return sum((w * f(x) for w, x in D), Fraction(0))


def Pr(D, A):  # noqa: N802
    """Definition Pr {X} (D : law X) (A : X -> bool) : R := E D (fun x => if A x then 1 else 0)."""
    return E(D, lambda x: 1 if A(x) else 0)


def is_law(D):
    """Definition is_law {X} (D : law X) : Prop :=
    (forall p, In p D -> 0 <= fst p) /\\ E D (fun _ => 1) = 1.
    """
    return all(w >= 0 for w, _ in D) and E(D, lambda _: 1) == 1


def bind(D, F):
    """Definition bind {X Z} (D : law X) (F : X -> law Z) : law Z :=
    flat_map (fun p => scaled (fst p) (F (snd p))) D.
    """
    return [(w * v, z) for w, x in D for v, z in F(x)]


def product(n, D):
    """Fixpoint product {X} (x0 : X) (n : nat) (D : nat -> law X) : law (nat -> X) :=
    match n with
    | O => [(1, fun _ => x0)]
    | S m => bind (product x0 m D) (fun x => image (update x m) (D m))
    end.
    """
    if n == 0:
        return [(Fraction(1), ())]
    return bind(product(n - 1, D), lambda x: [(w, (*x, y)) for w, y in D(n - 1)])


def coin_law(p):
    """Definition coin_law (p : R) : law R := [(p, 1); (1 - p, 0)]."""
    return [(p, 1), (1 - p, 0)]


def bernoulli(mu):
    """Definition bernoulli (d : nat) (mu : nat -> vector) (a : nat) : law vector :=
    product 0 d (fun j => coin_law (mu a j)).
    """
    return lambda a: product(len(mu[a]), lambda j: coin_law(mu[a][j]))


def means(nu, d):
    """Definition means (a j : nat) : R := E (nu a) (fun y => y j)."""
    return lambda a: [E(nu(a), lambda y, j=j: y[j]) for j in range(d)]


def tables(K, T, nu):
    """Definition tables : law table :=
    product (fun _ => nothing) K (fun a => product nothing T (fun _ => nu a)).
    """
    return product(K, lambda a: product(T, lambda _: nu(a)))


def histories(nu, choose, t):
    """Fixpoint histories (nu : nat -> law vector) (choose : history -> law nat) (t : nat) :
    law history :=
    match t with
    | O => [(1, [])]
    | S t => bind (histories nu choose t)
               (fun h => bind (choose h) (fun a => image (fun x => (a, x) :: h) (nu a)))
    end.
    """
    if t == 0:
        return [(Fraction(1), ())]
    return bind(
        histories(nu, choose, t - 1),
        lambda h: bind(choose(h), lambda a: [(w, ((a, x), *h)) for w, x in nu(a)]),
    )


def runs(K, d, T, y):
    """All histories of length T, latest pull first, of Algorithm 1 with c = 2 on a table.

    Inductive run (Y : table) : history -> option nat -> Prop :=
    | start : run Y [] None
    | warm h : run Y h None -> (length h < K)%nat -> run Y (pull Y h (length h)) None
    | next h s a s' :
        run Y h s -> (K <= length h)%nat -> decision h s a s' -> run Y (pull Y h a) s'.
    """
    waiting, found = [((), None)], set()
    while waiting:
        h, s = waiting.pop()
        if len(h) == T:
            found.add(h)
            continue
        if len(h) < K:
            decisions = {(len(h), None)}
        elif s is not None:
            decisions = {(s, s)}
        else:
            state = seen(K, d, T, h)
            decisions = {(b, b) for b, _ in state.certificates()}
            decisions |= {(a, None) for a in range(K) if state.explorations(a)}
        for a, stored in decisions:
            waiting.append((((a, y[a][sum(b == a for b, _ in h)]), *h), stored))
    return found


def seen(K, d, T, h):
    state = History(Instance([[0] * d] * K), Scale(2, T))
    for a, x in reversed(h):
        state.pull(a, x)
    return state


def play(K, d, T, nu, D):
    """Definition play (D : law (table * history)) : Prop :=
    is_law D /\\ (forall f, E D (fun x => f (fst x)) = E tables f) /\\
    (forall p, In p D ->
       exists s, run K d T 2 (fst (snd p)) (snd (snd p)) s /\\ length (snd (snd p)) = T).
    """
    return (
        is_law(D)
        and _collected([(w, y) for w, (y, _) in D]) == _collected(tables(K, T, nu))
        and all(h in runs(K, d, T, y) for _, (y, h) in D)
    )


TRANSCRIBED = (
    *(E, Pr, is_law, bind, product, coin_law, bernoulli, means, tables, histories),
    *(runs, play),
)
MU = [[HALF, THIRD], [Fraction(1, 4), HALF]]


@pytest.mark.parametrize("function", TRANSCRIBED, ids=lambda function: function.__name__)
def test_what_is_transcribed_is_what_stands_in_the_sources(function):
    assert stands_in_the_sources(function)


def test_a_product_has_every_outcome_once_with_the_product_of_the_weights():
    found = {x: w for w, x in bernoulli(MU)(0)}
    assert found == {
        (x, y): (HALF if x else 1 - HALF) * (THIRD if y else 1 - THIRD)
        for x, y in pairs((0, 1), repeat=2)
    }
    assert is_law(bernoulli(MU)(0))
    assert means(bernoulli(MU), 2)(0) == MU[0]


def test_tables_are_laws_whose_entries_are_independent_draws():
    law = tables(2, 2, bernoulli(MU))
    assert is_law(law)
    assert len(law) == 4**4
    assert E(law, lambda y: y[1][0][1]) == MU[1][1]
    both = Pr(law, lambda y: y[0][0][0] == 1 and y[0][1][0] == 1)
    assert both == MU[0][0] ** 2


def curious(h):
    """A policy that tosses a coin, then repeats an arm that has just paid on objective 0."""
    if not h:
        return [(HALF, 0), (HALF, 1)]
    (a, x), *_ = h
    return [(Fraction(1), a if x[0] else 1 - a)]


def test_histories_and_tables_give_the_same_law():
    """Drawing a reward when it is pulled, or all of them beforehand, is the same."""
    rounds = 3
    sequential = histories(bernoulli(MU), curious, rounds)
    assert is_law(sequential)
    assert {len(h) for _, h in sequential} == {rounds}

    def play(y):
        law = [(Fraction(1), ())]
        for _ in range(rounds):
            law = [
                (w * v, ((a, y[a][sum(b == a for b, _ in h)]), *h))
                for w, h in law
                for v, a in curious(h)
            ]
        return law

    drawn = bind(tables(2, rounds, bernoulli(MU)), play)
    for law in (sequential, drawn):
        assert Pr(law, lambda h: True) == 1
    keys = {h for _, h in sequential}
    assert {h: Pr(sequential, lambda x, h=h: x == h) for h in keys} == _collected(drawn)


def _collected(law):
    found = {}
    for w, x in law:
        found[x] = found.get(x, 0) + w
    return found


ONE = [[HALF], [Fraction(1, 4)]]


def played(T, choose):
    """A law of tables with, for each of them, the history that `choose` takes from its runs."""
    nu = bernoulli(ONE)
    return [(w, (y, choose(sorted(runs(2, 1, T, y))))) for w, y in tables(2, T, nu)]


@pytest.mark.parametrize("choose", [min, max])
def test_a_history_of_the_relation_for_each_table_is_a_play(choose):
    """Ties may be broken in any way; with three rounds some tables have more than one run."""
    assert play(2, 1, 3, bernoulli(ONE), played(3, choose))


def test_a_play_may_toss_a_coin_where_there_are_several_runs():
    law = [
        (w / len(found), (y, h))
        for w, y in tables(2, 3, bernoulli(ONE))
        for found in [runs(2, 1, 3, y)]
        for h in found
    ]
    assert len(law) > len(tables(2, 3, bernoulli(ONE)))
    assert play(2, 1, 3, bernoulli(ONE), law)


def test_what_is_no_play():
    law = played(3, min)
    (w, (y, h)), *rest = law
    stays = ((0, y[0][1]), *h[1:])
    goes = ((1, y[1][1]), *h[1:])
    wrong = next(x for x in (stays, goes, ((0, y[0][0]), *h)) if x not in runs(2, 1, 3, y))
    nu = bernoulli(ONE)
    assert not play(2, 1, 3, nu, [(w, (y, wrong)), *rest])  # not a run
    assert not play(2, 1, 3, nu, [(w, (y, h[1:])), *rest])  # too short
    assert not play(2, 1, 3, nu, rest)  # no law
    other = bernoulli([[HALF], [Fraction(1, 3)]])
    assert not play(2, 1, 3, other, law)  # tables of another instance
