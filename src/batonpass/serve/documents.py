"""Which handoff a person means, and whether it may be used: a path is anybody's to type."""

import os
from collections.abc import Iterable
from pathlib import Path

from batonpass import agents
from batonpass.disk import read_document, stay_inside
from batonpass.handoff.chain import links
from batonpass.handoff.layouts import Layout
from batonpass.handoff.markdown import NotAHandoff, parse
from batonpass.serve.api import Refusal
from batonpass.store import Store


def chosen(store: Store, layout: Layout, cwd: Path, wanted: str | None, others: Iterable[Layout] = ()) -> Path:
    """The handoff of that number, name or path; the latest of the layout when none is named. Raises Refusal.

    One that is archived, or that was written before the layout was changed, is found too.
    """
    if not wanted:
        latest = layout.latest()
        if latest is None:
            raise Refusal(f"there is no handoff in {layout.project}; give a file", 3)
        return _usable(store, layout.project, latest)
    for link in links((layout, *others)):
        if str(link.number) == wanted or link.path.name == wanted:
            return _usable(store, layout.project, link.path)
    return _usable(store, layout.project, Path(os.path.normpath(cwd / wanted)))


def project_of(store: Store, path: Path) -> Path | None:
    """The project of a handoff that Baton wrote: the command that a notification names is right in every folder."""
    return next((record.project for record in store.handoffs() if record.path == path), None)


def agent_of(path: Path) -> str | None:
    """The agent that a handoff names as its writer, if it is one that can be started."""
    try:
        name = parse(read_document(path)).agent
    except (OSError, NotAHandoff):
        return None
    return name if name in agents.names() else None


def _usable(store: Store, project: Path, path: Path) -> Path:
    """The same path, if a handoff can be read there and it is of this project, or one that Baton wrote."""
    try:
        if project_of(store, path) is None:
            stay_inside(project, path)
        parse(read_document(path))
    except FileNotFoundError:
        raise Refusal(f"there is no handoff {path}", 3) from None
    except OSError as error:
        raise Refusal(f"{path} is not used as a handoff: {error.strerror}", 3) from None
    except NotAHandoff as error:
        raise Refusal(f"{path} is not used as a handoff: {error}", 3) from None
    return path
