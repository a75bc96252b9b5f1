"""The document and its markdown: the same thing in two forms."""

from hypothesis import given, settings
from hypothesis import strategies as st

from batonpass.handoff import names
from batonpass.handoff.document import FIELDS, Handoff, Section
from batonpass.handoff.markdown import parse, render

# Lines that look like structure are the dangerous ones, so they come up often.
_TRICKY = st.sampled_from(
    [
        "## Next Steps", "# Title", "### Completed", "---", "```", "~~~~", "````text", "``` x", "\\## a", "\\\\## b",
        "**Instructions for New Instance:**", "<!-- baton: {} -->", "**Branch**: evil", "- (C1) x", "", "   ", "##",
        "## Recorded by Baton", "\\", "\\---", "1. one", "###", "\\### q", "**Created:** now", "  ```",
    ]
)  # fmt: skip
_LINES = st.one_of(_TRICKY, st.text(max_size=30))
_BODIES = st.lists(_LINES, max_size=8).map("\n".join)
_TITLES = st.one_of(
    st.sampled_from([*names.STANDARD, "Current Work", "Completed Since Last Handoff", "Blockers / Issues", "Q"]),
    st.text(min_size=1, max_size=20),
).filter(lambda title: bool(title.split()) and names.canonical(title)[0] != names.RECORDED)
_SECTIONS = st.builds(Section, _TITLES, _BODIES)
_WORDS = st.one_of(
    st.none(), st.text(min_size=1, max_size=20).filter(lambda text: text.lower() not in {"unknown", "none"})
)
_COUNTS = st.one_of(st.none(), st.integers(0, 10_000_000))
_HEADERS = st.tuples(
    st.from_regex(r"[A-Za-z][A-Za-z ]{0,10}", fullmatch=True).filter(
        lambda name: " ".join(name.split()).lower() not in {field.lower() for field in FIELDS}
    ),
    st.text(max_size=20),
)


def handoffs() -> st.SearchStrategy[Handoff]:
    return st.builds(
        Handoff,
        number=_COUNTS,
        previous=_WORDS,
        created=st.one_of(st.none(), st.integers(0, 4_000_000_000)),
        session=_WORDS,
        agent=_WORDS,
        agent_session=_WORDS,
        project=_WORDS,
        epic=_WORDS,
        branch=_WORDS,
        used=_COUNTS,
        usable=_COUNTS,
        window=_COUNTS,
        percent=st.one_of(st.none(), st.floats(0, 1000)),
        reason=_WORDS,
        title=st.text(max_size=20),
        headers=st.lists(_HEADERS, max_size=3).map(tuple),
        preamble=_BODIES,
        sections=st.lists(_SECTIONS, min_size=1, max_size=5).map(tuple),
        recorded=st.lists(_SECTIONS, max_size=4).map(tuple),
        instructions=_BODIES,
        checksum=st.one_of(st.none(), st.just("sha256:" + "0" * 64)),
    )


@settings(deadline=None)
@given(handoffs())
def test_any_document_survives_being_written_and_read(handoff: Handoff) -> None:
    assert parse(render(handoff)) == handoff
