"""What every test runs under: no network, no telemetry, no keys, a home of its own."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.snapshots_support import Snapshots

_HERE = Path(__file__).parent
_NO_NETWORK = _HERE / "no_network"
_QUIET = {
    "ANONYMIZED_TELEMETRY": "False",
    "DO_NOT_TRACK": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",
    "LANGCHAIN_TRACING_V2": "false",
    "LANGGRAPH_CLI_NO_ANALYTICS": "1",
    "LANGSMITH_TRACING": "false",
    "LANGSMITH_TRACING_V2": "false",
    "TOKENIZERS_PARALLELISM": "false",
    "TRANSFORMERS_OFFLINE": "1",
}

collect_ignore = ["no_network"]


def _set_environment() -> None:
    os.environ.update(_QUIET)
    for name in list(os.environ):
        # A key would let a test talk to a real service; a proxy on loopback would carry it there.
        if name.endswith("_API_KEY") or name.lower().endswith("_proxy"):
            del os.environ[name]
    os.environ["NO_PROXY"] = "*"
    paths = [str(_NO_NETWORK), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)


def _block_network() -> None:
    sys.path.insert(0, str(_NO_NETWORK))
    try:
        # Python itself may have loaded another module of this name when it started.
        sys.modules.pop("sitecustomize", None)
        import sitecustomize  # noqa: F401
    finally:
        sys.path.remove(str(_NO_NETWORK))


# Both stand outside any fixture: modules are imported, and may act, while tests are collected.
_set_environment()
_block_network()

settings.register_profile(
    "ci",
    derandomize=True,
    database=None,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("local", deadline=None, print_blob=True)
settings.register_profile("deep", deadline=None, print_blob=True, max_examples=5_000)
settings.load_profile("ci" if os.environ.get("CI") else "local")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-snapshots",
        action="store_true",
        help="write tests/snapshots/*.md anew instead of comparing with them",
    )


@pytest.fixture(scope="session", autouse=True)
def _home_of_its_own() -> Iterator[None]:
    """Keeps whatever looks for a home or a cache folder out of the real ones."""
    with tempfile.TemporaryDirectory(prefix="langmem-credit-home-") as home:
        names = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
        with pytest.MonkeyPatch.context() as patch:
            for name in names:
                patch.setenv(name, home)
            yield


@pytest.fixture
def snapshot(request: pytest.FixtureRequest) -> Snapshots:
    """Texts kept as readable files: `snapshot.check("digest_empty", text)`."""
    return Snapshots(_HERE / "snapshots", update=request.config.getoption("--update-snapshots"))
