"""`./dev site --look`: shows every page of the built site in headless Chromium, 1280 and 400 pixels wide, and says which are wider.

    python docs/site/look.py build/site [--pictures FOLDER]

Each page stands in a frame of that width, on a server of this process, and a script measures how wide its content is. Exit
status 1 if a page is wider than its frame, or if Chromium measured none. `--pictures` also keeps a PNG of each page.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import json
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

WIDTHS = (1280, 400)

FRAMES = """<!doctype html><body><script>
const jobs = %s, found = [];
async function measure(page, width) {
  const frame = document.createElement("iframe");
  frame.width = width; frame.height = 900;
  const loaded = new Promise(done => frame.onload = done);
  frame.src = page;
  document.body.append(frame);
  await loaded;
  const root = frame.contentDocument.documentElement;
  // Tables and code may scroll in boxes of their own; nothing else in the text may end beyond the frame.
  const ends = [...root.querySelectorAll("article, article *")].filter(e => !e.closest(".table-wrapper table, pre"))
                 .map(e => e.getBoundingClientRect().right);
  found.push([page, width, Math.ceil(Math.max(root.scrollWidth, ...ends)), root.textContent.length]);
  frame.remove();
}
(async () => {
  for (const [page, width] of jobs) await measure(page, width);
  document.body.innerHTML = "<pre id='found'>" + JSON.stringify(found) + "</pre>";
})();
</script>"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def chromium() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome", "chrome"):
        if found := shutil.which(name):
            return found
    sys.exit("no Chromium on this machine: apt-get install chromium")


def browse(*arguments: str) -> str:
    with tempfile.TemporaryDirectory() as profile:
        command = [chromium(), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=300).stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("site", type=Path)
    parser.add_argument("--pictures", type=Path)
    arguments = parser.parse_args()
    left_out = {"index.html", "genindex.html", "search.html"}
    pages = sorted(str(path.relative_to(arguments.site)) for path in arguments.site.rglob("*.html") if path.name not in left_out)
    jobs = [(page, width) for page in pages for width in WIDTHS]
    frames = arguments.site / "frames-of-look.htm"
    frames.write_text(FRAMES % json.dumps(jobs))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(arguments.site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    try:
        dom = browse("--virtual-time-budget=120000", "--dump-dom", f"{address}/{frames.name}")
        for page, width in jobs if arguments.pictures else []:
            picture = arguments.pictures.absolute() / f"{page.replace('/', '-').removesuffix('.html')}-{width}.png"
            picture.parent.mkdir(parents=True, exist_ok=True)
            browse(f"--window-size={width},1600", f"--screenshot={picture}", f"{address}/{page}")
    finally:
        server.shutdown()
        frames.unlink()
    result = re.search(r"<pre id=\"found\">(.*?)</pre>", dom, re.DOTALL)
    found = json.loads(result[1]) if result else []
    wide = [entry for entry in found if entry[2] > entry[1]]
    empty = [entry for entry in found if entry[3] < 200]
    for page, width, needed, _ in wide:
        print(f"{page}: {needed} pixels of content in {width}")
    print(f"{len(pages)} pages at {WIDTHS[0]} and {WIDTHS[1]} pixels: {len(found)} of {len(jobs)} shown, {len(wide)} too wide, {len(empty)} empty")
    return 0 if len(found) == len(jobs) and not wide and not empty else 1


if __name__ == "__main__":
    sys.exit(main())
