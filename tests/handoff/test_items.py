"""Items get ids, and ids can be read back."""

from batonpass.handoff.document import Handoff, Item, Section
from batonpass.handoff.items import items, with_ids

PROGRESS = "### Completed\n- done\n\n### In Progress\n- [ ] doing\n  - detail\n\n### Pending\n* later\n- None"


def document(**sections: str) -> Handoff:
    return Handoff(sections=tuple(Section(name.replace("_", " "), body) for name, body in sections.items()))


def test_constraints_open_items_and_next_steps_get_ids() -> None:
    numbered = with_ids(
        document(
            Progress_Summary=PROGRESS,
            Next_Steps="1. first\n2) second\n   more of it",
            Important_Context="- keep the names\n- None of the tests may use the network",
        )
    )
    assert numbered.section("Progress Summary") == (
        "### Completed\n- done\n\n### In Progress\n- [ ] (I1) doing\n  - detail\n\n### Pending\n* (P1) later\n- None"
    )
    assert numbered.section("Next Steps") == "1. (N1) first\n2) (N2) second\n   more of it"
    assert items(numbered) == (
        Item("I1", "I", "doing"),
        Item("P1", "P", "later"),
        Item("N1", "N", "first"),
        Item("N2", "N", "second"),
        Item("C1", "C", "keep the names"),
        Item("C2", "C", "None of the tests may use the network"),
    )


def test_ids_of_the_predecessor_are_replaced() -> None:
    numbered = with_ids(document(Important_Context="- (C7) old\n- new\n- (C2) (C9) twice"))
    assert numbered.section("Important Context") == "- (C1) old\n- (C2) new\n- (C3) twice"


def test_numbering_twice_changes_nothing() -> None:
    once = with_ids(document(Progress_Summary=PROGRESS, Important_Context="prose"))
    assert with_ids(once) == once


def test_prose_becomes_a_list_so_that_it_can_be_named() -> None:
    numbered = with_ids(document(Important_Context="Keep the names.\nAll of them.\n\nPort 5000 is ours."))
    assert numbered.section("Important Context") == "- (C1) Keep the names.\n  All of them.\n- (C2) Port 5000 is ours."


def test_nothing_gets_no_id() -> None:
    nothing = document(Important_Context="None.", Next_Steps="- n/a", Progress_Summary="### Pending\n- None")
    assert items(with_ids(nothing)) == ()


def test_lines_of_code_are_no_items() -> None:
    numbered = with_ids(document(Important_Context="- run this\n```\n- not an item\n```"))
    assert [item.text for item in items(numbered)] == ["run this"]


def test_open_boxes_count_where_progress_has_no_parts() -> None:
    numbered = with_ids(document(Progress_Summary="- [x] done\n- [ ] open"))
    assert numbered.section("Progress Summary") == "- [x] done\n- [ ] (P1) open"
