"""The service as a process of its own."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request


def test_it_serves_until_it_is_told_to_end(tmp_path):
    command = [sys.executable, "-c", "from api.cli import main; main()", "serve", "--port", "0"]
    places = {"GRAPHPRIV_STORE": f"file:{tmp_path / 'served.db'}", "GRAPHPRIV_HOME": str(tmp_path / "home")}
    environment = {**os.environ, **places}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        address = re.search(r"http://[0-9.]+:[0-9]+", process.stderr.readline())[0]
        for path in ("/healthz", "/readyz"):
            with urllib.request.urlopen(address + path, timeout=30) as answer:
                assert json.load(answer) == {"status": "ok"}
        token = re.search(r"gp_\S+", process.stderr.readline())[0]
        asked = urllib.request.Request(f"{address}/v1/graphs", headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(asked, timeout=30) as answer:
            assert json.load(answer) == {"graphs": [], "next": None}
        sent = {"Authorization": f"Bearer {token}", "Prefer": "wait=30", "Content-Type": "application/json"}
        asked = urllib.request.Request(f"{address}/v1/store/check", data=b"{}", headers=sent, method="POST")
        with urllib.request.urlopen(asked, timeout=60) as answer:
            checked = json.load(answer)
            assert checked["sound"] and checked["audit_log"]["entries"] == 0
            job = answer.headers["Location"]
        asked = urllib.request.Request(f"{address}{job}/events", headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(asked, timeout=60) as answer:
            assert '"done"' in answer.read().decode()
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 0
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def test_a_kernel_that_is_interrupted_is_no_bug(graphpriv, monkeypatch):
    def interrupted(*_, **__):
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    monkeypatch.setattr("api.reference.method_lists", interrupted)
    ended = graphpriv("methods", "--json")
    assert ended.code == 1
    assert ended.error.startswith("interrupted")
