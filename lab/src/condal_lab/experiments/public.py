"""The public files: their checksums and URLs."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from condal.errors import ProblemError
from condal.io.formats.text import read_text

ARCHIVE = ".tar.gz"


@dataclass(frozen=True)
class Source:
    """A file: its `place` in a data folder, its checksum, and its URLs (`homes`) in order.

    The checksum of a `text` is that of its words, separated by single blanks. An archive (.tar.gz)
    contains a member with the file name of `place`. A file without a URL has an `origin`, the data
    that it was derived from.
    """

    name: str
    place: str
    sha256: str
    homes: tuple[str, ...]
    text: bool = True
    origin: str = ""

    @property
    def places(self) -> tuple[str, ...]:
        """The possible places in a data folder: plain or compressed, in the subfolder or not."""
        plain = Path(self.place)
        stems = [plain, plain.with_suffix("")] if plain.suffix == ".txt" else [plain]
        stems += [Path(stem.name) for stem in stems]
        packings = ("", ".xz", ".gz") if self.text else ("",)
        return tuple(f"{stem.as_posix()}{packing}" for stem in stems for packing in packings)

    def checksum(self, contents: bytes) -> str:
        """Return the checksum of unpacked contents."""
        return sha256(b" ".join(contents.split()) if self.text else contents).hexdigest()

    @property
    def by_hand(self) -> str:
        """How to get the file by hand."""
        if not self.homes:
            return f"derive it from {self.origin}"
        home = self.homes[0]
        return f"unpack {home}" if home.endswith(ARCHIVE) else f"fetch {home}"

    def check(self, path: Path) -> Path:
        """Return the path if the file has the right contents, else raise ProblemError."""
        checksum = self.checksum(read_text(path).data if self.text else path.read_bytes())
        if checksum != self.sha256:
            raise ProblemError(
                f"{path} is not the file {self.name} of the experiments: the checksum of its "
                f"contents is {checksum[:12]}..., not {self.sha256[:12]}...; remove it, and "
                f"{self.by_hand}"
            )
        return path


def _gset(name: str, checksum: str) -> Source:
    # The second URL is a copy at a fixed commit.
    copies = "https://raw.githubusercontent.com/romank-rudolfovo/MaxCut_benchmarkdata"
    homes = (
        f"https://web.stanford.edu/~yyye/yyye/Gset/{name}",
        f"{copies}/899680c2643b564a3b4842cd0f33b29d1d8bd55e/yyye/{name}.txt",
    )
    return Source(name, f"gset/{name}.txt", checksum, homes)


def _sdplib(name: str, checksum: str) -> Source:
    commit = "fa11b45c1d8c896a6abad2648d5dad46d8ecefaa"
    home = f"https://raw.githubusercontent.com/vsdp/SDPLIB/{commit}/data/{name}.dat-s"
    return Source(name, f"sdplib/{name}.dat-s", checksum, (home,))


def _sparse_sdp(name: str, checksum: str) -> Source:
    commit = "e3e5b2dc462ae0f4e9093f31829b0d1a89c4e6ab"
    home = f"https://raw.githubusercontent.com/vsdp/SPARSE_SDP/{commit}/data/{name}.dat-s.gz"
    return Source(name, f"sparse_sdp/{name}.dat-s", checksum, (home,))


def _dimacs(file: str, checksum: str) -> Source:
    commit, text = "a1a14d10e2e75c7243440bdf140db27d8db6b1ce", ".dat" in file
    folder = "TORUS" if text else "HAMMING"
    home = f"https://raw.githubusercontent.com/vsdp/DIMACS/{commit}/data/{folder}/{file}"
    name, place = file.partition(".")[0], f"dimacs7/{file.removesuffix('.gz') if text else file}"
    return Source(name, place, checksum, (home,), text=text)


def _pose_graph(name: str, checksum: str) -> Source:
    commit = "9b631b6b82d8aa7d32ab846412ae1c070412b7b6"
    home = f"https://raw.githubusercontent.com/david-m-rosen/SE-Sync/{commit}/data/{name}.g2o"
    return Source(name, f"g2o/{name}.g2o", checksum, (home,))


DIMACS_FILES = {
    "toruspm3-8-50.dat.gz": "30453e345580f6404f2b72cdd7c828477485f2d5cae19f899351277aefafde95",
    "torusg3-8.dat.gz": "e48be74a91054e842ac544d22aa09a468f9caf960300024390eb196db5d4937a",
    "toruspm3-15-50.dat.gz": "37b59c397a00217c7da7af795cc8eecf73dc5717fce7db7531ef768f95d0e678",
    "hamming_7_5_6.mat.gz": "c1d71c334b0ffc8c24e24370262959152966e3752f48de28f7a282974ac17446",
    "hamming_8_3_4.mat.gz": "c69f619cdadeb1389d515dd37a8e35aed7fa4a99d771620714aa985d7047443b",
}
SOURCES = {
    source.name: source
    for source in (
        Source(
            "GD97_b",
            "gd97b/GD97_b.rb",
            "c01610615366b6bf489f25fab40f2439750c81fddd25739dfa31ca9548f94b39",
            (
                "https://sparse.tamu.edu/RB/Pajek/GD97_b.tar.gz",
                "https://suitesparse-collection-website.herokuapp.com/RB/Pajek/GD97_b.tar.gz",
            ),
        ),
        _gset("G1", "d478e100fccb96c00e8b70a7303ee6d88cf58935ce097a8bc0b41c0fd9c09a26"),
        _gset("G11", "2c03e5ae002d17665f4d8765cc173293c495b180484c714d60e3a82f46b5dbae"),
        _gset("G40", "46d50003591c2799d2669d8762668a83ad62cbc8750c3792120964a343663eb8"),
        _gset("G22", "0f4cdf85870a8394bad36dfdefabdad4fc73ad8e2234457e22dacb1fa5b7778b"),
        _gset("G43", "577bcffc5756175a4ab6613082d2ecf25d02bfda1faf3197931557481a6642d1"),
        _gset("G51", "d5de587ea0a1b46da3b5b85ada0975bf108304fcf081f2ab1eed1d17dc7e9847"),
        _gset("G67", "9f9ee48cf7c40e50761d91addefc6a738be5d42b26139bf273d5700e012f4010"),
        _gset("G81", "fe76cb9851f0b5e793d76ba06dc8bd0c1067af70ce61eec0ef9366abe286e3e0"),
        Source(
            "npm2016_deps",
            "graphs/npm2016_deps.rudy.txt",
            "82632c49fb863b40faa2fea7f5bf47c30271fe22fc47667495f965e5befa3c71",
            (),
            origin="npm's package dependent-packages 2.2.2: the largest component of its graph",
        ),
        Source(
            "MNIST features",
            "kmeans_mnist/data_features.mat",
            "d809c8f897c03cf02c680f19fd02508343291fa8e0868bbdf6c68894306fd1aa",
            (
                "https://raw.githubusercontent.com/solevillar/kmeans_sdp/"
                "1cbb36bf40b3ed5b370dcab83ad04903ed1baa2a/data/data_features.mat",
            ),
            text=False,
        ),
        _sdplib("mcp100", "518ba6de9e300f6dc4840cb81d890c37574f248b27a08d6e5d0296e2241bc345"),
        _sdplib("mcp250-1", "f8443fe0e6811d5e6df9d9bdff379855422bd0157b0cae571c27fed2dbe8afea"),
        _sdplib("mcp500-1", "e77b778ed3a0a9420f3da4692a1a039ddbcaf556c7f1ebeb08362b61b4d38e3e"),
        _sdplib("maxG11", "8e12729508a2b7a00d1c3d838d5bae178e518d3b9050bf464af37d48405b251c"),
        _sdplib("maxG32", "23844b395a8c1a778c3c39bfeeae66cbaa975339fb25d3101520489eeb29668f"),
        _sdplib("maxG51", "46274eb7e564011b7f4e42f6067462a0d04abd5d83a99dafb92b88a183d154bd"),
        _sdplib("maxG60", "2f3fa863e2a6a3ebcc2e79e2ee7a5e962515ce214102f899f9b49dd5a3d1f534"),
        _sdplib("gpp100", "ac4d5cbd2e8f178a7e0b1750d57e250111c0b69e036c94b6f586eadfc10016b1"),
        _sdplib("gpp250-1", "a9bfb00f1f15569e492a03d294b12eb7b137419cbaf38603e44268bf565e6ed7"),
        _sdplib("gpp500-1", "90f5b8a02ad516915e4ed5af7d8f0a77787888ad1916c1a0ba891511a2219650"),
        _sdplib("theta1", "6d8d279e57b9a0515a8cfe2ea693f0a7a6ab81ee45e3ed6beaafbf1349450f81"),
        _sdplib("theta2", "6c0d59ff43786f5760e22a7a79c834c69b52725b2fd00147f29359a82238c331"),
        _sdplib("theta3", "526ad5d8b1214d9e0e982076d8ee579167b954f19c4f89a43c8ff8f8c8f82e69"),
        _sdplib("theta4", "bcb35b6926aae7bdf8af05d27986168d92e0ae54bd50aac746118f79018db178"),
        _sdplib("thetaG11", "8f961ff582a23b38c4f9cfb6abeb5dae61839a2fd7c05ed09955c2ce9193d369"),
        _sdplib("qap5", "7dcd0d58c741b3f9e59bb3c3e67e8e8dc7fcb6f3895cd56713713f422df472c7"),
        _sdplib("qap7", "c471bde0cc2e2169d445477fd6b68d91e2280101065b03ec5c1862090adc9046"),
        _sdplib("qpG11", "afda525309a6803ec72633b59d18eacc9629eb9b1b87c1d3ce114b1c17d0ad83"),
        _sdplib("arch0", "78daa2bac1f66ac4443cadfbde4b0efd8a772d7b10107d0b0a706808c35c4aa3"),
        _sdplib("control1", "e568ca02d818814e4f55999ea97cfee2eba3fdd0cb809f6e14f6c80fa1a9b53b"),
        _sdplib("control2", "09cd8450837ea114eb938f6e6b7f885d79291677e7a69e62d5c44dff419ac028"),
        _sdplib("control3", "a9b755d384c0311d2ad7d5fa8e35de87d86f1bbee26adfc1da17186d0c882f30"),
        _sdplib("hinf1", "9bf25ede40d8714c7767be8e0307ab7c7fae6e8b5caabeb6c91e3bd32bab1c03"),
        _sdplib("infd1", "60cd2aeeb91bad5aa8013d9383189e6bf08c86755351388231aff03cd2229b3a"),
        _sdplib("infp1", "ac2a258012839d06e988eed8f8a3189110884f6bb3560e7093169a97b38d8d41"),
        _sdplib("truss1", "6ed8282832000d2e74d223cb42dc0af65af522aaa63fc24444aaf9e7f3255859"),
        _sdplib("truss5", "6d79ee8b18ed3af9a2df09bda373e5361fcb6409aa9d692115785e3bd2597be4"),
        _sparse_sdp("buck1", "1830e062bd79624500d6c5036a8626635afbd1327466b4498e55aac0695cdc2f"),
        _sparse_sdp("mater-1", "4c32d0d1dd2b78d50e3c0a6dc45a484423179db7da862ca40a2ea6a9429459cd"),
        _sparse_sdp("shmup1", "cc71d7ad2e8b820ecc1308dff9db13dd82759a37d551ee6f79322673ccabffeb"),
        _sparse_sdp("trto1", "43c3b048b6f83d07254d94ea22f2a1b6a90233f1831381da83a85fedd0bb5119"),
        _sparse_sdp("vibra1", "dcce429dff2f21e6d65546d7a46e31627ba1cd946ffc023f15928e0083199c2b"),
        Source(
            "QAPLIB",
            "qaplib/qaplib_dat_sln.tar.xz",
            "4f596236756fd43233532695d4e1f4db542d6908839dde6b70e45a86881b828a",
            (),
            text=False,
            origin="github.com/didoudiaz/QAP-instances: its .dat and .sln files in one archive",
        ),
        Source(
            "MovieLens",
            "movielens/ml-latest-small_ratings.csv",
            "c37e802b52c1717e67ab941926c19897e1bc3481f213a93c564ef6d2a1e8ef32",
            (),
            origin="the file ratings.csv of GroupLens's ml-latest-small of 2018",
        ),
        _pose_graph("CSAIL", "eb50fd3d5631749aa28252cd5ad4a7e92db3940467ed127fc9b10667ed6edd2b"),
        _pose_graph("intel", "9bb1db58f18ae05362970d292ac74c5d9cbae1c5fcfc690f3edb2619eea11536"),
        _pose_graph(
            "manhattan", "f927fc7a2aa4cf15f61d0dcfaac1ad8d0eb82427f6e3e6c9e0fedede85d1c5f8"
        ),
        _pose_graph(
            "sphere2500", "e61819d92d5d00c7777ae3da0a7907b55bdd33b3cb60010e1516ecd435a7beef"
        ),
        _pose_graph("torus3D", "16dcc2f17629f08c5fcd910d1c841509a128a8a711088d232476720ee037a6fe"),
        _pose_graph(
            "parking-garage", "d8d047b0f6c76473811a0d7e675b3934681c486fa67ee67b6a813521ebf6b6b3"
        ),
        *(_dimacs(file, checksum) for file, checksum in DIMACS_FILES.items()),
    )
}
