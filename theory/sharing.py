"""Push-sum: models and weights are shared out together, and what a worker reads is their ratio.

x <- P x, w <- P w with w_0 = 1, columns of P add up to 1. So sum x and sum w = n stay, and with
xbar = (1/n) sum x the rest q = x - xbar w adds up to 0 and obeys q <- P q: z = x / w differs from
xbar by q / w. Where P phi = phi > 0, sum phi = 1, w tends to n phi, and in the norm

    |q|^2 = sum_i q_i^2 / phi_i

one sharing shrinks q by lam = |D^(-1/2) (P - phi 1') D^(1/2)|_2, D = diag(phi), at least, and many
by |lambda_2(P)| each, the modulus of the second eigenvalue, which is lam where no flow of shares
goes round in circles: P_ij phi_j = P_ji phi_i. Doubly stochastic P have phi = 1/n, w = 1 and the
lam of gossip.

Shares here: every worker shares out equally what it has among itself and those who hear it,

one_way    i + 1 hears i, and all hear worker 0
leaves     worker 0 hears all, and all hear worker 0: a star; lam = 1/2 for n > 2
rows       broken: the transpose of one_way, an average of what is heard
others     doubly stochastic: `theory.mixing`
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theory.measured import Trajectory
from theory.mixing import matrix
from theory.testbed import Floats

if TYPE_CHECKING:
    from theory.trials import Trial

__all__ = ["contraction", "perron", "qualities", "run", "shares", "skew"]

STEPS = 200  # after which weights have settled


def shares(topology: str, n: int) -> Floats:
    """Return P (n, n); [i, j] is what j gives to i."""
    if topology == "rows":
        return shares("one_way", n).T.copy()
    heard = np.eye(n)
    heard[:, 0] = 1
    if topology == "one_way":
        heard[(np.arange(n) + 1) % n, np.arange(n)] = 1
    elif topology == "leaves":
        heard[0] = 1
    else:
        return matrix(topology, n)
    p: Floats = heard / heard.sum(axis=0)
    return p


def perron(p: Floats) -> Floats:
    """Return phi (n,) with P phi = phi, of sum 1."""
    values, vectors = np.linalg.eig(p)
    phi: Floats = vectors[:, np.argmin(abs(values - 1))].real
    phi /= phi.sum()
    return phi


def contraction(p: Floats) -> float:
    """Return lam: how much one sharing shrinks what adds up to 0."""
    phi = perron(p)
    root = np.sqrt(phi)
    return float(np.linalg.norm((p - phi[:, None]) / root[:, None] * root, 2))


def skew(p: Floats) -> float:
    """Return the root of the largest over the least w_i^2 / phi_i, over all workers and steps."""
    phi, w = perron(p), np.ones(len(p))
    seen = []
    for _ in range(STEPS):
        seen.append(w**2 / phi)
        w = p @ w
    return float(np.sqrt(np.max(seen) / np.min(seen)))


def qualities(topology: str, n: int) -> dict[str, float]:
    """Return lam and skew of shares."""
    p = shares(topology, n)
    return {"lam": contraction(p), "skew": skew(p)}


def run(trial: Trial, x: Floats) -> Trajectory:
    """Return how models x (S, n, d) are shared out; y is what workers read, v the mean of x."""
    p, w = shares(trial.topology, trial.n), np.ones(trial.n)
    seeds, n, d = x.shape
    y, v = np.empty((seeds, trial.T, n, d)), np.empty((seeds, trial.T + 1, d))
    for t in range(trial.T):
        y[:, t], v[:, t] = x / w[:, None], x.mean(axis=1)
        x, w = p @ x, p @ w
    v[:, trial.T] = x.mean(axis=1)
    return Trajectory(y, np.zeros_like(y), v)
