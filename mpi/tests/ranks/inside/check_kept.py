"""A checkpoint that some ranks wrote is read by any number of them: each has its rows, or all have
the same error."""

import errno
import os

import numpy as np
import pytest
import scipy.sparse as sp
from sharded import refused_by_all

import condal_mpi
from condal.driver.checkpoint import Checkpoint
from condal.errors import CondalError, FormatError, ProblemError
from condal.io.checkpoint.fingerprint import fingerprint_of
from condal_mpi import DistributedSketch, ShardedArray, max_cut, theta
from condal_mpi.checkpoint import folder as folders
from condal_mpi.checkpoint import manifest as manifests
from condal_mpi.checkpoint.folder import read, write
from condal_mpi.checkpoint.shard_digest import shard_words
from condal_mpi.checkpoint_writer import (
    DistributedCheckpointWriter,
    is_sharded_checkpoint,
    read_about,
)
from condal_mpi.team import Team

N = 23


def whole(k: int):
    """A vector, a tall matrix by columns, and one of integers, of N rows each."""
    rng = np.random.default_rng(k)
    return (
        rng.standard_normal(N),
        np.asfortranarray(rng.standard_normal((N, 3))),
        rng.integers(9, size=(N, 2)),
    )


def tree(k: int, team: Team):
    """Rows of these, one of them twice, among what is the same on all ranks."""
    begin, end = team.range(N)
    y, U, z = (ShardedArray(array[begin:end].copy(order="K"), team) for array in whole(k))
    x = DistributedSketch(N, 2, team=team, seed=k)
    return {"k": k, "y": y, "again": y, "U": [U, (z,)], "same": np.arange(5.0) + k, "x": x}


def first(team: Team, size: int):
    """The first ranks of a team, for those that are among them; None for the others."""
    comm = team.comm.Split(0 if team.rank < size else 1)
    return Team(comm) if team.rank < size else None


def holds(found, k: int, team: Team) -> None:
    begin, end = team.range(N)
    y, U, z = whole(k)
    assert found["k"] == k
    assert found["y"] is found["again"]
    np.testing.assert_array_equal(found["y"].local, y[begin:end])
    np.testing.assert_array_equal(found["U"][0].local, U[begin:end])
    np.testing.assert_array_equal(found["U"][1][0].local, z[begin:end])
    assert found["U"][1][0].dtype == np.int64
    assert found["U"][0].local.flags.f_contiguous
    np.testing.assert_array_equal(found["same"], np.arange(5.0) + k)
    sketch = DistributedSketch(N, 2, team=team, seed=k)
    assert found["x"].team is team
    np.testing.assert_array_equal(found["x"]._omega.local, sketch._omega.local)


def put(team: Team, path, k: int) -> None:
    some = tree(k, team)
    assert some["x"]._omega is not None
    write(team, str(path), {"k": k}, some)


@pytest.fixture
def manifest(shared):
    return shared / "manifest"


@pytest.mark.parametrize("piece", [40, 1 << 24])
def test_rows_that_some_ranks_wrote_are_read_by_any_number(piece, manifest, team, monkeypatch):
    monkeypatch.setattr(manifests, "PIECE_BYTES", piece)
    for writers in range(1, team.size + 1):
        if (some := first(team, writers)) is not None:
            put(some, manifest, writers)
        team.comm.Barrier()
        for readers in range(1, team.size + 1):
            if (some := first(team, readers)) is not None:
                contents = read(some, str(manifest))
                assert (contents.about, contents.generation) == ({"k": writers}, 0)
                holds(contents.value, writers, some)
        team.comm.Barrier()


def test_two_generations_are_kept_and_no_more(manifest, team):
    for k in range(4):
        put(team, manifest, k)
    names = sorted(one.name for one in manifest.parent.iterdir())
    assert len(names) == 2 + 2 * team.size
    assert {"manifest", "manifest.previous"} < set(names)
    team.comm.Barrier()


def damaged(path) -> None:
    contents = bytearray(path.read_bytes())
    contents[-3] ^= 1
    path.write_bytes(contents)


def parts(manifest, k: int, team: Team):
    """The parts of the newest generation, and those of the one before."""
    newest = folders._manifest(manifest, str(manifest))[3].generation
    names = [one for one in manifest.parent.iterdir() if one.name.endswith(".rows")]
    mine = sorted(one for one in names if one.name.startswith(newest) == (k == 0))
    assert len(mine) == team.size
    return mine


@pytest.mark.parametrize("how", ["damaged part", "missing part", "damaged manifest", "cut part"])
def test_where_the_newest_is_damaged_all_ranks_read_the_one_before(how, manifest, team):
    for k in (1, 2):
        put(team, manifest, k)
    if team.rank == 0:
        part = parts(manifest, 0, team)[-1]
        if how == "damaged manifest":
            damaged(manifest)
        elif how == "damaged part":
            damaged(part)
        elif how == "cut part":
            part.write_bytes(part.read_bytes()[:-8])
        else:
            part.unlink()
    team.comm.Barrier()
    contents = read(team, str(manifest))
    assert contents.generation == 1
    assert contents.note == (
        f"{manifest} is damaged: {manifest}.previous, the checkpoint before it, was read instead"
    )
    holds(contents.value, 1, team)


def test_damage_to_both_is_refused_by_all_in_the_same_words(manifest, team):
    for k in (1, 2):
        put(team, manifest, k)
    if team.rank == 0:
        damaged(parts(manifest, 0, team)[-1])
        parts(manifest, 1, team)[0].unlink()
    team.comm.Barrier()
    with pytest.raises(FormatError, match="an array does not match its SHA-256") as caught:
        read(team, str(manifest))
    assert f"{caught.value}".endswith("check the path and the permissions")
    assert len(set(team.gathered(str(caught.value)))) == 1


def test_parts_of_another_generation_are_refused(manifest, team):
    put(team, manifest, 1)
    if team.rank == 0:
        older = [(one.name, one.read_bytes()) for one in parts(manifest, 0, team)]
    team.comm.Barrier()
    put(team, manifest, 2)
    if team.rank == 0:
        manifest.with_name("manifest.previous").unlink()
        newer = parts(manifest, 0, team)[0]
        newer.write_bytes(older[0][1])
    team.comm.Barrier()
    with refused_by_all(team, FormatError, "it is of another generation"):
        read(team, str(manifest))


def test_where_one_rank_cannot_write_all_have_its_error_and_the_old_one_stays(
    manifest, team, monkeypatch
):
    put(team, manifest, 1)

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if team.rank == team.size - 1:
        monkeypatch.setattr("condal_mpi.checkpoint.manifest.write_file", full)
    with refused_by_all(team, CondalError, "cannot be written: No space left on device"):
        put(team, manifest, 2)
    assert len(list(manifest.parent.iterdir())) == 1 + team.size
    holds(read(team, str(manifest)).value, 1, team)


def test_parts_on_a_disk_that_the_first_rank_does_not_see_are_no_checkpoint(manifest, team):
    put(team, manifest, 0)
    own = manifest.parent / f"local-{team.rank}"
    own.mkdir()
    with pytest.raises(FormatError, match="rank 0 does not see what rank 1 has written beside it"):
        put(team, own / "manifest", 1)
    assert list(own.iterdir()) == []
    holds(read(team, str(manifest)).value, 0, team)


def test_a_manifest_that_may_not_be_read_is_not_taken_for_damaged(manifest, team, monkeypatch):
    for k in range(2):
        put(team, manifest, k)
    if team.rank == 0:
        true = folders.opened

        def opened(path):
            if path == manifest.resolve():
                raise FormatError("cannot be read: no right") from PermissionError()
            return true(path)

        monkeypatch.setattr(folders, "opened", opened)
    with pytest.raises(FormatError, match="no right"):
        read(team, str(manifest))


def test_a_manifest_that_cannot_be_put_leaves_no_parts_behind(manifest, team, monkeypatch):
    put(team, manifest, 0)

    def full(*_):
        raise CondalError("no space left")

    monkeypatch.setattr(folders, "put", full)
    for k in range(3):
        with pytest.raises(CondalError, match="no space left"):
            put(team, manifest, k)
    team.comm.Barrier()
    assert len(list(manifest.parent.glob("*.rows"))) == team.size


def graph(n: int = 12):
    rng = np.random.default_rng(3)
    upper = sp.triu(sp.coo_array(rng.random((n, n)) < 0.4), 1).astype(float)
    return sp.csr_array(upper + upper.T)


def model(team: Team, W):
    begin, end = team.range(W.shape[0])
    return max_cut(sp.csr_array(W[begin:end]), team)


def test_the_fingerprint_is_that_of_the_data_on_any_number_of_ranks(team):
    W, other = graph(), graph()
    i, j = other.nonzero()
    other[i[0], j[0]] = other[j[0], i[0]] = 1 + 2**-50
    prints = {}
    for size in range(1, team.size + 1):
        if (some := first(team, size)) is not None:
            prints[size] = fingerprint_of(model(some, W).problem, shard_words)
            assert fingerprint_of(model(some, other).problem, shard_words) != prints[size]
    assert len(set(prints.values())) == 1
    assert next(iter(prints.values()))[1]  # nothing of it is hidden


def test_so_is_that_of_theta(team):
    W, other = graph(), graph().tolil()
    i, j = W.nonzero()
    other[i[0], j[0]] = other[j[0], i[0]] = 0.0
    prints = set()
    for size in range(1, team.size + 1):
        if (some := first(team, size)) is not None:
            begin, end = some.range(W.shape[0])
            same, less = (
                fingerprint_of(theta(sp.csr_array(G)[begin:end], some).problem, shard_words)
                for G in (W, other)
            )
            assert less != same
            prints.add(same)
    assert len(prints) == 1


def keeper(team: Team, path, W=None, **more):
    return DistributedCheckpointWriter(
        Checkpoint(path, **more), model(team, graph() if W is None else W).problem
    )


def test_a_keeper_has_the_folder_for_itself(shared, team):
    with keeper(team, shared / "run"):
        with refused_by_all(team, CondalError, "is being written by another solve"):
            keeper(team, shared / "run").__enter__()
        assert not is_sharded_checkpoint(shared / "run")
    team.comm.Barrier()
    assert not (shared / "run").exists()


def test_a_file_in_its_place_and_a_folder_that_is_not_there_are_refused(shared, team):
    if team.rank == 0:
        (shared / "file").write_text("")
    team.comm.Barrier()
    with pytest.raises(FormatError, match="is a file; a solve on many ranks writes a folder"):
        keeper(team, shared / "file")
    with pytest.raises(CondalError, match="cannot be made: No such file or directory; check"):
        keeper(team, shared / "absent" / "run").__enter__()


def test_a_folder_without_a_checkpoint_cannot_be_resumed(shared, team):
    with (
        keeper(team, shared / "run") as keeping,
        pytest.raises(FormatError, match="there is no such file; check the path"),
    ):
        keeping.read()


def test_a_solve_goes_on_with_its_own_data_alone(shared, team):
    W, other = graph(), graph()
    i, j = other.nonzero()
    other[i[0], j[0]] = other[j[0], i[0]] = 2.0
    path = shared / "run"
    options = {"tol": 1e-9, "R": 3, "method": "cgal", "checkpoint": path}
    condal_mpi.solve(model(team, W), max_iters=2, **options)
    with refused_by_all(team, ProblemError, "with other data; resume with the data"):
        condal_mpi.resume(path, model(team, other))
    with refused_by_all(team, FormatError, "exists already and is not overwritten"):
        condal_mpi.solve(model(team, W), **options)
    assert read_about(path)["k"] == 2
    assert is_sharded_checkpoint(path)
