"""Fuzzed readers: any file is read correctly or refused, as checked by readers.oracle."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from condal.errors import FormatError
from readers import FORMATS
from readers.mutations import any_file
from readers.oracle import Wrong, judged, returned

EXAMPLES = 60  # per reader
OTHERS = [contents for form in FORMATS for contents in form.files]


@pytest.fixture(scope="module")
def folder():
    with tempfile.TemporaryDirectory(prefix="condal-fuzz-") as made:
        yield Path(made)


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
@pytest.mark.parametrize("form", FORMATS, ids=repr)
def test_readers_are_fuzzed(form, folder, data):
    path = folder / f"given{form.suffix}"
    path.write_bytes(data.draw(any_file(form, OTHERS)))
    returned(form, path)


@pytest.mark.parametrize("form", FORMATS, ids=repr)
def test_what_is_written_of_a_right_file_is_read_back(form, folder):
    for contents in form.files:
        path = folder / f"given{form.suffix}"
        path.write_bytes(contents)
        assert returned(form, path) is not None


def _raise(error):
    raise error


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (lambda path: _raise(KeyError("x")), "rudy raised KeyError: 'x'"),
        (lambda path: _raise(FormatError("")), "names no file"),
        (lambda path: _raise(FormatError("", path="x")), "says nothing"),
        (lambda path: _raise(FormatError("x" * 10**4, path="x")), "an error of 10003 characters"),
        (lambda path: bytearray(150 << 20), "took 157.* bytes for a file of 18"),
        (lambda path: __import__("warnings").warn("x", stacklevel=1), "raised UserWarning"),
    ],
)
def test_a_reader_that_does_wrong_is_found_out(folder, read, text):
    from dataclasses import replace

    path = folder / "given.txt"
    path.write_bytes(FORMATS[0].files[0])
    with pytest.raises(Wrong, match=text):
        judged(replace(FORMATS[0], read=read), path)
