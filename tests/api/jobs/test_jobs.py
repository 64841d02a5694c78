"""Jobs on SQLite: the contract, what is refused, limits, failures, and what the database must not hold."""

from __future__ import annotations

import dataclasses
import json
import os
import pickle
import secrets
import signal
import subprocess
import sys
import time
from base64 import b64encode
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import sqlalchemy as sa

from api.jobs import engine
from api.jobs.records import NoResult, TooManyJobs
from api.jobs.tables import job as job_table
from api.jobs.worker import Told
from graphpriv.formats import write_graph
from graphpriv.store import open_store
from graphpriv.synthetic import synthetic_graph
from tabular.errors import FileFailure, InvalidInput, InvalidParameter, UnknownName
from tests.api.jobs.conftest import TOP, children, has_ended, is_running, until, without_jobs
from tests.contracts.jobs import JobsContract, PartsContract, WorkersContract


class TestOnSqlite(JobsContract):
    def test_its_files_are_for_the_owner_alone(self, jobs, worker):
        worker()
        job = jobs.submit("sample draw", {"numbers": 1}, account="a")
        jobs.wait(job.id, 20)
        home = jobs.settings.home
        names = {path.name: path.stat().st_mode & 0o777 for path in home.glob("*.db*")}
        assert {"jobs.db", "private.db", "jobs.db-wal", "jobs.db-shm"} <= set(names)
        assert set(names.values()) == {0o600}
        assert (home / "jobs" / job.id).stat().st_mode & 0o777 == 0o700


class TestWorkersOnSqlite(WorkersContract):
    pass


class TestPartsOnSqlite(PartsContract):
    pass


class TestSubmitting:
    def test_what_is_wrong_is_said_at_once_and_nothing_is_queued(self, jobs):
        for verb, options, error in (
            ("sample drow", {}, UnknownName),
            ("sample draw", {"number": 3}, UnknownName),
            ("sample draw", {"numbers": "3"}, InvalidParameter),
            ("sample draw", {"out": "../../jobs.db"}, InvalidParameter),
            ("sample draw", {"out": "-"}, InvalidParameter),
            ("sample count", {"file": "/etc/passwd"}, InvalidParameter),
            ("sample count", {"file": "tables/a.csv"}, InvalidParameter),
            ("table describe", {"file": "a.csv", "schema": "/etc/passwd"}, InvalidParameter),
            ("audit", {"original": "/etc/passwd", "released": "b.json", "files": True}, InvalidInput),
            ("protect", {"name": "g", "into": "r", "k": 1}, InvalidParameter),
        ):
            with pytest.raises(error):
                jobs.submit(verb, options, account="a")
        for priority in (0, 1001):
            with pytest.raises(InvalidParameter):
                jobs.submit("sample draw", {}, account="a", priority=priority)
        assert jobs.list() == []
        with jobs.private.engine.connect() as connection:
            assert connection.scalar(sa.text("SELECT count(*) FROM private")) == 0

    def test_what_a_job_leaves_out_is_written_down_where_its_meaning_has_changed(self, jobs):
        for verb, options, written in (
            ("protect", {"name": "g", "into": "r", "k": 4}, "least-loss"),
            ("protect", {"name": "g", "into": "r", "k": 4, "method": "closest-profiles"}, "closest-profiles"),
            ("sweep", {"name": "g"}, None),
        ):
            job = jobs.submit(verb, options, account="a")
            assert job.options == {**options, "method": written}

    @pytest.mark.parametrize("verb", ["protect", "sweep"])
    def test_a_job_that_an_earlier_version_queued_means_the_method_of_then(self, jobs, worker, tmp_path, verb):
        folder, store = tmp_path / "tables", jobs.settings.store
        write_graph(synthetic_graph(60, rng=np.random.default_rng(1)), folder / "g.json")
        without_jobs("graph import", {"file": "g.json", "graph": "g"}, 0, folder, store)
        options = {"protect": {"into": "r", "k": 4}, "sweep": {"k": ["4"], "runs": 1}}[verb]
        job = jobs.submit(verb, {"name": "g", **options}, account="a", seed=1)
        # What an earlier version wrote had no method.
        with jobs.ledger.engine.begin() as connection:
            written = sa.select(job_table.c.options).where(job_table.c.id == job.id)
            left = {name: each for name, each in json.loads(connection.scalar(written)).items() if name != "method"}
            row = sa.update(job_table).where(job_table.c.id == job.id)
            connection.execute(row.values(options=json.dumps(left)))
        assert jobs.get(job.id).options == {"name": "g", **options, "method": "closest-profiles"}
        worker()
        assert jobs.wait(job.id, 300).state == "done", jobs.failure(job.id)
        if verb == "sweep":
            assert jobs.result(job.id).document["parameters"]["method"] == "closest-profiles"
        else:
            with open_store(store, create=False) as opened:
                assert {each.name: each.method for each in opened.graphs()}["r"] == "closest-profiles"

    def test_an_account_has_no_more_unfinished_jobs_than_it_may(self, settings, jobs):
        few = dataclasses.replace(jobs, settings=dataclasses.replace(settings, most=2))
        first = [few.submit("sample draw", {}, account="a") for _ in range(2)]
        with pytest.raises(TooManyJobs):
            few.submit("sample draw", {}, account="a")
        assert len(few.list()) == 2
        few.submit("sample draw", {}, account="b")
        few.cancel(first[0].id)
        few.submit("sample draw", {}, account="a")

    def test_pages_of_jobs_are_complete_newest_first_and_by_account(self, jobs):
        sent = [jobs.submit("sample draw", {}, account="ab"[number % 2]).id for number in range(7)]
        assert [each.id for each in jobs.list()] == sent[::-1]
        seen, last = [], None
        while page := jobs.list(account="a", limit=2, after=last):
            seen += [each.id for each in page]
            last = seen[-1]
        assert seen == [sent[number] for number in (6, 4, 2, 0)]
        jobs.cancel(sent[0])
        assert [each.id for each in jobs.list(state="cancelled")] == sent[:1]

    def test_ids_are_random_and_an_unknown_one_names_no_other(self, jobs):
        job = jobs.submit("sample draw", {}, account="a")
        for ask in (jobs.get, jobs.cancel, jobs.result, jobs.remove):
            with pytest.raises(UnknownName) as refused:
                ask("0" * 32)
            assert job.id not in str(refused.value)

    def test_a_door_that_is_killed_leaves_each_job_whole_or_not_at_all(self, jobs, worker):
        code = (
            "import sys; from pathlib import Path; from api.jobs.jobs import Jobs;"
            "from api.jobs.records import Settings; from tests.api.jobs import samples; samples.enter();"
            "jobs = Jobs.opened(Settings(home=Path(sys.argv[1])))\n"
            "while True: print(jobs.submit('sample draw', {'numbers': 1}, account='a').id, flush=True)"
        )
        for _ in range(2):
            door = subprocess.Popen(
                [sys.executable, "-c", code, str(jobs.settings.home)], stdout=subprocess.PIPE, text=True,
                env=os.environ | {"PYTHONPATH": str(TOP)},
            )  # fmt: skip
            assert door.stdout is not None
            door.stdout.readline()
            time.sleep(0.03)
            door.kill()
            told = door.communicate()[0].split()
            assert {jobs.get(id).state for id in told} <= {"queued"}
        with jobs.ledger.engine.connect() as connection:
            written = set(connection.scalars(sa.text("SELECT id FROM job")))
            assert written == set(connection.scalars(sa.text("SELECT workflow_uuid FROM workflow_status")))

    def test_a_full_disk_is_told_as_one(self, jobs):
        with jobs.ledger.engine.connect() as connection:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        limit = sa.event.listens_for(jobs.ledger.engine, "checkout")
        limit(lambda connection, *_: connection.execute(f"PRAGMA max_page_count = {pages}"))
        with pytest.raises(FileFailure):
            for _ in range(1000):
                jobs.submit("sample draw", {}, account=secrets.token_hex(50))
        sent = jobs.list(limit=1000)
        with jobs.ledger.engine.connect() as connection:
            assert connection.scalar(sa.text("SELECT count(*) FROM workflow_status")) == len(sent)
        with jobs.private.engine.connect() as connection:
            assert connection.scalar(sa.text("SELECT count(*) FROM private")) == len(sent)


class TestLimits:
    def test_so_many_jobs_of_an_account_run_at_once_and_others_do_not_wait_for_them(self, jobs, worker, tmp_path):
        mark = tmp_path / "mark"
        sleep = {"seconds": 30, "mark": str(mark)}
        mine = [jobs.submit("sample sleep", sleep, account="a") for _ in range(3)]
        jobs.submit("sample sleep", sleep, account="b")
        worker(at_once=4)
        until(lambda: mark.exists() and len(mark.read_text().splitlines()) == 3)
        time.sleep(0.5)
        assert [jobs.get(each.id).state for each in mine] == ["running", "running", "queued"]
        assert jobs.counts() == {"running": 3, "queued": 1}

    def test_of_an_account_the_jobs_with_the_lower_numbers_come_first(self, jobs, worker):
        last, first, second = (
            jobs.submit("sample draw", {"numbers": 1}, account="a", priority=priority) for priority in (100, 10, 10)
        )
        worker()
        for each in (last, first, second):
            jobs.wait(each.id, 20)
        assert sorted((last, first, second), key=lambda each: jobs.get(each.id).began) == [first, second, last]

    def test_a_job_that_takes_too_long_ends_with_what_it_has_or_fails(self, jobs, worker):
        # The process of a verb takes a second to begin where others compute as well.
        worker(seconds=2, at_once=2)
        listening = jobs.submit("sample draw", {"numbers": 10**6}, account="a")
        deaf = jobs.submit("sample sleep", {}, account="a")
        assert jobs.wait(listening.id, 20).state == "done"
        assert jobs.result(listening.id).document["count"] > 0
        assert jobs.wait(deaf.id, 20).state == "failed"
        assert jobs.failure(deaf.id).error == "TimeLimit"
        assert "2 s" in jobs.failure(deaf.id).text


class TestFailing:
    def test_an_error_is_told_to_who_may_see_it_and_stands_in_no_record(self, jobs, worker):
        worker(at_once=2, silence=30, deaths=1)
        refused = jobs.submit("sample refuse", {"text": "a-cell"}, account="a")
        broken = jobs.submit("sample refuse", {"text": "a-cell", "how": "bug"}, account="a")
        full = jobs.submit("sample refuse", {"how": "memory"}, account="a")
        dying = jobs.submit("sample refuse", {"how": "death"}, account="a")
        assert (jobs.wait(refused.id, 20).state, jobs.get(refused.id).error) == ("failed", "InvalidInput")
        assert jobs.failure(refused.id).text == "a.csv, line 3: 'a-cell' is no number."
        assert (jobs.wait(broken.id, 20).state, jobs.get(broken.id).error) == ("failed", "bug")
        assert "a-cell" not in jobs.failure(broken.id).text
        assert (jobs.wait(full.id, 20).state, jobs.get(full.id).error) == ("failed", "MemoryError")
        assert (jobs.wait(dying.id, 20).state, jobs.get(dying.id).error) == ("failed", "Interrupted")
        assert jobs.get(dying.id).attempts == 2
        for each in (refused, broken, full, dying):
            with pytest.raises(NoResult):
                jobs.result(each.id)
            assert jobs.files(each.id) == {}

    def test_a_job_waits_for_a_store_that_does_not_answer_but_not_for_ever(self, jobs, worker, tmp_path):
        back = tmp_path / "back"
        worker(waiting=1.0, at_once=2)
        waits = jobs.submit("sample refuse", {"how": "store", "until": str(back)}, account="a")
        never = jobs.submit("sample refuse", {"how": "store"}, account="a")
        until(lambda: jobs.get(waits.id).attempts > 1)
        back.touch()
        assert jobs.wait(waits.id, 20).state == "done"
        assert jobs.wait(never.id, 20).state == "failed"
        assert jobs.failure(never.id).error == "StoreUnavailable"

    def test_a_verb_reads_files_by_their_names(self, jobs, worker):
        (jobs.settings.home / "tables" / "a.csv").write_text("x\n1\n2\n")
        worker()
        job = jobs.submit("sample count", {"file": "a.csv"}, account="a")
        missing = jobs.submit("sample count", {"file": "b.csv"}, account="a")
        jobs.wait(job.id, 20)
        assert jobs.result(job.id).document == {"file": "a.csv", "lines": 3}
        # A link to what it read is none of its files.
        assert jobs.files(job.id) == {}
        assert jobs.wait(missing.id, 20).error == "InvalidInput"
        assert jobs.failure(missing.id).text.startswith("b.csv: ")


class TestWhatIsKept:
    def test_the_raw_files_of_the_database_hold_no_row_profile_seed_or_person(self, jobs, worker):
        home = jobs.settings.home
        (home / "tables" / "people.csv").write_text("age,illness\n" + "71,rare-illness\n" * 30)
        worker(at_once=2)
        seed = 123456789123456789123456789
        drawn = jobs.submit("sample draw", {"numbers": 3, "person": "the-person"}, account="a", seed=seed)
        sent = [
            drawn,
            jobs.submit("table describe", {"file": "people.csv"}, account="a"),
            jobs.submit("table check", {"file": "people.csv", "quasi_identifiers": ["age"]}, account="a"),
            *(jobs.submit("sample refuse", {"text": "the-cell", "how": how}, account="a") for how in ("input", "bug")),
        ]
        assert [jobs.wait(each.id, 30).state for each in sent] == ["done", "done", "done", "failed", "failed"]
        # All sorts of records are there that could hold any of it.
        kinds = {each.kind for job in sent for each in jobs.events({job.id: 0})}
        assert {"state", "best"} <= kinds
        numbers = jobs.file(drawn.id, "drawn.txt").read_bytes().split()
        raw = b"".join(path.read_bytes() for path in home.glob("jobs.db*"))
        assert drawn.id.encode() in raw
        assert b"people.csv" in raw
        for personal in (b"the-person", b"the-cell", b"rare-illness", str(seed).encode(), max(numbers)):
            assert personal not in raw
        private = b"".join(path.read_bytes() for path in home.glob("private.db*"))
        assert b"the-person" in private
        # The seed goes with the end of the job: with it anybody could draw again.
        assert jobs.private.get(drawn.private).seed is None

    def test_a_person_who_is_forgotten_is_gone_with_jobs_files_and_private_entries(self, jobs, worker):
        worker()
        options = [{"person": "the-person"}, {"person": "the-person", "numbers": 10**6}, {"person": "another"}]
        done, running, other = (jobs.submit("sample draw", each, account="a") for each in options)
        assert jobs.wait(done.id, 20).state == "done"
        until(lambda: is_running(jobs, running))
        jobs.forget("the-person")
        for each in (done, running):
            assert jobs.private.get(each.private) is None
            assert not (jobs.settings.home / "jobs" / each.id).exists()
            with pytest.raises(UnknownName):
                jobs.get(each.id)
        assert jobs.wait(other.id, 20).state == "done"
        jobs.close()
        raw = b"".join(path.read_bytes() for path in jobs.settings.home.glob("private.db*"))
        assert b"another" in raw
        assert b"the-person" not in raw

    def test_a_job_whose_private_entry_is_gone_fails_and_draws_nothing(self, jobs, worker):
        job = jobs.submit("sample draw", {"person": "the-person"}, account="a")
        jobs.private.remove(job.private)
        worker()
        assert jobs.wait(job.id, 20).state == "failed"
        assert jobs.files(job.id) == {}

    def test_entries_without_a_job_are_deleted_after_a_while(self, jobs):
        job = jobs.submit("sample draw", {}, account="a")
        left = jobs.private.put(1, {})
        for old in (False, True):
            with jobs.private.engine.begin() as connection:
                connection.execute(sa.text(f"UPDATE private SET created = created - {7200 if old else 0}"))
            jobs.tidy()
            assert (jobs.private.get(left) is None) == old
        assert jobs.private.get(job.private) is not None

    def test_a_pickle_that_somebody_wrote_into_the_tables_runs_nothing(self, jobs, worker, tmp_path):
        mark = tmp_path / "mark"

        class Evil:
            def __reduce__(self):
                return (Path.touch, (mark,))

        job = jobs.submit("sample draw", {}, account="a")
        inputs = b64encode(pickle.dumps({"args": (Evil(),), "kwargs": {}})).decode()
        with jobs.ledger.engine.begin() as connection:
            tables = sa.inspect(connection).get_table_names()
            columns = {each: {c["name"] for c in sa.inspect(connection).get_columns(each)} for each in tables}
            for column, value in {"inputs": inputs, "serialization": "py_pickle"}.items():
                holders = [t for t in tables if {column, "workflow_uuid"} <= columns[t] and t != "operation_outputs"]
                assert holders
                for table in holders:
                    written = sa.text(f"UPDATE {table} SET {column} = :value WHERE workflow_uuid = :id")
                    connection.execute(written, {"value": value, "id": job.id})
        worker()
        after = jobs.submit("sample draw", {"numbers": 1}, account="b")
        assert jobs.wait(after.id, 20).state == "done"
        time.sleep(0.5)
        assert not mark.exists()

    def test_a_path_that_somebody_wrote_into_the_tables_leads_nowhere(self, jobs, worker, tmp_path):
        job = jobs.submit("sample draw", {"numbers": 1, "out": "drawn.txt"}, account="a")
        path = tmp_path / "written.txt"
        with jobs.ledger.engine.begin() as connection:
            changed = sa.text("UPDATE job SET options = replace(options, 'drawn.txt', :path) WHERE id = :id")
            assert connection.execute(changed, {"path": str(path), "id": job.id}).rowcount == 1
        worker()
        assert jobs.wait(job.id, 20).state == "failed"
        assert not path.exists()

    def test_the_default_serializer_of_the_engine_is_refused(self):
        from dbos._serialization import DBOSDefaultSerializer

        engine.refuse_pickles()
        for use in (DBOSDefaultSerializer.serialize, DBOSDefaultSerializer.deserialize):
            with pytest.raises(TypeError):
                use("gASVBQAAAAAAAACMAWGULg==")


class TestProcesses:
    def test_the_process_of_a_verb_ends_with_a_worker_that_is_killed(self, jobs, worker, tmp_path):
        mark = tmp_path / "mark"
        only = worker()
        jobs.submit("sample sleep", {"mark": str(mark)}, account="a")
        process = int(until(lambda: mark.exists() and mark.read_text()))
        only.kill()
        until(lambda: has_ended(process))

    def test_a_spare_process_does_the_next_job_and_another_one_takes_its_place(self, jobs, worker):
        only = worker(spare=True, silence=30)
        (spare,) = until(lambda: children(only))
        os.kill(spare, signal.SIGKILL)
        job = jobs.submit("sample draw", {"numbers": 1}, account="a")
        assert (jobs.wait(job.id, 20).state, jobs.get(job.id).attempts) == ("done", 1)
        (spare,) = until(lambda: children(only))
        only.kill()
        until(lambda: has_ended(spare))

    def test_progress_says_how_long_it_will_take(self, monkeypatch):
        told, clock = [], [0.0]
        monkeypatch.setattr("api.jobs.worker.time.monotonic", lambda: clock[0])
        ledger = SimpleNamespace(tell=lambda id, attempt, progress: told.append(progress))
        tell = Told(ledger, SimpleNamespace(id="job", name="attempt"))
        for done in range(11):
            tell({"phase": "Drawing", "done": done, "of": 100})
            clock[0] += 0.5
        # Once a second, since nobody reads faster.
        assert [each.done for each in told] == [0, 2, 4, 6, 8, 10]
        assert [each.seconds_left for each in told] == [None, 49.0, 48.0, 47.0, 46.0, 45.0]

    def test_steps_of_a_part_give_the_words_and_the_parts_that_are_done_the_figures(self, monkeypatch):
        told, clock = [], [0.0]
        monkeypatch.setattr("api.jobs.worker.time.monotonic", lambda: clock[0])
        ledger = SimpleNamespace(tell=lambda id, attempt, progress: told.append(progress))
        tell = Told(ledger, SimpleNamespace(id="job", name="attempt"))
        # Five runs were done when this attempt began.
        for run in range(5, 8):
            tell({"phase": "Runs", "done": run, "of": 25})
            for step in range(100):
                clock[0] += 0.1
                tell({"phase": f"Run {run + 1} of 25: Measuring", "done": step, "of": 100})
        assert {each.of for each in told} == {25}
        assert [each.done for each in told] == sorted(each.done for each in told)
        last = told[-1]
        assert (last.phase, last.done) == ("Run 8 of 25: Measuring", 7)
        # Two runs took 20 seconds, and this one has taken almost 10 by now.
        assert last.seconds_left == pytest.approx(30 * 18 / 2, abs=15)
        # The last word is told even if nothing follows for long.
        tell({"phase": "Runs", "done": 8, "of": 25})
        clock[0] += 1.0
        tell({})
        assert told[-1].done == 8


class TestOldJobs:
    def test_what_ended_long_ago_goes_with_all_it_left_and_nothing_else_does(self, jobs):
        old, new, waiting = (jobs.submit("sample draw", {"person": f"p{n}"}, account="a") for n in range(3))
        for job in (old, new):
            jobs.cancel(job.id)
            (jobs.settings.home / "jobs" / job.id / "kept" / "files").mkdir(parents=True)
        database, days = jobs.ledger.engine, 24 * 3600
        with database.begin() as connection:
            # One that waits is no old one, however long it has waited.
            for job, column in ((old, "ended"), (waiting, "created")):
                late = f"UPDATE job SET {column} = {column} - {31 * days} WHERE id = '{job.id}'"
                connection.execute(sa.text(late))
        jobs.erase_older(30 * days)
        assert {each.id for each in jobs.list()} == {new.id, waiting.id}
        assert [each.name for each in (jobs.settings.home / "jobs").iterdir()] == [new.id]
        assert jobs.private.get(old.private) is None
        assert jobs.private.get(new.private) is not None
        with database.connect() as connection:
            assert connection.scalar(sa.text("SELECT count(*) FROM job_event WHERE job = :id"), {"id": old.id}) == 0
            known = set(connection.scalars(sa.text("SELECT workflow_uuid FROM workflow_status")))
        assert known == {new.id, waiting.id}

    def test_two_processes_may_erase_at_once(self, jobs, monkeypatch):
        job = jobs.submit("sample draw", {}, account="a")
        jobs.cancel(job.id)
        remove = type(jobs).remove

        def after_another(self, id):
            remove(self, id)
            remove(self, id)

        monkeypatch.setattr(type(jobs), "remove", after_another)
        jobs.erase_older(-1)
        assert jobs.list() == []
