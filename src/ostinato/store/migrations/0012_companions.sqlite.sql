-- What keeps rows of its own beside a schedule and its runs, such as 'temporal'; NULL: nothing does.
ALTER TABLE ostinato_schedules ADD COLUMN companion text;
UPDATE ostinato_schedules SET companion = 'temporal' WHERE id IN (SELECT schedule_id FROM ostinato_forms);

DROP INDEX ostinato_workflows_id;
ALTER TABLE ostinato_workflows RENAME TO ostinato_temporal_executions;
CREATE INDEX ostinato_temporal_executions_id ON ostinato_temporal_executions (namespace, workflow_id, run_id);
-- Nodes of earlier versions read and delete rows by the table's former name. SQLite refuses what they insert, which has
-- an ON CONFLICT clause. A migration that needs the name drops the view.
CREATE VIEW ostinato_workflows AS
SELECT run_id, namespace, workflow_id, request_id, action FROM ostinato_temporal_executions;
CREATE TRIGGER ostinato_workflows_delete INSTEAD OF DELETE ON ostinato_workflows BEGIN
    DELETE FROM ostinato_temporal_executions WHERE run_id = OLD.run_id;
END
