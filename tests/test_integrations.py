"""The faces for other frameworks, with the frameworks themselves.

Each test is skipped where its framework is not installed; the dependency group ``integrations``
holds them all.
"""

from __future__ import annotations

import doctest
import importlib
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankmeter as rm

README = Path(__file__).resolve().parent.parent / "README.md"
SIX = ["ndcg@10", "map", "mrr", "recall@10", "precision@10", "hit@10"]
NEEDS = {
    "torchmetrics": ("torch", "torchmetrics"),
    "lightgbm": ("lightgbm",),
    "xgboost": ("xgboost",),
    "sklearn": ("sklearn",),
}

# What the frameworks warn of is theirs.
pytestmark = pytest.mark.filterwarnings("ignore")


def need(name: str) -> tuple[Any, ...]:
    """Our module and the framework's, or a skip."""
    frameworks = [pytest.importorskip(module) for module in NEEDS[name]]
    return (importlib.import_module(f"rankmeter.integrations.{name}"), *frameworks)


def grouped(seed: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Features, labels, query ids and group sizes of 60 queries; the first feature tells most."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(5, 30, 60)
    features = rng.standard_normal((sizes.sum(), 4)).astype("f4")
    labels = np.clip(features[:, 0] + rng.standard_normal(len(features)) / 2, 0, 3).astype(int)
    return features, labels, np.repeat(np.arange(60), sizes), sizes


@pytest.mark.parametrize("name", NEEDS)
def test_docstrings(name: str) -> None:
    module, *_ = need(name)
    found = doctest.testmod(module)
    assert found.attempted
    assert not found.failed


@pytest.mark.parametrize("name", NEEDS)
def test_what_the_readme_shows(name: str) -> None:
    if not README.is_file():
        pytest.skip("README.md is not beside the tests")
    need(name)
    text = README.read_text(encoding="utf-8")
    found = re.search(rf"<!-- integration: {name} -->\n```python\n(.*?)^```$", text, re.S | re.M)
    assert found
    assert found[1].count("\n") < 10
    features, labels, ids, sizes = grouped()
    names = {"X": features, "y": labels, "query_ids": ids, "sizes": sizes, "np": np}
    test = doctest.DocTestParser().get_doctest(found[1], names, "README.md", str(README), 0)
    report: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False).run(test, out=report.append)
    assert not report, "".join(report)


# ---------------------------------------------------------------------------------------------
# Tensors


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float32", "float64", "int64"])
def test_tensors_of_torch(kind: str) -> None:
    torch = pytest.importorskip("torch")
    scores = torch.randn(20, 50, generator=torch.Generator().manual_seed(1))
    scores = (scores * 8).to(getattr(torch, kind))
    labels = (torch.arange(1000).reshape(20, 50) % 7 == 0).int()
    plain = scores.double().numpy()
    expected = rm.evaluate_scores(plain, labels.numpy(), SIX, ties="expected")
    for given in (scores, scores.T.contiguous().T, torch.cat([scores, scores], 1)[:, :50]):
        ours = rm.evaluate_scores(given, labels, SIX, ties="expected", mask=labels > -1)
        assert ours.values.tobytes() == expected.values.tobytes()
    assert expected.ties > 0 or kind in ("float32", "float64")
    if scores.is_floating_point():
        again = rm.evaluate_scores(scores.requires_grad_(), labels.bool(), SIX, ties="expected")
        assert again.values.tobytes() == expected.values.tobytes()
    rankings = torch.argsort(scores.detach().double(), dim=1, descending=True, stable=True)
    crow = torch.arange(0, 21) * 50
    columns = torch.arange(50).repeat(20)
    ranked = rm.evaluate_rankings(rankings, (crow, columns, labels.flatten()), SIX)
    assert ranked.mean == rm.evaluate_scores(plain, labels.numpy(), SIX).mean


def test_a_tensor_without_data_is_refused() -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(ValueError, match="scores is not on the CPU but on meta"):
        rm.evaluate_scores(torch.empty(2, 2, device="meta"), np.ones((2, 2)), "mrr")


def test_lists_of_tensors() -> None:
    torch = pytest.importorskip("torch")
    scores = torch.tensor([[0.5, 0.25, 1.0], [1.0, 2.0, 3.0]])
    labels = torch.tensor([[0, 1, 0], [0, 1, 0]])
    for rows in (scores, scores.bfloat16(), scores.clone().requires_grad_()):
        ev = rm.evaluate_scores(list(rows), list(labels), "mrr")
        assert ev.values.tolist() == [[1 / 3], [0.5]]
    with pytest.raises(ValueError, match=r"row 0 has 3, row 1 has 2; .* groups="):
        rm.evaluate_scores([scores[0], scores[1, :2]], labels, "mrr")
    with pytest.raises(ValueError, match="scores is not on the CPU but on meta"):
        rm.evaluate_scores(list(scores.to("meta")), labels, "mrr")


def test_tensors_that_are_no_arrays() -> None:
    torch = pytest.importorskip("torch")
    scores, labels = torch.rand(2, 3), torch.ones(2, 3)
    for odd in (
        scores.to_sparse(),
        labels.int().to_sparse(),
        torch.complex(scores, scores).conj().imag,
        scores.to(torch.complex32),
    ):
        with pytest.raises(TypeError, match=r"^scores cannot be read as an array: "):
            rm.evaluate_scores(odd, labels, "mrr")


def test_query_ids_of_torch() -> None:
    torch = pytest.importorskip("torch")
    ids = torch.tensor([7, 8, 7, 8])
    for given in (ids, ids.bfloat16(), ids.double().requires_grad_()):
        ev = rm.evaluate_scores([0.1, 0.5, 0.2, 0.4], [1, 1, 0, 0], "mrr", query_ids=given)
        assert ev.per_query == {7: {"mrr": 0.5}, 8: {"mrr": 1.0}}


@pytest.mark.parametrize(
    "kind", ["float16", "bfloat16", "float32", "float8_e4m3fn", "float8_e5m2", "int4"]
)
def test_arrays_of_jax(kind: str) -> None:
    jax = pytest.importorskip("jax")
    scores = jax.random.normal(jax.random.key(1), (20, 50)).astype(kind)
    labels = jax.numpy.arange(1000).reshape(20, 50) % 5 == 0
    expected = rm.evaluate_scores(np.asarray(scores, "f8"), np.asarray(labels), SIX)
    for given in (labels, labels.astype(kind)):
        assert rm.evaluate_scores(scores, given, SIX).values.tobytes() == expected.values.tobytes()


# ---------------------------------------------------------------------------------------------
# torchmetrics


def test_torchmetrics_over_batches() -> None:
    ours, torch, _ = need("torchmetrics")
    features, labels, ids, _ = grouped()
    scores = torch.tensor(features[:, 0])
    target, indexes = torch.tensor(labels), torch.tensor(ids)
    expected = rm.evaluate_scores(features[:, 0], labels, SIX, query_ids=ids)
    metric = ours.RankingMetric(SIX)
    shuffled = torch.randperm(len(ids), generator=torch.Generator().manual_seed(1))
    for batch in shuffled.split(100):  # queries are spread over batches
        metric(scores[batch], target[batch], indexes[batch])
    computed = {name: value.item() for name, value in metric.compute().items()}
    assert computed == expected.mean
    assert len(metric.evaluation()) == 60
    assert pickle.loads(pickle.dumps(metric)).compute()["mrr"] == computed["mrr"]
    metric.reset()
    with pytest.raises(ValueError, match="no query"):
        metric.evaluation()
    metric.update(torch.tensor([[0.1, 0.9]]), torch.tensor([[1, 0]]), torch.tensor([[4, 4]]))
    assert metric.compute()["mrr"] == 0.5
    with pytest.raises(ValueError, match=r"same shape, not \(2,\), \(1,\) and \(2,\)"):
        metric.update(torch.zeros(2), torch.zeros(1), torch.zeros(2))
    with pytest.raises(TypeError, match=r"indexes must be integers, not torch\.float32"):
        metric.update(torch.zeros(2), torch.zeros(2), torch.zeros(2))
    with pytest.raises(ValueError, match="did you mean"):
        ours.RankingMetric("ndgc@10")


def test_torchmetrics_over_batches_of_different_types() -> None:
    ours, torch, _ = need("torchmetrics")
    metric = ours.RankingMetric("mrr")
    ones = torch.ones(2, dtype=torch.int16)
    metric.update(torch.tensor([70_000, 70_001]), torch.tensor([0, 1]), ones)
    metric.update(torch.tensor([0.5, 0.25]).half(), torch.tensor([False, True]), 2 * ones)
    assert metric.compute() == 0.75


@pytest.mark.parametrize("kind", ["float64", "int64"])
def test_torchmetrics_rounds_no_two_scores_together(kind: str) -> None:
    ours, torch, _ = need("torchmetrics")
    metric = ours.RankingMetric("mrr")
    scores = torch.tensor([2**24, 2**24 + 1], dtype=getattr(torch, kind))
    metric.update(scores, torch.tensor([0, 1]), torch.tensor([7, 7]))
    assert metric.compute().item() == 1.0


def test_torchmetrics_in_a_collection() -> None:
    ours, torch, torchmetrics = need("torchmetrics")
    features, labels, ids, _ = grouped()
    collection = torchmetrics.MetricCollection(
        {
            "all": ours.RankingMetric(["mrr", "recall@5"]),
            "one": ours.RankingMetric("ndcg@10", ties="expected"),
            "theirs": torchmetrics.retrieval.RetrievalMRR(),
        }
    )
    target = torch.tensor(labels)
    collection.update(torch.tensor(features[:, 0]), target > 0, indexes=torch.tensor(ids))
    values = collection.compute()
    assert set(values) == {"mrr", "recall@5", "one", "theirs"}
    assert values["mrr"].item() == pytest.approx(values["theirs"].item(), rel=1e-6)
    collection.reset()


def test_torchmetrics_agrees_where_conventions_do() -> None:
    """A third witness, in single precision; it takes scores up to 0 for not relevant."""
    _, torch, torchmetrics = need("torchmetrics")
    functional = torchmetrics.functional.retrieval
    rng = np.random.default_rng(2)
    scores = np.exp(rng.standard_normal((30, 40))).astype("f4")
    labels = rng.choice([0, 0, 0, 1, 2, 3], (30, 40))
    labels[:, 0] = 1
    for metric, theirs, graded in (
        ("ndcg@10(gain=linear)", lambda s, t: functional.retrieval_normalized_dcg(s, t, 10), True),
        ("map", functional.retrieval_average_precision, False),
        ("mrr", functional.retrieval_reciprocal_rank, False),
        ("recall@10", lambda s, t: functional.retrieval_recall(s, t, 10), False),
        ("precision@10", lambda s, t: functional.retrieval_precision(s, t, 10), False),
        ("hit@10", lambda s, t: functional.retrieval_hit_rate(s, t, 10), False),
    ):
        ours = rm.evaluate_scores(scores, labels, metric).values[:, 0]
        for row in range(30):
            target = torch.tensor(labels[row] if graded else labels[row] > 0)
            value = theirs(torch.tensor(scores[row]), target).item()
            assert ours[row] == pytest.approx(value, rel=1e-5), (metric, row)


def one_process(rank: int, folder: str) -> None:
    ours, torch, _ = need("torchmetrics")
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2
    )
    features, labels, ids, _ = grouped()
    mine = slice(rank, None, 2)  # each query is split between the two
    metric = ours.RankingMetric(SIX)
    metric.update(
        torch.tensor(features[mine, 0]), torch.tensor(labels[mine]), torch.tensor(ids[mine])
    )
    values = {name: value.item() for name, value in metric.compute().items()}
    Path(folder, f"{rank}.pickle").write_bytes(pickle.dumps(values))
    torch.distributed.destroy_process_group()


def test_torchmetrics_across_two_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, torch, _ = need("torchmetrics")
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")
    torch.multiprocessing.spawn(one_process, (str(tmp_path),), nprocs=2)
    features, labels, ids, _ = grouped()
    expected = rm.evaluate_scores(features[:, 0], labels, SIX, query_ids=ids).mean
    for rank in (0, 1):
        assert pickle.loads((tmp_path / f"{rank}.pickle").read_bytes()) == expected


# ---------------------------------------------------------------------------------------------
# LightGBM and XGBoost


def test_lightgbm_training() -> None:
    ours, lightgbm = need("lightgbm")
    features, labels, _, sizes = grouped()
    data = lightgbm.Dataset(features, labels, group=sizes)
    held_out = grouped(4)
    valid = lightgbm.Dataset(held_out[0], held_out[1], group=held_out[3], reference=data)
    history: dict[str, Any] = {}
    booster = lightgbm.train(
        {"objective": "lambdarank", "metric": "None", "verbosity": -1, "num_threads": 1},
        data,
        num_boost_round=12,
        valid_sets=[valid],
        feval=ours.feval(["ndcg@5", "mrr"]),
        callbacks=[lightgbm.record_evaluation(history), lightgbm.early_stopping(5, verbose=False)],
    )
    assert history["valid_0"]["ndcg@5"][-1] > 0.7
    for i, value in enumerate(history["valid_0"]["ndcg@5"][: booster.num_trees()], 1):
        scores = booster.predict(held_out[0], num_iteration=i)
        ev = rm.evaluate_scores(scores, held_out[1], "ndcg@5", groups=held_out[3])
        assert value == ev["ndcg@5"]
    alone = lightgbm.Dataset(features, labels).construct()
    with pytest.raises(ValueError, match="no group"):
        ours.feval("mrr")(features[:, 0], alone)


def test_lightgbm_estimators() -> None:
    ours, lightgbm = need("lightgbm")
    features, labels, _, sizes = grouped()
    held_out = grouped(4)
    metric = ours.eval_metric(["mrr", "map"])
    ranker = lightgbm.LGBMRanker(n_estimators=5, n_jobs=1, verbosity=-1)
    ranker.fit(
        features,
        labels,
        group=sizes,
        eval_set=[(held_out[0], held_out[1])],
        eval_group=[held_out[3]],
        eval_metric=metric,
    )
    ev = rm.evaluate_scores(
        ranker.predict(held_out[0]), held_out[1], ["mrr", "map"], groups=held_out[3]
    )
    for name in ("mrr", "map"):
        assert len(ranker.evals_result_["valid_0"][name]) == 5
        assert ranker.evals_result_["valid_0"][name][-1] == ev[name]
    data = lightgbm.Dataset(features, labels, group=sizes).construct()
    by_train = metric(features[:, 0], data)
    assert by_train == metric(labels, features[:, 0], None, sizes)
    regressor = lightgbm.LGBMRegressor(n_estimators=2, n_jobs=1, verbosity=-1)
    with pytest.raises(ValueError, match="no group"):
        regressor.fit(features, labels, eval_set=[(features, labels)], eval_metric=metric)


def test_xgboost_training() -> None:
    ours, xgboost = need("xgboost")
    features, labels, ids, _ = grouped()
    held_out = grouped(4)
    valid = xgboost.DMatrix(held_out[0], held_out[1], group=held_out[3])
    history: dict[str, Any] = {}
    booster = xgboost.train(
        {"objective": "rank:ndcg", "disable_default_eval_metric": 1, "nthread": 1},
        xgboost.DMatrix(features, labels, qid=ids),
        num_boost_round=8,
        evals=[(valid, "valid")],
        custom_metric=ours.custom_metric(["mrr(rel=2)", "ndcg@5( gain={1:1, 2:3, 3:7})"]),
        maximize=True,
        early_stopping_rounds=5,
        evals_result=history,
        verbose_eval=False,
    )
    name = "ndcg@5(gain={1=1,2=3,3=7})"
    assert set(history["valid"]) == {"mrr(rel=2)", name}
    last = booster.num_boosted_rounds()
    scores = booster.predict(valid, iteration_range=(0, last))
    ev = rm.evaluate_scores(scores, held_out[1], "ndcg@5", groups=held_out[3])
    assert history["valid"][name][last - 1] == pytest.approx(ev["ndcg@5"], abs=1e-6)
    with pytest.raises(ValueError, match="no group"):
        ours.custom_metric("mrr")(features[:, 0], xgboost.DMatrix(features, labels))


def test_xgboost_estimators() -> None:
    ours, xgboost = need("xgboost")
    pytest.importorskip("sklearn")
    features, labels = (part[:400] for part in grouped()[:2])
    ids = np.repeat(np.arange(40), 10)  # XGBoost may weigh queries by their numbers of documents

    def ranker(*metrics: str) -> Any:
        metric = ours.custom_metric(metrics)
        return xgboost.XGBRanker(n_estimators=3, n_jobs=1, eval_metric=metric).fit(
            features,
            labels,
            qid=ids,
            eval_set=[(features, labels)],
            eval_qid=[ids],
            verbose=False,
        )

    model = ranker("ndcg@5( gain={1:1, 2:3, 3:7})")
    history = model.evals_result()["validation_0"]["ndcg@5(gain={1=1,2=3,3=7})"]
    ev = rm.evaluate_scores(model.predict(features), labels, "ndcg@5", query_ids=ids)
    assert history[-1] == pytest.approx(ev["ndcg@5"], abs=1e-6)
    assert pickle.loads(pickle.dumps(model)).predict(features).tolist()
    with pytest.raises(ValueError, match=r"one metric, not 2: use xgboost\.train"):
        ranker("mrr", "map")


def test_xgboost_estimators_that_know_no_queries() -> None:
    ours, xgboost = need("xgboost")
    pytest.importorskip("sklearn")
    features, labels, *_ = grouped()
    weights = np.ones(len(labels))
    regressor = xgboost.XGBRegressor(n_estimators=2, eval_metric=ours.custom_metric("mrr"))
    with pytest.raises(ValueError, match="this estimator knows no queries: take XGBRanker"):
        regressor.fit(
            features,
            labels,
            sample_weight=weights,
            eval_set=[(features, labels)],
            sample_weight_eval_set=[weights],
            verbose=False,
        )


# ---------------------------------------------------------------------------------------------
# scikit-learn


def test_sklearn_grid_search_over_groups() -> None:
    ours, sklearn = need("sklearn")
    linear_model = importlib.import_module("sklearn.linear_model")
    selection = importlib.import_module("sklearn.model_selection")
    features, labels, ids, _ = grouped()
    with sklearn.config_context(enable_metadata_routing=True):
        search = selection.GridSearchCV(
            linear_model.Ridge(),
            {"alpha": [1e-3, 1.0, 1e4]},
            scoring=ours.scorer("ndcg@5", ties="expected"),
            cv=selection.GroupKFold(4),
        )
        search.fit(features, labels, query_ids=ids, groups=ids)
        several = selection.cross_validate(
            linear_model.LogisticRegression(),
            features,
            labels > 0,
            scoring={"mrr": ours.scorer("mrr"), "map": ours.scorer(rm.parse("map"))},
            cv=selection.GroupKFold(3),
            params={"query_ids": ids, "groups": ids},
        )
    folds = list(selection.GroupKFold(4).split(features, labels, ids))
    expected = []
    for train, test in folds:
        model = linear_model.Ridge(alpha=1.0).fit(features[train], labels[train])
        ev = rm.evaluate_scores(
            model.predict(features[test]),
            labels[test],
            "ndcg@5",
            query_ids=ids[test],
            ties="expected",
        )
        expected.append(ev["ndcg@5"])
    assert search.cv_results_["mean_test_score"][1] == pytest.approx(np.mean(expected))
    assert (several["test_mrr"] > 0.8).all()
    with pytest.raises(ValueError, match="did you mean"):
        ours.scorer("ndgc@5")
    with pytest.raises(RuntimeError, match="enable_metadata_routing"):
        ours.scorer("ndcg@5")


@pytest.mark.parametrize("k", [1, 5, 30])
@pytest.mark.parametrize("values", [2, 5, 1000])
def test_expected_ties_are_those_of_sklearn(k: int, values: int) -> None:
    """A third witness: scikit-learn averages over ties too."""
    need("sklearn")
    ndcg_score = importlib.import_module("sklearn.metrics").ndcg_score
    rng = np.random.default_rng(values)
    scores = rng.integers(0, values, (25, 30)) / 8
    labels = rng.integers(0, 4, (25, 30))
    for gain, gains in (("linear", labels), ("exponential", 2**labels - 1)):
        name = f"ndcg@{k}(gain={gain})"
        ours = rm.evaluate_scores(scores, labels, name, ties="expected").values[:, 0]
        theirs = [ndcg_score([row], [score], k=k) for row, score in zip(gains, scores, strict=True)]
        assert ours == pytest.approx(theirs, rel=1e-12)
