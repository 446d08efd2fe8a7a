"""Missing values: which marks stand for none, and how they are told."""

from __future__ import annotations

import pytest

from attriguard.data.tables.coded import code_column
from attriguard.data.tables.missing import check_missing, without_missing
from attriguard.errors import ParameterError


def read(texts, missing=None, rowless=0):
    return without_missing(code_column("city", texts), check_missing(missing), rowless)


@pytest.mark.parametrize(
    "mark",
    ["", " ", None, "NA", "na", "N/A", "n/a ", "#N/A", "<NA>", "nan", "NaN", "NULL", "null", "None", "Unknown",
     "UNKNOWN", "prefer not to say", "Prefer  Not To Say", "not disclosed", "?", "-", "--", ".", "\\N"],
)  # fmt: skip
def test_marks_that_stand_for_no_value(mark) -> None:
    found = read(["Rome", mark, "Oslo"])
    assert found.values == ("Oslo", "Rome")
    assert found.codes.tolist() == [1, -1, 0]


@pytest.mark.parametrize("name", ["Nana", "No", "other", "0", "nonesuch", "Unknown Pleasures", "n", "x", "-1", "not"])
def test_names_that_only_look_like_marks_are_values(name) -> None:
    assert name in read(["Rome", name]).values
    assert not read(["Rome", name]).notes


def test_they_are_told_in_one_line() -> None:
    texts = ["Rome"] * 963 + [""] * 20 + ["N/A"] * 10 + ["unknown"] * 7
    assert read(texts).notes == (
        "37 of 1,000 users do not disclose 'city' (empty, 'N/A', 'unknown'); if such a mark is a value here, see the "
        "option missing",
    )
    assert read(["Rome", None]).notes == ("1 of 2 users do not disclose 'city' (empty)",)
    assert read(["Rome", None, None], rowless=2).notes == ("2 of 3 users do not disclose 'city' (not in the table)",)
    assert read(["Rome", None, None], rowless=1).notes == (
        "2 of 3 users do not disclose 'city' (not in the table, empty)",
    )
    assert read(["Rome", "Oslo"]).notes == ()


def test_a_note_lists_a_few_marks_only() -> None:
    note = read(["Rome", "NA", "N/A", "nan", "null", "none", "?", "-"]).notes[0]
    assert note.startswith("7 of 8 users")
    assert note.count("'") == 2 * 5 + 2
    assert "…" in note


def test_none_may_be_a_religion() -> None:
    assert read(["none", "some", "?"], ["?"]).values == ("none", "some")
    assert read(["none", "NA", ""], []).values == ("NA", "none")
    assert read(["none", "Keine Angabe"], ["keine angabe"]).codes.tolist() == [0, -1]


@pytest.mark.parametrize("missing", ["NA", [1], [None]])
def test_marks_are_a_list_of_texts(missing) -> None:
    with pytest.raises(ParameterError, match="missing is a list of marks"):
        check_missing(missing)
