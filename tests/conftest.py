"""What all tests share: settings of hypothesis, processors, and a seed that shows on failure."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import settings

from rankmeter.doors import threads

settings.register_profile("rankmeter", deadline=None, print_blob=True)
settings.register_profile("emulated", settings.get_profile("rankmeter"), max_examples=10)
settings.load_profile("rankmeter")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seed", type=int, help="seed of the fixture rng, to run a failure again")


@pytest.fixture(scope="session", autouse=True)
def many_processors() -> Iterator[None]:
    """Have work split among threads where there are few processors, too, however small it is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "LEAST_WORK", 1)
        patch.setattr(threads, "count_processors", lambda: 8)
        yield


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> random.Random:
    """A generator with a new seed each time; pytest shows what is printed here on failure."""
    seed = request.config.getoption("--seed")
    if seed is None:
        seed = random.SystemRandom().getrandbits(32)
    print(f"rng: run this again with --seed {seed}")
    return random.Random(seed)
