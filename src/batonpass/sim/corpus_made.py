"""Corpora by seed: sixty facts and more over forty turns, in many wordings, among things that do not matter."""

import random
from collections.abc import Callable

from batonpass.sim.corpus import Call, Corpus, Planted, Turn
from batonpass.transcripts.events import Origin

_NOUNS = (
    "ledger",
    "invoice",
    "parser",
    "journal",
    "exporter",
    "scheduler",
    "mailer",
    "catalogue",
    "voucher",
    "tariff",
    "depot",
    "manifest",
    "gateway",
    "roster",
    "archive",
    "beacon",
    "cursor",
    "digest",
    "envelope",
    "fixture",
    "glossary",
    "hopper",
)
_ADJECTIVES = (
    "amber",
    "brisk",
    "coral",
    "dusty",
    "early",
    "fuzzy",
    "grand",
    "hazel",
    "ivory",
    "jolly",
    "lunar",
    "mossy",
)
_CHAT = (
    "Thanks, that reads well.",
    "Take your time with this one.",
    "How is it going?",
    "I had a look at the diff over lunch.",
    "The demo for the board went fine yesterday.",
    "Is the build slower than last week?",
)
_MUSING = (
    "I read the module first and made a list of its callers.",
    "The tests of the neighbouring package take a minute.",
    "This part of the code is older than the rest.",
    "I will look at the next file now.",
    "Half of it is done.",
)
_RULES = (
    "Never write to the {x} table.",
    "You must keep the {x} endpoint compatible.",
    "Please don't rename anything in {x}.",
    "Only touch {x} behind its feature flag.",
    "Always run the {x} checks before you commit.",
    "Make sure that {x} still works offline.",
    "Use {x} for retries, not your own loop.",
    "{x} is off limits for now.",
    "No new dependencies in {x}.",
    "Under no circumstances may {x} log customer names.",
)
_REVOKED = (
    ("Never deploy {x} on a Friday.", "You may deploy {x} on a Friday now."),
    ("Always ask me before you change {x}.", "Forget what I said about asking before you change {x}."),
    ("All of {x} must be written in Perl.", "It's no longer necessary that {x} is written in Perl."),
)
_DECISIONS = (
    "I decided to keep {x} in memory because the file is small.",
    "I chose a queue for {x} rather than a cron job.",
    "We went with integer cents in {x} since floats lose money, because the audit demands it.",
    "I settled on one worker for {x}; two would race.",
    "I picked a trie for {x} because prefixes are what people type.",
    "Going with {x} as the single source of truth, because two had drifted apart.",
)
_REVERSED = (
    (
        "I decided to cache {x} on disk because reads are slow.",
        "On second thought I dropped the disk cache of {x}: I switched {x} from disk to memory.",
    ),
)
_FAILURES = (
    "I tried to patch {x} in place but the loader caches it.",
    "A bigger buffer for {x} didn't work.",
    "Locking {x} by a file turned out not to help on NFS.",
    "I reverted the async version of {x}: it made things worse.",
    "Mocking {x} was a dead end.",
)
_VALUES = (
    ("The {x} service listens on port {port}.", "port"),
    ("The spec of {x} is at https://docs.{x}.example.org/v{n}.", "url"),
    ("{x} pins version {v} of its client.", "version"),
    ("The ticket for {x} is PAY-{port}.", "id"),
    ("The bucket of {x} is called `{x}-eu-{n}`.", "id"),
)
_STALE = (
    ("The {x} proxy runs on port {port}.", "I moved the {x} proxy from port {port} to port {other}."),
    ("{x} needs version {v} of the runtime.", "{x} now needs version {w} of the runtime."),
)
_TODOS = (
    "Split {x} into two modules",
    "Document the retries of {x}",
    "Benchmark {x} with a million rows",
    "Translate {x}",
)
Fill = Callable[[str], str]


class _Maker:
    """Plants facts turn by turn. Every fact has a name of its own, so that it can be found again."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        pairs = [f"{adjective}_{noun}" for adjective in _ADJECTIVES for noun in _NOUNS]
        self.rng.shuffle(pairs)
        self._names = iter(pairs)
        self._ports = iter(self.rng.sample(range(2001, 9999), 200))
        self.user: list[str] = []
        self.later_user: list[str] = []
        self.agent: list[str] = []
        self.later_agent: list[str] = []
        self.calls: list[Call] = []
        self.later_calls: list[Call] = []
        self.must: list[Planted] = []
        self.must_not: list[Planted] = []

    def name(self) -> str:
        return next(self._names)

    def port(self) -> str:
        return str(next(self._ports))

    def keep(self, kind: str, said: str, *needles: str) -> None:
        self.must.append(Planted(kind, needles, said))

    def drop(self, kind: str, said: str, *needles: str) -> None:
        self.must_not.append(Planted(kind, needles, said))


def made(seed: int) -> Corpus:
    """The corpus of a seed: always the same one."""
    maker = _Maker(seed)
    _said(maker)
    _values(maker)
    todos, finished = _todos(maker)
    changed, reverted = _files(maker)
    _runs(maker)
    _running(maker)
    last = f"Now please finish the {maker.name()} report and show me the totals."
    maker.keep("request", last, last)
    branch = f"feature/{maker.name()}"
    maker.keep("branch", branch, branch)
    turns = _woven(maker, todos, finished, last)
    committed = {path: f"# {path}\n" for path in (*changed, *reverted)}
    return Corpus(
        seed,
        turns,
        tuple(maker.must),
        tuple(maker.must_not),
        branch,
        committed,
        {path: f"# {path}, changed\n" for path in changed},
    )


def _said(maker: _Maker) -> None:
    for template in _RULES:
        name = maker.name()
        maker.user.append(template.format(x=name))
        maker.keep("constraint", maker.user[-1], name)
    for before, after in _REVOKED:
        name = maker.name()
        maker.user.append(before.format(x=name))
        maker.later_user.append(after.format(x=name))
        maker.drop("constraint", maker.user[-1], maker.user[-1])
    for kind, templates in (("decision", _DECISIONS), ("failure", _FAILURES)):
        for template in templates:
            name = maker.name()
            maker.agent.append(template.format(x=name))
            maker.keep(kind, maker.agent[-1], name)
    for before, after in _REVERSED:
        name = maker.name()
        maker.agent.append(before.format(x=name))
        maker.later_agent.append(after.format(x=name))
        maker.drop("decision", maker.agent[-1], maker.agent[-1])


def _values(maker: _Maker) -> None:
    for n in range(12):
        template, kind = _VALUES[n % len(_VALUES)]
        name, port = maker.name().replace("_", "-"), maker.port()
        filled = template.format(x=name, port=port, n=n + 1, v=f"{n + 1}.{port[:2]}.{port[2:]}")
        version = f"{n + 1}.{port[:2]}.{port[2:]}"
        url = f"https://docs.{name}.example.org/v{n + 1}"
        label = f"PAY-{port}" if "PAY" in template else f"{name}-eu-{n + 1}"
        value = {"port": port, "url": url, "version": version, "id": label}[kind]
        (maker.user if n % 2 else maker.agent).append(filled)
        maker.keep("value", filled, value)
    for before, after in _STALE:
        name, old, new = maker.name().replace("_", "-"), maker.port(), maker.port()
        forms = {"x": name, "port": old, "other": new, "v": f"4.{old[:2]}.{old[2:]}", "w": f"5.{new[:2]}.{new[2:]}"}
        maker.agent.append(before.format(**forms))
        maker.later_agent.append(after.format(**forms))
        maker.drop("value", maker.agent[-1], maker.agent[-1])
        maker.keep("value", maker.later_agent[-1], new if "{other}" in after else forms["w"])


def _todos(maker: _Maker) -> tuple[list[str], list[str]]:
    texts = [_TODOS[n % len(_TODOS)].format(x=maker.name()) for n in range(12)]
    left, finished = texts[:8], texts[8:]
    for text in left:
        maker.keep("todo", text, next(word for word in text.split() if "_" in word))
    for text in finished:
        maker.drop("todo", text, text)
    return left, finished


def _files(maker: _Maker) -> tuple[list[str], list[str]]:
    names = [f"src/{maker.name()}.py" for _ in range(8)]
    changed, reverted = names[:6], names[6:]
    maker.calls += [Call("Edit", {"file_path": path, "new_string": "x"}, "The file was updated.") for path in names]
    maker.later_calls += [Call("Bash", {"command": f"git checkout -- {path}"}, "Updated 1 path") for path in reverted]
    for path in changed:
        maker.keep("file", path, path)
    for path in reverted:
        maker.drop("file", path, path)
    return changed, reverted


def _runs(maker: _Maker) -> None:
    failing = [f"tests/test_{maker.name()}.py::test_{maker.name()}" for _ in range(4)]
    mended = [f"tests/test_{maker.name()}.py::test_{maker.name()}" for _ in range(2)]
    first = "\n".join(f"FAILED {name} - assert 0 == 1" for name in (*failing, *mended))
    maker.calls.append(Call("Bash", {"command": "pytest -q"}, f"Exit code 1\n{first}\n6 failed, 40 passed", ok=False))
    second = "\n".join(f"{name} PASSED" for name in mended)
    command = f"pytest -v {' '.join(name.split('::')[0] for name in mended)}"
    maker.later_calls.append(Call("Bash", {"command": command}, f"{second}\n2 passed"))
    for name in failing:
        maker.keep("test", name, name.split("::")[1])
    for name in mended:
        maker.drop("test", name, name)
    for n in range(3):
        target, reason = maker.name(), maker.name()
        result = f"Exit code 2\nerror: {reason} is not declared"
        maker.calls.append(Call("Bash", {"command": f"make {target}"}, result, ok=False))
        if n < 2:
            maker.keep("error", f"make {target}", target, reason)
        else:
            maker.later_calls.append(Call("Bash", {"command": f"make {target}"}, "built"))
            maker.drop("error", reason, f"error: {reason} is not declared")


def _running(maker: _Maker) -> None:
    for n in range(3):
        task, agent_id = f"survey {maker.name()}", f"a{maker.rng.randrange(16**8):08x}"
        launched = f"Async agent launched successfully.\nagentId: {agent_id} (internal ID)"
        maker.calls.append(Call("Agent", {"description": task, "subagent_type": "general-purpose"}, launched))
        if n < 2:
            maker.keep("subagent", task, agent_id)
        else:
            maker.later_user.append(_notice(agent_id))
            maker.drop("subagent", task, agent_id)
    for n in range(2):
        shell, command = f"b{maker.rng.randrange(16**7):07x}", f"npm run {maker.name()}"
        started = f"Command running in background with ID: {shell}. Output is being written to: /tmp/{shell}.output"
        maker.calls.append(Call("Bash", {"command": command, "run_in_background": True}, started))
        if n < 1:
            maker.keep("process", command, shell)
        else:
            maker.later_user.append(_notice(shell))
            maker.drop("process", command, shell)


def _notice(task: str) -> str:
    return f"<task-notification>\n<task-id>{task}</task-id>\n<status>completed</status>\n</task-notification>"


def _woven(maker: _Maker, todos: list[str], finished: list[str], last: str) -> tuple[Turn, ...]:
    """All that was planted, in an order of its own, among chat; what takes something back comes after it."""
    rng = maker.rng
    for planted in (maker.user, maker.agent, maker.calls):
        rng.shuffle(planted)
    first = _turns(maker, maker.user, maker.agent, maker.calls, 28)
    second = _turns(maker, maker.later_user, maker.later_agent, maker.later_calls, 14)
    begun = [{"content": text, "status": "pending"} for text in (*todos, *finished)]
    ended = [*({"content": text, "status": "pending"} for text in todos),
             *({"content": text, "status": "completed"} for text in finished)]  # fmt: skip
    plan = Turn("Make a plan first.", ("Here it is.", Call("TodoWrite", {"todos": begun}, "Todos have been modified.")))
    tick = Turn("Go on.", ("Four are done.", Call("TodoWrite", {"todos": ended}, "Todos have been modified.")))
    return (plan, *first, *second, tick, Turn(last, (rng.choice(_MUSING),)))


def _turns(maker: _Maker, user: list[str], agent: list[str], calls: list[Call], count: int) -> list[Turn]:
    rng = maker.rng
    turns = []
    for n in range(count):
        mine, yours, done = user[n::count], agent[n::count], calls[n::count]
        notices = [text for text in mine if text.startswith("<task-notification>")]
        words = [text for text in mine if not text.startswith("<task-notification>")]
        prompt = " ".join([rng.choice(_CHAT), *words])
        answer: list[str | Call] = [" ".join([rng.choice(_MUSING), *yours]), *done]
        turns.append(Turn(prompt, tuple(answer)))
        turns += [Turn(text, ("Noted.",), Origin.SYSTEM) for text in notices]
    return turns
