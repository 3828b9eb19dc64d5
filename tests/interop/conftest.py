"""Shared by the interop tests: where the programs of the build are, and a running server."""

import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="session")
def binary_folder():
    """build/…/bin of the newest build, or of SHEAF_BUILD_DIR."""
    named = os.environ.get("SHEAF_BUILD_DIR")
    folders = [pathlib.Path(named)] if named else [ROOT / "build" / preset for preset in ("release", "dev")]
    found = [folder / "bin" for folder in folders if (folder / "bin").is_dir()]
    assert found, "build first: make build"
    return found[0]
