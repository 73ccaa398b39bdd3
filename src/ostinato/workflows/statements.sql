-- insert_workflows: add workflows, and return the ids of those that were added. A workflow whose name exists already is
-- skipped. Uses ostinato_workflow_definitions_name.
INSERT INTO ostinato_workflow_definitions ({workflow_columns}) SELECT {workflow_columns} FROM {rows r(workflow_columns)} WHERE true
ON CONFLICT DO NOTHING RETURNING id

-- save_workflows: update the columns of workflows that can change. Uses the primary key.
UPDATE ostinato_workflow_definitions SET version = r.version, repairs = r.repairs, digest = r.digest, definition = r.definition,
    source = r.source, state = r.state, run_id = r.run_id, blocked = r.blocked, logic_failures = r.logic_failures,
    updated = r.updated
FROM {rows r(workflow_columns)} WHERE ostinato_workflow_definitions.id = r.id

-- lock_workflows [sqlite]: return these workflows. SQLite has only one writer, so they need no lock. Uses the primary
-- key.
SELECT {w.workflow_columns} FROM {rows r(id text)} JOIN ostinato_workflow_definitions w ON w.id = r.id

-- lock_workflows [postgres]: lock these workflows in the order of their ids, and return them. Uses the primary key.
SELECT {w.workflow_columns} FROM {rows r(id text)} JOIN ostinato_workflow_definitions w ON w.id = r.id ORDER BY w.id FOR UPDATE OF w

-- free_workflows [sqlite]: return these workflows. SQLite has only one writer, so they need no lock. Uses the primary
-- key.
SELECT {w.workflow_columns} FROM {rows r(id text)} JOIN ostinato_workflow_definitions w ON w.id = r.id

-- free_workflows [postgres]: lock these workflows, and return them. Skips workflows that another transaction has
-- locked. Uses the primary key.
SELECT {w.workflow_columns} FROM {rows r(id text)} JOIN ostinato_workflow_definitions w ON w.id = r.id ORDER BY w.id
FOR UPDATE OF w SKIP LOCKED

-- workflow_by_name: return the workflow with a name. Uses ostinato_workflow_definitions_name.
SELECT {workflow_columns} FROM ostinato_workflow_definitions WHERE namespace = :namespace AND name = :name

-- list_workflows: return a page of a namespace's workflows, by name. Uses ostinato_workflow_definitions_name.
SELECT {workflow_columns} FROM ostinato_workflow_definitions WHERE namespace = :namespace AND name > :after ORDER BY name LIMIT :limit

-- workflow_handlers: return the handlers of these workflows. Uses the primary key.
SELECT {h.handler_columns} FROM {rows r(workflow_id text)}
JOIN ostinato_workflow_handlers h ON h.workflow_id = r.workflow_id ORDER BY h.workflow_id, h.name

-- put_workflow_handlers: add handlers, or update those that exist. Uses the primary key.
INSERT INTO ostinato_workflow_handlers ({handler_columns})
SELECT {handler_columns} FROM {rows r(handler_columns)} WHERE true
ON CONFLICT (workflow_id, name) DO UPDATE SET type = excluded.type, state = excluded.state, next_run = excluded.next_run,
    wake_at = excluded.wake_at, dirty = excluded.dirty, not_before = excluded.not_before, last_run = excluded.last_run

-- insert_workflow_runs: add attempts.
INSERT INTO ostinato_workflow_runs ({handler_run_columns})
SELECT {handler_run_columns} FROM {rows r(handler_run_columns)} WHERE true

-- save_workflow_runs: update the columns of attempts that can change. Uses the primary key.
UPDATE ostinato_workflow_runs SET phase = r.phase, status = r.status, prepared = r.prepared, outcome = r.outcome,
    error = r.error, failures = r.failures, crashes = r.crashes, updated = r.updated
FROM {rows r(handler_run_columns)} WHERE ostinato_workflow_runs.run_id = r.run_id

-- workflow_runs: return these attempts. Uses the primary key.
SELECT {w.handler_run_columns} FROM {rows r(run_id text)} JOIN ostinato_workflow_runs w ON w.run_id = r.run_id

-- hold_workflow_runs [sqlite]: return the status, node and claim of these attempts' runs, and when the attempts were
-- last written. Uses the primary keys.
SELECT u.id, u.status, u.node, u.claim, w.updated FROM {rows r(id text)} JOIN ostinato_runs u ON u.id = r.id
JOIN ostinato_workflow_runs w ON w.run_id = u.id

-- hold_workflow_runs [postgres]: as on SQLite. Locks the runs in the order of their ids.
SELECT u.id, u.status, u.node, u.claim, w.updated FROM {rows r(id text)} JOIN ostinato_runs u ON u.id = r.id
JOIN ostinato_workflow_runs w ON w.run_id = u.id ORDER BY u.id FOR UPDATE OF u

-- list_workflow_runs: return a page of a workflow's attempts, the newest first. If :handler is '', returns those of all
-- handlers. Uses ostinato_workflow_runs_listed.
SELECT {handler_run_columns} FROM ostinato_workflow_runs WHERE workflow_id = :workflow AND run_id < :before
    AND (:handler = '' OR handler = :handler) ORDER BY run_id DESC LIMIT :limit

-- pending_events: return the oldest pending events of a topic. Uses ostinato_workflow_events_pending.
SELECT {topic_event_columns} FROM ostinato_workflow_events
WHERE workflow_id = :workflow AND topic = :topic AND status = 'pending' ORDER BY id LIMIT :limit

-- events_by_message: return the events with these message ids, which their publishers gave them. Uses
-- ostinato_workflow_events_message.
SELECT {e.topic_event_columns} FROM {rows r(workflow_id text, topic text, message_id text)}
JOIN ostinato_workflow_events e ON e.workflow_id = r.workflow_id AND e.topic = r.topic AND e.message_id = r.message_id

-- oldest_pending: return the oldest pending event of each of these topics that has one. Uses
-- ostinato_workflow_events_pending.
SELECT workflow_id, topic, id FROM (
    SELECT r.workflow_id, r.topic, (SELECT e.id FROM ostinato_workflow_events e
        WHERE e.workflow_id = r.workflow_id AND e.topic = r.topic AND e.status = 'pending' ORDER BY e.id LIMIT 1) AS id
    FROM {rows r(workflow_id text, topic text)}) oldest
WHERE id IS NOT NULL

-- insert_workflow_events: add events.
INSERT INTO ostinato_workflow_events ({topic_event_columns})
SELECT {topic_event_columns} FROM {rows r(topic_event_columns)} WHERE true

-- change_payloads: replace the payloads of events. Their status does not change. Uses the primary key.
UPDATE ostinato_workflow_events SET payload = r.payload, updated = r.updated
FROM {rows r(id text, payload text, updated int)} WHERE ostinato_workflow_events.id = r.id

-- reserve_events: reserve pending events for a run, and return those that were reserved. Uses the primary key.
-- `coalesce` keeps PostgreSQL from reading the whole index of pending events, which it takes for empty if it was empty
-- when statistics were last gathered.
UPDATE ostinato_workflow_events SET status = 'reserved', reserved_by = r.run_id, updated = :now
FROM {rows r(id text, run_id text)}
WHERE ostinato_workflow_events.id = r.id AND coalesce(ostinato_workflow_events.status, '') = 'pending'
RETURNING ostinato_workflow_events.id, ostinato_workflow_events.reserved_by, ostinato_workflow_events.attempt

-- note_reservations: record which attempt has reserved which events.
INSERT INTO ostinato_workflow_run_events (run_id, event_id, attempt)
SELECT run_id, event_id, attempt FROM {rows r(run_id text, event_id text, attempt int)} WHERE true ON CONFLICT DO NOTHING

-- release_events: release the events that these runs had reserved: they are pending again. An event is skipped instead
-- if a person has meanwhile skipped all inputs that it stems from. Uses ostinato_workflow_events_reserved.
UPDATE ostinato_workflow_events SET status = CASE WHEN (SELECT min(i.skipped) FROM ostinato_workflow_causes c
        JOIN ostinato_workflow_inputs i ON i.id = c.input_id WHERE c.event_id = ostinato_workflow_events.id) = 1
        THEN 'skipped' ELSE 'pending' END,
    reserved_by = NULL, attempt = ostinato_workflow_events.attempt + 1, updated = :now
FROM {rows r(run_id text)}
WHERE ostinato_workflow_events.reserved_by = r.run_id AND ostinato_workflow_events.status = 'reserved'

-- transfer_events: transfer the events that one run has reserved to another run. Uses
-- ostinato_workflow_events_reserved.
UPDATE ostinato_workflow_events SET reserved_by = r.to_run, updated = :now
FROM {rows r(from_run text, to_run text)}
WHERE ostinato_workflow_events.reserved_by = r.from_run AND ostinato_workflow_events.status = 'reserved'

-- transfer_reservations: record that a run has reserved the same events as another run. Uses the primary key.
INSERT INTO ostinato_workflow_run_events (run_id, event_id, attempt)
SELECT r.to_run, e.event_id, e.attempt FROM {rows r(from_run text, to_run text)}
JOIN ostinato_workflow_run_events e ON e.run_id = r.from_run WHERE true ON CONFLICT DO NOTHING

-- settle_events: set the events that these runs had reserved to consumed or skipped. Uses
-- ostinato_workflow_events_reserved.
UPDATE ostinato_workflow_events SET status = r.status, updated = :now
FROM {rows r(run_id text, status text)}
WHERE ostinato_workflow_events.reserved_by = r.run_id AND ostinato_workflow_events.status = 'reserved'

-- reserved_causes: return the inputs that the events reserved by these runs stem from. Uses
-- ostinato_workflow_events_reserved.
SELECT DISTINCT e.reserved_by, c.input_id FROM {rows r(run_id text)}
JOIN ostinato_workflow_events e ON e.reserved_by = r.run_id AND e.status = 'reserved'
JOIN ostinato_workflow_causes c ON c.event_id = e.id

-- add_causes: record which inputs events stem from.
INSERT INTO ostinato_workflow_causes (event_id, input_id)
SELECT event_id, input_id FROM {rows r(event_id text, input_id text)} WHERE true ON CONFLICT DO NOTHING

-- insert_inputs: add inputs. An input that exists already is skipped. Uses the primary key.
INSERT INTO ostinato_workflow_inputs ({input_columns})
SELECT {input_columns} FROM {rows r(input_columns)} WHERE true ON CONFLICT DO NOTHING

-- skipped_inputs: return which of these inputs a person has skipped. Uses the primary key.
SELECT i.id FROM {rows r(id text)} JOIN ostinato_workflow_inputs i ON i.id = r.id WHERE i.skipped = 1

-- insert_mutations: add effects that a run is about to try.
INSERT INTO ostinato_workflow_mutations ({mutation_columns})
SELECT {mutation_columns} FROM {rows r(mutation_columns)} WHERE true

-- save_mutations: update the columns of effects that can change. Uses the primary key.
UPDATE ostinato_workflow_mutations SET run_id = r.run_id, params = r.params, status = r.status, result = r.result, error = r.error,
    attempts = r.attempts, next_at = r.next_at, resolved_by = r.resolved_by, created = r.created, updated = r.updated
FROM {rows r(mutation_columns)} WHERE ostinato_workflow_mutations.id = r.id

-- mutations_of: return the effects of these runs, the oldest first. Uses ostinato_workflow_mutations_run.
SELECT {m.mutation_columns} FROM {rows r(run_id text)} JOIN ostinato_workflow_mutations m ON m.run_id = r.run_id ORDER BY m.id

-- earlier_calls: return the calls of a mutator by runs that had reserved an event, the oldest first, and whether the
-- mutator refused them for good. Uses ostinato_workflow_run_events_event and ostinato_workflow_mutations_run.
SELECT m.key, m.params, CASE WHEN m.status = 'failed' AND m.resolved_by IS NULL AND w.status = 'failed:logic' THEN 1 ELSE 0 END
FROM ostinato_workflow_run_events v JOIN ostinato_workflow_mutations m ON m.run_id = v.run_id
JOIN ostinato_workflow_runs w ON w.run_id = m.run_id WHERE v.event_id = :event AND m.mutator = :mutator ORDER BY m.id

-- orphaned_reservations: return reserved events whose run is neither under way nor the one that blocks its workflow.
-- Uses ostinato_workflow_events_reserved.
SELECT e.id, e.reserved_by, w.status FROM ostinato_workflow_events e JOIN ostinato_workflow_runs w ON w.run_id = e.reserved_by
JOIN ostinato_workflow_definitions f ON f.id = e.workflow_id
WHERE e.status = 'reserved'
    AND (f.run_id IS NULL OR f.run_id <> w.run_id) AND (f.blocked IS NULL OR f.blocked NOT LIKE '%' || w.run_id || '%')
LIMIT :limit

-- workflow_by_id: return the workflow with an id. Uses the primary key.
SELECT {workflow_columns} FROM ostinato_workflow_definitions WHERE id = :id

-- events_reserved_by: return the events that a run has reserved, the oldest first. Uses
-- ostinato_workflow_events_reserved.
SELECT {topic_event_columns} FROM ostinato_workflow_events WHERE reserved_by = :run AND status = 'reserved' ORDER BY id

-- skip_inputs: mark inputs as skipped, and return their ids. Their events are not processed, neither present nor later
-- ones. Uses the primary key.
UPDATE ostinato_workflow_inputs SET skipped = 1 FROM {rows r(workflow_id text, id text)}
WHERE ostinato_workflow_inputs.id = r.id AND ostinato_workflow_inputs.workflow_id = r.workflow_id
RETURNING ostinato_workflow_inputs.id

-- events_of_input: return the events that stem from an input. Uses ostinato_workflow_causes_input.
SELECT event_id FROM ostinato_workflow_causes WHERE input_id = :input ORDER BY event_id

-- skip_events: set those of these events that are pending to skipped. Returns them, and those that a run has reserved,
-- with the run. Uses the primary key.
UPDATE ostinato_workflow_events SET status = CASE status WHEN 'pending' THEN 'skipped' ELSE status END, updated = :now
FROM {rows r(id text)} WHERE ostinato_workflow_events.id = r.id AND ostinato_workflow_events.status IN ('pending', 'reserved')
RETURNING ostinato_workflow_events.id, CASE ostinato_workflow_events.status WHEN 'reserved' THEN ostinato_workflow_events.reserved_by END

-- skip_reserved: skip those of these events that a run has reserved, because the run is given up. Uses the primary key.
UPDATE ostinato_workflow_events SET status = 'skipped', reserved_by = NULL, updated = :now
FROM {rows r(id text)} WHERE ostinato_workflow_events.id = r.id AND ostinato_workflow_events.status = 'reserved'
    AND ostinato_workflow_events.reserved_by = :run

-- event_statuses: return the status of these events. Uses the primary key.
SELECT e.id, e.status FROM {rows r(id text)} JOIN ostinato_workflow_events e ON e.id = r.id

-- count_pending: count the pending events of each topic of these workflows. Uses ostinato_workflow_events_pending.
SELECT e.workflow_id, e.topic, count(*) FROM {rows r(workflow_id text)}
JOIN ostinato_workflow_events e ON e.workflow_id = r.workflow_id AND e.status = 'pending' GROUP BY e.workflow_id, e.topic

-- list_workflow_events: return a page of a workflow's events, the oldest first. If :topic or :status is '', returns
-- those of all topics or all statuses.
SELECT {topic_event_columns} FROM ostinato_workflow_events WHERE workflow_id = :workflow AND id > :after
    AND (:topic = '' OR topic = :topic) AND (:status = '' OR status = :status) ORDER BY id LIMIT :limit

-- attempt_chain: return an attempt with all attempts that precede and follow it, the oldest first. Uses the primary key
-- and ostinato_workflow_runs_retried.
WITH RECURSIVE before(run_id, retry_of) AS (
    SELECT run_id, retry_of FROM ostinato_workflow_runs WHERE run_id = :run AND workflow_id = :workflow
    UNION SELECT w.run_id, w.retry_of FROM before b JOIN ostinato_workflow_runs w ON w.run_id = b.retry_of
), chain(run_id) AS (
    SELECT run_id FROM before UNION SELECT w.run_id FROM chain c JOIN ostinato_workflow_runs w ON w.retry_of = c.run_id
)
SELECT {w.handler_run_columns} FROM chain c JOIN ostinato_workflow_runs w ON w.run_id = c.run_id ORDER BY w.run_id LIMIT :limit

-- events_of_run: return the events that an attempt has reserved, whatever became of them, the oldest first. Uses the
-- primary keys.
SELECT {e.topic_event_columns} FROM ostinato_workflow_run_events r JOIN ostinato_workflow_events e ON e.id = r.event_id
WHERE r.run_id = :run ORDER BY e.id LIMIT :limit

-- processed_runs: return the latest committed attempts that had reserved events, the newest first. Uses
-- ostinato_workflow_runs_listed.
SELECT {w.handler_run_columns} FROM ostinato_workflow_runs w
WHERE w.workflow_id = :workflow AND w.status = 'committed' AND w.type = 'consumer'
    AND EXISTS (SELECT 1 FROM ostinato_workflow_run_events r WHERE r.run_id = w.run_id)
ORDER BY w.run_id DESC LIMIT :limit

-- count_inputs_of: count the inputs of each type that the events of these attempts stem from. Uses the primary keys.
SELECT r.run_id, i.type, count(DISTINCT i.id) FROM {rows r(run_id text)}
JOIN ostinato_workflow_run_events v ON v.run_id = r.run_id JOIN ostinato_workflow_causes c ON c.event_id = v.event_id
JOIN ostinato_workflow_inputs i ON i.id = c.input_id GROUP BY r.run_id, i.type ORDER BY r.run_id, i.type

-- list_outputs: return a page of a workflow's effects, the newest first. If :status is '', returns those of all
-- statuses. Failed ones are left out, because they changed nothing. Uses ostinato_workflow_mutations_listed.
SELECT {mutation_columns} FROM ostinato_workflow_mutations
WHERE workflow_id = :workflow AND id < :before AND status <> 'failed'
    AND (:status = '' OR (status = 'applied') = (:status = 'applied')) ORDER BY id DESC LIMIT :limit

-- inputs_of: return the inputs that the events of these attempts stem from. Uses the primary keys.
SELECT DISTINCT r.run_id, {i.input_columns} FROM {rows r(run_id text)}
JOIN ostinato_workflow_run_events v ON v.run_id = r.run_id JOIN ostinato_workflow_causes c ON c.event_id = v.event_id
JOIN ostinato_workflow_inputs i ON i.id = c.input_id ORDER BY r.run_id, i.created, i.id

-- count_outputs_of: count the effects that took place and stem from each of these inputs. Uses
-- ostinato_workflow_causes_input, ostinato_workflow_run_events_event and ostinato_workflow_mutations_run.
SELECT c.input_id, count(DISTINCT m.id) FROM {rows r(id text)}
JOIN ostinato_workflow_causes c ON c.input_id = r.id JOIN ostinato_workflow_run_events v ON v.event_id = c.event_id
JOIN ostinato_workflow_mutations m ON m.run_id = v.run_id AND m.status = 'applied' GROUP BY c.input_id

-- input_states [sqlite postgres part]: return the inputs of a workflow with their statuses. An input with an open event
-- is pending, or held if the run that holds the workflow has reserved such an event. An input whose events are all
-- settled is done, or skipped if a person has skipped the input or all its events. An input without events is pending
-- unless it is skipped.
SELECT {i.input_columns}, CASE coalesce((SELECT max(CASE WHEN e.status = 'reserved' AND e.reserved_by = :holder THEN 4
            WHEN e.status IN ('pending', 'reserved') THEN 3 WHEN e.status = 'consumed' THEN 2 ELSE 1 END)
        FROM ostinato_workflow_causes c JOIN ostinato_workflow_events e ON e.id = c.event_id WHERE c.input_id = i.id), 0)
    WHEN 4 THEN 'held' WHEN 3 THEN 'pending' WHEN 2 THEN CASE i.skipped WHEN 1 THEN 'skipped' ELSE 'done' END
    WHEN 1 THEN 'skipped' ELSE CASE i.skipped WHEN 1 THEN 'skipped' ELSE 'pending' END END AS state
FROM ostinato_workflow_inputs i WHERE i.workflow_id = :workflow

-- list_inputs: return a page of a workflow's inputs, the newest first. If :status is '', returns those of all statuses.
-- Uses ostinato_workflow_inputs_listed.
SELECT {s.input_columns}, s.state FROM ({input_states}) s
WHERE (:status = '' OR s.state = :status OR (:status = 'pending' AND s.state = 'held')) AND (:before = ''
    OR (s.created, s.id) < (SELECT b.created, b.id FROM ostinato_workflow_inputs b WHERE b.id = :before))
ORDER BY s.created DESC, s.id DESC LIMIT :limit

-- count_inputs: count the inputs of a workflow by source, type and status, and how many of them a person must look at.
-- Computes each status once. Uses ostinato_workflow_inputs_listed.
WITH s AS MATERIALIZED ({input_states})
SELECT s.source, s.type, s.state, count(*),
    sum(CASE WHEN s.state = 'held' OR (s.state = 'pending' AND s.created < :stale) THEN 1 ELSE 0 END)
FROM s GROUP BY s.source, s.type, s.state ORDER BY s.source, s.type, s.state
