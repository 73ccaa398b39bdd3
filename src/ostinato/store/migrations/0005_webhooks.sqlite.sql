-- Webhooks. `seq` is the last event that was checked; `replays` counts how often the position was set, to distinguish
-- an intended repetition of a delivery from an accidental one.
CREATE TABLE ostinato_webhooks (
    id text PRIMARY KEY,
    namespace text NOT NULL,
    url text NOT NULL,
    patterns text NOT NULL,
    secrets text NOT NULL,
    notes text NOT NULL,
    state text NOT NULL,
    reason text,
    seq integer NOT NULL,
    replays integer NOT NULL,
    failing integer,
    failing_seq integer,
    succeeded integer,
    created integer NOT NULL,
    updated integer NOT NULL,
    actor text
) WITHOUT ROWID;
CREATE INDEX ostinato_webhooks_namespace ON ostinato_webhooks (namespace, id);
CREATE INDEX ostinato_webhooks_active ON ostinato_webhooks (id) WHERE state = 'active';
