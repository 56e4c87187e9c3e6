"""Files as programs export them: delimiters, marks, broken lines."""

from __future__ import annotations

import tracemalloc
from io import BytesIO

import pytest

from shop.lines import LONGEST, UnreadableFile
from shop.sheet import Row, Sheet

COLUMNS = ("a", "b")


@pytest.mark.parametrize(
    "content",
    [
        b"a,b\n1,2\n",
        b"a;b\r\n1;2\r\n",
        b"a\tb\n1\t2",
        b"\xef\xbb\xbfa,b\n1,2\n",
        b"\n\n  \nb,a\n2,1\n",
        b'"A", "B"\n "1","2"\n',
        b"a,b,,\n1,2,,\n",
        b"a,b\n1,2,,,\n",
        b"a;b\n\n;\n1;2\n   \n;;\n",
    ],
)
def test_the_delimiter_is_found_and_what_is_empty_is_passed_over(content):
    assert [row.cells for row in sheet(content)] == [{"a": "1", "b": "2"}]


def test_a_column_that_nobody_asked_for_is_named_and_left_out():
    one = sheet(b"a,colour,b\n1,red,2\n")

    assert one.ignored == ("colour",)
    assert [row.cells for row in one] == [{"a": "1", "b": "2"}]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is empty; its first line should name the columns 'a', 'b'"),
        (b"\n \n", "it is empty"),
        (b"a,c\n1,2\n", "line 1, the header, has no column 'b'; it has 'a', 'c'"),
        (b"1,2\n", "line 1, the header, has no column 'a', 'b'; it has '1', '2'"),
        (b"a,b,a\n1,2,3\n", "line 1, the header, has twice the column 'a'"),
        (b"\n\xff\xfea\x00", "line 2, where the header should be, has a broken UTF-8 at byte 1 of the line"),
        ("a,b\n".encode("utf-16"), "it is UTF-16; save it as UTF-8"),
        (b"a,b\r1,2\r3,4", "line 1, where the header should be, has a control character U+000D at character 4"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_as_a_whole(content, reason):
    with pytest.raises(UnreadableFile) as refusal:
        list(sheet(content))

    assert str(refusal.value).startswith(reason)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"1,2,3", "3 fields where the header has 2"),
        (b"1", "1 fields where the header has 2"),
        (b'1,"2', "a quote is opened and not closed on the line"),
        (b'1,"2"3', "its quotes do not fit together: "),
        (b"1,caf\xe9", "broken UTF-8 at byte 6 of the line"),
        (b"1,\x00", "control character U+0000 at character 3 of the line"),
        (b"1," + b"x" * LONGEST, f"longer than {LONGEST} bytes"),
    ],
)
def test_a_broken_line_is_told_and_harms_no_other(line, problem):
    rows = list(sheet(b"a,b\n1,2\n" + line + b"\n3,4\n"))

    assert [(row.number, row.cells) for row in rows] == [(2, {"a": "1", "b": "2"}), (3, {}), (4, {"a": "3", "b": "4"})]
    assert rows[1].problem.startswith(problem)


def test_a_quoted_field_may_hold_the_delimiter_and_quotes():
    assert cells(b'a,b\n"1,5","say ""hi"""\n') == [{"a": "1,5", "b": 'say "hi"'}]


def test_each_row_knows_how_much_of_the_file_is_read():
    content = b"a,b\n1,2\n" + b"x" * (3 * LONGEST) + b"\n3,4\n"

    assert [row.end for row in sheet(content)] == [8, 9 + 3 * LONGEST, len(content)]


def test_memory_does_not_grow_with_the_file_nor_with_a_line():
    content = Endless(b"a,b\n", b"1,2\n" * 1000 + b"y" * (4 * LONGEST) + b"\n", times=40)
    tracemalloc.start()
    try:
        rows = sum(1 for _ in Sheet(content, COLUMNS))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert rows == 40 * 1001
    assert most < 2_000_000 < content.length


def sheet(content: bytes) -> Sheet:
    return Sheet(BytesIO(content), COLUMNS)


def cells(content: bytes) -> list[object]:
    return [row.cells for row in sheet(content) if isinstance(row, Row)]


class Endless(BytesIO):
    """A file that is made while it is read."""

    def __init__(self, head: bytes, block: bytes, times: int) -> None:
        super().__init__(head)
        self._block, self._times = block, times
        self.length = len(head) + times * len(block)

    def readline(self, size: int | None = -1, /) -> bytes:
        line = super().readline(size)
        if not line and self._times:
            self._times -= 1
            self.seek(0)
            self.truncate()
            self.write(self._block)
            self.seek(0)
            line = super().readline(size)
        return line
