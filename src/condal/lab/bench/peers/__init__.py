"""The peers, one record each. To add one: write its record, and list it here."""

from condal.errors import ProblemError
from condal.lab.bench.peers.clarabel import CLARABEL
from condal.lab.bench.peers.copt import Copt
from condal.lab.bench.peers.cvxopt import CVXOPT
from condal.lab.bench.peers.factored import Lorads, Mixing, Sdplr
from condal.lab.bench.peers.interior import Csdp, Dsdp, Sdpa
from condal.lab.bench.peers.ours import Ours
from condal.lab.bench.peers.peer import Limits, Peer, PeerAnswer, Refusal, Task, TimeExceeded, Usage
from condal.lab.bench.peers.pymanopt import Pymanopt
from condal.lab.bench.peers.scs import SCS

OURS: Peer = Ours()

PEERS: dict[str, Peer] = {
    peer.name: peer
    for peer in (
        Pymanopt(),
        SCS,
        CLARABEL,
        CVXOPT,
        Copt(),
        Csdp(),
        Sdpa(),
        Dsdp(),
        Lorads(),
        Sdplr(),
        Mixing(),
    )
}


def installed() -> dict[str, str]:
    """The names and versions of the peers that are here."""
    versions = {name: peer.version() for name, peer in PEERS.items()}
    return {name: version for name, version in versions.items() if version is not None}


def solver(name: str) -> Peer:
    """The peer of that name, or ours."""
    return OURS if name == OURS.name else PEERS[name]


def chosen(names: str | None) -> dict[str, str]:
    """Of the peers that are installed those that are named, by commas; all if none is named."""
    here = installed()
    if names is None:
        return here
    known = {name.lower(): name for name in PEERS}
    picked = [word.strip() for word in names.split(",") if word.strip()]
    for word in picked:
        if word.lower() not in known:
            raise ProblemError(f"there is no peer {word!r}; there are {', '.join(PEERS)}")
        name = known[word.lower()]
        if name not in here:
            raise ProblemError(f"{name} is not installed: {PEERS[name].install}")
    return {known[word.lower()]: here[known[word.lower()]] for word in picked}


__all__ = [
    "OURS",
    "PEERS",
    "Limits",
    "Peer",
    "PeerAnswer",
    "Refusal",
    "Task",
    "TimeExceeded",
    "Usage",
    "chosen",
    "installed",
    "solver",
]
