-- Which attempt follows which, for the chain of attempts of a run.
CREATE INDEX ostinato_workflow_runs_retried ON ostinato_workflow_runs (retry_of) WHERE retry_of IS NOT NULL
