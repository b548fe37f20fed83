"""The peers and yardsticks. To add one, write its record and list it here."""

from condal.errors import ProblemError
from condal_lab.bench.peers.clarabel import CLARABEL
from condal_lab.bench.peers.copt import Copt
from condal_lab.bench.peers.cvxopt import CVXOPT
from condal_lab.bench.peers.eigh import Eigh
from condal_lab.bench.peers.factored import Lorads, Mixing, Sdplr
from condal_lab.bench.peers.interior import Csdp, Dsdp, Sdpa
from condal_lab.bench.peers.ours import Ours
from condal_lab.bench.peers.peer import Peer
from condal_lab.bench.peers.pymanopt import Pymanopt
from condal_lab.bench.peers.scs import SCS
from condal_lab.bench.peers.soft_impute import SoftImputePeer

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


# NumPy is all they need. They run only on the instances that name them.
YARDSTICKS: dict[str, Peer] = {peer.name: peer for peer in (Eigh(), SoftImputePeer())}


def installed() -> dict[str, str]:
    """Return the names and versions of the installed peers."""
    versions = {name: peer.version() for name, peer in PEERS.items()}
    return {name: version for name, version in versions.items() if version is not None}


def solver(name: str) -> Peer:
    """Return the peer or yardstick of that name, or condal."""
    return {OURS.name: OURS, **PEERS, **YARDSTICKS}[name]


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
