"""A real problem: whether a breast mass is benign, told from 30 numbers about its cell nuclei.

Logistic regression over 569 rows, d = 31 with the bias; +1 is benign. The set is W. Wolberg,
O. Mangasarian, N. Street, W. Street, "Breast Cancer Wisconsin (Diagnostic)", UCI Machine Learning
Repository, 1995; data/LICENSE-data.md has its source and licence.
"""

from __future__ import annotations

from typing import Any

from mpiddl.problems import problems
from mpiddl.problems.datasets import load
from mpiddl.problems.logistic import LogisticRegression

__all__ = ["breast_cancer"]


@problems.register("breast_cancer")
def breast_cancer(workers: int, seed: int, **options: Any) -> LogisticRegression:
    """Logistic regression on 569 real cases, benign or malignant: strongly convex.

    `options` as in `LogisticRegression`, 16 rows per gradient by default.
    """
    features, labels = load("breast_cancer")
    options = {"name": "breast_cancer", **options}
    return LogisticRegression.from_arrays(features, labels, workers, seed, **options)
