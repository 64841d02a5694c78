"""What jobs promise on every database; subclasses supply the *database* fixture."""

from __future__ import annotations

import json
import signal
import time

import pytest
import sqlalchemy as sa

from api.jobs import engine
from api.jobs.records import NoResult
from tests.api.jobs.conftest import children, freeze, has_ended, is_running, left_by, until, without_jobs

DRAW = {"numbers": 40, "pause": 0.02}


class EngineTables:
    """Looks into the tables of the engine, as it has them on one database."""

    schema: str | None = None

    def table(self, name):
        """The name of a table of the engine."""
        return name if self.schema is None else f"{self.schema}.{name}"

    def taken(self, jobs, job, executor):
        """Write into the tables of the engine that a worker has taken a job."""
        change = f"UPDATE {self.table('workflow_status')} SET status = 'PENDING', executor_id = :executor"
        with jobs.ledger.engine.begin() as connection:
            connection.execute(sa.text(f"{change} WHERE workflow_uuid = :id"), {"executor": executor, "id": job.id})

    def statuses(self, jobs):
        """What the engine says of all jobs."""
        with jobs.ledger.engine.connect() as connection:
            return set(connection.scalars(sa.text(f"SELECT status FROM {self.table('workflow_status')}")))


class JobsContract(EngineTables):
    """Jobs are queued, brought to one worker, taken over, and kept."""

    def test_a_job_goes_from_queued_to_done_and_leaves_result_files_and_events(self, jobs, worker):
        job = jobs.submit("sample draw", {**DRAW, "person": "ann"}, account="a", seed=5)
        assert (job.state, job.verb, job.account, job.attempts) == ("queued", "sample draw", "a", 0)
        assert job.options == DRAW
        with pytest.raises(NoResult):
            jobs.result(job.id)
        worker(silence=30)
        until(lambda: is_running(jobs, job))
        assert jobs.get(job.id).progress.of == 40
        done = jobs.wait(job.id, 20)
        assert (done.state, done.progress, done.attempts) == ("done", None, 1)
        assert done.created <= done.began <= done.ended
        assert jobs.result(job.id).document["count"] == 40
        assert jobs.result(job.id).notes == ["They are random."]
        assert done.best == {"least": jobs.result(job.id).document["least"]}
        assert set(jobs.files(job.id)) == {"drawn.txt", "drawn.txt.json"}
        assert len(jobs.file(job.id, "drawn.txt").read_text().splitlines()) == 40
        events = jobs.events({job.id: 0})
        assert [each.data["state"] for each in events if each.kind == "state"] == ["queued", "running", "done"]
        numbers = [each.number for each in events]
        assert numbers == sorted(set(numbers))
        assert numbers[-1] == done.version
        assert jobs.events({job.id: numbers[-2]}) == events[-1:]
        assert jobs.counts() == {"done": 1}

    def test_the_jobs_of_a_killed_worker_go_to_another_one_and_give_the_same_bytes(self, jobs, worker, tmp_path):
        # dbos #453: a workflow of a machine that had crashed stayed pending, and no other machine took it.
        first = worker()
        job = jobs.submit("sample draw", DRAW, account="a", seed=5)
        until(lambda: is_running(jobs, job))
        worker()
        first.kill()
        assert jobs.wait(job.id, 30).state == "done"
        assert jobs.get(job.id).attempts > 1
        assert left_by(jobs, job) == without_jobs("sample draw", DRAW, 5, tmp_path / "unharmed")

    def test_several_workers_perform_each_job_once(self, jobs, worker, tmp_path):
        # dbos #541: two workers of one SQLite queue both ran a workflow.
        mark = tmp_path / "mark"
        sent = [jobs.submit("sample sleep", {"seconds": 0, "mark": str(mark)}, account=str(n % 5)) for n in range(12)]
        for _ in range(2):
            worker(at_once=2, silence=30)
        assert {jobs.wait(each.id, 30).state for each in sent} == {"done"}
        assert {jobs.get(each.id).attempts for each in sent} == {1}
        assert len(mark.read_text().splitlines()) == 12

    def test_of_two_that_take_a_job_over_at_once_one_does(self, jobs):
        # dbos #742: a second recovery with a list of before ran what the first one had queued.
        job = jobs.submit("sample draw", {}, account="a")
        self.taken(jobs, job, "dead")
        requeued = [jobs._client._sys_db.reenqueue_for_recovery(job.id, ["dead"], engine.QUEUE) for _ in range(2)]
        assert requeued == [True, False]
        self.taken(jobs, job, "alive")
        assert not jobs._client._sys_db.reenqueue_for_recovery(job.id, ["dead"], engine.QUEUE)

    def test_the_tables_of_the_engine_hold_json_and_nothing_but_the_id(self, jobs, worker):
        worker()
        sent = [
            jobs.submit("sample draw", {"numbers": 3, "person": "a-person"}, account="a", seed=98765432123456789),
            jobs.submit("sample refuse", {"text": "a-cell"}, account="a"),
            jobs.submit("sample refuse", {"text": "a-cell", "how": "bug"}, account="a"),
        ]
        for each in sent:
            jobs.wait(each.id, 20)
        until(lambda: self.statuses(jobs) == {"SUCCESS"})
        with jobs.ledger.engine.connect() as connection:
            tables = sa.inspect(connection).get_table_names(schema=self.schema)
            assert {"workflow_status", "operation_outputs", "queues"} <= set(tables)
            everything = ""
            for table in tables:
                name = table if self.schema is None else f"{self.schema}.{table}"
                rows = connection.execute(sa.text(f"SELECT * FROM {name}")).mappings().all()
                everything += json.dumps([dict(row) for row in rows], default=str)
                for row in rows:
                    assert row.get("serialization") in (None, "portable_json")
        assert sent[0].id in everything
        for personal in ("a-person", "a-cell", "98765432123456789", "gAS", "no number"):
            assert personal not in everything


class WorkersContract(EngineTables):
    """Workers are told to end jobs, leave, fall silent and come back."""

    def test_a_queued_job_is_cancelled_at_once_and_twice_is_no_error(self, jobs, worker):
        job = jobs.submit("sample draw", {}, account="a")
        assert jobs.cancel(job.id).state == "cancelled"
        assert jobs.cancel(job.id) == jobs.get(job.id)
        worker()
        later = jobs.submit("sample draw", {"numbers": 1}, account="a")
        assert jobs.wait(later.id, 20).state == "done"
        assert jobs.get(job.id).attempts == 0
        assert jobs.cancel(later.id).state == "done"

    def test_a_running_job_is_cancelled_within_seconds_whether_it_listens_or_not(self, jobs, worker):
        worker(at_once=2)
        deaf = jobs.submit("sample sleep", {}, account="a")
        listening = jobs.submit("sample draw", {"numbers": 10**6}, account="a")
        until(lambda: is_running(jobs, listening) and jobs.get(deaf.id).state == "running")
        began = time.monotonic()
        for job in (deaf, listening, deaf):
            assert jobs.cancel(job.id).is_cancelling
        assert {jobs.wait(job.id, 10).state for job in (deaf, listening)} == {"cancelled"}
        assert time.monotonic() - began < 4
        # What listens gives what it has by then; what does not gives nothing.
        assert jobs.result(listening.id).document["count"] > 0
        with pytest.raises(NoResult):
            jobs.result(deaf.id)

    def test_a_job_that_was_cancelled_after_its_worker_had_died_is_not_performed_again(self, jobs, worker):
        job = jobs.submit("sample draw", {}, account="a")
        self.taken(jobs, job, "dead")
        jobs.ledger.begin(job.id, "its-attempt", if_=sa.true())
        assert jobs.cancel(job.id).state == "running"
        worker()
        assert jobs.wait(job.id, 20).state == "cancelled"
        with pytest.raises(NoResult):
            jobs.result(job.id)

    def test_a_worker_that_leaves_frees_its_jobs_at_once(self, jobs, worker):
        first = worker(silence=60)
        job = jobs.submit("sample draw", DRAW, account="a", seed=5)
        until(lambda: is_running(jobs, job))
        first.leave()
        # dbos #804: a process that drains takes a job that was queued again, and ends.
        drained = jobs.submit("sample draw", {"numbers": 1}, account="a")
        self.taken(jobs, drained, "a-worker-that-has-left")
        worker(silence=60)
        assert jobs.wait(drained.id, 20).state == "done"
        assert jobs.wait(job.id, 20).state == "done"
        assert jobs.result(job.id).document["count"] == 40

    def test_a_worker_that_was_only_silent_does_no_harm_when_it_is_back(self, jobs, worker):
        first = worker()
        job = jobs.submit("sample draw", {"numbers": 80, "pause": 0.02}, account="a", seed=5)
        until(lambda: is_running(jobs, job))
        (displaced,) = children(first)
        freeze(jobs, first)
        second = worker()
        until(lambda: jobs.get(job.id).attempts > 1)
        first.send(signal.SIGCONT)
        # The verb that is nobody's any more is killed.
        until(lambda: has_ended(displaced), 3)
        assert jobs.wait(job.id, 30).state == "done"
        assert jobs.result(job.id).document["count"] == 80
        # Both go on to work.
        more = [jobs.submit("sample draw", {"numbers": 3}, account="a") for _ in range(2)]
        assert {jobs.wait(each.id, 20).state for each in more} == {"done"}
        assert first.is_alive
        assert second.is_alive
        assert [each.name for each in (jobs.settings.home / "jobs" / job.id).iterdir()] == ["kept"]

    def test_a_job_that_was_given_to_a_worker_and_never_begun_is_queued_again(self, jobs, worker):
        # dbos #805: the row says that a worker has it, and no thread of that worker does anything.
        worker(silence=1.0)
        first = jobs.submit("sample draw", {"numbers": 1}, account="a")
        jobs.wait(first.id, 20)
        database = jobs.ledger.engine
        with database.connect() as connection:
            (name,) = connection.scalars(sa.text("SELECT executor FROM job_beat"))
        lost = jobs.submit("sample draw", {"numbers": 1}, account="a")
        self.taken(jobs, lost, name)
        assert jobs.wait(lost.id, 20).state == "done"

    def test_a_job_that_the_engine_gave_up_is_queued_again(self, jobs, worker):
        job = jobs.submit("sample draw", {"numbers": 2}, account="a")
        other = jobs.submit("sample draw", {"numbers": 2}, account="b")
        with jobs.ledger.engine.begin() as connection:
            table, these = self.table("workflow_status"), {"id": job.id, "other": other.id}
            connection.execute(sa.text(f"UPDATE {table} SET status = 'ERROR' WHERE workflow_uuid = :id"), these)
            connection.execute(sa.text(f"DELETE FROM {table} WHERE workflow_uuid = :other"), these)
        for _ in range(2):
            worker(silence=0.5)
        assert [jobs.wait(each.id, 20).state for each in (job, other)] == ["done", "done"]


class PartsContract:
    """Parts of a job that are done stay done, and workers without a job do some of those of others."""

    PARTS = 6

    @pytest.fixture
    def share(self, jobs, tmp_path):
        """Submit a job of some parts, of which so many may end."""
        (tmp_path / "mark").touch()

        def submit(may_end):
            self.open(tmp_path, may_end)
            options = {"parts": self.PARTS, "mark": str(tmp_path / "mark"), "gate": str(tmp_path / "gate")}
            return jobs.submit("sample share", options, account="a", seed=5)

        return submit

    def open(self, folder, may_end):
        """Let so many parts end."""
        (folder / "next").write_text(str(may_end))
        (folder / "next").replace(folder / "gate")

    def begun(self, folder):
        """The parts that were begun, in turn, each with the process that did it."""
        return [tuple(map(int, line.split())) for line in (folder / "mark").read_text().splitlines()]

    def check(self, jobs, job, folder):
        """The job gave what it gives alone, and left nothing else."""
        assert jobs.wait(job.id, 30).state == "done"
        alone = without_jobs("sample share", {"parts": self.PARTS}, 5, folder / "alone")
        assert left_by(jobs, job) == alone
        until(lambda: [each.name for each in (folder / "jobs" / job.id).iterdir()] == ["kept"])

    @pytest.mark.parametrize("end", ["kill", "leave"])
    def test_what_a_worker_has_done_before_it_ended_is_not_done_again(self, jobs, worker, share, tmp_path, end):
        # One that leaves hands its job on at once; one that was killed is noticed by its silence.
        first = worker(silence=30 if end == "leave" else 1.0)
        job = share(may_end=3)
        until(lambda: len(self.begun(tmp_path)) == 4)
        verbs = children(first)
        getattr(first, end)()
        until(lambda: all(map(has_ended, verbs)))
        self.open(tmp_path, self.PARTS)
        worker()
        self.check(jobs, job, tmp_path)
        assert jobs.get(job.id).attempts > 1
        assert [number for _, number in self.begun(tmp_path)] == [0, 1, 2, 3, 3, 4, 5]

    def test_two_workers_share_a_job_and_its_progress_counts_the_parts_of_both(self, jobs, worker, share, tmp_path):
        job = share(may_end=0)
        both = [worker(help_after=0.0, spare=False) for _ in range(2)]
        until(lambda: len({process for process, _ in self.begun(tmp_path)}) == 2)
        assert jobs.get(job.id).attempts == 1
        self.open(tmp_path, 4)
        until(lambda: len(self.begun(tmp_path)) == 6)
        until(lambda: jobs.get(job.id).progress.done == 4)
        self.open(tmp_path, self.PARTS)
        self.check(jobs, job, tmp_path)
        assert sorted(number for _, number in self.begun(tmp_path)) == list(range(self.PARTS))
        # Who helped goes with the job.
        until(lambda: [children(each) for each in both] == [[], []])

    def test_a_helper_that_is_killed_gives_its_part_back(self, jobs, worker, share, tmp_path):
        worker()
        job = share(may_end=0)
        until(lambda: self.begun(tmp_path))
        (tmp_path / "jobs" / job.id / "parts" / "wanted").touch()
        helper = worker()
        until(lambda: len(self.begun(tmp_path)) == 2)
        verbs = children(helper)
        helper.kill()
        until(lambda: all(map(has_ended, verbs)))
        self.open(tmp_path, self.PARTS)
        self.check(jobs, job, tmp_path)
        assert jobs.get(job.id).attempts == 1
        assert sorted(number for _, number in self.begun(tmp_path)) == [0, 1, 1, 2, 3, 4, 5]

    def test_a_worker_stops_helping_for_a_job_of_its_own(self, jobs, worker, share, tmp_path):
        job = share(may_end=0)
        for _ in range(2):
            worker(help_after=0.0)
        until(lambda: len(self.begun(tmp_path)) == 2)
        other = jobs.submit("sample draw", {"numbers": 1}, account="b")
        assert jobs.wait(other.id, 20).state == "done"
        assert jobs.get(job.id).state == "running"
        self.open(tmp_path, self.PARTS)
        self.check(jobs, job, tmp_path)

    def test_a_job_that_is_cancelled_leaves_no_parts(self, jobs, worker, share, tmp_path):
        worker()
        job = share(may_end=3)
        until(lambda: len(self.begun(tmp_path)) == 4)
        parts = tmp_path / "jobs" / job.id / "parts"
        assert parts.stat().st_mode & 0o777 == 0o700
        jobs.cancel(job.id)
        assert jobs.wait(job.id, 20).state == "cancelled"
        until(lambda: not parts.exists())
