"""Sources: uniform, repeatable when seeded, never shared between processes or threads."""

import copy
import hashlib
import os
import pickle
import threading
from collections.abc import Callable

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from reticent.errors import ParameterError
from reticent.noise import Source


@pytest.mark.parametrize("shape", [0, 1, 7, (2, 3), (4, 0), ()])
def test_words_have_the_shape_and_type_asked_for(shape: int | tuple[int, ...]) -> None:
    source = Source.system()
    expected = shape if isinstance(shape, tuple) else (shape,)
    assert source.words(shape).shape == expected
    assert source.words(shape).dtype == np.uint32
    assert source.long_words(shape).shape == expected
    assert source.long_words(shape).dtype == np.uint64


@pytest.mark.parametrize("source", [Source.system(), Source.seeded(1)], ids=repr)
def test_every_bit_is_fair(source: Source) -> None:
    words = source.long_words(100_000)
    for bit in range(64):
        ones = int(((words >> np.uint64(bit)) & np.uint64(1)).sum())
        assert abs(ones - 50_000) < 8 * 158, f"bit {bit}: {ones} of 100000"


def test_bytes_are_uniform_and_neighbours_independent() -> None:
    raw = Source.seeded(2).words(250_000).view(np.uint8)
    counts = np.bincount(raw, minlength=256)
    expected = raw.size / 256
    assert ((counts - expected) ** 2 / expected).sum() < 255 + 8 * np.sqrt(510)
    centred = raw - 127.5
    assert abs(float((centred[1:] * centred[:-1]).mean())) < 8 * (256**2 / 12) / np.sqrt(raw.size)


def test_the_stream_is_aes_256_in_counter_mode() -> None:
    key = hashlib.sha256(b"reticent seeded source" + (77).to_bytes(16)).digest()
    stream = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor().update(bytes(4000))
    assert Source.seeded(77).words(1000).tobytes() == stream


@pytest.mark.parametrize("seed", range(20))
def test_single_draws_and_words_read_one_stream(seed: int) -> None:
    assert Source.seeded(seed).bits(64) == int(Source.seeded(seed).long_words(1)[0])
    assert Source.seeded(seed).bits(32) == int(Source.seeded(seed).words(1)[0])


def test_bits_are_within_range_and_fair() -> None:
    source = Source.seeded(3)
    for count in (1, 3, 8, 13, 64, 65, 200):
        drawn = [source.bits(count) for _ in range(400)]
        assert all(0 <= value < 1 << count for value in drawn)
        high = sum(value >> (count - 1) for value in drawn)
        assert 120 < high < 280, f"{count} bits: {high} of 400 in the upper half"
    assert source.bits(0) == 0


@pytest.mark.parametrize("count", [0, 1, 7, 8, 13, 64, 65])
def test_padded_bits_are_bits_under_a_leading_one(count: int) -> None:
    plain, padded = Source.seeded(11), Source.seeded(11)
    for _ in range(100):
        value = padded.padded_bits(count)
        assert value.bit_length() == count + 1
        assert value == plain.bits(count) + (1 << count)


def test_how_the_stream_is_cut_does_not_matter() -> None:
    whole = Source.seeded(4).words(500_000)  # longer than the buffer of zeros
    parts = Source.seeded(4)
    cuts = [parts.words(n) for n in (1, 0, 3, 131_072, 200_001, 168_923)]
    assert (np.concatenate(cuts) == whole).all()


def test_seeds_repeat_and_differ() -> None:
    streams = {Source.seeded(seed).bits(256) for seed in (0, 1, 2, 2**64, 2**128 - 1)}
    assert len(streams) == 5
    assert Source.seeded(5).bits(256) == Source.seeded(5).bits(256)


def test_system_sources_differ() -> None:
    assert len({Source.system().bits(128) for _ in range(50)}) == 50


@pytest.mark.parametrize("seed", [-1, 2**128, True, 1.0, "7", None, b"7", np.int64(7)])
def test_bad_seeds_are_refused(seed: object) -> None:
    with pytest.raises(ParameterError, match=r"seed must be an integer from 0 to 2\*\*128 - 1"):
        Source.seeded(seed)  # type: ignore[arg-type]


def test_only_a_system_source_is_private() -> None:
    assert Source.system().private
    assert not Source.seeded(0).private
    with pytest.raises(AttributeError):
        Source.seeded(0).private = True  # type: ignore[misc]


def test_what_is_shown_holds_no_key() -> None:
    assert repr(Source.system()) == "Source.system()"
    assert repr(Source.seeded(123456)) == "Source.seeded(...)  # not private"
    assert "123456" not in repr(Source.seeded(123456))


def by_pickle(source: Source) -> Source:
    return pickle.loads(pickle.dumps(source))


@pytest.mark.parametrize("clone", [copy.copy, copy.deepcopy, by_pickle])
def test_a_copied_system_source_has_a_key_of_its_own(clone: Callable[[Source], Source]) -> None:
    source = Source.system()
    source.bits(64)
    twin = clone(source)
    assert twin.private
    assert twin.bits(128) != source.bits(128)


def test_a_key_never_travels() -> None:
    source = Source.system()
    source.bits(64)
    assert len(pickle.dumps(source)) < 120  # the class, None and 0: no room for 32 random bytes
    assert pickle.dumps(source) == pickle.dumps(Source.system())


@pytest.mark.parametrize("before", [0, 1, 5, 16, 33, 4099])
def test_a_pickled_seeded_source_goes_on_where_it_was(before: int) -> None:
    source = Source.seeded(6)
    source.bits(8 * before)
    twin = pickle.loads(pickle.dumps(source))
    assert not twin.private
    assert twin.bits(512) == source.bits(512)
    assert (twin.words(9) == source.words(9)).all()


def in_forked_children(source: Source, children: int) -> list[int]:
    """What each child draws first, through a pipe."""
    drawn = []
    for _ in range(children):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writer, source.bits(128).to_bytes(16))
            os._exit(0)
        os.close(writer)
        drawn.append(int.from_bytes(os.read(reader, 16)))
        os.close(reader)
        assert os.waitpid(child, 0)[1] == 0
    return drawn


forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
quietly = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


@forks
@quietly
def test_forked_children_and_parent_all_differ() -> None:
    source = Source.system()
    source.bits(64)
    children = in_forked_children(source, 8)
    assert len({*children, source.bits(128)}) == 9, "a child drew what another process drew"


@forks
@quietly
def test_a_fork_while_another_thread_draws_does_not_hang() -> None:
    source = Source.system()
    with source._lock:  # as if a thread of the parent were in the middle of a draw
        children = in_forked_children(source, 2)
    assert len(set(children)) == 2


@forks
@quietly
def test_a_seeded_source_is_repeatable_in_children_too() -> None:
    source = Source.seeded(8)
    source.bits(64)
    children = in_forked_children(source, 2)
    assert set(children) == {source.bits(128)}


def test_threads_never_get_the_same_words() -> None:
    source, drawn = Source.seeded(9), []

    def draw() -> None:
        for _ in range(100):
            words = source.long_words(250)
            drawn.append(np.append(words, np.uint64(source.bits(64))))

    threads = [threading.Thread(target=draw) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    together = np.sort(np.concatenate(drawn))
    assert (together == np.sort(Source.seeded(9).long_words(together.size))).all()


def test_a_note_is_heard_by_nobody() -> None:
    source = Source.seeded(10)
    source.note("anything", value=1)
    assert source.bits(64) == Source.seeded(10).bits(64)
