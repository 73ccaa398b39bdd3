-- What keeps rows of its own beside a schedule and its runs, such as 'temporal'; NULL: nothing does.
ALTER TABLE ostinato_schedules ADD COLUMN companion text;
UPDATE ostinato_schedules SET companion = 'temporal' WHERE id IN (SELECT schedule_id FROM ostinato_forms);

ALTER TABLE ostinato_workflows RENAME TO ostinato_temporal_executions;
ALTER INDEX ostinato_workflows_pkey RENAME TO ostinato_temporal_executions_pkey;
ALTER INDEX ostinato_workflows_id RENAME TO ostinato_temporal_executions_id;
-- Nodes of earlier versions read and write the table by its former name. A migration that needs the name drops the view.
CREATE VIEW ostinato_workflows AS
SELECT run_id, namespace, workflow_id, request_id, action FROM ostinato_temporal_executions
