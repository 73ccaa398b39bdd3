-- make_request: record a request; returns no row if the request id was used before.
INSERT INTO ostinato_requests ({request_columns}) SELECT {request_columns} FROM {rows r(request_columns)}
WHERE true ON CONFLICT DO NOTHING RETURNING id

-- request: a request and its answer.
SELECT call, answer FROM ostinato_requests WHERE namespace = :namespace AND id = :id

-- answer_request: store the answer to a request, unless there is one already.
UPDATE ostinato_requests SET answer = :answer WHERE namespace = :namespace AND id = :id AND answer IS NULL

-- drop_requests: delete a batch of the requests from before :before. Uses ostinato_requests_at.
DELETE FROM ostinato_requests WHERE (namespace, id) IN (SELECT namespace, id FROM ostinato_requests WHERE at < :before ORDER BY at LIMIT :limit)
RETURNING id
