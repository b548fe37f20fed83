"""The page in a browser: what it shows by day, by night, on a small screen and in print."""

import io

import numpy as np
import pytest
from matplotlib.image import imread

from browser import Browser, needs_chromium
from condal.io.results import Saved
from condal.report import pictures, write

pytestmark = needs_chromium

# The contrast of the text of every element against what is behind it, at its least.
CONTRAST = """(() => {
  const channel = (v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) =>
    0.2126 * channel(r / 255) + 0.7152 * channel(g / 255) + 0.0722 * channel(b / 255);
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const found = numbers(getComputedStyle(e).backgroundColor);
      if (found.length === 3 || found[3] === 1) return found;
    }
    return [255, 255, 255];
  };
  let least = [99, ""];
  for (const e of document.querySelectorAll("body *")) {
    const said = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!said || e.closest("style, script")) continue;
    const style = getComputedStyle(e);
    const ink = e.closest("svg") ? style.fill : style.color;
    if (!ink.startsWith("rgb")) continue;
    const [a, b] = [light(numbers(ink)), light(behind(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < least[0]) least = [ratio, e.outerHTML.slice(0, 80)];
  }
  return least;
})()"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    found = Browser(tmp_path_factory.mktemp("profile"))
    yield found
    found.close()


@pytest.fixture(scope="module")
def address(solved, limited, model, tmp_path_factory):
    labels = np.arange(model.n) % 2
    saved = Saved(
        solved,
        file="torus.txt",
        answer=[("cut", "24")],
        picture=pictures.graph(model.W, labels, ("even", "odd"), "A picture."),
    )
    folder = tmp_path_factory.mktemp("pages")
    write(folder / "one.html", saved)
    write(folder / "several.html", [saved, limited])
    return {name: (folder / f"{name}.html").as_uri() for name in ("one", "several")}


def pixels(png):
    return imread(io.BytesIO(png), format="png")[:, :, :3]


@pytest.mark.parametrize("name", ["one", "several"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_page_is_shown_without_complaint(browser, address, name, dark):
    browser.see(dark=dark)
    browser.open(address[name])
    assert browser.requests == [address[name]]
    assert browser.complaints == []
    assert "Solved and proved" in browser.text()
    assert browser.run("document.querySelectorAll('svg').length") >= 6
    seen = pixels(browser.screenshot())
    assert (seen.mean() < 0.4) == dark
    assert seen.std() > 0.03  # not blank
    ratio, where = browser.run(CONTRAST)
    assert ratio >= 4.5, where


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_figure_is_drawn_in_colours_that_are_seen(browser, address, dark):
    """Curves and letters, on what the figure stands on."""
    browser.see(dark=dark)
    browser.open(address["one"])
    for shape in ("svg text", "svg path[style*='--c1']"):
        style = f'getComputedStyle(document.querySelector("{shape}"))'
        ink = browser.run(f"{style}.{'fill' if 'text' in shape else 'stroke'}")
        card = browser.run("getComputedStyle(document.querySelector('figure')).backgroundColor")
        apart = [abs(a - b) for a, b in zip(rgb(ink), rgb(card), strict=True)]
        assert max(apart) > 80, (ink, card)


def rgb(colour):
    assert colour.startswith("rgb(")
    return [int(part) for part in colour[4:-1].split(",")]


@pytest.mark.parametrize("name", ["one", "several"])
@pytest.mark.parametrize("width", [360, 800, 1400])
def test_nothing_sticks_out(browser, address, name, width):
    browser.see(width=width)
    browser.open(address[name])
    assert browser.run("document.documentElement.scrollWidth") <= width
    widest = "Math.max(...[...document.querySelectorAll('figure svg')].map((e) => e.clientWidth))"
    assert 0.5 * min(width, 600) < browser.run(widest) <= width


def test_the_keyboard_reaches_the_links_and_the_table(browser, address):
    browser.see()
    browser.open(address["one"])
    reached = []
    for _ in range(3):
        for kind in ("keyDown", "keyUp"):
            browser.ask("Input.dispatchKeyEvent", type=kind, key="Tab", windowsVirtualKeyCode=9)
        reached.append(browser.run("document.activeElement.textContent.trim().slice(0, 24)"))
    assert reached[0] == "Skip to the results"
    assert reached[1] == "The iterations as a tabl"
    assert browser.run("document.querySelector('details').open") is False
    browser.run("scrollTo(0, 1e6)")
    browser.click("summary")
    assert browser.run("document.querySelector('details').open") is True
    assert "Download them as CSV" in browser.text()


def test_the_table_is_printed_whole(browser, address):
    browser.see(width=700)  # a page of A4 between its margins
    browser.open(address["several"])
    browser.ask("Emulation.setEmulatedMedia", media="print", features=[])
    wide = browser.run("document.querySelector('table').getBoundingClientRect().right")
    browser.ask("Emulation.setEmulatedMedia", media="", features=[])
    assert wide <= 700


def test_the_print(browser, address):
    browser.see(dark=True)
    browser.open(address["one"])
    browser.ask("Emulation.setEmulatedMedia", media="print", features=[])
    paper = browser.run("getComputedStyle(document.documentElement).backgroundColor")
    hidden = browser.run("getComputedStyle(document.querySelector('details')).display")
    browser.ask("Emulation.setEmulatedMedia", media="", features=[])
    assert paper == "rgb(255, 255, 255)"
    assert hidden == "none"
    printed = browser.pdf()
    assert printed.startswith(b"%PDF")
    assert 1 <= printed.count(b"/Type /Page\n") <= 6
