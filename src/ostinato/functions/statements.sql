-- hold_functions [sqlite]: return which of these runs the node holds under these claims. Uses the primary key; the
-- expressions around status and node keep the planner from using another index.
SELECT u.id, u.claim FROM {rows r(id text, claim int)} JOIN ostinato_runs u ON u.id = r.id
WHERE u.claim = r.claim AND u.status || '' = 'active' AND +u.node = :node

-- hold_functions [postgres]: as on SQLite. Locks the runs in the order of their ids.
SELECT u.id, u.claim FROM {rows r(id text, claim int)} JOIN ostinato_runs u ON u.id = r.id
WHERE u.claim = r.claim AND u.status || '' = 'active' AND u.node || '' = :node ORDER BY u.id FOR UPDATE OF u

-- put_steps: add recorded operations of runs, or update those that exist. Uses the primary key.
INSERT INTO ostinato_function_steps ({step_columns}) SELECT {step_columns} FROM {rows r(step_columns)} WHERE true
ON CONFLICT (run_id, position) DO UPDATE SET status = excluded.status, seq = excluded.seq, result = excluded.result,
    error = excluded.error, attempts = excluded.attempts, due = excluded.due, child_id = excluded.child_id,
    finished = excluded.finished

-- put_functions: add the records of runs, or update those that exist. A request to cancel does not change. Uses the
-- primary key.
INSERT INTO ostinato_functions ({function_columns}) SELECT {function_columns} FROM {rows r(function_columns)} WHERE true
ON CONFLICT (run_id) DO UPDATE SET version = excluded.version, code = excluded.code, pinned = excluded.pinned,
    generation = excluded.generation, depth = excluded.depth, input = excluded.input, state = excluded.state,
    steps = excluded.steps, lines = excluded.lines, cancelled = excluded.cancelled, updated = excluded.updated

-- functions_by_ids: return the records of these runs. Uses the primary key.
SELECT {f.function_columns} FROM {rows r(id text)} JOIN ostinato_functions f ON f.run_id = r.id

-- steps_of: return the recorded operations of a run. Uses the primary key.
SELECT {step_columns} FROM ostinato_function_steps WHERE run_id = :run

-- drop_steps: delete the recorded operations of these runs. Uses the primary key.
DELETE FROM ostinato_function_steps WHERE run_id IN (SELECT id FROM {rows r(id text)})

-- forget_functions: delete the records of these runs. Uses the primary key.
DELETE FROM ostinato_functions WHERE run_id IN (SELECT id FROM {rows r(id text)})

-- forget_messages: delete the messages to these runs. Uses the primary key.
DELETE FROM ostinato_function_messages WHERE run_id IN (SELECT id FROM {rows r(id text)})

-- forget_children: delete the rows that say how the children of these runs are stopped. Uses the primary key.
DELETE FROM ostinato_function_children WHERE parent_id IN (SELECT id FROM {rows r(id text)})

-- insert_messages: add messages, and return those that were added. A message whose id the run has already is skipped.
-- Uses the primary key.
INSERT INTO ostinato_function_messages ({message_columns}) SELECT {message_columns} FROM {rows r(message_columns)} WHERE true
ON CONFLICT DO NOTHING RETURNING run_id, id

-- existing_messages: return which of these messages their runs have. Uses the primary key.
SELECT m.run_id, m.id FROM {rows r(run_id text, id text)}
JOIN ostinato_function_messages m ON m.run_id = r.run_id AND m.id = r.id

-- unread_messages [sqlite]: count the messages that these runs have not received, and return when the last of them was
-- sent. Names the index, because SQLite prefers the primary key, and so reads the messages that were received, too.
SELECT r.run_id, (SELECT count(*) FROM ostinato_function_messages m INDEXED BY ostinato_function_messages_waiting
    WHERE m.run_id = r.run_id AND m.position IS NULL),
    (SELECT coalesce(max(m.sent), 0) FROM ostinato_function_messages m INDEXED BY ostinato_function_messages_waiting
    WHERE m.run_id = r.run_id AND m.position IS NULL)
FROM {rows r(run_id text)}

-- unread_messages [postgres]: as on SQLite. Uses ostinato_function_messages_waiting.
SELECT r.run_id, (SELECT count(*) FROM ostinato_function_messages m WHERE m.run_id = r.run_id AND m.position IS NULL),
    (SELECT coalesce(max(m.sent), 0) FROM ostinato_function_messages m WHERE m.run_id = r.run_id AND m.position IS NULL)
FROM {rows r(run_id text)}

-- waiting_messages: return the messages that these runs have not received, the oldest first.
SELECT {m.message_columns} FROM {rows r(run_id text, name text)}
JOIN ostinato_function_messages m ON m.run_id = r.run_id AND m.name = r.name AND m.position IS NULL ORDER BY m.sent, m.id

-- messages_of: return all messages of a run, the oldest first. Uses the primary key.
SELECT {message_columns} FROM ostinato_function_messages WHERE run_id = :run ORDER BY sent, id LIMIT :limit

-- take_messages: record which receive has taken each of these messages. Uses the primary key.
UPDATE ostinato_function_messages SET position = r.position FROM {rows r(run_id text, id text, position text)}
WHERE ostinato_function_messages.run_id = r.run_id AND ostinato_function_messages.id = r.id

-- request_cancel_functions: request the cancellation of runs, unless it is requested already. Returns the runs that
-- this changed. Uses the primary key.
UPDATE ostinato_functions SET cancel = :now, reason = r.reason FROM {rows r(id text, reason text)}
WHERE ostinato_functions.run_id = r.id AND ostinato_functions.cancel IS NULL RETURNING ostinato_functions.run_id

-- cancels_of: return which of these runs have a request to cancel that their code has not seen. Uses the primary key.
SELECT f.run_id FROM {rows r(id text)} JOIN ostinato_functions f ON f.run_id = r.id
WHERE f.cancel IS NOT NULL AND f.cancelled IS NULL

-- put_children: record what happens to children when their parent ends. Uses the primary key.
INSERT INTO ostinato_function_children (parent_id, child_id, policy)
SELECT parent_id, child_id, policy FROM {rows r(parent_id text, child_id text, policy text)} WHERE true ON CONFLICT DO NOTHING

-- children_to_stop: return children of ended runs that are still to be stopped. Uses the primary key.
SELECT c.parent_id, c.child_id, c.policy FROM {rows r(parent_id text)}
JOIN ostinato_function_children c ON c.parent_id = r.parent_id ORDER BY c.child_id LIMIT :limit

-- have_children: return which of these runs have children that end with them. Uses the primary key.
SELECT DISTINCT c.parent_id FROM {rows r(id text)} JOIN ostinato_function_children c ON c.parent_id = r.id

-- drop_children: delete the rows of children that were stopped. Uses the primary key.
DELETE FROM ostinato_function_children
WHERE (parent_id, child_id) IN (SELECT parent_id, child_id FROM {rows r(parent_id text, child_id text)})

-- reset_crashes: set the crashes of runs to 0, because they have made progress since. Uses the primary key.
UPDATE ostinato_runs SET crashes = 0 FROM {rows r(id text)} WHERE ostinato_runs.id = r.id

-- add_function_lines: add log lines of runs that continue. Uses the primary key.
INSERT INTO ostinato_logs (run_id, line, at, level, message)
SELECT run_id, line, at, level, message FROM {rows r(run_id text, line int, at int, level text, message text)} WHERE true
ON CONFLICT DO NOTHING

-- declare_codes: store the code that a node declares. Uses the primary key.
INSERT INTO ostinato_function_codes (name, version, code, declaration, updated)
SELECT name, version, code, declaration, updated FROM {rows r(name text, version int, code text, declaration text, updated int)}
WHERE true ON CONFLICT (name, version) DO UPDATE SET code = excluded.code, declaration = excluded.declaration,
    updated = excluded.updated

-- declared_codes: return all code that nodes have declared. Uses the primary key.
SELECT name, version, code, declaration, updated FROM ostinato_function_codes ORDER BY name, version

-- declared_code: return the versions of one function, the newest first. Uses the primary key.
SELECT name, version, code, declaration, updated FROM ostinato_function_codes WHERE name = :name ORDER BY version DESC

-- unfinished_functions: count the unfinished runs of functions by status and by the code that they began with.
SELECT f.name, f.version, f.code, f.pinned, u.status, count(*), min(f.created)
FROM ostinato_runs u JOIN ostinato_functions f ON f.run_id = u.id
WHERE u.namespace = :namespace AND u.kind = 'function' AND u.status IN ('waiting', 'ready', 'active', 'buffered')
GROUP BY f.name, f.version, f.code, f.pinned, u.status ORDER BY f.name, f.version, f.code, u.status

-- functions_without_code: count the runs that wait for a node that has their code, by function. Uses
-- ostinato_runs_status.
SELECT u.reason, count(*) FROM ostinato_namespaces n JOIN ostinato_runs u ON u.namespace = n.name
WHERE u.status = 'waiting' AND u.status <> 'ready' AND u.status <> 'active' AND u.status <> 'succeeded'
    AND u.kind = 'function' AND u.reason LIKE 'no node with function %'
GROUP BY u.reason ORDER BY u.reason LIMIT :limit

-- list_functions: return a page of a namespace's runs of functions, the newest first. If :name or :status is '',
-- returns those of all names or all statuses. Uses the primary key.
SELECT {u.run_columns} FROM ostinato_runs u WHERE u.namespace || '' = :namespace AND u.kind = 'function' AND u.id < :before
    AND (:name = '' OR u.name = :name) AND (:status = '' OR u.status || '' = :status)
ORDER BY u.id DESC LIMIT :limit

-- overslept_functions: return runs that wait although what they wait for came some time ago. Runs without a node that
-- has their code are left out.
SELECT DISTINCT u.id, s.kind, s.name FROM ostinato_runs u JOIN ostinato_function_steps s ON s.run_id = u.id
WHERE u.status = 'waiting' AND u.kind = 'function' AND u.reason NOT LIKE :no_code || '%' AND s.status = 'pending' AND (
    s.due < :long_ago
    OR s.kind = 'receive' AND EXISTS (SELECT 1 FROM ostinato_function_messages m
        WHERE m.run_id = u.id AND m.name = s.name AND m.position IS NULL AND m.sent < :long_ago)
    OR s.kind = 'child' AND EXISTS (SELECT 1 FROM ostinato_runs c WHERE c.id = s.child_id AND c.superseded = 0
        AND c.finished < :long_ago))
ORDER BY u.id LIMIT :limit
