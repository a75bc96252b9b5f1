"""Corpora by seed: seventy facts over more than forty turns, in many wordings, among things that do not matter.

Odd seeds take the wordings that nobody looks at (`corpus_unseen`), even ones those that may be learned from.
"""

import random
import re

from batonpass.sim import corpus_project as project
from batonpass.sim.corpus import Call, Corpus, Planted, Turn
from batonpass.sim.corpus_seen import SEEN
from batonpass.sim.corpus_seen_too import SEEN_TOO
from batonpass.sim.corpus_unseen import UNSEEN
from batonpass.sim.corpus_words import MODIFIERS, NOUNS, Turned, Wording, Words
from batonpass.transcripts.events import Origin

_RULES, _VALUES = 10, 8
_TODOS = (
    "Split the {x} into two modules",
    "Document the retries of the {x}",
    "Benchmark the {x} with a million rows",
    "Translate the messages of the {x}",
)
_ID = r"\b[ab][0-9a-z]{6,}\b"
_WHO = "git -c user.name=Dev -c user.email=dev@example.invalid"


class Maker:
    """Plants facts. Every fact is about a thing of its own, so that it can be found again."""

    def __init__(self, seed: int, words: Words) -> None:
        self.rng = random.Random(seed)
        self.words = words
        things = [f"{modifier} {noun}" for modifier in MODIFIERS for noun in NOUNS]
        self.rng.shuffle(things)
        self._things = iter(things)
        self._numbers = iter(self.rng.sample(range(2001, 9999), 200))
        self.user: tuple[list[str], list[str]] = ([], [])  # before, and later
        self.agent: tuple[list[str], list[str]] = ([], [])
        self.work: tuple[list[tuple[Call, ...]], list[tuple[Call, ...]]] = ([], [])
        self.files: dict[str, str] = {}
        self.must: list[Planted] = []
        self.must_not: list[Planted] = []

    def thing(self) -> str:
        return next(self._things)

    def forms(self) -> dict[str, str]:
        """What the names in a wording stand for, this time."""
        port, other = next(self._numbers), next(self._numbers)
        a, b = divmod(port, 100)
        return {"x": self.thing(), "port": str(port), "other": str(other), "a": str(a), "b": str(b),
                "n": str(self.rng.randint(2, 9))}  # fmt: skip

    def keep(self, kind: str, said: str, *signs: str, told: str = "", lines: int = 1) -> None:
        self.must.append(Planted(kind, said, signs, told or said, lines=lines))

    def drop(self, kind: str, said: str, *signs: str, over: tuple[str, ...] = ()) -> None:
        self.must_not.append(Planted(kind, said, signs, over=over))


def sign(thing: str) -> str:
    """The pattern of a thing's name, however its words are joined."""
    return r"[ _-]".join(re.escape(word) for word in re.split(r"[ _-]", thing))


def made(seed: int, *, few: bool = False) -> Corpus:
    """The corpus of a seed, always the same one; with `few`, one of a dozen turns."""
    words = UNSEEN if seed % 2 else (SEEN, SEEN_TOO)[seed // 2 % 2]
    maker = Maker(seed, words.fewer(2) if few else words)
    _said(maker)
    todos = _todos(maker)
    _files(maker)
    _runs(maker)
    _running(maker)
    _epic(maker)
    thing = maker.thing()
    last = f"Now finish the {thing} and show me the totals."
    maker.keep("request", last, sign(thing), "totals", told=f"finish the {thing}, then show the totals")
    branch = f"feature/{maker.thing().replace(' ', '-')}"
    maker.keep("branch", branch, re.escape(branch), told=f"the branch is {branch}")
    turns = _woven(maker, todos, last, (7, 4) if few else (27, 14))
    return Corpus(seed, turns, tuple(maker.must), tuple(maker.must_not), branch, maker.files)


def _said(maker: Maker) -> None:
    words, rng = maker.words, maker.rng
    for wording in rng.sample(words.rules, min(_RULES, len(words.rules))):
        _plain(maker, "constraint", wording, maker.user[0])
    for turned in words.revoked:
        _turned(maker, "constraint", turned, maker.user)
    for wording in words.decisions:
        _plain(maker, "decision", wording, maker.agent[0])
    for turned in words.reversed:
        _turned(maker, "decision", turned, maker.agent)
    for wording in words.failures:
        _plain(maker, "failure", wording, maker.agent[0])
    for n in range(_VALUES):
        _plain(maker, "value", words.values[n % len(words.values)], (maker.user if n % 2 else maker.agent)[0])
    for n, turned in enumerate(words.replaced):
        _turned(maker, "value", turned, maker.user if n % 2 else maker.agent)


def _plain(maker: Maker, kind: str, wording: Wording, place: list[str]) -> None:
    forms = maker.forms()
    said = wording.said.format(**forms)
    signs = [pattern.format(**forms) if "{" in pattern else pattern for pattern in wording.signs]
    place.append(said)
    # A value is found by itself; a rule, a decision or a failure needs the thing that it is about.
    about = () if kind == "value" else (sign(forms["x"]),)
    maker.keep(kind, said, *about, *signs, told=wording.told.format(**forms))


def _turned(maker: Maker, kind: str, turned: Turned, places: tuple[list[str], list[str]]) -> None:
    forms = maker.forms()

    def filled(patterns: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(pattern.format(**forms) if "{" in pattern else pattern for pattern in patterns)

    before, later = turned.said.format(**forms), turned.later.format(**forms)
    places[0].append(before)
    places[1].append(later)
    maker.drop(kind, before, sign(forms["x"]), *filled(turned.signs), over=filled(turned.now))
    if turned.told:
        maker.keep(kind, later, sign(forms["x"]), *filled(turned.now), told=turned.told.format(**forms))


def _todos(maker: Maker) -> tuple[list[str], list[str]]:
    things = [maker.thing() for _ in range(11)]
    texts = [_TODOS[n % len(_TODOS)].format(x=thing) for n, thing in enumerate(things)]
    for thing, text in zip(things[:7], texts[:7], strict=True):
        maker.keep("todo", text, sign(thing))
    for thing, text in zip(things[7:], texts[7:], strict=True):
        maker.drop("todo", text, sign(thing))
    return texts[:7], texts[7:]


def _files(maker: Maker) -> None:
    """Files that are changed, staged, new, committed, stashed, and taken back."""
    first, later = maker.work
    paths = [f"src/{maker.thing().replace(' ', '_')}.py" for _ in range(9)]
    for path in paths:
        maker.files[path] = f"NAME = {path!r}\nREADY = False\n"
        first.append(project.change(path))
    changed, (staged, done, shelved), reverted = paths[:4], paths[4:7], paths[7:]
    for path in (*changed, staged):
        maker.keep("file", path, re.escape(path))
    later.append((project.shell(f"git add {staged}"),))
    subject = f"Teach the {maker.thing()} to wait"
    later.append((project.shell(f"{_WHO} commit -q -m '{subject}' -- {done}"),))
    maker.keep("commit", subject, re.escape(subject), told=f"committed: {subject}")
    note = f"half of the {maker.thing()}"
    later.append((project.shell(f"{_WHO} stash push -q -m '{note}' -- {shelved}"),))
    maker.keep("stash", note, re.escape(note), told=f"in the stash: {note}")
    for path in reverted:
        later.append((project.shell(f"git checkout -q -- {path}"),))
        maker.drop("file", path, re.escape(path))
    new = f"docs/{maker.thing().replace(' ', '-')}.md"
    first.append((project.create(new, "# Notes\n"),))
    maker.keep("file", new, re.escape(new))


def _runs(maker: Maker) -> None:
    """Tests that fail, tests that were mended, and commands whose last run failed, or did not."""
    first, later = maker.work
    names = [maker.thing().replace(" ", "_") for _ in range(6)]
    tests = [f"tests/test_{name}.py::test_{name}_adds_up" for name in names]
    for name in names:
        maker.files[f"tests/test_{name}.py"] = project.test_file(name)
        maker.files[f"settings/{name}.txt"] = "off\n"
    first.append((project.tests_fail(tests),))
    mended = names[4:]
    later.append(project.tests_mended(mended))
    for name, test in zip(names[:4], tests[:4], strict=True):
        maker.keep("test", test, sign(f"test {name} adds up"))
    for name, test in zip(mended, tests[4:], strict=True):
        maker.drop("test", test, rf"test_{sign(name)}_adds_up")
        maker.keep("file", f"settings/{name}.txt", re.escape(f"settings/{name}.txt"))
    for n in range(3):
        target = maker.thing().replace(" ", "-")
        first.append((project.build(target, ok=False),))
        if n < 2:
            maker.keep("error", f"make {target}", re.escape(target), r"\.ini is missing", lines=6,
                       told=f"make {target} fails: config/{target}.ini is missing")  # fmt: skip
        else:
            config = f"config/{target}.ini"
            later.append((project.create(config, "[main]\n"), project.build(target, ok=True)))
            maker.drop("error", f"make {target}", re.escape(target), r"is missing|fail")
            maker.keep("file", config, re.escape(config))


def _running(maker: Maker) -> None:
    """Sub-agents and shells that still run, and ones that have ended."""
    first, later = maker.work
    for n in range(3):
        thing, agent_id = maker.thing(), f"a{maker.rng.randrange(16**8):08x}"
        first.append((project.agent(f"survey the {thing}", agent_id, ends=n == 2),))
        if n < 2:
            maker.keep("subagent", f"survey the {thing}", sign(thing), _ID, told=f"a sub-agent surveys the {thing}")
        else:
            later.append((project.notice(agent_id),))
            maker.drop("subagent", f"survey the {thing}", rf"survey the {sign(thing)}", r"running|runs|at work|active")
    for n in range(2):
        thing, shell = maker.thing().replace(" ", "-"), f"b{maker.rng.randrange(16**7):07x}"
        command = f"scripts/{'watch' if n == 0 else 'once'}.sh {thing}"
        first.append((project.background(command, shell),))
        if n == 0:
            maker.keep("process", command, re.escape(command), _ID, told=f"in the background: {command}")
        else:
            later.append((project.notice(shell),))
            maker.drop("process", command, re.escape(command), r"running|runs|at work|active")


def _epic(maker: Maker) -> None:
    """What the project itself says of its plan."""
    things = [maker.thing() for _ in range(4)]
    left, done = [f"Reconcile the {thing}" for thing in things[:3]], [f"Import the {things[3]}"]
    plan, adr = (f".bmad/{folder}/{maker.thing().replace(' ', '-')}.md" for folder in ("plans", "adr"))
    epic = ".bmad/epics/epic-007-harbour-dues.md"
    maker.files |= {**project.FILES, epic: project.epic("Validate", done, left), plan: "# Plan\n", adr: "# Decision\n"}
    maker.keep("epic", "the phase is Validate", "epic-007", r"\bValidate\b", told=f"{epic}, phase Validate")
    for thing, text in zip(things, left, strict=False):
        maker.keep("epic", text, sign(thing))
    maker.drop("epic", done[0], sign(things[3]))
    for path in (plan, adr):
        maker.keep("epic", path, re.escape(path))


def _woven(maker: Maker, todos: tuple[list[str], list[str]], last: str, counts: tuple[int, int]) -> tuple[Turn, ...]:
    """All that was planted, in an order of its own, among chat; what takes something back comes after it."""
    for planted in (maker.user[0], maker.agent[0], maker.work[0]):
        maker.rng.shuffle(planted)
    left, finished = todos
    numbers = range(len(left) + 1, len(left) + len(finished) + 1)
    plan = Turn("Make a plan first.", ("Here it is.", *project.tasks_made([*left, *finished])))
    tick = Turn("Go on.", ("Four are done.", *project.tasks_done(numbers)))
    return (
        plan,
        *_turns(maker, 0, counts[0]),
        *_turns(maker, 1, counts[1]),
        tick,
        Turn(last, (maker.rng.choice(maker.words.musing),)),
    )


def _turns(maker: Maker, half: int, count: int) -> list[Turn]:
    """So many turns, over which everything of this half is spread evenly."""
    rng, words = maker.rng, maker.words
    turns = []
    for n in range(count):
        prompt = " ".join([rng.choice(words.chat), *maker.user[half][n::count]])
        spoken = maker.agent[half][n::count]
        calls = [call for sequence in maker.work[half][n::count] for call in sequence]
        notices = [call for call in calls if call.tool == project.NOTICE]
        text = " ".join([rng.choice(words.musing), *spoken])
        turns.append(Turn(prompt, (text, *(call for call in calls if call not in notices))))
        turns += [Turn(call.result, ("Noted.",), Origin.SYSTEM) for call in notices]
    return turns
