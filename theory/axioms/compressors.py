"""Axioms of compressors that are right on average: what is lost is noise.

q_i = C(p_i) - p_i is what the message of worker i loses; `lost` is its second moment. Contractions,
which keep a part for sure, are in `theory.axioms.workers`.
"""

from __future__ import annotations

from theory.axiom import Terms, axiom
from theory.forms import Form, Scalar, Vector, inner
from theory.statement import Assumption, Status
from theory.symbols import symbol

n, omega = symbol("n"), symbol("omega")


@axiom(Status.SAMPLED, "E C(p) = p given p", Assumption.FAITHFUL, equality=True)
def loss_orthogonal(known: Vector, loss: Vector) -> Terms:
    """What is lost is orthogonal to all that was known when it was said: E<u, C(p) - p> = 0."""
    return {"product": inner(known, loss)}


@axiom(Status.SAMPLED, "hypothesis omega on the compressor", Assumption.FAITHFUL)
def relative_loss(said: Vector, lost: Scalar) -> Terms:
    """What is lost is at most omega times what is said: E|C(p) - p|^2 <= omega |p|^2."""
    return {"said": omega * inner(said, said), "lost": Form.of(lost, -1)}


@axiom(Status.SAMPLED, "compressors draw independently", Assumption.OWN_ERRORS, equality=True)
def own_losses(loss: Vector, lost: Scalar) -> Terms:
    """The loss of the mean is one n-th: E|mean_i q_i|^2 = (1/n) (1/n) sum_i E|q_i|^2."""
    mean = loss.part("mean")
    return {"mean": inner(mean, mean), "workers": Form.of(lost, -1 / n)}


@axiom(Status.SAMPLED, "C is linear, and one for all", Assumption.ONE_MASK, equality=True)
def one_mask(loss: Vector, lost: Scalar) -> Terms:
    """The mean of what is lost is what the mean loses: E|mean_i q_i|^2 = E|C(pbar) - pbar|^2."""
    mean = loss.part("mean")
    return {"mean": inner(mean, mean), "one": Form.of(lost, -1)}
