"""The words in which theorems are stated: sources, hypotheses, measures, how sure a step is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

__all__ = ["INDEPENDENT_NOISE", "Assumption", "Kind", "Measure", "Source", "Status", "Step"]


class Status(Enum):
    """How sure a step is."""

    PROVED = "proved"  # closed by the engine
    SAMPLED = "sampled"  # a textbook fact; random instances agree and its perturbations do not
    ASSUMED = "assumed"  # a hypothesis of the theorem


@dataclass(frozen=True)
class Step:
    """One line of a derivation: what holds, because of what, how sure."""

    claim: str
    because: str
    status: Status


@dataclass(frozen=True)
class Source:
    """Where a statement comes from; `reference` is an arXiv number or a remark."""

    authors: str
    year: int
    title: str
    reference: str = ""


class Measure(Enum):
    """What a bound is about; v is the mean or virtual model, x the model that workers hold."""

    GRADSQ = "(1/T) sum_{t<T} E||grad f(v_t)||^2"
    GRADSQ_X = "(1/T) sum_{t<T} E||grad f(x_t)||^2"
    GAP = "(1/T) sum_{t<T} E f(v_t) - f*"
    GAP_X = "(1/T) sum_{t<T} E f(x_t) - f*"
    LAST_GAP = "f(x_T) - f*"
    DIST = "E||v_T - x*||^2"
    DIST_X = "(1/n) sum_i E||x_i - x*||^2 at T"
    CONSENSUS = "||X_T - J X_0||_F"
    GROWTH = "limsup ||x_t - x*||^(1/t)"
    GROWTH_X = "limsup of the largest ||x_i - x*||^(1/t)"

    @property
    def quantity(self) -> str:
        """The quantity without the place: where v = x, GAP and GAP_X agree."""
        return self.name.removesuffix("_X")


class Kind(Enum):
    """How a theorem meets another at a limit."""

    EQUALS = "equals"  # the same formula
    IMPLIED_BY = "implied by"  # the other bound is smaller: the sign of the difference is proved


class Assumption(Enum):
    """A hypothesis; a derivation may use only those of its theorem."""

    SMOOTH = "f is L-smooth, and so is every f_i where workers hold different models"
    CONVEX = "f is convex"
    STRONGLY_CONVEX = (
        "f is mu-strongly convex, and so is every f_i where workers hold different models"
    )
    EQUAL = "f_i = f for every worker"
    UNBIASED = "the noise has zero mean given the past"
    INDEPENDENT = "the noise is independent between workers"
    VARIANCE = "the noise of a worker has variance at most sigma2"
    HETEROGENEITY = "(1/n) sum_i ||grad f_i(x) - grad f(x)||^2 <= zeta2"
    DRAWN = "a gradient is that of one of m losses f_j, drawn evenly; f = (1/m) sum_j f_j"
    SMOOTH_LOSSES = "every f_j is convex and Lmax-smooth"
    NOISE_AT_MINIMUM = "(1/m) sum_j ||grad f_j(x*)||^2 <= ss"
    MIXING = "W is doubly stochastic and ||W - J||_2 = lam"
    POSITIVE = "W is symmetric, and its eigenvalues are not negative"
    SYMMETRIC = "W is symmetric and doubly stochastic, with eigenvalues in [-neg, 1) besides one 1"
    SHARING = (
        "columns of P add up to 1, P phi = phi > 0, and lam is ||P - phi 1'||_2 with the norm "
        "sum_i x_i^2 / phi_i"
    )
    WEIGHTS = "w_0 = 1, and skew is the root of the largest over the least w_i^2 / phi_i of a run"
    APART_AT_MINIMUM = "(1/n) sum_i ||grad f_i(x*)||^2 <= zs"
    ALIKE = "f_i = f + <s_i, x>: workers differ by linear terms"
    DELAYS = (
        "gradients are at most taumax steps old when the server takes them in, tauavg on average, "
        "at most tauC others are under way, and none of this depends on the noise"
    )
    GATE = (
        "a worker reads for its clock c when all have pushed their clocks < c - s, and reads again "
        "after its push; none of this depends on the noise"
    )
    CONTRACTION = "E||C(x) - x||^2 <= (1 - delta) ||x||^2"
    FAITHFUL = "E C(x) = x given x, and E||C(x) - x||^2 <= omega ||x||^2"
    OWN_ERRORS = "compression errors are independent between workers"
    SECOND_MOMENT = "(1/n) sum_i E||g_i||^2 <= G2 at every step"
    LATE = (
        "a gradient is taken at the models of tau steps before (of at most tau, where all hold one "
        "model), whatever the noise"
    )
    TURNS = "W changes from step to step, is doubly stochastic, and any m in a row average exactly"
    REACH = "(1/2) E||x_t - x*||^2 <= Fd^2 for all t <= T"
    VIEWS = (
        "a worker sees in its clock c its own updates, all others of clocks < c - s, and some of "
        "the clocks c - s .. c + s; T is all there are, and none of this depends on the noise"
    )
    BY_LOT = "the worker that steps is drawn evenly, whatever the past and the noise"
    MEETINGS = "W is drawn anew, whatever the past, doubly stochastic, and ||E W'W - J||_2 = nu"
    QUADRATIC = "f is quadratic, with curvatures above 0 and at most L"
    ONE_MASK = "C is linear and alike for all workers: mean_i C(x_i) = C(mean_i x_i)"
    SMOOTH_ON_AVERAGE = "(1/n) sum_i ||grad f_i(x) - grad f_i(y)||^2 <= Ltil^2 ||x - y||^2"


INDEPENDENT_NOISE = frozenset({Assumption.UNBIASED, Assumption.INDEPENDENT, Assumption.VARIANCE})
