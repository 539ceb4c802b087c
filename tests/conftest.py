"""What all tests share: hypothesis settings, slow tests on request, a seed that is shown."""

from __future__ import annotations

import random

import pytest
from hypothesis import settings

settings.register_profile("rankmeter", deadline=None, print_blob=True)
settings.load_profile("rankmeter")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seed", type=int, help="seed of the fixture rng, to run a failure again")
    parser.addoption("--slow", action="store_true", help="run the tests marked slow too")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: many generated examples; runs with --slow only")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--slow"):
        return
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.skip(reason="slow: runs with --slow"))


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> random.Random:
    """A generator with a new seed each time; pytest shows what is printed here on failure."""
    seed = request.config.getoption("--seed")
    if seed is None:
        seed = random.SystemRandom().getrandbits(32)
    print(f"rng: run this again with --seed {seed}")
    return random.Random(seed)
