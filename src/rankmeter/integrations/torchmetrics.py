"""A metric for torchmetrics. Needs torch and torchmetrics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import torch
import torchmetrics
from torchmetrics.utilities import dim_zero_cat

from rankmeter.naming.metric import Metric
from rankmeter.naming.parsing import compile_metrics
from rankmeter.results.evaluation import Evaluation
from rankmeter.scoring.arrays import evaluate_scores


def _exact(tensor: torch.Tensor) -> torch.Tensor:
    """Flat, of a type that loses nothing when batches of several types are put together."""
    small = (torch.float16, torch.bfloat16, torch.float32, torch.bool, torch.uint8, torch.int8)
    flat = tensor.detach().flatten()
    return flat.float() if flat.dtype in small or flat.device.type == "mps" else flat.double()


class RankingMetric(torchmetrics.Metric):  # type: ignore[misc, unused-ignore]
    """Metrics of rankings, over all batches and all processes.

    Parameters
    ----------
    metrics : str, Metric, or sequence of these
        Such as ``["ndcg@10", "recall@100", "mrr"]``; see `rankmeter.parse`.
    ties : {"input", "expected"}
        As for `rankmeter.evaluate_scores`.
    threads : int
        As for `rankmeter.evaluate_scores`.
    **options
        As for `torchmetrics.Metric`.

    Notes
    -----
    Scores, labels and query ids are kept until `compute`, as a query may be spread over batches and
    processes; they are brought to the CPU there. Half precision is kept in single, integers in
    double precision. Processes that gather their states must each have seen a batch, of the same
    types.

    Examples
    --------
    >>> import torch
    >>> from rankmeter.integrations.torchmetrics import RankingMetric
    >>> metric = RankingMetric(["mrr", "recall@1"])
    >>> metric.update(torch.tensor([0.2, 0.9]), torch.tensor([1, 0]), torch.tensor([0, 0]))
    >>> metric.update(torch.tensor([0.7, 0.1]), torch.tensor([1, 0]), indexes=torch.tensor([1, 1]))
    >>> {name: value.item() for name, value in metric.compute().items()}
    {'mrr': 0.75, 'recall@1': 0.5}
    """

    is_differentiable = False
    higher_is_better = True
    full_state_update = False
    preds: list[torch.Tensor]
    target: list[torch.Tensor]
    indexes: list[torch.Tensor]

    def __init__(
        self,
        metrics: str | Metric | Iterable[str | Metric],
        *,
        ties: Literal["input", "expected"] = "input",
        threads: int = 1,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.names = tuple(compile_metrics(metrics)[0])
        self.single = isinstance(metrics, (str, Metric))
        self.ties = ties
        self.threads = threads
        for state in ("preds", "target", "indexes"):
            self.add_state(state, default=[], dist_reduce_fx="cat")

    def update(self, preds: torch.Tensor, target: torch.Tensor, indexes: torch.Tensor) -> None:
        """Add candidates: their scores, their labels, and the query that each belongs to.

        Parameters
        ----------
        preds, target, indexes : Tensor
            Of one shape, any shape. Labels are graded or bool, query ids integer.

        Raises
        ------
        ValueError
            If the shapes differ.
        TypeError
            If the query ids are not integers.
        """
        if not preds.shape == target.shape == indexes.shape:
            raise ValueError(
                "preds, target and indexes must have the same shape, not "
                f"{tuple(preds.shape)}, {tuple(target.shape)} and {tuple(indexes.shape)}"
            )
        if indexes.is_floating_point() or indexes.is_complex() or indexes.dtype == torch.bool:
            raise TypeError(f"indexes must be integers, not {indexes.dtype}")
        self.preds.append(_exact(preds))
        self.target.append(_exact(target))
        self.indexes.append(indexes.detach().flatten().long())

    def evaluation(self) -> Evaluation:
        """Evaluate what this process has seen, query by query.

        Raises
        ------
        ValueError
            If there is nothing yet, or as `rankmeter.evaluate_scores` does.
        """
        if not len(self.preds):
            raise ValueError("there is no query to evaluate: update() was not called")
        return evaluate_scores(
            dim_zero_cat(self.preds).cpu(),
            dim_zero_cat(self.target).cpu(),
            self.names,
            query_ids=dim_zero_cat(self.indexes).cpu(),
            ties=self.ties,
            threads=self.threads,
        )

    def compute(self) -> torch.Tensor | dict[str, torch.Tensor]:
        """Return the mean of each metric, by name; the mean alone where one name was given."""
        kind = torch.float32 if self.device.type == "mps" else torch.float64  # which has no double
        mean = {
            name: torch.tensor(value, dtype=kind, device=self.device)
            for name, value in self.evaluation().mean.items()
        }
        return mean[self.names[0]] if self.single else mean
