"""Drives a headless Chromium over its debugging pipe, as a reader of a page would with a keyboard: no mouse, no network.

sys.argv: the browser, the page, a folder for screenshots. Prints what the page was like as JSON.
"""
import base64, json, os, pathlib, subprocess, sys

browser, page, shots = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3])
to_read, to_write = os.pipe()
from_read, from_write = os.pipe()


def as_the_browser_wants():
    # It reads commands from 3 and writes answers to 4; the ends may have these numbers already.
    read, write = os.dup(to_read), os.dup(from_write)
    high = [os.dup2(end, number) for end, number in ((read, 103), (write, 104))]
    for end, number in zip(high, (3, 4)):
        os.dup2(end, number)


flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe",
         f"--user-data-dir={shots / 'profile'}", "about:blank"]
process = subprocess.Popen([browser, *flags], pass_fds=(3, 4), preexec_fn=as_the_browser_wants,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
os.close(to_read)
os.close(from_write)
waiting, events, last = b"", [], 0


def message():
    global waiting
    while b"\0" not in waiting:
        more = os.read(from_read, 1 << 20)
        assert more, "the browser is gone"
        waiting += more
    text, waiting = waiting.split(b"\0", 1)
    return json.loads(text)


def call(method, session=None, **params):
    global last
    last += 1
    command = {"id": last, "method": method, "params": params} | ({"sessionId": session} if session else {})
    os.write(to_write, json.dumps(command).encode() + b"\0")
    while True:
        answer = message()
        if answer.get("id") == last:
            assert "error" not in answer, (method, answer)
            return answer["result"]
        events.append(answer)


def wait(name):
    while not any(event["method"] == name for event in events):
        events.append(message())


target = call("Target.createTarget", url="about:blank")["targetId"]
session = call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
tab = lambda method, **params: call(method, session, **params)


def ask(expression):
    answer = tab("Runtime.evaluate", expression=expression, returnByValue=True)
    assert "exceptionDetails" not in answer, answer
    return answer["result"].get("value")


def press(key, code, text=None):
    down = {"type": "keyDown" if text else "rawKeyDown", "key": key, "code": key, "windowsVirtualKeyCode": code}
    tab("Input.dispatchKeyEvent", **down, **({"text": text, "unmodifiedText": text} if text else {}))
    tab("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)


for domain in ("Page", "Runtime", "Log", "Network"):
    tab(domain + ".enable")
tab("Page.navigate", url=page.as_uri())
wait("Page.loadEventFired")

table = "document.activeElement.closest('table')"
state = lambda at: json.loads(ask(f"""JSON.stringify({{
    sort: {table}.tHead.rows[0].cells[{at}].getAttribute('aria-sort'),
    sorted: [...{table}.tHead.rows[0].cells].filter(head => head.hasAttribute('aria-sort')).length,
    cells: [...{table}.tBodies[0].rows].map(row => row.cells[{at}].dataset.v ?? row.cells[{at}].textContent),
    rows: [...{table}.tBodies[0].rows].map(row => row.textContent),
    foot: {table}.tFoot ? {table}.tFoot.textContent : null,
}})"""))
heads, seen = [], 0
while seen < 400:
    press("Tab", 9)
    seen += 1
    name = ask("document.activeElement.tagName")
    if name == "BODY":
        break
    if name != "BUTTON":
        continue
    at = ask("document.activeElement.parentNode.cellIndex")
    ring = ask("getComputedStyle(document.activeElement).outlineStyle + ' ' + getComputedStyle(document.activeElement).outlineWidth")
    before = state(at)
    press("Enter", 13, "\r")
    up = state(at)
    press(" ", 32, " ")
    down = state(at)
    heads.append({"section": ask("document.activeElement.closest('section').id"), "column": ask("document.activeElement.textContent"),
                  "is_number": ask("document.activeElement.parentNode.classList.contains('n')"), "ring": ring,
                  "before": before, "up": up, "down": down})

shown = {}
for width in (1280, 480):
    tab("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
    shown[str(width)] = ask("document.documentElement.scrollWidth")
    size = tab("Page.getLayoutMetrics")["cssContentSize"]
    clip = {"x": 0, "y": 0, "width": width, "height": min(size["height"], 16000), "scale": 1}
    shot = tab("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
    (shots / f"{width}.png").write_bytes(base64.b64decode(shot["data"]))
tab("Emulation.clearDeviceMetricsOverride")
printed = base64.b64decode(tab("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"])
(shots / "print.pdf").write_bytes(printed)
events.extend([tab("Runtime.evaluate", expression="0") and {"method": ""}])
stated = [event["params"] for event in events if event["method"] in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")]
asked = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
call("Browser.close")
process.wait(20)
print(json.dumps({"heads": heads, "widths": shown, "pdf": printed[:5].decode(), "pdf_pages": printed.count(b"/Type /Page\n"),
                  "stated": stated, "asked": asked}))
