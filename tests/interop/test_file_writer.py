"""Data files of ours, read by pylance and compared with the same rows in Arrow IPC, cell by cell."""

import math
import subprocess

import lance.file
import pyarrow as pa
import pytest


@pytest.fixture(scope="module")
def fixtures(binary_folder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    subprocess.run([binary_folder / "sheaf_write_fixtures", folder], check=True)
    return folder


def same(left, right):
    """Equality that takes NaN for equal to itself, at any depth."""
    if isinstance(left, float) and isinstance(right, float):
        return left == right and math.copysign(1, left) == math.copysign(1, right) or (math.isnan(left) and math.isnan(right))
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(same(a, b) for a, b in zip(left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[k], right[k]) for k in left)
    return left == right


def differing(expected, got):
    """Cells of a column that differ; whole equal columns are recognised without going through Python values."""
    if isinstance(expected.type, pa.DictionaryType):
        expected = expected.cast(pa.string())
        got = got.cast(pa.string())
    if expected.equals(got):
        return 0
    return sum(not same(a, b) for a, b in zip(expected.to_pylist(), got.to_pylist())) + abs(len(expected) - len(got))


def test_every_type_shape_and_version_reads_back_equal(fixtures):
    tables = cells = 0
    for path in sorted(fixtures.glob("*.lance")):
        expected = pa.ipc.open_file(path.with_suffix(".arrow")).read_all()
        got = lance.file.LanceFileReader(str(path)).read_all().to_table()
        assert got.num_rows == expected.num_rows, path.name
        for name in expected.column_names:
            wrong = differing(expected[name].combine_chunks(), got[name].combine_chunks())
            assert wrong == 0, f"{path.name}: {wrong} cells of {name}"
        tables += 1
        cells += expected.num_rows * expected.num_columns
    print(f"compared {tables} tables, {cells} cells")
    assert tables > 50
