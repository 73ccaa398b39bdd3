-- make_request: note what is asked for; nothing comes back where it was asked for before.
INSERT INTO ostinato_requests (namespace, id, at, call) SELECT * FROM {rows r(namespace text, id text, at int, call text)}
WHERE true ON CONFLICT DO NOTHING RETURNING id

-- request: what was asked for, and the answer.
SELECT call, answer FROM ostinato_requests WHERE namespace = :namespace AND id = :id

-- answer_request: the answer to it; the first one stays.
UPDATE ostinato_requests SET answer = :answer WHERE namespace = :namespace AND id = :id AND answer IS NULL

-- drop_requests: those from before :before, a bite of them. Uses ostinato_requests_at.
DELETE FROM ostinato_requests WHERE (namespace, id) IN (SELECT namespace, id FROM ostinato_requests WHERE at < :before ORDER BY at LIMIT :limit)
RETURNING id
