"""One ranking, one number."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from rankmeter._core.doors.mappings import score_all, score_one
from rankmeter._core.driver import Metrics
from rankmeter.naming.rows import METRICS

Ranked = Sequence[Hashable] | Any
Qrels = Mapping[Any, Any]

_RECALL = METRICS["recall"]
_PRECISION = METRICS["precision"]
_HIT = METRICS["hit"]
_MRR = METRICS["mrr"]
_MAP = METRICS["map"]
_NDCG = METRICS["ndcg"]


def recall_at_k(
    ranked: Ranked, qrels: Qrels, k: int, *, rel: float = 1, duplicates: str = "error"
) -> float:
    """Share of the relevant documents that are in the top k.

    Relevant documents in the top k / all relevant documents in `qrels`.

    Parameters
    ----------
    ranked : sequence of hashable
        Document ids, best first: list, tuple, numpy array of str or int. May be empty.
    qrels : mapping
        Document id to grade (int, float, bool, numpy scalar). Unjudged documents have grade 0.
    k : int
        Cut-off, at least 1.
    rel : float
        Grades from here on are relevant; must be above 0.
    duplicates : {"error", "first"}
        What to do with the same id twice in `ranked`: refuse it, or keep the first and close the
        gap.

    Returns
    -------
    float
        Between 0 and 1; 0 where `ranked` is empty or `qrels` holds no relevant document.

    Raises
    ------
    TypeError
        If `ranked` is not a sequence of ids, or a grade is not a number.
    ValueError
        If an id stands twice, `k` is below 1, or a grade is not finite.

    References
    ----------
    trec_eval, measure ``recall``.

    Examples
    --------
    >>> import rankmeter as rm
    >>> rm.recall_at_k(["a", "x", "b"], {"a": 1, "b": 1, "c": 2, "d": 0}, 2)
    0.3333333333333333
    """
    return score_one(_RECALL, ranked, qrels, k, rel, "exponential", "log2", duplicates)


def precision_at_k(
    ranked: Ranked, qrels: Qrels, k: int, *, rel: float = 1, duplicates: str = "error"
) -> float:
    """Share of the top k that is relevant.

    Relevant documents in the top k / k, also when fewer than k were returned.

    Parameters
    ----------
    ranked : sequence of hashable
        Document ids, best first: list, tuple, numpy array of str or int. May be empty.
    qrels : mapping
        Document id to grade (int, float, bool, numpy scalar). Unjudged documents have grade 0.
    k : int
        Cut-off, at least 1.
    rel : float
        Grades from here on are relevant; must be above 0.
    duplicates : {"error", "first"}
        What to do with the same id twice in `ranked`: refuse it, or keep the first and close the
        gap.

    Returns
    -------
    float
        Between 0 and 1; 0 where `ranked` is empty.

    Raises
    ------
    TypeError
        If `ranked` is not a sequence of ids, or a grade is not a number.
    ValueError
        If an id stands twice, `k` is below 1, or a grade is not finite.

    References
    ----------
    trec_eval, measure ``P``.

    Examples
    --------
    >>> import rankmeter as rm
    >>> rm.precision_at_k(["a", "x"], {"a": 1}, 5)
    0.2
    """
    return score_one(_PRECISION, ranked, qrels, k, rel, "exponential", "log2", duplicates)


def hit_at_k(
    ranked: Ranked, qrels: Qrels, k: int, *, rel: float = 1, duplicates: str = "error"
) -> float:
    """Whether a relevant document is in the top k.

    1 if any relevant document is in the top k, else 0. Also called success or hit rate.

    Parameters
    ----------
    ranked : sequence of hashable
        Document ids, best first: list, tuple, numpy array of str or int. May be empty.
    qrels : mapping
        Document id to grade (int, float, bool, numpy scalar). Unjudged documents have grade 0.
    k : int
        Cut-off, at least 1.
    rel : float
        Grades from here on are relevant; must be above 0.
    duplicates : {"error", "first"}
        What to do with the same id twice in `ranked`: refuse it, or keep the first and close the
        gap.

    Returns
    -------
    float
        0.0 or 1.0; 0.0 where `ranked` is empty.

    Raises
    ------
    TypeError
        If `ranked` is not a sequence of ids, or a grade is not a number.
    ValueError
        If an id stands twice, `k` is below 1, or a grade is not finite.

    References
    ----------
    trec_eval, measure ``success``.

    Examples
    --------
    >>> import rankmeter as rm
    >>> rm.hit_at_k(["x", "a"], {"a": 1}, 2)
    1.0
    """
    return score_one(_HIT, ranked, qrels, k, rel, "exponential", "log2", duplicates)


def reciprocal_rank(
    ranked: Ranked, qrels: Qrels, k: int | None = None, *, rel: float = 1, duplicates: str = "error"
) -> float:
    """One over the rank of the first relevant document.

    1 / rank of the first relevant document (within k). Its mean over queries is MRR.

    Parameters
    ----------
    ranked : sequence of hashable
        Document ids, best first: list, tuple, numpy array of str or int. May be empty.
    qrels : mapping
        Document id to grade (int, float, bool, numpy scalar). Unjudged documents have grade 0.
    k : int, optional
        Cut-off, at least 1; without one the whole ranking counts.
    rel : float
        Grades from here on are relevant; must be above 0.
    duplicates : {"error", "first"}
        What to do with the same id twice in `ranked`: refuse it, or keep the first and close the
        gap.

    Returns
    -------
    float
        Between 0 and 1; 0 where there is none (within k).

    Raises
    ------
    TypeError
        If `ranked` is not a sequence of ids, or a grade is not a number.
    ValueError
        If an id stands twice, `k` is below 1, or a grade is not finite.

    References
    ----------
    E. Voorhees, The TREC-8 question answering track report, 1999.

    Examples
    --------
    >>> import rankmeter as rm
    >>> rm.reciprocal_rank(["x", "a", "b"], {"a": 1, "b": 1})
    0.5
    """
    return score_one(_MRR, ranked, qrels, k, rel, "exponential", "log2", duplicates)


def average_precision(
    ranked: Ranked, qrels: Qrels, k: int | None = None, *, rel: float = 1, duplicates: str = "error"
) -> float:
    """Precision averaged over the relevant documents.

    Sum of precision at the rank of each relevant document (within k) / all relevant in `qrels`.

    Parameters
    ----------
    ranked : sequence of hashable
        Document ids, best first: list, tuple, numpy array of str or int. May be empty.
    qrels : mapping
        Document id to grade (int, float, bool, numpy scalar). Unjudged documents have grade 0.
    k : int, optional
        Cut-off, at least 1; without one the whole ranking counts.
    rel : float
        Grades from here on are relevant; must be above 0.
    duplicates : {"error", "first"}
        What to do with the same id twice in `ranked`: refuse it, or keep the first and close the
        gap.

    Returns
    -------
    float
        Between 0 and 1; 0 where `ranked` is empty or `qrels` holds no relevant document.

    Raises
    ------
    TypeError
        If `ranked` is not a sequence of ids, or a grade is not a number.
    ValueError
        If an id stands twice, `k` is below 1, or a grade is not finite.

    References
    ----------
    trec_eval, measures ``map`` and ``map_cut``.

    Examples
    --------
    >>> import rankmeter as rm
    >>> rm.average_precision(["a", "x", "b"], {"a": 1, "b": 1})
    0.8333333333333333
    """
    return score_one(_MAP, ranked, qrels, k, rel, "exponential", "log2", duplicates)


def ndcg_at_k(
    ranked: Ranked,
    qrels: Qrels,
    k: int = 10,
    gain: str | Mapping[Any, float] = "exponential",
    discount: str = "log2",
    *,
    duplicates: str = "error",
) -> float:
    """Normalised discounted cumulative gain.

    DCG / ideal DCG, both cut at k, where DCG is the sum of gain(grade) * discount(rank). The ideal
    is drawn from all judged documents, whether or not they were retrieved.

    Parameters
    ----------
    ranked : sequence of hashable
        Document ids, best first: list, tuple, numpy array of str or int. May be empty.
    qrels : mapping
        Document id to grade (int, float, bool, numpy scalar). Unjudged documents have grade 0.
    k : int
        Cut-off, at least 1.
    gain : {"exponential", "linear"} or mapping
        2^grade - 1, the grade, or a mapping from grade to gain that holds every positive grade of
        `qrels`. Grades up to 0 have no gain.
    discount : {"log2", "jarvelin"}
        1 / log2(rank + 1), or 1 / max(1, log2(rank)).
    duplicates : {"error", "first"}
        What to do with the same id twice in `ranked`: refuse it, or keep the first and close the
        gap.

    Returns
    -------
    float
        Between 0 and 1; 0 where `ranked` is empty or no judged document has a gain.

    Raises
    ------
    TypeError
        If `ranked` is not a sequence of ids, or a grade is not a number.
    ValueError
        If an id stands twice, `k` is below 1, a grade is not finite, is over 1023 with exponential
        gain, or is missing from the mapping.

    References
    ----------
    K. Jarvelin and J. Kekalainen, Cumulated gain-based evaluation of IR techniques, TOIS 2002;
    exponential gain: C. Burges et al., Learning to rank using gradient descent, ICML 2005.

    Examples
    --------
    >>> import rankmeter as rm
    >>> rm.ndcg_at_k(["B", "X", "A", "C"], {"A": 3, "B": 2, "C": 1}, 4)
    0.7378720384...
    """
    if k is None:
        raise TypeError("k must be an integer, not None; evaluate() has 'ndcg' without a cut-off")
    return score_one(_NDCG, ranked, qrels, k, 1, gain, discount, duplicates)


@lru_cache(maxsize=64, typed=True)
def _five_metrics(k: int, rel: float) -> Metrics:
    rows = ((_RECALL, k), (_PRECISION, k), (_NDCG, 10), (_MRR, None), (_HIT, k))
    return Metrics(
        [(row, cutoff, {"rel": rel} if "rel" in row.parameters else {}) for row, cutoff in rows]
    )


def retrieval_metrics(
    ranked: Ranked, qrels: Qrels, k: int = 10, *, rel: float = 1, duplicates: str = "error"
) -> dict[str, float]:
    """The five usual metrics of one ranking, read once.

    Parameters
    ----------
    ranked : sequence of hashable
        Document ids, best first: list, tuple, numpy array of str or int. May be empty.
    qrels : mapping
        Document id to grade (int, float, bool, numpy scalar). Unjudged documents have grade 0.
    k : int
        Cut-off of recall, precision and hit. nDCG is always cut at 10, and the reciprocal rank
        never.
    rel : float
        Grades from here on are relevant; must be above 0.
    duplicates : {"error", "first"}
        What to do with the same id twice in `ranked`: refuse it, or keep the first and close the
        gap.

    Returns
    -------
    dict
        ``recallAtK``, ``precisionAtK``, ``ndcgAt10``, ``mrr`` and ``hitAtK``; all 0 where `ranked`
        is empty.

    Raises
    ------
    TypeError
        If `ranked` is not a sequence of ids, or a grade is not a number.
    ValueError
        If an id stands twice, `k` is below 1, or a grade is not finite.

    Examples
    --------
    >>> import rankmeter as rm
    >>> rm.retrieval_metrics(["x", "a"], {"a": 1}, k=2)["mrr"]
    0.5
    """
    names = ("recallAtK", "precisionAtK", "ndcgAt10", "mrr", "hitAtK")
    try:
        metrics = _five_metrics(k, rel)
    except TypeError:  # a k or rel that cannot be cached cannot be computed either, and says why
        metrics = _five_metrics.__wrapped__(k, rel)
    values = score_all(metrics, ranked, qrels, duplicates)
    return dict(zip(names, values, strict=True))
