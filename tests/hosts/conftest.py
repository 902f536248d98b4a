"""Hosts of this machine that know each other by a network only (`up`): ranks on them, and links that are cut."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from launcher import MPICH, OPEN_MPI, launcher_of
from program_under_test import PROGRAM, built_with_mpi
from running_jobs import wait_until

HERE = Path(__file__).resolve().parent
AS_ROOT = () if os.geteuid() == 0 else ("--user", "--map-root-user")
NAMESPACES = ("--net", "--mount", "--pid", "--uts", "--ipc")
# Daemons of Open MPI on other hosts that do not answer are given up after 3 seconds, not after 480.
LOST_AFTER = {"oob_tcp_keepalive_time": 1, "oob_tcp_keepalive_intvl": 1, "oob_tcp_keepalive_probes": 2}
# What launchers call in the place of ssh, and over which network they and the ranks talk.
OPTIONS = {
    OPEN_MPI: ("--mca plm_rsh_agent {enter} --mca oob_tcp_if_include e0 --mca btl_tcp_if_include e0 " +
               " ".join(f"--mca {name} {value}" for name, value in LOST_AFTER.items()), "--host", "-x {name}"),
    MPICH: ("-launcher ssh -launcher-exec {enter} -iface e0", "-hosts", "-genv {name} {value}"),
}


def why_not() -> str:
    """Why there are no such hosts here; "": there are."""
    for command in ("unshare", "nsenter", "ip", "tc"):
        if shutil.which(command) is None:
            return f"no {command} on this machine (util-linux, iproute2)"
    made = subprocess.run(["unshare", *AS_ROOT, *NAMESPACES, "--fork", "sh", "-c", "ip link add name test0 type bridge && ip link add name test1 type veth peer name test2 && "
                           "tc qdisc add dev test1 root tbf rate 1gbit burst 1mb latency 10ms && mount -t tmpfs tmpfs /dev/shm"], capture_output=True, text=True)
    return "" if made.returncode == 0 else f"no namespaces with networks of their own on this machine: {made.stderr.strip()}"


def pytest_collection_modifyitems(items):
    here = [item for item in items if HERE in item.path.parents]
    if here and (reason := why_not()):
        for item in here:
            item.add_marker(pytest.mark.skip(reason=reason))
    for item in here:
        if launcher_of() is MPICH and not item.name.startswith("test_ranks_find_their_hosts"):
            item.add_marker(pytest.mark.skip(reason="MPICH: `bench mapping` did not end within three minutes on a busy machine, and the rest has not run to its end"))


@dataclass
class Hosts:
    """h1, h2, ... The folder `shared` is one for all, `private` has other files on each."""

    up: subprocess.Popen
    inside: int  # a process in the namespaces of all of them
    folder: Path

    @property
    def shared(self) -> Path:
        return self.folder / "shared"

    @property
    def private(self) -> Path:
        return self.folder / "private"

    def within(self, *command) -> list[str]:
        """The command among the hosts, on none of them."""
        user = ["--user", "--preserve-credentials"] if AS_ROOT else []
        return ["nsenter", "-t", str(self.inside), *user, "-n", "-m", "-p", *map(str, command)]

    def on(self, host: str, line: str) -> list[str]:
        return self.within(self.folder / "enter", host, line)

    def call(self, host: str, *words, check=True, timeout=300, env=None) -> subprocess.CompletedProcess:
        """A program on one host, in the shared folder."""
        done = subprocess.run(self.on(host, self.alone(*words, env=env)), capture_output=True, text=True, timeout=timeout)
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    def alone(self, *words, env=None) -> str:
        return " ".join(map(str, ["cd", self.shared, "&&", *(f"{name}={value}" for name, value in {**VARIABLES, **(env or {})}.items()), *words]))

    def line(self, ranks: dict[str, int], *words, program=PROGRAM, env=None) -> str:
        """Ranks on each host, launched from the first."""
        launcher = launcher_of()
        options, hosts, variable = OPTIONS[launcher]
        variables = {**VARIABLES, **(env or {})}
        names = ["MPI4PY_MPIABI", "UCX_TLS", "LD_PRELOAD", "LD_LIBRARY_PATH"]
        variables |= {name: value for name, value in launcher.variables.items() if name in names}
        variables |= {"UCX_NET_DEVICES": "e0"} if launcher is MPICH else {}
        exports = [f"{name}='{value}'" for name, value in {**launcher.variables, **variables}.items()]
        command = [*exports, *launcher.command(sum(ranks.values()), *options.format(enter=self.folder / "enter").split(), hosts,
                                               ",".join(f"{host}:{number}" for host, number in ranks.items()),
                                               *" ".join(variable.format(name=name, value=value) for name, value in variables.items()).split())]
        return " ".join(map(str, ["cd", self.shared, "&&", *command, program, *words]))

    def start(self, ranks: dict[str, int], *words, **how) -> subprocess.Popen:
        return subprocess.Popen(self.on(next(iter(ranks)), self.line(ranks, *words, **how)), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, ranks: dict[str, int], *words, check=True, timeout=300, **how) -> subprocess.CompletedProcess:
        done = subprocess.run(self.on(next(iter(ranks)), self.line(ranks, *words, **how)), capture_output=True, text=True, timeout=timeout)
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    def link(self, host: str, state: str) -> None:
        """"down" or "up"."""
        subprocess.run(self.within("ip", "link", "set", host, state), check=True)

    def processes(self, host: str, with_variable: str = "") -> list[int]:
        """Of that host, those with such a variable; by their numbers within."""
        look = ('host=$(readlink /proc/$(cat "$1")/ns/net)\nfor p in /proc/[0-9]*; do [ "$(readlink $p/ns/net)" = "$host" ] && '
                'grep -qz "$2" $p/environ && echo ${p#/proc/}; done 2>/dev/null; true')
        found = subprocess.run(self.within("sh", "-c", look, "sh", self.folder / host, f"^{with_variable}"), capture_output=True, text=True, check=True)
        return [int(line) for line in found.stdout.split() if line != (self.folder / host).read_text().strip()]

    def ranks(self, host: str) -> list[int]:
        return self.processes(host, f"{launcher_of().rank}=")

    def signal(self, which: str, processes: list[int]) -> None:
        subprocess.run(self.within("kill", f"-{which}", *processes), check=True)

    def end(self, host: str) -> None:
        """As where the power fails: nobody hears of it."""
        self.link(host, "down")
        self.signal("KILL", self.processes(host))


VARIABLES = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive", "STAGHORN_TUNING": "off", "SOURCE_DATE_EPOCH": "0"}


@pytest.fixture(scope="module")
def hosts(program, tmp_path_factory):
    """Three hosts with links of 1 Gb/s."""
    if not built_with_mpi():
        pytest.skip("a build without MPI")
    folder = tmp_path_factory.mktemp("hosts") / "of"
    for name in ("shared", "private"):
        (folder / name).mkdir(parents=True)
    up = subprocess.Popen(["unshare", *AS_ROOT, *NAMESPACES, "--fork", "--kill-child", "--mount-proc", HERE / "up", folder, "3", "1gbit"],
                          text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    wait_until(lambda: (folder / "ready").exists() or up.poll() is not None)
    assert (folder / "ready").exists(), up.communicate()
    inside = int(Path(f"/proc/{up.pid}/task/{up.pid}/children").read_text())
    yield Hosts(up, inside, folder)
    up.kill()  # all that runs in its namespaces ends with it
    up.wait()
