"""The measures of trec_eval by their names there, in versions 9 and 10."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

Summary = Literal["mean", "sum", "geometric", "queries", "relevant", "run", "none"]
Takes = Literal["", "k", "recall", "multiple", "beta", "gain", "utility", "length", "persistence"]

_CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
_TENTHS = tuple(i / 10 for i in range(11))
_FIFTHS = tuple(i / 5 for i in range(1, 11))


class Measure(NamedTuple):
    """A measure, or one for each of its parameters.

    Attributes
    ----------
    metric : str or None
        None for a text.
    takes : str
        What its parameters are.
    defaults : tuple of float
        The parameters where none are given.
    fixed : mapping
        Parameters of the metric that are always the same.
    summary : str
        How the values of queries become one: their mean, sum or geometric mean, the number of
        queries, that of relevant documents, the name of the run, or not at all.
    together : bool
        Whether its parameters together give one value, their mean.
    needs_relevant : bool
        Whether it is 0 where no grade reaches the level of relevance, whatever the gains.
    in_9 : bool
        Whether version 9 has it, too.
    fixed_9 : mapping
        Parameters of the metric that are others in version 9.
    """

    metric: str | None
    takes: Takes = ""
    defaults: tuple[float, ...] = ()
    fixed: Mapping[str, Any] = {}
    summary: Summary = "mean"
    together: bool = False
    needs_relevant: bool = False
    in_9: bool = True
    fixed_9: Mapping[str, Any] = {}


_UP = {"rounding": "up"}  # version 10 rounds to the nearest
_LINEAR = {"gain": "linear"}

MEASURES: Mapping[str, Measure] = {  # in the order in which they are printed
    "runid": Measure(None, summary="run"),
    "num_q": Measure("num_q", summary="queries"),
    "num_ret": Measure("num_ret", summary="sum"),
    "num_rel": Measure("num_rel", summary="relevant"),
    "num_rel_ret": Measure("num_rel_ret", summary="sum"),
    "map": Measure("map"),
    "gm_map": Measure("gm_map", summary="geometric"),
    "Rprec": Measure("rprec"),
    "bpref": Measure("bpref"),
    "recip_rank": Measure("mrr"),
    "iprec_at_recall": Measure("iprec", "recall", _TENTHS, fixed_9=_UP),
    "P": Measure("precision", "k", _CUTOFFS),
    "relstring": Measure(None, "length", summary="none"),
    "recall": Measure("recall", "k", _CUTOFFS),
    "infAP": Measure("infap"),
    "gm_bpref": Measure("gm_bpref", summary="geometric"),
    "Rprec_mult": Measure("rprec", "multiple", _FIFTHS),
    "utility": Measure("utility", "utility"),
    "11pt_avg": Measure("iprec", "recall", _TENTHS, together=True, fixed_9=_UP),
    "binG": Measure("bing"),
    "G": Measure("g", "gain", fixed=_LINEAR),
    "dcg": Measure("dcg", "gain", fixed=_LINEAR, in_9=False),
    "ideal_dcg": Measure("idcg", "gain", fixed=_LINEAR, in_9=False),
    "ndcg": Measure("ndcg", "gain", fixed=_LINEAR),
    "ndcg_rel": Measure("ndcg_rel", "gain", fixed=_LINEAR),
    "Rndcg": Measure("rndcg", "gain", fixed=_LINEAR, needs_relevant=True),
    "ndcg_cut": Measure("ndcg", "k", _CUTOFFS, _LINEAR),
    "map_cut": Measure("map", "k", _CUTOFFS),
    "relative_P": Measure("relative_precision", "k", _CUTOFFS),
    "success": Measure("hit", "k", (1, 5, 10)),
    "set_P": Measure("set_precision"),
    "set_relative_P": Measure("set_relative_precision"),
    "set_recall": Measure("set_recall"),
    "set_map": Measure("set_map"),
    "set_F": Measure("set_f", "beta", fixed={"weight": "plain"}),
    "num_nonrel_judged_ret": Measure("num_nonrel_judged_ret", summary="sum"),
    "yaap": Measure("yaap", in_9=False),
    "rbp": Measure("rbp", "persistence", fixed={"grading": "graded"}, in_9=False),
    "rbp_resid": Measure("rbp_residual", "persistence", in_9=False),
    "unj": Measure("unjudged", "k", (5, 10, 20), in_9=False),
}

_NAMES = tuple(MEASURES)
_COUNTS = ("runid", "num_q", "num_ret", "num_rel", "num_rel_ret")

NICKNAMES: Mapping[str, tuple[str, ...]] = {
    "official": _NAMES[: _NAMES.index("P") + 1],
    "set": (*_COUNTS, "utility", "set_P", "set_recall", "set_relative_P", "set_map", "set_F"),
    "all_trec": tuple(name for name in _NAMES if name not in ("dcg", "ideal_dcg", "yaap")),
}
