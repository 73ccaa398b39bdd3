-- Where events are sent to. `seq` is the last event that was looked at for it; `replays` counts how often it was set to
-- another place, so that what is sent again is told from what is repeated by accident.
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
