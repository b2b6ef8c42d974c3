"""Runs the shares of a sweep on a HyperQueue cluster of this machine. The job comes as JSON on standard input."""

import json
import sys

try:
    from hyperqueue import Job, LocalCluster
    from hyperqueue.client import FailedJobsException
    from hyperqueue.cluster import WorkerConfig
except ImportError as error:
    sys.exit(f"error: {error}\n  mend: install the package hyperqueue (from a clone: cargo xtask setup)")

work = json.load(sys.stdin)
job = Job(name="tierscope-sweep", max_fails=0)
for number, command in enumerate(work["commands"], start=1):
    log = f"{work['logs']}/hq-{number}.log"
    job.program(command, name=f"shard {number}", cwd=work["cwd"], stdout=log, stderr=log)
with LocalCluster() as cluster:
    cluster.start_worker(WorkerConfig(cores=work["cores"]))
    client = cluster.client()
    try:
        client.wait_for_jobs([client.submit(job)])
    except FailedJobsException as error:
        sys.exit(f"error: {error}".rstrip())
