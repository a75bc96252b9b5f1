"""Two daemons on one PostgreSQL: each runs its own sessions' cycles and shows the other's, and neither touches them."""

import json
from typing import Any

import pytest
import sqlalchemy as sa

from batonpass.sim.postgres import Server
from tests.system.house import House, Refused, Session

TASK = "make the reader survive torn lines"


def _hosts(house: House) -> dict[str, Any]:
    return {host["host"]: host for host in house.call("status", all_hosts=True)["hosts"]}


def _shown(house: House, session: Session) -> dict[str, Any]:
    rows = house.call("status", all_hosts=True)["sessions"]
    return next(row for row in rows if row["session"] == session.id)


def _host(house: House) -> str:
    return str(house.call("ping")["host"])


def _silence(server: Server, host: str) -> None:
    """As if the host had last been heard of a minute ago."""
    engine = sa.create_engine(server.url)
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE baton.hosts SET seen = seen - 60 WHERE id = :id"), {"id": host})
        connection.execute(sa.text("UPDATE baton.leases SET expires = 0 WHERE host = :id"), {"id": host})
    engine.dispose()


def test_each_host_passes_its_own_batons_and_shows_those_of_the_other(east: House, west: House) -> None:
    shop, docs = east.run("shop"), west.run("docs", brain={"jumps": {}})
    shop.say(TASK)
    cycle = shop.cycle()
    assert cycle["state"] == "done"
    assert set(shop.tags().values()) == {1}
    docs.say("look around")
    west.wait("its usage is known", lambda: docs.status["used"] == 21_000)

    west.wait("west sees the successor's usage", lambda: _shown(west, shop)["used"])
    seen = _shown(west, shop)
    own = shop.status
    keys = ("name", "project", "agent", "agent_session", "used", "usable", "percent", "zone", "chain", "host", "pane")
    assert {key: seen[key] for key in keys} == {key: own[key] for key in keys}
    assert seen["last_handoff"]["number"] == 1
    hosts = _hosts(west)
    assert {(host["here"], host["alive"], host["sessions"]) for host in hosts.values()} == {
        (True, True, 1),
        (False, True, 1),
    }
    assert [row["name"] for row in west.call("status")["sessions"]] == ["docs"]
    assert west.call("cycles_list") == []
    assert json.loads(west.baton("status", "--all-hosts", "--json"))["hosts"]
    words = west.baton("status", "--all-hosts")
    assert "(this host)" in words
    assert "shop" in words

    for name in ("shop", shop.id, shop.id[:5]):
        with pytest.raises(Refused, match=f"shop runs on host {_host(east)}"):
            west.call("handoff", session=name)
    assert len(east.cycles(shop.id)) == 1


@pytest.mark.long
@pytest.mark.parametrize("step", ["await", "verify"])
def test_a_host_that_is_killed_in_mid_cycle_finishes_its_own_cycle_after_its_restart(
    east: House, west: House, server: Server, step: str
) -> None:
    name = _host(east)
    shop, docs = east.run("shop"), west.run("docs")
    shop.hold(step)
    docs.hold("await", "pass")
    for session in (docs, shop):
        session.say(TASK)
    docs.until_held("await")
    shop.until_held(step)
    east.kill_daemon(stay_away=True)
    _silence(server, name)

    docs.go_on("await")
    docs.until_held("pass")
    seen = _shown(west, shop)
    assert (seen["state"], seen["cycle"]["step"]) == ("unreachable", step)
    docs.go_on("pass")
    assert docs.cycle()["state"] == "done"
    assert docs.arrived() == ["ask", "kick"]
    assert not _hosts(west)[name]["alive"]
    assert "dead, last heard of" in west.baton("status", "--all-hosts")
    with pytest.raises(Refused, match=f"belongs to host {name}, which is not heard of"):
        west.call("handoff", session="shop")
    west.kill_daemon(stay_away=True)
    west.start()
    assert _shown(west, shop)["cycle"]["step"] == step

    shop.go_on(step)
    east.start()
    cycle = shop.cycle()
    assert cycle["state"] == "done"
    assert shop.arrived() == ["ask", "kick"]
    assert len(shop.documents()) == 1
    assert len(east.cycles(shop.id)) == len(west.cycles(docs.id)) == 1
    west.wait("east is back", lambda: _hosts(west)[name]["alive"])
    west.wait("its session as well", lambda: _shown(west, shop)["state"] == "idle")


@pytest.mark.long
def test_only_as_many_batons_are_in_the_air_as_all_hosts_together_may_have(houses: tuple[House, House]) -> None:
    east, west = houses
    for house in houses:
        house.configure("max_concurrent: 1\n")
        house.start()
    slow, quick = east.run("slow", brain={"delay": 1.5}), west.run("quick")
    slow.say(TASK)
    slow.until_step("await")
    quick.say(TASK)
    held, waited = slow.cycle(), quick.cycle()
    assert {held["state"], waited["state"]} == {"done"}
    steps = {step["step"]: step for step in waited["steps"]}
    assert steps["ask"]["started"] >= held["started"] + held["seconds"] - 0.05


@pytest.mark.long
def test_sessions_of_the_same_name_are_each_host_s_own(east: House, west: House) -> None:
    there, here = east.run("shop", brain={"jumps": {}}), west.run("shop", brain={"jumps": {}})
    for house, session in ((east, there), (west, here)):
        session.until_state("idle")
        assert house.call("handoff", session="shop")["session"] == session.id
    assert {there.cycle()["state"], here.cycle()["state"]} == {"done"}
