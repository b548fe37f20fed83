"""Sweeps on a Dask cluster: the same bits, deaths, versions, and what cannot be reached."""

import logging

import families
import pytest
from test_sweep import PATH, same

import condal_lab
from condal.errors import MissingExtra
from condal.runtime import extras
from condal_lab.sweeps import cluster as module
from condal_lab.sweeps.workers import WorkersError

ADDRESS = "tcp://127.0.0.1:1"


@pytest.fixture(scope="module")
def cluster():
    import dask
    from distributed import LocalCluster

    # Dask itself tries nothing again: each new worker takes seconds.
    settings = {"distributed.scheduler.allowed-failures": 0}
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as local,
    ):
        yield local


def test_a_cluster_gives_the_bits_of_this_process(tmp_path, cluster):
    given = {"along": "radius", "tol": 1e-2}
    here = condal_lab.sweep(families.regressions, PATH, out=tmp_path / "here", workers=0, **given)
    there = condal_lab.sweep(
        families.regressions,
        PATH,
        out=tmp_path / "there",
        workers=cluster.scheduler_address,
        **given,
    )
    assert [row.start for row in there] == [row.start for row in here]
    for mine, theirs in zip(here, there, strict=True):
        assert same(mine.result, theirs.result)


def test_a_worker_that_dies_costs_its_own_point_alone(tmp_path, cluster):
    def go(*seeds):
        grid = [{"seed": seed, "folder": str(tmp_path)} for seed in seeds]
        out, workers = tmp_path / "out", cluster.scheduler_address
        return condal_lab.sweep(families.faulty, grid, out=out, workers=workers)

    assert go(0, 1)[1].error == "RuntimeError: no luck at all"
    table = go(0, 3)
    assert table[0].solved
    assert table[1].error == "the Dask workers that tried it died, perhaps for lack of memory"
    assert go(4)[0].solved


def test_workers_of_another_version_are_refused(tmp_path, cluster, monkeypatch):
    address = cluster.scheduler_address
    with monkeypatch.context() as patched:
        patched.setattr(module, "__version__", "9.9")
        with pytest.raises(WorkersError, match=r"worker tcp.* has condal .*, and here is condal"):
            condal_lab.sweep(families.cuts, {"seed": [0]}, out=tmp_path, workers=address)
    mine = {**module.versions(), "numpy": "0.9"}
    monkeypatch.setattr(module, "versions", lambda: mine)
    with pytest.raises(WorkersError, match=r"numpy [12].*, and here is .* numpy 0\.9.*do not mix"):
        condal_lab.sweep(families.cuts, {"seed": [0]}, out=tmp_path, workers=address)
    with pytest.raises(WorkersError, match=r"worker that was asked has .*here is condal 9\.9"):
        module._checked({**mine, "condal": "9.9"}, print)


def test_what_cannot_be_reached_is_one_clear_error(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_SILENT_SECONDS", 0.5)
    with pytest.raises(
        WorkersError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:1 .*dask scheduler"
    ):
        condal_lab.sweep(families.cuts, {"seed": [0]}, out=tmp_path, workers=ADDRESS)
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    with pytest.raises(
        MissingExtra, match=r"need Dask; install with: pip install 'condal-lab\[dask\]'"
    ):
        condal_lab.sweep(families.cuts, {"seed": [0]}, out=tmp_path, workers=ADDRESS)
