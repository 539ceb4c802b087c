"""Search the docstrings of the standard library: the corpus, and a run of three retrievers.

    python examples/stdlib/build.py OUTPUT        write bm25.run, dense.run and hybrid.run there
    python examples/stdlib/build.py --pool        print the documents that a judge has to read

Needs the dependency group `examples`. The runs in this folder were made with Python 3.11 on Linux.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import re
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import rankmeter as rm

HERE = Path(__file__).resolve().parent
DEPTH = 20  # how many documents a run holds for each question
POOL = 10  # how many of these are judged
SHORTEST = 25  # characters of a docstring that says something

# What programs import; nothing deprecated, for one platform only, or for the makers of Python.
NAMES = """
builtins abc argparse array ast asyncio atexit base64 binascii bisect bz2 calendar cmath code codecs
collections collections.abc colorsys compileall concurrent.futures configparser contextlib
contextvars copy copyreg cProfile csv ctypes dataclasses datetime decimal difflib dis doctest email
email.message email.mime.multipart email.mime.text email.parser email.policy email.utils enum errno
faulthandler filecmp fileinput fnmatch fractions ftplib functools gc getopt getpass gettext glob
graphlib gzip hashlib heapq hmac html html.parser http http.client http.cookiejar http.cookies
http.server imaplib importlib importlib.metadata importlib.resources importlib.util inspect io
ipaddress itertools json keyword linecache locale logging logging.config logging.handlers lzma
mailbox marshal math mimetypes mmap multiprocessing multiprocessing.pool
multiprocessing.shared_memory numbers operator os os.path pathlib pdb pickle pickletools pkgutil
platform plistlib poplib pprint profile pstats queue quopri random re reprlib runpy sched secrets
select selectors shelve shlex shutil signal site smtplib socket socketserver sqlite3 ssl stat
statistics string stringprep struct subprocess sys sysconfig tarfile tempfile textwrap threading
time timeit tokenize trace traceback tracemalloc types typing unicodedata unittest unittest.mock
urllib.error urllib.parse urllib.request urllib.robotparser uuid venv warnings wave weakref
webbrowser wsgiref.simple_server xml.dom.minidom xml.etree.ElementTree xml.sax xmlrpc.client
xmlrpc.server zipapp zipfile zipimport zlib zoneinfo
"""
MODULES = NAMES.split()

FUNCTION = types.FunctionType
METHODS = (
    FUNCTION,
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    classmethod,
    staticmethod,
    property,
)


# ---------------------------------------------------------------------------------------------
# The corpus


def corpus() -> dict[str, str]:
    """Docstrings by id, such as `zipfile.ZipFile.open`, or `str.split` of what is built in."""
    documents: dict[str, str] = {}
    seen: set[str] = set()
    for identifier, thing in _objects():
        text = _docstring(thing)
        # Not twice: one object can have two names.
        if len(text) >= SHORTEST and text not in seen:
            seen.add(text)
            documents[identifier] = text
    return documents


def _objects() -> Iterator[tuple[str, object]]:
    for name in MODULES:
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue  # Python can be built without it
        prefix = "" if name == "builtins" else f"{name}."
        public = {
            prefix + key: thing
            for key in sorted(getattr(module, "__all__", vars(module)))
            if not key.startswith("_")
            and _is_documented(thing := getattr(module, key, None), module)
        }
        if name != "builtins":
            yield name, module
        # random.choice before random.Random.choice, which has the same text
        yield from public.items()
        for identifier, thing in public.items():
            if isinstance(thing, type):
                for method, part in sorted(vars(thing).items()):
                    if not method.startswith("_") and isinstance(part, METHODS):
                        yield f"{identifier}.{method}", part


def _is_documented(thing: object, module: types.ModuleType) -> bool:
    """Whether it is a class or function of this module, and not one that the module imported."""
    if not (isinstance(thing, type) or inspect.isroutine(thing)):
        return False
    if module.__name__ == "builtins" or hasattr(module, "__all__"):
        return True
    home = getattr(thing, "__module__", None) or module.__name__
    return home.lstrip("_") in (module.__name__, "builtins")


def _docstring(thing: object) -> str:
    """The docstring of an object, for a class with that of its `__init__`."""
    parts = [thing.__doc__]
    if isinstance(thing, type) and isinstance(start := vars(thing).get("__init__"), FUNCTION):
        parts.append(start.__doc__)
    return "\n\n".join(inspect.cleandoc(part) for part in parts if isinstance(part, str))


def texts(documents: dict[str, str]) -> list[str]:
    """What is indexed: name, docstring, and what the module and the class say of themselves."""
    indexed = []
    for identifier, text in documents.items():
        names = identifier.split(".")
        owners = [".".join(names[:n]) for n in range(1, len(names))]
        context = [documents.get(owner, "").partition("\n")[0] for owner in owners]
        parts = re.sub(r"(?<=[a-z])(?=[A-Z])|[._]", " ", identifier)
        indexed.append(words(" ".join([*names, parts, text, *context])))
    return indexed


def words(text: str) -> str:
    """Lower case without the s of a plural, for questions and documents alike."""
    return re.sub(r"(?<=[a-z]{2}[^\Wsui])s\b", "", text.lower())


# ---------------------------------------------------------------------------------------------
# Retrievers

Run = dict[str, dict[str, float]]


def bm25(documents: dict[str, str], questions: dict[str, str]) -> Run:
    """BM25 over words without stop words."""
    import bm25s

    ids = list(documents)
    index = bm25s.BM25()
    index.index(
        bm25s.tokenize(texts(documents), stopwords="en", show_progress=False), show_progress=False
    )
    tokens = bm25s.tokenize(
        [words(text) for text in questions.values()],
        stopwords="en",
        show_progress=False,
        return_ids=False,
    )
    found, scores = index.retrieve(tokens, k=DEPTH, show_progress=False)
    return {
        query: {
            ids[document]: round(float(score), 4)
            for document, score in zip(*row, strict=True)
            if score > 0
        }
        for query, row in zip(questions, zip(found, scores, strict=True), strict=True)
    }


def dense(documents: dict[str, str], questions: dict[str, str]) -> Run:
    """Latent semantic analysis: cosine in the space of the strongest singular vectors."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    ids = list(documents)
    vectorizer = TfidfVectorizer(stop_words="english", min_df=2, sublinear_tf=True)
    space = TruncatedSVD(n_components=300, random_state=0)
    vectors = space.fit_transform(vectorizer.fit_transform(texts(documents)))
    asked = space.transform(vectorizer.transform(words(text) for text in questions.values()))
    vectors /= (vectors**2).sum(axis=1, keepdims=True) ** 0.5
    asked /= (asked**2).sum(axis=1, keepdims=True) ** 0.5
    scores = asked @ vectors.T
    return {
        query: {ids[i]: round(float(row[i]), 4) for i in (-row).argsort(kind="stable")[:DEPTH]}
        for query, row in zip(questions, scores, strict=True)
    }


def fuse(runs: dict[str, Run], weights: dict[str, float]) -> Run:
    """The weighted sum of scores, brought to 0 to 1 in each ranking; 0 where one lacks the id."""
    fused: Run = {}
    for name, run in runs.items():
        for query, scores in run.items():
            low, high = min(scores.values()), max(scores.values())
            total = fused.setdefault(query, {})
            for document, score in scores.items():
                part = (score - low) / (high - low) if high > low else 1.0
                total[document] = total.get(document, 0.0) + weights[name] * part
    return {
        query: {document: round(total[document], 6) for document in best(total, DEPTH)}
        for query, total in fused.items()
    }


def best(scores: dict[str, float], k: int) -> list[str]:
    """The first ids of a ranking; of equal scores the higher id, as the run is read later."""
    return sorted(scores, key=lambda document: (scores[document], document), reverse=True)[:k]


def search(documents: dict[str, str], questions: dict[str, str]) -> dict[str, Run]:
    runs = {"dense": dense(documents, questions), "bm25": bm25(documents, questions)}
    return {**runs, "hybrid": fuse(runs, {"dense": 0.7, "bm25": 0.3})}


# ---------------------------------------------------------------------------------------------


def read_questions() -> dict[str, str]:
    lines = (HERE / "questions.tsv").read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t") for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("output", nargs="?", type=Path, help="folder for the runs")
    parser.add_argument("--pool", action="store_true", help="print what is to be judged")
    arguments = parser.parse_args()
    if not (arguments.output or arguments.pool):
        parser.error("give a folder for the runs, or --pool")
    documents, questions = corpus(), read_questions()
    runs = search(documents, questions)
    print(f"{len(documents)} docstrings of Python {sys.version.split()[0]}", file=sys.stderr)
    for name, run in runs.items():
        if arguments.output:
            rm.write_run(run, arguments.output / f"{name}.run", tag=name)
    if arguments.pool:
        for query, text in questions.items():
            print(f"\n# {query} {text}")
            pool = {document for run in runs.values() for document in best(run[query], POOL)}
            for document in sorted(pool):
                print(f"{document}: {' '.join(documents[document].split())[:400]}")


if __name__ == "__main__":
    main()
