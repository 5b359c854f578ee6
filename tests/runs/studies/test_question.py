"""Signatures of what this user wrote."""

import pytest

from shortlist.runs.studies.question import MARK, opened, signed


@pytest.mark.parametrize("content", [b"", b"words", b"\x80\x04" * 1000])
def test_own_bytes_are_known_again(content: bytes) -> None:
    assert opened(signed(content)) == content


def test_changed_and_foreign_bytes_are_not(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    whole = signed(b"words")
    for place in (0, len(MARK), len(whole) - 1):
        changed = bytearray(whole)
        changed[place] ^= 1
        assert opened(bytes(changed)) is None
    for cut in (b"", MARK, whole[:-1], b"words"):
        assert opened(cut) is None
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))  # another user
    assert opened(whole) is None
