"""The site builds without a warning, holds every public name, command and option, and asks nothing
of the network."""

import inspect
import os
import re
import subprocess
import sys
import zlib
from html import unescape
from importlib import import_module
from pkgutil import iter_modules

import pytest

import condal
from browser import Browser, needs_chromium
from condal.cli.app import cli
from condal.cli.applications import APPLICATIONS
from pages import ROOT, all_pages, has_cvxpy

# Packages that are commands, or whose names users have no need of.
INNER = {"certificates", "cli", "driver", "io", "linalg", "runtime"}
PACKAGES = {module.name for module in iter_modules(condal.__path__) if module.ispkg}
DOCUMENTED = {path.stem for path in (ROOT / "docs" / "api").glob("*.md")} - {"index", "condal"}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site, built afresh."""
    if not has_cvxpy():
        pytest.skip("the reference holds condal.cvxpy, which needs CVXPY 1.9 or later")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-n", "-W", "--keep-going"]
    command += ["-d", str(folder / "doctrees"), str(ROOT / "docs"), str(folder / "html")]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "PYTHONWARNINGS": ""}
    )
    assert done.returncode == 0, done.stderr
    return folder / "html"


@pytest.fixture(scope="module")
def names(site):
    """The names that the site documents, from its inventory."""
    *_, packed = (site / "objects.inv").read_bytes().split(b"\n", 4)
    lines = zlib.decompress(packed).decode().splitlines()
    return {line.split(" ")[0] for line in lines if " py:" in line}


def text_of(page):
    """What a page shows, without its tags."""
    return unescape(re.sub(r"<[^>]+>", "", page.read_text()))


def test_every_page_is_there(site):
    for page in all_pages():
        if page != "README.md":
            assert (site / page.removeprefix("docs/")).with_suffix(".html").exists(), page


@pytest.mark.parametrize("name", condal.__all__)
def test_every_public_name_is_in_the_reference(name, names):
    if inspect.ismodule(getattr(condal, name)):
        assert (ROOT / "docs" / "api" / f"{name}.md").exists()
    elif name != "__version__":
        assert f"condal.{name}" in names


def test_every_package_has_a_page_or_is_known_to_be_inner():
    assert PACKAGES - DOCUMENTED == INNER


@pytest.mark.parametrize("name", sorted(DOCUMENTED))
def test_every_name_of_a_module_is_in_the_reference(name, names):
    home = name if name.startswith("condal_") else f"condal.{name}"
    module = import_module(home)
    made = [one for one in vars(module) if _made_in(module, one) and not one.startswith("_")]
    listed = getattr(module, "__all__", made)
    assert listed
    for one in listed:
        if not inspect.ismodule(getattr(module, one)):
            assert {f"condal.{one}", f"{home}.{one}"} & names, one


def _made_in(module, name):
    return getattr(getattr(module, name), "__module__", None) == module.__name__


def test_every_command_and_option_is_in_the_reference(site):
    text = text_of(site / "cli.html")
    for name in cli.list_commands(None):
        assert f"condal {name}" in text
        for param in cli.get_command(None, name).params:
            for word in param.opts if param.param_type_name == "option" else ():
                assert word in text, (name, word)


@pytest.mark.parametrize("name", APPLICATIONS)
def test_every_application_is_in_the_reference_with_its_own_options(name, site):
    _, _, rest = text_of(site / "cli.html").rpartition(f"condal solve --as {name}¶")
    section = rest.partition("¶")[0] if rest else ""
    application = APPLICATIONS[name]
    assert application.title in section
    assert application.example in section
    for option in application.options:
        assert option.opts[0] in section


def test_nothing_is_loaded_from_the_network(site):
    for page in site.rglob("*.html"):
        loaded = re.findall(
            r'<(?:script|link|img|iframe)[^>]*(?:src|href)="([^"]+)"', page.read_text()
        )
        assert not [url for url in loaded if "//" in url], page.name


def test_every_link_of_the_site_leads_somewhere(site):
    """To a file, and to a heading or a name on it; also to pictures and downloads."""
    pages = {page: page.read_text() for page in site.rglob("*.html")}
    names = {page: set(re.findall(r'\bid="([^"]+)"', text)) for page, text in pages.items()}
    for page, text in pages.items():
        for link in re.findall(r'<(?:a|img|link|script)\b[^>]*(?:href|src)="([^"]+)"', text):
            address, _, anchor = unescape(link).partition("#")
            if "://" in address or address.startswith(("mailto:", "data:")):
                continue
            target = (page.parent / address.partition("?")[0]).resolve() if address else page
            assert target.exists(), f"{page.name}: {link}"
            if anchor and target in names:
                assert anchor in names[target], f"{page.name}: {link}"


PHONE, PAPER = 390, 700  # pixels; A4 between its margins
STICKS_OUT = """
[...document.querySelectorAll('article *')].filter(e => {
  if (e.getBoundingClientRect().right <= innerWidth + 1) return false;
  for (let p = e; p; p = p.parentElement)
    if (['auto', 'scroll', 'hidden'].includes(getComputedStyle(p).overflowX)) return false;
  return true;
}).map(e => e.outerHTML.slice(0, 80))
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    opened = Browser(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


@needs_chromium
def test_every_page_fits_a_phone(site, browser):
    """The page does not scroll to the side; wide tables and code scroll within themselves."""
    browser.see(width=PHONE, height=844)
    for page in site.rglob("*.html"):
        browser.open(page.as_uri())
        assert browser.run("document.documentElement.scrollWidth") <= PHONE, page.name
        assert browser.run(STICKS_OUT) == [], page.name


@needs_chromium
@pytest.mark.parametrize("name", ["index", "comparison", "measured", "gallery", "gallery/max_cut"])
def test_a_page_is_printed_whole_and_without_the_navigation(name, site, browser):
    browser.see(width=PAPER)
    browser.open((site / f"{name}.html").as_uri())
    browser.ask("Emulation.setEmulatedMedia", media="print", features=[])
    shown = browser.run(
        "[...document.querySelectorAll('.sidebar-drawer, .toc-drawer, .skip-to-content, button')]"
        ".filter(e => e.getClientRects().length).map(e => e.className)"
    )
    widest = browser.run(
        "Math.max(...[...document.querySelectorAll('table, pre, img')]"
        ".map(e => e.getBoundingClientRect().right))"
    )
    paper = browser.pdf()
    browser.ask("Emulation.setEmulatedMedia", media="", features=[])
    assert shown == []
    assert widest <= PAPER + 1
    assert paper.startswith(b"%PDF")
