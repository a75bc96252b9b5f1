"""What agents call: hooks, the status line and the launch shim. Standard library only, and little of it.

Reports go to the daemon, or to the spool when it is away. Answers never depend on the daemon: they lie
ready in the session's private folder, rendered for the agent, and are taken by an atomic rename, so that a
hook's answer and a typed fallback can never both arrive.
"""

import os
import sys
import time

from batonpass import home as places

_PAYLOAD_LIMIT = 60 << 20  # of a line that the daemon takes; one that is longer is cut, and refused as torn
_SPOOL_LIMIT = 64 << 20  # a daemon that is away for weeks must not cost the disk
_NOT_KEPT = (
    "tool_input", "tool_response", "tool_output", "input", "output", "last_assistant_message", "last_message", "prompt",
)  # fmt: skip
_CONNECT_SECONDS = 0.25
_ASK_SECONDS = 6.0  # how long a stop hook waits for the daemon's word before it looks for itself
_REVIVE_SECONDS = 10  # a daemon that is away is started again at most this often
_PATCHES = ("*** Add File: ", "*** Update File: ")
_PATCH_MARKS = ("*** Begin Patch", "*** End Patch", "*** End of File")


def main(command: str, args: list[str]) -> int:
    """Never fails the agent: whatever goes wrong here, the turn goes on."""
    try:
        return _main(command, args)
    except Exception as error:  # one sentence for whoever looks, and the agent goes on
        print(f"baton: the {command} did nothing: {type(error).__name__}: {error}", file=sys.stderr)
        return 127 if command == "become" else 0


def _main(command: str, args: list[str]) -> int:
    session = os.environ.get("BATON_SESSION", "")
    if command == "become":
        return _become(args[0] if args else session, args[1] if len(args) > 1 else places.home(os.environ))
    payload = sys.stdin.buffer.read(_PAYLOAD_LIMIT)
    if not (session.isascii() and session.isalnum()):
        return 0
    root = places.home(os.environ)
    folder = places.session_folder(root, session)
    if command == "statusline":
        return _statusline(root, folder, session, payload)
    role = args[0] if args else "event"
    part = args[1] if len(args) > 1 else "1"
    if role == "ask":
        _report(root, session, role, payload, wait=_ASK_SECONDS)
        _answer(_take(folder, "ask.", payload))
    elif role == "prime":
        if part == "1":
            _report(root, session, role, payload)
        _answer(_prime(folder, part, payload))
    elif role == "compact":
        # The daemon lays out the prime for the shortened context before the agent asks for it.
        _report(root, session, role, payload, wait=_ASK_SECONDS)
    elif role == "permit":
        _report(root, session, role, payload)
        _answer(_permit(folder, payload))
    elif role == "note":
        _report(root, session, role, payload)
        _answer(_take(folder, "brief.", payload) or _take(folder, "note.", payload))
    else:
        _report(root, session, role, payload)
    return 0


def _line(session: str, role: str, payload: bytes) -> bytes:
    """One report line, made without a JSON encoder: the payload is JSON already, whose strings hold no raw newline."""
    pane = "".join(c for c in os.environ.get("TMUX_PANE", "") if c.isascii() and (c.isalnum() or c == "%"))
    role = "".join(c for c in role if c.isascii() and c.isalnum())
    body = payload.strip().replace(b"\r", b" ").replace(b"\n", b" ") or b"null"
    # Last, because of two keys of one name the last counts: no payload can speak for another session.
    tail = f',"op":"hook","session":"{session}","role":"{role}","pane":"{pane}","at":{time.time():.3f}}}\n'
    return b'{"payload":' + body + tail.encode("ascii")


def _report(root: str, session: str, role: str, payload: bytes, wait: float = 0.0) -> None:
    line = _line(session, role, payload)
    if not _send(root, line, wait):
        _spool(root, _line(session, role, _bare(payload)))
        _revive(root)


def _bare(payload: bytes) -> bytes:
    """A payload for the disk: without what tools were given and gave, and what was said, which may hold secrets.

    The daemon needs none of that from a spool: it stands in the agent's own record.
    """
    if not any(b'"' + name.encode() + b'"' in payload for name in _NOT_KEPT):
        return payload
    import json

    try:
        found = json.loads(payload)
    except (ValueError, RecursionError):
        return b"null"
    if not isinstance(found, dict):
        return b"null"
    command = str(found.get("prompt", "")).startswith("/")
    kept = {name: value for name, value in found.items() if name not in _NOT_KEPT or (name == "prompt" and command)}
    return json.dumps(kept).encode("utf-8")


def _send(root: str, line: bytes, wait: float = 0.0) -> bool:
    import _socket

    path = places.socket_path(root)
    if places.socket_trouble(path):
        return False
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.settimeout(_CONNECT_SECONDS)
        connection.connect(path)
        sent = 0
        while sent < len(line):
            sent += connection.send(line[sent:])
    except OSError:
        return False
    else:
        if wait:
            _await_reply(connection, wait)
        return True
    finally:
        connection.close()


def _await_reply(connection: "object", wait: float) -> None:
    try:
        connection.settimeout(wait)  # type: ignore[attr-defined]
        connection.recv(4096)  # type: ignore[attr-defined]
    except OSError:
        return  # the daemon is slow or went away: the answer that lies ready still counts


def _spool(root: str, line: bytes) -> None:
    path = places.spool_path(root)
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            if os.fstat(descriptor).st_size < _SPOOL_LIMIT:
                # On a full disk half a line may be left: the next one begins a line of its own all the same.
                os.write(descriptor, b"\n" + line)
        finally:
            os.close(descriptor)
    except OSError:
        return


def _revive(root: str) -> None:
    """Start the daemon again, unless a person stopped it or somebody tried a moment ago."""
    run = os.path.join(root, "run")
    stamp = os.path.join(run, "revive")
    try:
        if not os.path.isdir(run) or os.path.exists(os.path.join(run, "stopped")):
            return
        if os.path.exists(stamp) and time.time() - os.path.getmtime(stamp) < _REVIVE_SECONDS:
            return
        os.close(os.open(stamp, os.O_WRONLY | os.O_CREAT, 0o600))
        os.utime(stamp)
        with open(os.path.join(run, "daemon.argv"), encoding="utf-8") as file:
            argv = file.read().split("\0")
    except OSError:
        return
    if os.fork():
        return
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("BATON_SESSION", "TMUX"))}
        environment["BATON_REVIVED"] = "1"
        os.execvpe(argv[0], argv, environment)
    except OSError:
        os._exit(127)


def _take(folder: str, prefix: str, payload: bytes) -> bytes | None:
    """Claim the offer for the conversation that this payload speaks of; at most one taker ever gets it."""
    try:
        names = os.listdir(folder)
    except OSError:
        return None
    for name in names:
        conversation = name[len(prefix) :]
        if not name.startswith(prefix) or name.endswith(".taken") or conversation.encode() not in payload:
            continue
        taken = os.path.join(folder, name + ".taken")
        try:
            os.rename(os.path.join(folder, name), taken)
            with open(taken, "rb") as file:
                return file.read()
        except OSError:
            continue
    return None


def _prime(folder: str, part: str, payload: bytes) -> bytes | None:
    """The part of the sealed handoff that is due for this kind of start, if any."""
    compact = payload.replace(b" ", b"")
    try:
        names = os.listdir(folder)
    except OSError:
        return None
    for name in names:
        kind, _, rest = name.partition(".")
        source, _, number = rest.partition(".")
        if kind == "prime" and number == part and f'"source":"{source}"'.encode() in compact:
            return _read(os.path.join(folder, name))  # nothing, when it was taken back in between
    return None


def _permit(folder: str, payload: bytes) -> bytes | None:
    """The allow answer, for the draft folder of this session and nothing else."""
    import json

    try:
        with open(os.path.join(folder, "permit.json"), encoding="utf-8") as file:
            permit = json.load(file)
        request = json.loads(payload)
        value = request
        for key in permit["path_at"]:
            value = value[key]
        tool = request.get("tool_name")
        paths = _patched(value) if permit.get("patches") else [value]
        wanted = [os.path.realpath(os.path.join(request.get("cwd") or "/", path)) for path in paths]
        allowed = permit["folder"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    # `allowed` was a real path when the rule was laid out: a link put there since leads to where nothing is allowed.
    if tool in permit["tools"] and wanted and all(path.startswith(allowed + os.sep) for path in wanted):
        return str(permit["stdout"]).encode()
    return None


def _patched(patch: str) -> list[str]:
    """The files that a patch adds or changes; none when it does anything else, or may."""
    paths: list[str] = []
    for line in patch.split("\n"):  # and at no other character: a path may hold those
        words = line.strip()
        found = next((words[len(head) :] for head in _PATCHES if words.startswith(head)), None)
        if found is not None:
            paths.append(found.strip())
        elif words.startswith("***") and words not in _PATCH_MARKS:
            return []
    return paths


def _answer(output: bytes | None) -> None:
    if output:
        sys.stdout.buffer.write(output)
        sys.stdout.buffer.flush()


def _statusline(root: str, folder: str, session: str, payload: bytes) -> int:
    if not _send(root, _line(session, "statusline", payload)):
        _revive(root)  # in a turn of hours nothing else may come by
    chain = _read(os.path.join(folder, "chain"))
    if chain:
        import subprocess

        try:
            # The user's own command, from the user's own settings, run as the agent would run it.
            theirs = subprocess.run(chain, shell=True, input=payload, capture_output=True, timeout=2).stdout
            sys.stdout.buffer.write(theirs.rstrip(b"\n") + b"\n")
        except (OSError, subprocess.TimeoutExpired):
            pass
    _answer(_read(os.path.join(folder, "line")))
    return 0


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _become(session: str, root: str) -> int:
    """Become the agent that the session's launch file describes; the pane's process is then the agent itself."""
    import json

    if not (session.isascii() and session.isalnum()):
        print(f"baton: {session!r} is no session's id, so nothing was started", file=sys.stderr)
        return 127
    path = os.path.join(places.session_folder(root, session), "launch.json")
    try:
        with open(path, encoding="utf-8") as file:
            launch = json.load(file)
        environment = dict(launch["env"])
        for name in ("TMUX", "TMUX_PANE", "TERM"):
            if name in os.environ:
                environment[name] = os.environ[name]
        os.chdir(launch["cwd"])
        os.execvpe(launch["argv"][0], launch["argv"], environment)
    except (OSError, ValueError, LookupError, TypeError) as error:
        print(f"baton: the agent of session {session} could not be started: {error}; see {path}", file=sys.stderr)
    return 127
