"""The peers and yardsticks. To add one, write its `Peer` and list it here."""

from condal.errors import ProblemError
from condal_lab.bench.peers.executables import EXECUTABLES
from condal_lab.bench.peers.packages import COPT, EIGH, OURS, PACKAGES, PYMANOPT
from condal_lab.bench.peers.peer import Peer

PEERS = {peer.name: peer for peer in (PYMANOPT, *PACKAGES, COPT, *EXECUTABLES)}

# They run only on the instances that name them, which bring those without a record of their own.
YARDSTICKS: dict[str, Peer | None] = {
    "eigh": EIGH,
    **dict.fromkeys(("soft-impute", "HiGHS", "Wirtinger flow", "SE-Sync", "R rho R")),
    "projected least squares": None,
}


def installed() -> dict[str, str]:
    """Return the names and versions of the installed peers."""
    versions = {name: peer.version() for name, peer in PEERS.items()}
    return {name: version for name, version in versions.items() if version is not None}


def solver(name: str) -> Peer:
    """Return the peer or yardstick of that name, or condal."""
    peer = {OURS.name: OURS, **PEERS, **YARDSTICKS}[name]
    if peer is None:
        raise ProblemError(f"{name} solves only instances that bring it")
    return peer


def chosen(names: str | None) -> dict[str, str]:
    """Return the installed peers named in a comma-separated list; all of them for None."""
    present = installed()
    if names is None:
        return present
    known = {name.lower(): name for name in PEERS}
    picked = [word.strip() for word in names.split(",") if word.strip()]
    for word in picked:
        if word.lower() not in known:
            raise ProblemError(f"there is no peer {word!r}; there are {', '.join(PEERS)}")
        name = known[word.lower()]
        if name not in present:
            raise ProblemError(f"{name} is not installed: {PEERS[name].install}")
    return {known[word.lower()]: present[known[word.lower()]] for word in picked}
