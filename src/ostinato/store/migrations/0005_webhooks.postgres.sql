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
    seq bigint NOT NULL,
    replays bigint NOT NULL,
    failing bigint,
    failing_seq bigint,
    succeeded bigint,
    created bigint NOT NULL,
    updated bigint NOT NULL,
    actor text
);
CREATE INDEX ostinato_webhooks_namespace ON ostinato_webhooks (namespace, id);
CREATE INDEX ostinato_webhooks_active ON ostinato_webhooks (id) WHERE state = 'active';
