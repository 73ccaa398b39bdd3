BEGIN TRANSACTION;
CREATE TABLE ostinato_agent_campaigns (
    id text NOT NULL PRIMARY KEY,
    namespace text NOT NULL,
    agent text NOT NULL,
    occurrence text NOT NULL,
    campaign_id text,
    schedule_id text,
    scheduled_for integer,
    definition text NOT NULL,
    status text NOT NULL,
    reason text,
    total integer NOT NULL,
    as_of integer NOT NULL,
    arrival integer NOT NULL,
    created integer NOT NULL,
    resolved integer,
    finished integer,
    outcome text,
    counts text NOT NULL,
    actor text,
    resolution text
);
INSERT INTO "ostinato_agent_campaigns" VALUES('01kdvqyww0109w71nvrk6p2fj9','default','buddy','run/01kdvqyww0109w71nvrk6p2fj9',NULL,NULL,NULL,'{"agent":"buddy","segment":{"type":"users","users":["user00","user01","user02","user03","user04","user05","user06","user07","user08","user09","user10","user11"]},"flow":"hello","allow_session_bootstrap":true,"options":{"rate":"6/h"}}','sending',NULL,12,1767236400000000,1767238200000000,1767236400000000,1767236400000000,NULL,NULL,'{}',NULL,'01kdvqyww0109w71nvrk6p2fja');
CREATE TABLE ostinato_agent_escalations (
    id text NOT NULL PRIMARY KEY,
    namespace text NOT NULL,
    agent text NOT NULL,
    user_id text NOT NULL,
    session_id text NOT NULL,
    mode text NOT NULL,
    question text NOT NULL,
    data text,
    status text NOT NULL,
    approved integer,
    message text,
    action text,
    resolved_by text,
    due integer,
    created integer NOT NULL,
    resolved integer
);
INSERT INTO "ostinato_agent_escalations" VALUES('01kdvqyww0109w71nvrk6p2fhr-6bff209081bb','default','buddy','01kdvqyww0109w71nvrk6p2fhm','01kdvqyww0109w71nvrk6p2fhp','async_resolution','7 words. A badge?',NULL,'pending',NULL,NULL,NULL,NULL,1768964400000000,1767236400000000,NULL);
CREATE TABLE ostinato_agent_messages (
    id text NOT NULL PRIMARY KEY,
    session_id text NOT NULL,
    turn_id text NOT NULL,
    role text NOT NULL,
    text text NOT NULL,
    data text,
    created integer NOT NULL
);
INSERT INTO "ostinato_agent_messages" VALUES('01kdvqyww0109w71nvrk6p2fhh0','01kdvqyww0109w71nvrk6p2fhj','01kdvqyww0109w71nvrk6p2fhh','user','check in',NULL,1767236400000000);
INSERT INTO "ostinato_agent_messages" VALUES('01kdvqyww0109w71nvrk6p2fhn0','01kdvqyww0109w71nvrk6p2fhp','01kdvqyww0109w71nvrk6p2fhn','user','check in',NULL,1767236400000000);
INSERT INTO "ostinato_agent_messages" VALUES('01kdvqyww0109w71nvrk6p2fhh100000','01kdvqyww0109w71nvrk6p2fhj','01kdvqyww0109w71nvrk6p2fhh','assistant','How many words?',NULL,1767236400000000);
INSERT INTO "ostinato_agent_messages" VALUES('01kdvqyww0109w71nvrk6p2fhn100000','01kdvqyww0109w71nvrk6p2fhp','01kdvqyww0109w71nvrk6p2fhn','assistant','How many words?',NULL,1767236400000000);
INSERT INTO "ostinato_agent_messages" VALUES('01kdvqyww0109w71nvrk6p2fhr0','01kdvqyww0109w71nvrk6p2fhp','01kdvqyww0109w71nvrk6p2fhr','user','7',NULL,1767236400000000);
INSERT INTO "ostinato_agent_messages" VALUES('01kdvqyww0109w71nvrk6p2fht0','01kdvqyww0109w71nvrk6p2fhv','01kdvqyww0109w71nvrk6p2fht','user','good morning',NULL,1767236400000000);
INSERT INTO "ostinato_agent_messages" VALUES('01kdvqyww0109w71nvrk6p2fht100000','01kdvqyww0109w71nvrk6p2fhv','01kdvqyww0109w71nvrk6p2fht','assistant','in other words',NULL,1767236400000000);
INSERT INTO "ostinato_agent_messages" VALUES('01kdvqyww0109w71nvrk6p2fjb100000','01kdvqyww0109w71nvrk6p2fjc','01kdvqyww0109w71nvrk6p2fjb','assistant','hello user00',NULL,1767236400000000);
INSERT INTO "ostinato_agent_messages" VALUES('01kdvrh6t07xn1wbzbh50mrd1w100000','01kdvrh6t07xn1wbzbh50mrd1x','01kdvrh6t07xn1wbzbh50mrd1w','assistant','hello user01',NULL,1767237000000000);
INSERT INTO "ostinato_agent_messages" VALUES('01kdvs3gr07hs764ermf1cwvt4100000','01kdvs3gr07hs764ermf1cwvt5','01kdvs3gr07hs764ermf1cwvt4','assistant','hello user02',NULL,1767237600000000);
INSERT INTO "ostinato_agent_messages" VALUES('01kdvsntp0ckt62bkpjtkcxk0v100000','01kdvsntp0ckt62bkpjtkcxk0w','01kdvsntp0ckt62bkpjtkcxk0v','assistant','hello user03',NULL,1767238200000000);
CREATE TABLE ostinato_agent_outgoing (
    key text NOT NULL PRIMARY KEY,
    namespace text NOT NULL,
    agent text NOT NULL,
    user_id text NOT NULL,
    session_id text NOT NULL,
    turn_id text NOT NULL,
    address text NOT NULL,
    role text NOT NULL,
    text text NOT NULL,
    data text,
    status text NOT NULL,
    provider_id text,
    error text,
    created integer NOT NULL,
    settled integer
);
INSERT INTO "ostinato_agent_outgoing" VALUES('01kdvqyww0109w71nvrk6p2fhh_0','default','buddy','01kdvqyww0109w71nvrk6p2fhg','01kdvqyww0109w71nvrk6p2fhj','01kdvqyww0109w71nvrk6p2fhh','asked','assistant','How many words?',NULL,'sent','provider-1',NULL,1767236400000000,1767236400000000);
INSERT INTO "ostinato_agent_outgoing" VALUES('01kdvqyww0109w71nvrk6p2fhn_0','default','buddy','01kdvqyww0109w71nvrk6p2fhm','01kdvqyww0109w71nvrk6p2fhp','01kdvqyww0109w71nvrk6p2fhn','judged','assistant','How many words?',NULL,'sent','provider-2',NULL,1767236400000000,1767236400000000);
INSERT INTO "ostinato_agent_outgoing" VALUES('01kdvqyww0109w71nvrk6p2fht_0','default','buddy','01kdvqyww0109w71nvrk6p2fhs','01kdvqyww0109w71nvrk6p2fhv','01kdvqyww0109w71nvrk6p2fht','talker','assistant','in other words',NULL,'sent','provider-3',NULL,1767236400000000,1767236400000000);
INSERT INTO "ostinato_agent_outgoing" VALUES('01kdvqyww0109w71nvrk6p2fjb_0','default','buddy','01kdvqyww0109w71nvrk6p2fhx','01kdvqyww0109w71nvrk6p2fjc','01kdvqyww0109w71nvrk6p2fjb','user00','assistant','hello user00',NULL,'sent','provider-4',NULL,1767236400000000,1767236400000000);
INSERT INTO "ostinato_agent_outgoing" VALUES('01kdvrh6t07xn1wbzbh50mrd1w_0','default','buddy','01kdvqyww0109w71nvrk6p2fhy','01kdvrh6t07xn1wbzbh50mrd1x','01kdvrh6t07xn1wbzbh50mrd1w','user01','assistant','hello user01',NULL,'sent','provider-5',NULL,1767237000000000,1767237000000000);
INSERT INTO "ostinato_agent_outgoing" VALUES('01kdvs3gr07hs764ermf1cwvt4_0','default','buddy','01kdvqyww0109w71nvrk6p2fhz','01kdvs3gr07hs764ermf1cwvt5','01kdvs3gr07hs764ermf1cwvt4','user02','assistant','hello user02',NULL,'sent','provider-6',NULL,1767237600000000,1767237600000000);
INSERT INTO "ostinato_agent_outgoing" VALUES('01kdvsntp0ckt62bkpjtkcxk0v_0','default','buddy','01kdvqyww0109w71nvrk6p2fj0','01kdvsntp0ckt62bkpjtkcxk0w','01kdvsntp0ckt62bkpjtkcxk0v','user03','assistant','hello user03',NULL,'sent','provider-7',NULL,1767238200000000,1767238200000000);
CREATE TABLE ostinato_agent_recipients (
    campaign_id text NOT NULL,
    external_id text NOT NULL,
    namespace text NOT NULL,
    user_id text,
    status text NOT NULL,
    due integer NOT NULL,
    variant text,
    outcome text,
    reason text,
    turn_id text,
    session_id text,
    started integer,
    finished integer,
    delivered integer NOT NULL,
    PRIMARY KEY (campaign_id, external_id)
) WITHOUT ROWID;
INSERT INTO "ostinato_agent_recipients" VALUES('01kdvqyww0109w71nvrk6p2fj9','user00','default','01kdvqyww0109w71nvrk6p2fhx','done',1767236400000000,NULL,'success',NULL,'01kdvqyww0109w71nvrk6p2fjb','01kdvqyww0109w71nvrk6p2fjc',1767236400000000,1767236400000000,1);
INSERT INTO "ostinato_agent_recipients" VALUES('01kdvqyww0109w71nvrk6p2fj9','user01','default','01kdvqyww0109w71nvrk6p2fhy','done',1767236400000000,NULL,'success',NULL,'01kdvrh6t07xn1wbzbh50mrd1w','01kdvrh6t07xn1wbzbh50mrd1x',1767237000000000,1767237000000000,1);
INSERT INTO "ostinato_agent_recipients" VALUES('01kdvqyww0109w71nvrk6p2fj9','user02','default','01kdvqyww0109w71nvrk6p2fhz','done',1767236400000000,NULL,'success',NULL,'01kdvs3gr07hs764ermf1cwvt4','01kdvs3gr07hs764ermf1cwvt5',1767237600000000,1767237600000000,1);
INSERT INTO "ostinato_agent_recipients" VALUES('01kdvqyww0109w71nvrk6p2fj9','user03','default','01kdvqyww0109w71nvrk6p2fj0','started',1767236400000000,NULL,NULL,NULL,'01kdvsntp0ckt62bkpjtkcxk0v','01kdvsntp0ckt62bkpjtkcxk0w',1767238200000000,NULL,0);
INSERT INTO "ostinato_agent_recipients" VALUES('01kdvqyww0109w71nvrk6p2fj9','user04','default','01kdvqyww0109w71nvrk6p2fj1','pending',1767236400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "ostinato_agent_recipients" VALUES('01kdvqyww0109w71nvrk6p2fj9','user05','default','01kdvqyww0109w71nvrk6p2fj2','pending',1767236400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "ostinato_agent_recipients" VALUES('01kdvqyww0109w71nvrk6p2fj9','user06','default','01kdvqyww0109w71nvrk6p2fj3','pending',1767236400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "ostinato_agent_recipients" VALUES('01kdvqyww0109w71nvrk6p2fj9','user07','default','01kdvqyww0109w71nvrk6p2fj4','pending',1767236400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "ostinato_agent_recipients" VALUES('01kdvqyww0109w71nvrk6p2fj9','user08','default','01kdvqyww0109w71nvrk6p2fj5','pending',1767236400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "ostinato_agent_recipients" VALUES('01kdvqyww0109w71nvrk6p2fj9','user09','default','01kdvqyww0109w71nvrk6p2fj6','pending',1767236400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "ostinato_agent_recipients" VALUES('01kdvqyww0109w71nvrk6p2fj9','user10','default','01kdvqyww0109w71nvrk6p2fj7','pending',1767236400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "ostinato_agent_recipients" VALUES('01kdvqyww0109w71nvrk6p2fj9','user11','default','01kdvqyww0109w71nvrk6p2fj8','pending',1767236400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
CREATE TABLE ostinato_agent_schedules (
    namespace text NOT NULL,
    agent text NOT NULL,
    id text NOT NULL,
    engine_id text NOT NULL,
    name text NOT NULL,
    flow text NOT NULL,
    target_kind text NOT NULL,
    user_external_id text,
    campaign_id text,
    definition text NOT NULL,
    digest text NOT NULL,
    timezone text NOT NULL,
    settings text NOT NULL,
    origin text NOT NULL,
    status text NOT NULL,
    held integer NOT NULL,
    reason text,
    version integer NOT NULL,
    created integer NOT NULL,
    updated integer NOT NULL,
    actor text,
    PRIMARY KEY (namespace, agent, id)
);
CREATE TABLE ostinato_agent_sessions (
    id text NOT NULL PRIMARY KEY,
    namespace text NOT NULL,
    agent text NOT NULL,
    user_id text NOT NULL,
    run_id text NOT NULL,
    status text NOT NULL,
    flow text,
    flow_version integer,
    waits text,
    hitl text NOT NULL,
    takeover text,
    escalation_id text,
    data text NOT NULL,
    messages integer NOT NULL,
    started integer NOT NULL,
    active integer NOT NULL,
    ended integer,
    reason text
);
INSERT INTO "ostinato_agent_sessions" VALUES('01kdvqyww0109w71nvrk6p2fhj','default','buddy','01kdvqyww0109w71nvrk6p2fhg','01kdvqyww0109w71nvrk6p2fhk','active','checkin',1,'ask','none',NULL,NULL,'{}',2,1767236400000000,1767236400000000,NULL,NULL);
INSERT INTO "ostinato_agent_sessions" VALUES('01kdvqyww0109w71nvrk6p2fhp','default','buddy','01kdvqyww0109w71nvrk6p2fhm','01kdvqyww0109w71nvrk6p2fhq','active','checkin',1,'escalation','pending_admin_resolution',NULL,'01kdvqyww0109w71nvrk6p2fhr-6bff209081bb','{}',3,1767236400000000,1767236400000000,NULL,NULL);
INSERT INTO "ostinato_agent_sessions" VALUES('01kdvqyww0109w71nvrk6p2fhv','default','buddy','01kdvqyww0109w71nvrk6p2fhs','01kdvqyww0109w71nvrk6p2fhw','idle',NULL,NULL,NULL,'none',NULL,NULL,'{}',2,1767236400000000,1767236400000000,NULL,NULL);
INSERT INTO "ostinato_agent_sessions" VALUES('01kdvqyww0109w71nvrk6p2fjc','default','buddy','01kdvqyww0109w71nvrk6p2fhx','01kdvqyww0109w71nvrk6p2fjd','idle',NULL,NULL,NULL,'none',NULL,NULL,'{}',1,1767236400000000,1767236400000000,NULL,NULL);
INSERT INTO "ostinato_agent_sessions" VALUES('01kdvrh6t07xn1wbzbh50mrd1x','default','buddy','01kdvqyww0109w71nvrk6p2fhy','01kdvrh6t07xn1wbzbh50mrd1y','idle',NULL,NULL,NULL,'none',NULL,NULL,'{}',1,1767237000000000,1767237000000000,NULL,NULL);
INSERT INTO "ostinato_agent_sessions" VALUES('01kdvs3gr07hs764ermf1cwvt5','default','buddy','01kdvqyww0109w71nvrk6p2fhz','01kdvs3gr07hs764ermf1cwvt6','active',NULL,NULL,NULL,'none',NULL,NULL,'{}',1,1767237600000000,1767237600000000,NULL,NULL);
INSERT INTO "ostinato_agent_sessions" VALUES('01kdvsntp0ckt62bkpjtkcxk0w','default','buddy','01kdvqyww0109w71nvrk6p2fj0','01kdvsntp0ckt62bkpjtkcxk0x','active',NULL,NULL,NULL,'none',NULL,NULL,'{}',1,1767238200000000,1767238200000000,NULL,NULL);
CREATE TABLE ostinato_agent_suppressions (
    namespace text NOT NULL,
    agent text NOT NULL,
    external_id text NOT NULL,
    reason text NOT NULL,
    created integer NOT NULL,
    actor text,
    PRIMARY KEY (namespace, agent, external_id)
) WITHOUT ROWID;
CREATE TABLE ostinato_agent_tags (
    user_id text NOT NULL,
    tag text NOT NULL,
    namespace text NOT NULL,
    agent text NOT NULL,
    PRIMARY KEY (user_id, tag)
) WITHOUT ROWID;
CREATE TABLE ostinato_agent_throttles (
    namespace text NOT NULL,
    agent text NOT NULL,
    arrival integer NOT NULL,
    PRIMARY KEY (namespace, agent)
) WITHOUT ROWID;
CREATE TABLE ostinato_agent_turns (
    id text NOT NULL PRIMARY KEY,
    namespace text NOT NULL,
    agent text NOT NULL,
    user_id text NOT NULL,
    session_id text,
    key text NOT NULL,
    source text NOT NULL,
    text text,
    flow text,
    input text,
    metadata text NOT NULL,
    on_active_flow text NOT NULL,
    reply_to text,
    schedule_id text,
    scheduled_for integer,
    campaign_id text,
    status text NOT NULL,
    outcome text,
    reason text,
    producer text,
    policy text NOT NULL,
    hitl text NOT NULL,
    delivered integer NOT NULL,
    model_calls integer NOT NULL,
    tokens_in integer NOT NULL,
    tokens_out integer NOT NULL,
    cost integer NOT NULL,
    created integer NOT NULL,
    started integer,
    finished integer,
    actor text
);
INSERT INTO "ostinato_agent_turns" VALUES('01kdvqyww0109w71nvrk6p2fhh','default','buddy','01kdvqyww0109w71nvrk6p2fhg','01kdvqyww0109w71nvrk6p2fhj','in/m1','inbound','check in','checkin',NULL,'{"given":{}}','skip',NULL,NULL,NULL,NULL,'done','success','flow_waiting','flow','{"before_llm":"continue","before_response":"continue"}','none',1,0,0,0,0,1767236400000000,1767236400000000,1767236400000000,'teacher');
INSERT INTO "ostinato_agent_turns" VALUES('01kdvqyww0109w71nvrk6p2fhn','default','buddy','01kdvqyww0109w71nvrk6p2fhm','01kdvqyww0109w71nvrk6p2fhp','in/m2','inbound','check in','checkin',NULL,'{"given":{}}','skip',NULL,NULL,NULL,NULL,'done','success','flow_waiting','flow','{"before_llm":"continue","before_response":"continue"}','none',1,0,0,0,0,1767236400000000,1767236400000000,1767236400000000,'teacher');
INSERT INTO "ostinato_agent_turns" VALUES('01kdvqyww0109w71nvrk6p2fhr','default','buddy','01kdvqyww0109w71nvrk6p2fhm','01kdvqyww0109w71nvrk6p2fhp','in/m3','inbound','7','checkin',NULL,'{"given":{}}','skip',NULL,NULL,NULL,NULL,'done','success','flow_waiting',NULL,'{"before_llm":"continue"}','pending_admin_resolution',0,0,0,0,0,1767236400000000,1767236400000000,1767236400000000,'teacher');
INSERT INTO "ostinato_agent_turns" VALUES('01kdvqyww0109w71nvrk6p2fht','default','buddy','01kdvqyww0109w71nvrk6p2fhs','01kdvqyww0109w71nvrk6p2fhv','in/m4','inbound','good morning',NULL,NULL,'{"given":{}}','skip',NULL,NULL,NULL,NULL,'done','success',NULL,'classic','{"before_llm":"continue","before_response":"continue"}','none',1,1,0,0,0,1767236400000000,1767236400000000,1767236400000000,'teacher');
INSERT INTO "ostinato_agent_turns" VALUES('01kdvqyww0109w71nvrk6p2fjb','default','buddy','01kdvqyww0109w71nvrk6p2fhx','01kdvqyww0109w71nvrk6p2fjc','campaign/01kdvqyww0109w71nvrk6p2fj9','scheduled',NULL,'hello',NULL,'{"given":{"recipient_user_external_id":"user00"},"campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627"}','skip',NULL,NULL,NULL,'01kdvqyww0109w71nvrk6p2fj9','done','success',NULL,'flow','{"before_llm":"continue","before_response":"continue"}','none',1,0,0,0,0,1767236400000000,1767236400000000,1767236400000000,NULL);
INSERT INTO "ostinato_agent_turns" VALUES('01kdvrh6t07xn1wbzbh50mrd1w','default','buddy','01kdvqyww0109w71nvrk6p2fhy','01kdvrh6t07xn1wbzbh50mrd1x','campaign/01kdvqyww0109w71nvrk6p2fj9','scheduled',NULL,'hello',NULL,'{"given":{"recipient_user_external_id":"user01"},"campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627"}','skip',NULL,NULL,NULL,'01kdvqyww0109w71nvrk6p2fj9','done','success',NULL,'flow','{"before_llm":"continue","before_response":"continue"}','none',1,0,0,0,0,1767237000000000,1767237000000000,1767237000000000,NULL);
INSERT INTO "ostinato_agent_turns" VALUES('01kdvs3gr07hs764ermf1cwvt4','default','buddy','01kdvqyww0109w71nvrk6p2fhz','01kdvs3gr07hs764ermf1cwvt5','campaign/01kdvqyww0109w71nvrk6p2fj9','scheduled',NULL,'hello',NULL,'{"given":{"recipient_user_external_id":"user02"},"campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627"}','skip',NULL,NULL,NULL,'01kdvqyww0109w71nvrk6p2fj9','done','success',NULL,'flow','{"before_llm":"continue","before_response":"continue"}','none',1,0,0,0,0,1767237600000000,1767237600000000,1767237600000000,NULL);
INSERT INTO "ostinato_agent_turns" VALUES('01kdvsntp0ckt62bkpjtkcxk0v','default','buddy','01kdvqyww0109w71nvrk6p2fj0','01kdvsntp0ckt62bkpjtkcxk0w','campaign/01kdvqyww0109w71nvrk6p2fj9','scheduled',NULL,'hello',NULL,'{"given":{"recipient_user_external_id":"user03"},"campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627"}','skip',NULL,NULL,NULL,'01kdvqyww0109w71nvrk6p2fj9','done','success',NULL,'flow','{"before_llm":"continue","before_response":"continue"}','none',1,0,0,0,0,1767238200000000,1767238200000000,1767238200000000,NULL);
CREATE TABLE ostinato_agent_users (
    id text NOT NULL PRIMARY KEY,
    namespace text NOT NULL,
    agent text NOT NULL,
    external_id text NOT NULL,
    address text NOT NULL,
    name text,
    zone text,
    locale text,
    consent text NOT NULL,
    consent_at integer,
    data text NOT NULL,
    created integer NOT NULL,
    updated integer NOT NULL,
    active integer
);
INSERT INTO "ostinato_agent_users" VALUES('01kdvqyww0109w71nvrk6p2fhg','default','buddy','asked','asked',NULL,NULL,NULL,'unknown',NULL,'{}',1767236400000000,1767236400000000,1767236400000000);
INSERT INTO "ostinato_agent_users" VALUES('01kdvqyww0109w71nvrk6p2fhm','default','buddy','judged','judged',NULL,NULL,NULL,'unknown',NULL,'{}',1767236400000000,1767236400000000,1767236400000000);
INSERT INTO "ostinato_agent_users" VALUES('01kdvqyww0109w71nvrk6p2fhs','default','buddy','talker','talker',NULL,NULL,NULL,'unknown',NULL,'{}',1767236400000000,1767236400000000,1767236400000000);
INSERT INTO "ostinato_agent_users" VALUES('01kdvqyww0109w71nvrk6p2fhx','default','buddy','user00','user00',NULL,NULL,NULL,'unknown',NULL,'{}',1767236400000000,1767236400000000,NULL);
INSERT INTO "ostinato_agent_users" VALUES('01kdvqyww0109w71nvrk6p2fhy','default','buddy','user01','user01',NULL,NULL,NULL,'unknown',NULL,'{}',1767236400000000,1767236400000000,NULL);
INSERT INTO "ostinato_agent_users" VALUES('01kdvqyww0109w71nvrk6p2fhz','default','buddy','user02','user02',NULL,NULL,NULL,'unknown',NULL,'{}',1767236400000000,1767236400000000,NULL);
INSERT INTO "ostinato_agent_users" VALUES('01kdvqyww0109w71nvrk6p2fj0','default','buddy','user03','user03',NULL,NULL,NULL,'unknown',NULL,'{}',1767236400000000,1767236400000000,NULL);
INSERT INTO "ostinato_agent_users" VALUES('01kdvqyww0109w71nvrk6p2fj1','default','buddy','user04','user04',NULL,NULL,NULL,'unknown',NULL,'{}',1767236400000000,1767236400000000,NULL);
INSERT INTO "ostinato_agent_users" VALUES('01kdvqyww0109w71nvrk6p2fj2','default','buddy','user05','user05',NULL,NULL,NULL,'unknown',NULL,'{}',1767236400000000,1767236400000000,NULL);
INSERT INTO "ostinato_agent_users" VALUES('01kdvqyww0109w71nvrk6p2fj3','default','buddy','user06','user06',NULL,NULL,NULL,'unknown',NULL,'{}',1767236400000000,1767236400000000,NULL);
INSERT INTO "ostinato_agent_users" VALUES('01kdvqyww0109w71nvrk6p2fj4','default','buddy','user07','user07',NULL,NULL,NULL,'unknown',NULL,'{}',1767236400000000,1767236400000000,NULL);
INSERT INTO "ostinato_agent_users" VALUES('01kdvqyww0109w71nvrk6p2fj5','default','buddy','user08','user08',NULL,NULL,NULL,'unknown',NULL,'{}',1767236400000000,1767236400000000,NULL);
INSERT INTO "ostinato_agent_users" VALUES('01kdvqyww0109w71nvrk6p2fj6','default','buddy','user09','user09',NULL,NULL,NULL,'unknown',NULL,'{}',1767236400000000,1767236400000000,NULL);
INSERT INTO "ostinato_agent_users" VALUES('01kdvqyww0109w71nvrk6p2fj7','default','buddy','user10','user10',NULL,NULL,NULL,'unknown',NULL,'{}',1767236400000000,1767236400000000,NULL);
INSERT INTO "ostinato_agent_users" VALUES('01kdvqyww0109w71nvrk6p2fj8','default','buddy','user11','user11',NULL,NULL,NULL,'unknown',NULL,'{}',1767236400000000,1767236400000000,NULL);
CREATE TABLE ostinato_agents (
    name text NOT NULL PRIMARY KEY,
    declaration text NOT NULL,
    updated integer NOT NULL
) WITHOUT ROWID;
INSERT INTO "ostinato_agents" VALUES('buddy','{"zone":"America/Sao_Paulo","queue":"default","keep":null,"flows":{"checkin":{"version":1,"description":""},"hello":{"version":1,"description":""}},"tools":[],"segments":[],"campaigns":{},"scheduler":{"enabled":true,"timezone":null,"executor":null,"poll_interval_ms":null,"claim_ttl_seconds":null,"max_concurrent_runs":null,"default_on_missed":{"policy":"skip","max_runs":null,"max_age_seconds":null}},"writes":{"model":true,"prompt":false,"hook":false},"admins":["teacher"]}',1767225600000000);
CREATE TABLE ostinato_backfills (
    id text PRIMARY KEY,
    namespace text NOT NULL,
    schedule_id text NOT NULL,
    first integer NOT NULL,
    last integer NOT NULL,
    reached integer NOT NULL,
    overlap text,
    input text,
    rate real,
    state text NOT NULL,
    total integer NOT NULL,
    made integer NOT NULL,
    created integer NOT NULL,
    finished integer,
    reason text,
    actor text
);
CREATE TABLE ostinato_cursors (
    name text PRIMARY KEY,
    seq integer NOT NULL,
    node text,
    until integer NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE TABLE ostinato_events (
    seq integer PRIMARY KEY AUTOINCREMENT,
    at integer NOT NULL,
    namespace text NOT NULL,
    name text NOT NULL,
    subject text NOT NULL,
    data text,
    actor text
);
INSERT INTO "ostinato_events" VALUES(1,1767225600000000,'default','run:created','01kdvdna0042yg32m83ce9g7xg','{"name":"inbox.Copy","run_id":"01kdvdna0042yg32m83ce9g7xg","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(2,1767225600000000,'default','workflow:deployed','01kdvdna0042yg32m83ce9g7xf','{"workflow":"inbox","version":"1"}',NULL);
INSERT INTO "ostinato_events" VALUES(3,1767225600000000,'default','run:created','01kdvdna00dhw93dtr98h6bcfp','{"name":"onboard","run_id":"01kdvdna00dhw93dtr98h6bcfp","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(4,1767225600000000,'default','run:created','01kdvdna00dhw93dtr98h6bcfr','{"name":"onboard","run_id":"01kdvdna00dhw93dtr98h6bcfr","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(5,1767225600000000,'default','run:started','01kdvdna0042yg32m83ce9g7xg','{"name":"inbox.Copy","run_id":"01kdvdna0042yg32m83ce9g7xg","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(6,1767225600000000,'default','run:started','01kdvdna00dhw93dtr98h6bcfp','{"name":"onboard","run_id":"01kdvdna00dhw93dtr98h6bcfp","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(7,1767225600000000,'default','run:started','01kdvdna00dhw93dtr98h6bcfr','{"name":"onboard","run_id":"01kdvdna00dhw93dtr98h6bcfr","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(8,1767225600000000,'default','run:created','01kdvdna00dhw93dtr98h6bcfs','{"name":"rest","run_id":"01kdvdna00dhw93dtr98h6bcfs","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(9,1767225600000000,'default','run:started','01kdvdna00dhw93dtr98h6bcfs','{"name":"rest","run_id":"01kdvdna00dhw93dtr98h6bcfs","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(10,1767225600000000,'default','run:waiting','01kdvdna00dhw93dtr98h6bcfs','{"name":"rest","run_id":"01kdvdna00dhw93dtr98h6bcfs","attempt":1,"reason":"a time"}',NULL);
INSERT INTO "ostinato_events" VALUES(11,1767225600000000,'default','run:succeeded','01kdvdna0042yg32m83ce9g7xg','{"name":"inbox.Copy","run_id":"01kdvdna0042yg32m83ce9g7xg","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(12,1767225600000000,'default','run:created','01kdvdna0042yg32m83ce9g7xh','{"name":"inbox.poll","run_id":"01kdvdna0042yg32m83ce9g7xh","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(13,1767225600000000,'default','run:started','01kdvdna0042yg32m83ce9g7xh','{"name":"inbox.poll","run_id":"01kdvdna0042yg32m83ce9g7xh","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(14,1767225600000000,'default','run:waiting','01kdvdna00dhw93dtr98h6bcfr','{"name":"onboard","run_id":"01kdvdna00dhw93dtr98h6bcfr","attempt":1,"reason":"a message ''reply'' or a time"}',NULL);
INSERT INTO "ostinato_events" VALUES(15,1767225600000000,'default','run:waiting','01kdvdna00dhw93dtr98h6bcfp','{"name":"onboard","run_id":"01kdvdna00dhw93dtr98h6bcfp","attempt":1,"reason":"a time"}',NULL);
INSERT INTO "ostinato_events" VALUES(16,1767225600000000,'default','run:succeeded','01kdvdna0042yg32m83ce9g7xh','{"name":"inbox.poll","run_id":"01kdvdna0042yg32m83ce9g7xh","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(17,1767225600000000,'default','run:created','01kdvdna0042yg32m83ce9g7xn','{"name":"inbox.Copy","run_id":"01kdvdna0042yg32m83ce9g7xn","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(18,1767225600000000,'default','run:started','01kdvdna0042yg32m83ce9g7xn','{"name":"inbox.Copy","run_id":"01kdvdna0042yg32m83ce9g7xn","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(19,1767225600000000,'default','run:succeeded','01kdvdna0042yg32m83ce9g7xn','{"name":"inbox.Copy","run_id":"01kdvdna0042yg32m83ce9g7xn","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(20,1767225600000000,'default','run:created','01kdvdna0042yg32m83ce9g7xq','{"name":"inbox.Copy","run_id":"01kdvdna0042yg32m83ce9g7xq","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(21,1767225600000000,'default','run:started','01kdvdna0042yg32m83ce9g7xq','{"name":"inbox.Copy","run_id":"01kdvdna0042yg32m83ce9g7xq","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(22,1767225600000000,'default','run:succeeded','01kdvdna0042yg32m83ce9g7xq','{"name":"inbox.Copy","run_id":"01kdvdna0042yg32m83ce9g7xq","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(23,1767225600000000,'default','run:created','01kdvdna0042yg32m83ce9g7xs','{"name":"inbox.Copy","run_id":"01kdvdna0042yg32m83ce9g7xs","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(24,1767225600000000,'default','run:started','01kdvdna0042yg32m83ce9g7xs','{"name":"inbox.Copy","run_id":"01kdvdna0042yg32m83ce9g7xs","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(25,1767225600000000,'default','run:succeeded','01kdvdna0042yg32m83ce9g7xs','{"name":"inbox.Copy","run_id":"01kdvdna0042yg32m83ce9g7xs","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(26,1767229200000000,'default','run:created','01kdvh35m01gfjvazrw4vgvqsa','{"name":"inbox.poll","run_id":"01kdvh35m01gfjvazrw4vgvqsa","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(27,1767229200000000,'default','run:started','01kdvdna00dhw93dtr98h6bcfp','{"name":"onboard","run_id":"01kdvdna00dhw93dtr98h6bcfp","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(28,1767229200000000,'default','run:started','01kdvh35m01gfjvazrw4vgvqsa','{"name":"inbox.poll","run_id":"01kdvh35m01gfjvazrw4vgvqsa","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(29,1767229200000000,'default','run:succeeded','01kdvdna00dhw93dtr98h6bcfp','{"name":"onboard","run_id":"01kdvdna00dhw93dtr98h6bcfp","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(30,1767229200000000,'default','run:succeeded','01kdvh35m01gfjvazrw4vgvqsa','{"name":"inbox.poll","run_id":"01kdvh35m01gfjvazrw4vgvqsa","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(31,1767232800000000,'default','run:created','01kdvmh1808r1n2yn14sp97gd1','{"name":"inbox.poll","run_id":"01kdvmh1808r1n2yn14sp97gd1","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(32,1767232800000000,'default','run:started','01kdvmh1808r1n2yn14sp97gd1','{"name":"inbox.poll","run_id":"01kdvmh1808r1n2yn14sp97gd1","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(33,1767232800000000,'default','run:succeeded','01kdvmh1808r1n2yn14sp97gd1','{"name":"inbox.poll","run_id":"01kdvmh1808r1n2yn14sp97gd1","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(34,1767236400000000,'default','run:created','01kdvqyww0542kt8pjtc87hjsa','{"name":"inbox.poll","run_id":"01kdvqyww0542kt8pjtc87hjsa","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(35,1767236400000000,'default','run:started','01kdvqyww0542kt8pjtc87hjsa','{"name":"inbox.poll","run_id":"01kdvqyww0542kt8pjtc87hjsa","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(36,1767236400000000,'default','run:succeeded','01kdvqyww0542kt8pjtc87hjsa','{"name":"inbox.poll","run_id":"01kdvqyww0542kt8pjtc87hjsa","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(37,1767236400000000,'default','run:created','01kdvqyww0109w71nvrk6p2fhk','{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fhk","attempt":1}','teacher');
INSERT INTO "ostinato_events" VALUES(38,1767236400000000,'default','flow:session_started','01kdvqyww0109w71nvrk6p2fhj','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhg"}','teacher');
INSERT INTO "ostinato_events" VALUES(39,1767236400000000,'default','flow:turn_accepted','01kdvqyww0109w71nvrk6p2fhh','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhg","session_id":"01kdvqyww0109w71nvrk6p2fhj","source":"inbound","hitl":"none"}','teacher');
INSERT INTO "ostinato_events" VALUES(40,1767236400000000,'default','run:created','01kdvqyww0109w71nvrk6p2fhq','{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fhq","attempt":1}','teacher');
INSERT INTO "ostinato_events" VALUES(41,1767236400000000,'default','flow:session_started','01kdvqyww0109w71nvrk6p2fhp','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhm"}','teacher');
INSERT INTO "ostinato_events" VALUES(42,1767236400000000,'default','flow:turn_accepted','01kdvqyww0109w71nvrk6p2fhn','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhm","session_id":"01kdvqyww0109w71nvrk6p2fhp","source":"inbound","hitl":"none"}','teacher');
INSERT INTO "ostinato_events" VALUES(43,1767236400000000,'default','run:started','01kdvqyww0109w71nvrk6p2fhk','{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fhk","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}','teacher');
INSERT INTO "ostinato_events" VALUES(44,1767236400000000,'default','run:started','01kdvqyww0109w71nvrk6p2fhq','{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fhq","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}','teacher');
INSERT INTO "ostinato_events" VALUES(45,1767236400000000,'default','flow:started','01kdvqyww0109w71nvrk6p2fhh','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhg","session_id":"01kdvqyww0109w71nvrk6p2fhj","source":"inbound","flow":"checkin","hitl":"none"}','teacher');
INSERT INTO "ostinato_events" VALUES(46,1767236400000000,'default','flow:started','01kdvqyww0109w71nvrk6p2fhn','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhm","session_id":"01kdvqyww0109w71nvrk6p2fhp","source":"inbound","flow":"checkin","hitl":"none"}','teacher');
INSERT INTO "ostinato_events" VALUES(47,1767236400000000,'default','response:prepared','01kdvqyww0109w71nvrk6p2fhh','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhg","session_id":"01kdvqyww0109w71nvrk6p2fhj","source":"inbound","flow":"checkin","key":"01kdvqyww0109w71nvrk6p2fhh_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}','teacher');
INSERT INTO "ostinato_events" VALUES(48,1767236400000000,'default','response:prepared','01kdvqyww0109w71nvrk6p2fhn','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhm","session_id":"01kdvqyww0109w71nvrk6p2fhp","source":"inbound","flow":"checkin","key":"01kdvqyww0109w71nvrk6p2fhn_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}','teacher');
INSERT INTO "ostinato_events" VALUES(49,1767236400000000,'default','response:sent','01kdvqyww0109w71nvrk6p2fhh','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhg","session_id":"01kdvqyww0109w71nvrk6p2fhj","source":"inbound","flow":"checkin","key":"01kdvqyww0109w71nvrk6p2fhh_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}','teacher');
INSERT INTO "ostinato_events" VALUES(50,1767236400000000,'default','response:persisted','01kdvqyww0109w71nvrk6p2fhh','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhg","session_id":"01kdvqyww0109w71nvrk6p2fhj","source":"inbound","flow":"checkin","key":"01kdvqyww0109w71nvrk6p2fhh_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}','teacher');
INSERT INTO "ostinato_events" VALUES(51,1767236400000000,'default','response:sent','01kdvqyww0109w71nvrk6p2fhn','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhm","session_id":"01kdvqyww0109w71nvrk6p2fhp","source":"inbound","flow":"checkin","key":"01kdvqyww0109w71nvrk6p2fhn_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}','teacher');
INSERT INTO "ostinato_events" VALUES(52,1767236400000000,'default','response:persisted','01kdvqyww0109w71nvrk6p2fhn','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhm","session_id":"01kdvqyww0109w71nvrk6p2fhp","source":"inbound","flow":"checkin","key":"01kdvqyww0109w71nvrk6p2fhn_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}','teacher');
INSERT INTO "ostinato_events" VALUES(53,1767236400000000,'default','flow:turn_succeeded','01kdvqyww0109w71nvrk6p2fhh','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhg","session_id":"01kdvqyww0109w71nvrk6p2fhj","source":"inbound","flow":"checkin","outcome":"success","reason":"flow_waiting","delivered":1,"hitl":"none"}','teacher');
INSERT INTO "ostinato_events" VALUES(54,1767236400000000,'default','run:waiting','01kdvqyww0109w71nvrk6p2fhk','{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fhk","attempt":1,"reason":"a message ''turn'' or a time"}','teacher');
INSERT INTO "ostinato_events" VALUES(55,1767236400000000,'default','flow:turn_succeeded','01kdvqyww0109w71nvrk6p2fhn','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhm","session_id":"01kdvqyww0109w71nvrk6p2fhp","source":"inbound","flow":"checkin","outcome":"success","reason":"flow_waiting","delivered":1,"hitl":"none"}','teacher');
INSERT INTO "ostinato_events" VALUES(56,1767236400000000,'default','run:waiting','01kdvqyww0109w71nvrk6p2fhq','{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fhq","attempt":1,"reason":"a message ''turn'' or a time"}','teacher');
INSERT INTO "ostinato_events" VALUES(57,1767236400000000,'default','function:message','01kdvqyww0109w71nvrk6p2fhq','{"message":"turn"}','teacher');
INSERT INTO "ostinato_events" VALUES(58,1767236400000000,'default','flow:turn_accepted','01kdvqyww0109w71nvrk6p2fhr','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhm","session_id":"01kdvqyww0109w71nvrk6p2fhp","source":"inbound","flow":"checkin","hitl":"none"}','teacher');
INSERT INTO "ostinato_events" VALUES(59,1767236400000000,'default','run:created','01kdvqyww0109w71nvrk6p2fhw','{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fhw","attempt":1}','teacher');
INSERT INTO "ostinato_events" VALUES(60,1767236400000000,'default','flow:session_started','01kdvqyww0109w71nvrk6p2fhv','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhs"}','teacher');
INSERT INTO "ostinato_events" VALUES(61,1767236400000000,'default','flow:turn_accepted','01kdvqyww0109w71nvrk6p2fht','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhs","session_id":"01kdvqyww0109w71nvrk6p2fhv","source":"inbound","hitl":"none"}','teacher');
INSERT INTO "ostinato_events" VALUES(62,1767236400000000,'default','run:started','01kdvqyww0109w71nvrk6p2fhq','{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fhq","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}','teacher');
INSERT INTO "ostinato_events" VALUES(63,1767236400000000,'default','run:started','01kdvqyww0109w71nvrk6p2fhw','{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fhw","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}','teacher');
INSERT INTO "ostinato_events" VALUES(64,1767236400000000,'default','hitl:escalated','01kdvqyww0109w71nvrk6p2fhr','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhm","session_id":"01kdvqyww0109w71nvrk6p2fhp","source":"inbound","flow":"checkin","escalation_id":"01kdvqyww0109w71nvrk6p2fhr-6bff209081bb","mode":"async_resolution","question":"7 words. A badge?","hitl":"pending_admin_resolution"}','teacher');
INSERT INTO "ostinato_events" VALUES(65,1767236400000000,'default','flow:turn_succeeded','01kdvqyww0109w71nvrk6p2fhr','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhm","session_id":"01kdvqyww0109w71nvrk6p2fhp","source":"inbound","flow":"checkin","outcome":"success","reason":"flow_waiting","delivered":0,"hitl":"pending_admin_resolution"}','teacher');
INSERT INTO "ostinato_events" VALUES(66,1767236400000000,'default','run:waiting','01kdvqyww0109w71nvrk6p2fhq','{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fhq","attempt":1,"reason":"a message ''turn'' or a time"}','teacher');
INSERT INTO "ostinato_events" VALUES(67,1767236400000000,'default','response:prepared','01kdvqyww0109w71nvrk6p2fht','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhs","session_id":"01kdvqyww0109w71nvrk6p2fhv","source":"inbound","key":"01kdvqyww0109w71nvrk6p2fht_0","producer":"classic","before_llm":"continue","before_response":"continue","hitl":"none"}','teacher');
INSERT INTO "ostinato_events" VALUES(68,1767236400000000,'default','response:sent','01kdvqyww0109w71nvrk6p2fht','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhs","session_id":"01kdvqyww0109w71nvrk6p2fhv","source":"inbound","key":"01kdvqyww0109w71nvrk6p2fht_0","producer":"classic","before_llm":"continue","before_response":"continue","hitl":"none"}','teacher');
INSERT INTO "ostinato_events" VALUES(69,1767236400000000,'default','response:persisted','01kdvqyww0109w71nvrk6p2fht','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhs","session_id":"01kdvqyww0109w71nvrk6p2fhv","source":"inbound","key":"01kdvqyww0109w71nvrk6p2fht_0","producer":"classic","before_llm":"continue","before_response":"continue","hitl":"none"}','teacher');
INSERT INTO "ostinato_events" VALUES(70,1767236400000000,'default','flow:turn_succeeded','01kdvqyww0109w71nvrk6p2fht','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhs","session_id":"01kdvqyww0109w71nvrk6p2fhv","source":"inbound","outcome":"success","delivered":1,"hitl":"none"}','teacher');
INSERT INTO "ostinato_events" VALUES(71,1767236400000000,'default','run:waiting','01kdvqyww0109w71nvrk6p2fhw','{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fhw","attempt":1,"reason":"a message ''turn'' or a time"}','teacher');
INSERT INTO "ostinato_events" VALUES(72,1767236400000000,'default','flow:user_changed','01kdvqyww0109w71nvrk6p2fhx','{"agent":"buddy","user":"user00","created":true,"fields":[]}',NULL);
INSERT INTO "ostinato_events" VALUES(73,1767236400000000,'default','flow:user_changed','01kdvqyww0109w71nvrk6p2fhy','{"agent":"buddy","user":"user01","created":true,"fields":[]}',NULL);
INSERT INTO "ostinato_events" VALUES(74,1767236400000000,'default','flow:user_changed','01kdvqyww0109w71nvrk6p2fhz','{"agent":"buddy","user":"user02","created":true,"fields":[]}',NULL);
INSERT INTO "ostinato_events" VALUES(75,1767236400000000,'default','flow:user_changed','01kdvqyww0109w71nvrk6p2fj0','{"agent":"buddy","user":"user03","created":true,"fields":[]}',NULL);
INSERT INTO "ostinato_events" VALUES(76,1767236400000000,'default','flow:user_changed','01kdvqyww0109w71nvrk6p2fj1','{"agent":"buddy","user":"user04","created":true,"fields":[]}',NULL);
INSERT INTO "ostinato_events" VALUES(77,1767236400000000,'default','flow:user_changed','01kdvqyww0109w71nvrk6p2fj2','{"agent":"buddy","user":"user05","created":true,"fields":[]}',NULL);
INSERT INTO "ostinato_events" VALUES(78,1767236400000000,'default','flow:user_changed','01kdvqyww0109w71nvrk6p2fj3','{"agent":"buddy","user":"user06","created":true,"fields":[]}',NULL);
INSERT INTO "ostinato_events" VALUES(79,1767236400000000,'default','flow:user_changed','01kdvqyww0109w71nvrk6p2fj4','{"agent":"buddy","user":"user07","created":true,"fields":[]}',NULL);
INSERT INTO "ostinato_events" VALUES(80,1767236400000000,'default','flow:user_changed','01kdvqyww0109w71nvrk6p2fj5','{"agent":"buddy","user":"user08","created":true,"fields":[]}',NULL);
INSERT INTO "ostinato_events" VALUES(81,1767236400000000,'default','flow:user_changed','01kdvqyww0109w71nvrk6p2fj6','{"agent":"buddy","user":"user09","created":true,"fields":[]}',NULL);
INSERT INTO "ostinato_events" VALUES(82,1767236400000000,'default','flow:user_changed','01kdvqyww0109w71nvrk6p2fj7','{"agent":"buddy","user":"user10","created":true,"fields":[]}',NULL);
INSERT INTO "ostinato_events" VALUES(83,1767236400000000,'default','flow:user_changed','01kdvqyww0109w71nvrk6p2fj8','{"agent":"buddy","user":"user11","created":true,"fields":[]}',NULL);
INSERT INTO "ostinato_events" VALUES(84,1767236400000000,'default','run:created','01kdvqyww0109w71nvrk6p2fj9','{"name":"agent-campaign","run_id":"01kdvqyww0109w71nvrk6p2fj9","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(85,1767236400000000,'default','campaign:started','01kdvqyww0109w71nvrk6p2fj9','{"agent":"buddy","target_kind":"segment","source":"scheduled"}',NULL);
INSERT INTO "ostinato_events" VALUES(86,1767236400000000,'default','run:started','01kdvqyww0109w71nvrk6p2fj9','{"name":"agent-campaign","run_id":"01kdvqyww0109w71nvrk6p2fj9","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(87,1767236400000000,'default','schedule:campaign_resolved','01kdvqyww0109w71nvrk6p2fj9','{"agent":"buddy","target_kind":"segment","source":"scheduled","recipients":12}',NULL);
INSERT INTO "ostinato_events" VALUES(88,1767236400000000,'default','run:created','01kdvqyww0109w71nvrk6p2fjd','{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fjd","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(89,1767236400000000,'default','flow:session_started','01kdvqyww0109w71nvrk6p2fjc','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhx"}',NULL);
INSERT INTO "ostinato_events" VALUES(90,1767236400000000,'default','flow:turn_accepted','01kdvqyww0109w71nvrk6p2fjb','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhx","session_id":"01kdvqyww0109w71nvrk6p2fjc","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","hitl":"none"}',NULL);
INSERT INTO "ostinato_events" VALUES(91,1767236400000000,'default','schedule:recipient_run_started','01kdvqyww0109w71nvrk6p2fj9','{"agent":"buddy","target_kind":"segment","source":"scheduled","flow":"hello","segment_id":"ba0e2a9102897627","recipient_user_external_id":"user00","session_id":"01kdvqyww0109w71nvrk6p2fjc","request_id":"01kdvqyww0109w71nvrk6p2fjb"}',NULL);
INSERT INTO "ostinato_events" VALUES(92,1767236400000000,'default','run:started','01kdvqyww0109w71nvrk6p2fjd','{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fjd","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(93,1767236400000000,'default','flow:started','01kdvqyww0109w71nvrk6p2fjb','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhx","session_id":"01kdvqyww0109w71nvrk6p2fjc","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","hitl":"none"}',NULL);
INSERT INTO "ostinato_events" VALUES(94,1767236400000000,'default','response:prepared','01kdvqyww0109w71nvrk6p2fjb','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhx","session_id":"01kdvqyww0109w71nvrk6p2fjc","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","key":"01kdvqyww0109w71nvrk6p2fjb_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}',NULL);
INSERT INTO "ostinato_events" VALUES(95,1767236400000000,'default','response:sent','01kdvqyww0109w71nvrk6p2fjb','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhx","session_id":"01kdvqyww0109w71nvrk6p2fjc","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","key":"01kdvqyww0109w71nvrk6p2fjb_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}',NULL);
INSERT INTO "ostinato_events" VALUES(96,1767236400000000,'default','response:persisted','01kdvqyww0109w71nvrk6p2fjb','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhx","session_id":"01kdvqyww0109w71nvrk6p2fjc","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","key":"01kdvqyww0109w71nvrk6p2fjb_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}',NULL);
INSERT INTO "ostinato_events" VALUES(97,1767236400000000,'default','flow:ended','01kdvqyww0109w71nvrk6p2fjb','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhx","session_id":"01kdvqyww0109w71nvrk6p2fjc","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","hitl":"none"}',NULL);
INSERT INTO "ostinato_events" VALUES(98,1767236400000000,'default','flow:turn_succeeded','01kdvqyww0109w71nvrk6p2fjb','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhx","session_id":"01kdvqyww0109w71nvrk6p2fjc","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","outcome":"success","delivered":1,"hitl":"none"}',NULL);
INSERT INTO "ostinato_events" VALUES(99,1767236400000000,'default','run:waiting','01kdvqyww0109w71nvrk6p2fjd','{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fjd","attempt":1,"reason":"a message ''turn'' or a time"}',NULL);
INSERT INTO "ostinato_events" VALUES(100,1767236400020000,'default','schedule:recipient_run_completed','01kdvqyww0109w71nvrk6p2fj9','{"agent":"buddy","target_kind":"segment","source":"scheduled","flow":"hello","segment_id":"ba0e2a9102897627","recipient_user_external_id":"user00","session_id":"01kdvqyww0109w71nvrk6p2fjc","request_id":"01kdvqyww0109w71nvrk6p2fjb","outcome":"success","delivered":1}',NULL);
INSERT INTO "ostinato_events" VALUES(101,1767236400040000,'default','run:waiting','01kdvqyww0109w71nvrk6p2fj9','{"name":"agent-campaign","run_id":"01kdvqyww0109w71nvrk6p2fj9","attempt":1,"reason":"a message ''campaign'' or a time"}',NULL);
INSERT INTO "ostinato_events" VALUES(102,1767237000000000,'default','run:started','01kdvqyww0109w71nvrk6p2fj9','{"name":"agent-campaign","run_id":"01kdvqyww0109w71nvrk6p2fj9","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(103,1767237000000000,'default','run:created','01kdvrh6t07xn1wbzbh50mrd1y','{"name":"agent/buddy","run_id":"01kdvrh6t07xn1wbzbh50mrd1y","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(104,1767237000000000,'default','flow:session_started','01kdvrh6t07xn1wbzbh50mrd1x','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhy"}',NULL);
INSERT INTO "ostinato_events" VALUES(105,1767237000000000,'default','flow:turn_accepted','01kdvrh6t07xn1wbzbh50mrd1w','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhy","session_id":"01kdvrh6t07xn1wbzbh50mrd1x","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","hitl":"none"}',NULL);
INSERT INTO "ostinato_events" VALUES(106,1767237000000000,'default','schedule:recipient_run_started','01kdvqyww0109w71nvrk6p2fj9','{"agent":"buddy","target_kind":"segment","source":"scheduled","flow":"hello","segment_id":"ba0e2a9102897627","recipient_user_external_id":"user01","session_id":"01kdvrh6t07xn1wbzbh50mrd1x","request_id":"01kdvrh6t07xn1wbzbh50mrd1w"}',NULL);
INSERT INTO "ostinato_events" VALUES(107,1767237000000000,'default','run:started','01kdvrh6t07xn1wbzbh50mrd1y','{"name":"agent/buddy","run_id":"01kdvrh6t07xn1wbzbh50mrd1y","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(108,1767237000000000,'default','flow:started','01kdvrh6t07xn1wbzbh50mrd1w','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhy","session_id":"01kdvrh6t07xn1wbzbh50mrd1x","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","hitl":"none"}',NULL);
INSERT INTO "ostinato_events" VALUES(109,1767237000000000,'default','response:prepared','01kdvrh6t07xn1wbzbh50mrd1w','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhy","session_id":"01kdvrh6t07xn1wbzbh50mrd1x","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","key":"01kdvrh6t07xn1wbzbh50mrd1w_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}',NULL);
INSERT INTO "ostinato_events" VALUES(110,1767237000000000,'default','response:sent','01kdvrh6t07xn1wbzbh50mrd1w','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhy","session_id":"01kdvrh6t07xn1wbzbh50mrd1x","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","key":"01kdvrh6t07xn1wbzbh50mrd1w_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}',NULL);
INSERT INTO "ostinato_events" VALUES(111,1767237000000000,'default','response:persisted','01kdvrh6t07xn1wbzbh50mrd1w','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhy","session_id":"01kdvrh6t07xn1wbzbh50mrd1x","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","key":"01kdvrh6t07xn1wbzbh50mrd1w_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}',NULL);
INSERT INTO "ostinato_events" VALUES(112,1767237000000000,'default','flow:ended','01kdvrh6t07xn1wbzbh50mrd1w','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhy","session_id":"01kdvrh6t07xn1wbzbh50mrd1x","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","hitl":"none"}',NULL);
INSERT INTO "ostinato_events" VALUES(113,1767237000000000,'default','flow:turn_succeeded','01kdvrh6t07xn1wbzbh50mrd1w','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhy","session_id":"01kdvrh6t07xn1wbzbh50mrd1x","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","outcome":"success","delivered":1,"hitl":"none"}',NULL);
INSERT INTO "ostinato_events" VALUES(114,1767237000000000,'default','run:waiting','01kdvrh6t07xn1wbzbh50mrd1y','{"name":"agent/buddy","run_id":"01kdvrh6t07xn1wbzbh50mrd1y","attempt":1,"reason":"a message ''turn'' or a time"}',NULL);
INSERT INTO "ostinato_events" VALUES(115,1767237000020000,'default','schedule:recipient_run_completed','01kdvqyww0109w71nvrk6p2fj9','{"agent":"buddy","target_kind":"segment","source":"scheduled","flow":"hello","segment_id":"ba0e2a9102897627","recipient_user_external_id":"user01","session_id":"01kdvrh6t07xn1wbzbh50mrd1x","request_id":"01kdvrh6t07xn1wbzbh50mrd1w","outcome":"success","delivered":1}',NULL);
INSERT INTO "ostinato_events" VALUES(116,1767237000040000,'default','run:waiting','01kdvqyww0109w71nvrk6p2fj9','{"name":"agent-campaign","run_id":"01kdvqyww0109w71nvrk6p2fj9","attempt":1,"reason":"a message ''campaign'' or a time"}',NULL);
INSERT INTO "ostinato_events" VALUES(117,1767237300000000,'default','run:started','01kdvqyww0109w71nvrk6p2fhw','{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fhw","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}','teacher');
INSERT INTO "ostinato_events" VALUES(118,1767237300000000,'default','run:started','01kdvqyww0109w71nvrk6p2fjd','{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fjd","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(119,1767237300000000,'default','flow:session_idle','01kdvqyww0109w71nvrk6p2fhv','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhs"}',NULL);
INSERT INTO "ostinato_events" VALUES(120,1767237300000000,'default','flow:session_idle','01kdvqyww0109w71nvrk6p2fjc','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhx"}',NULL);
INSERT INTO "ostinato_events" VALUES(121,1767237300000000,'default','run:waiting','01kdvqyww0109w71nvrk6p2fhw','{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fhw","attempt":1,"reason":"a message ''turn'' or a time"}','teacher');
INSERT INTO "ostinato_events" VALUES(122,1767237300000000,'default','run:waiting','01kdvqyww0109w71nvrk6p2fjd','{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fjd","attempt":1,"reason":"a message ''turn'' or a time"}',NULL);
INSERT INTO "ostinato_events" VALUES(123,1767237600000000,'default','run:started','01kdvqyww0109w71nvrk6p2fj9','{"name":"agent-campaign","run_id":"01kdvqyww0109w71nvrk6p2fj9","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(124,1767237600000000,'default','run:created','01kdvs3gr07hs764ermf1cwvt6','{"name":"agent/buddy","run_id":"01kdvs3gr07hs764ermf1cwvt6","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(125,1767237600000000,'default','flow:session_started','01kdvs3gr07hs764ermf1cwvt5','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhz"}',NULL);
INSERT INTO "ostinato_events" VALUES(126,1767237600000000,'default','flow:turn_accepted','01kdvs3gr07hs764ermf1cwvt4','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhz","session_id":"01kdvs3gr07hs764ermf1cwvt5","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","hitl":"none"}',NULL);
INSERT INTO "ostinato_events" VALUES(127,1767237600000000,'default','schedule:recipient_run_started','01kdvqyww0109w71nvrk6p2fj9','{"agent":"buddy","target_kind":"segment","source":"scheduled","flow":"hello","segment_id":"ba0e2a9102897627","recipient_user_external_id":"user02","session_id":"01kdvs3gr07hs764ermf1cwvt5","request_id":"01kdvs3gr07hs764ermf1cwvt4"}',NULL);
INSERT INTO "ostinato_events" VALUES(128,1767237600000000,'default','run:started','01kdvs3gr07hs764ermf1cwvt6','{"name":"agent/buddy","run_id":"01kdvs3gr07hs764ermf1cwvt6","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(129,1767237600000000,'default','flow:started','01kdvs3gr07hs764ermf1cwvt4','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhz","session_id":"01kdvs3gr07hs764ermf1cwvt5","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","hitl":"none"}',NULL);
INSERT INTO "ostinato_events" VALUES(130,1767237600000000,'default','response:prepared','01kdvs3gr07hs764ermf1cwvt4','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhz","session_id":"01kdvs3gr07hs764ermf1cwvt5","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","key":"01kdvs3gr07hs764ermf1cwvt4_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}',NULL);
INSERT INTO "ostinato_events" VALUES(131,1767237600000000,'default','response:sent','01kdvs3gr07hs764ermf1cwvt4','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhz","session_id":"01kdvs3gr07hs764ermf1cwvt5","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","key":"01kdvs3gr07hs764ermf1cwvt4_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}',NULL);
INSERT INTO "ostinato_events" VALUES(132,1767237600000000,'default','response:persisted','01kdvs3gr07hs764ermf1cwvt4','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhz","session_id":"01kdvs3gr07hs764ermf1cwvt5","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","key":"01kdvs3gr07hs764ermf1cwvt4_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}',NULL);
INSERT INTO "ostinato_events" VALUES(133,1767237600000000,'default','flow:ended','01kdvs3gr07hs764ermf1cwvt4','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhz","session_id":"01kdvs3gr07hs764ermf1cwvt5","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","hitl":"none"}',NULL);
INSERT INTO "ostinato_events" VALUES(134,1767237600000000,'default','flow:turn_succeeded','01kdvs3gr07hs764ermf1cwvt4','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhz","session_id":"01kdvs3gr07hs764ermf1cwvt5","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","outcome":"success","delivered":1,"hitl":"none"}',NULL);
INSERT INTO "ostinato_events" VALUES(135,1767237600000000,'default','run:waiting','01kdvs3gr07hs764ermf1cwvt6','{"name":"agent/buddy","run_id":"01kdvs3gr07hs764ermf1cwvt6","attempt":1,"reason":"a message ''turn'' or a time"}',NULL);
INSERT INTO "ostinato_events" VALUES(136,1767237600020000,'default','schedule:recipient_run_completed','01kdvqyww0109w71nvrk6p2fj9','{"agent":"buddy","target_kind":"segment","source":"scheduled","flow":"hello","segment_id":"ba0e2a9102897627","recipient_user_external_id":"user02","session_id":"01kdvs3gr07hs764ermf1cwvt5","request_id":"01kdvs3gr07hs764ermf1cwvt4","outcome":"success","delivered":1}',NULL);
INSERT INTO "ostinato_events" VALUES(137,1767237600040000,'default','run:waiting','01kdvqyww0109w71nvrk6p2fj9','{"name":"agent-campaign","run_id":"01kdvqyww0109w71nvrk6p2fj9","attempt":1,"reason":"a message ''campaign'' or a time"}',NULL);
INSERT INTO "ostinato_events" VALUES(138,1767237900000000,'default','run:started','01kdvrh6t07xn1wbzbh50mrd1y','{"name":"agent/buddy","run_id":"01kdvrh6t07xn1wbzbh50mrd1y","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(139,1767237900000000,'default','flow:session_idle','01kdvrh6t07xn1wbzbh50mrd1x','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhy"}',NULL);
INSERT INTO "ostinato_events" VALUES(140,1767237900000000,'default','run:waiting','01kdvrh6t07xn1wbzbh50mrd1y','{"name":"agent/buddy","run_id":"01kdvrh6t07xn1wbzbh50mrd1y","attempt":1,"reason":"a message ''turn'' or a time"}',NULL);
INSERT INTO "ostinato_events" VALUES(141,1767238200000000,'default','run:started','01kdvqyww0109w71nvrk6p2fj9','{"name":"agent-campaign","run_id":"01kdvqyww0109w71nvrk6p2fj9","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(142,1767238200000000,'default','run:created','01kdvsntp0ckt62bkpjtkcxk0x','{"name":"agent/buddy","run_id":"01kdvsntp0ckt62bkpjtkcxk0x","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(143,1767238200000000,'default','flow:session_started','01kdvsntp0ckt62bkpjtkcxk0w','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fj0"}',NULL);
INSERT INTO "ostinato_events" VALUES(144,1767238200000000,'default','flow:turn_accepted','01kdvsntp0ckt62bkpjtkcxk0v','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fj0","session_id":"01kdvsntp0ckt62bkpjtkcxk0w","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","hitl":"none"}',NULL);
INSERT INTO "ostinato_events" VALUES(145,1767238200000000,'default','schedule:recipient_run_started','01kdvqyww0109w71nvrk6p2fj9','{"agent":"buddy","target_kind":"segment","source":"scheduled","flow":"hello","segment_id":"ba0e2a9102897627","recipient_user_external_id":"user03","session_id":"01kdvsntp0ckt62bkpjtkcxk0w","request_id":"01kdvsntp0ckt62bkpjtkcxk0v"}',NULL);
INSERT INTO "ostinato_events" VALUES(146,1767238200000000,'default','run:started','01kdvsntp0ckt62bkpjtkcxk0x','{"name":"agent/buddy","run_id":"01kdvsntp0ckt62bkpjtkcxk0x","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(147,1767238200000000,'default','flow:started','01kdvsntp0ckt62bkpjtkcxk0v','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fj0","session_id":"01kdvsntp0ckt62bkpjtkcxk0w","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","hitl":"none"}',NULL);
INSERT INTO "ostinato_events" VALUES(148,1767238200000000,'default','response:prepared','01kdvsntp0ckt62bkpjtkcxk0v','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fj0","session_id":"01kdvsntp0ckt62bkpjtkcxk0w","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","key":"01kdvsntp0ckt62bkpjtkcxk0v_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}',NULL);
INSERT INTO "ostinato_events" VALUES(149,1767238200000000,'default','response:sent','01kdvsntp0ckt62bkpjtkcxk0v','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fj0","session_id":"01kdvsntp0ckt62bkpjtkcxk0w","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","key":"01kdvsntp0ckt62bkpjtkcxk0v_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}',NULL);
INSERT INTO "ostinato_events" VALUES(150,1767238200000000,'default','response:persisted','01kdvsntp0ckt62bkpjtkcxk0v','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fj0","session_id":"01kdvsntp0ckt62bkpjtkcxk0w","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","key":"01kdvsntp0ckt62bkpjtkcxk0v_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}',NULL);
INSERT INTO "ostinato_events" VALUES(151,1767238200000000,'default','flow:ended','01kdvsntp0ckt62bkpjtkcxk0v','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fj0","session_id":"01kdvsntp0ckt62bkpjtkcxk0w","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","hitl":"none"}',NULL);
INSERT INTO "ostinato_events" VALUES(152,1767238200000000,'default','flow:turn_succeeded','01kdvsntp0ckt62bkpjtkcxk0v','{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fj0","session_id":"01kdvsntp0ckt62bkpjtkcxk0w","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","outcome":"success","delivered":1,"hitl":"none"}',NULL);
INSERT INTO "ostinato_events" VALUES(153,1767238200000000,'default','run:waiting','01kdvsntp0ckt62bkpjtkcxk0x','{"name":"agent/buddy","run_id":"01kdvsntp0ckt62bkpjtkcxk0x","attempt":1,"reason":"a message ''turn'' or a time"}',NULL);
CREATE TABLE ostinato_forms (
    schedule_id text PRIMARY KEY,
    namespace text NOT NULL,
    workflow_id text NOT NULL,
    keep integer NOT NULL,
    action text NOT NULL,
    action_said text NOT NULL,
    about text NOT NULL,
    about_said text NOT NULL,
    updated integer
) WITHOUT ROWID;
CREATE TABLE ostinato_function_children (
    parent_id text NOT NULL,
    child_id text NOT NULL,
    policy text NOT NULL,
    PRIMARY KEY (parent_id, child_id)
) WITHOUT ROWID;
CREATE TABLE ostinato_function_codes (
    name text NOT NULL,
    version integer NOT NULL,
    code text NOT NULL,
    declaration text NOT NULL,
    updated integer NOT NULL,
    PRIMARY KEY (name, version)
) WITHOUT ROWID;
INSERT INTO "ostinato_function_codes" VALUES('agent-campaign',1,'0333cf4bd7fa','{"at_most_once":false,"defaults":{"allow_session_bootstrap":false,"campaign_id":null,"flow":null,"input":null,"metadata":null,"options":null,"run_attempt":null,"schedule_id":null,"scheduled_for":null,"trigger_type":null},"limit":null,"needs":["agent","segment"],"places":12,"priority":0,"queue":"default","serial_hold":"chain","serial_key":null,"takes":["agent","segment","flow","input","metadata","campaign_id","schedule_id","scheduled_for","trigger_type","run_attempt","allow_session_bootstrap","options"],"types":"{\"pydantic_core\":\"2.50.4\",\"schema\":{\"type\":\"typed-dict\",\"fields\":{\"agent\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"str\"},\"required\":false},\"segment\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"dict\",\"keys_schema\":{\"type\":\"str\"},\"values_schema\":{\"type\":\"any\"}},\"required\":false},\"flow\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"nullable\",\"schema\":{\"type\":\"str\"}},\"required\":false},\"input\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"nullable\",\"schema\":{\"type\":\"dict\",\"keys_schema\":{\"type\":\"str\"},\"values_schema\":{\"type\":\"any\"}}},\"required\":false},\"metadata\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"nullable\",\"schema\":{\"type\":\"dict\",\"keys_schema\":{\"type\":\"str\"},\"values_schema\":{\"type\":\"any\"}}},\"required\":false},\"campaign_id\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"nullable\",\"schema\":{\"type\":\"str\"}},\"required\":false},\"schedule_id\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"nullable\",\"schema\":{\"type\":\"str\"}},\"required\":false},\"scheduled_for\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"nullable\",\"schema\":{\"type\":\"union\",\"choices\":[{\"type\":\"int\"},{\"type\":\"str\"}]}},\"required\":false},\"trigger_type\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"nullable\",\"schema\":{\"type\":\"str\"}},\"required\":false},\"run_attempt\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"nullable\",\"schema\":{\"type\":\"int\"}},\"required\":false},\"allow_session_bootstrap\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"bool\"},\"required\":false},\"options\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"nullable\",\"schema\":{\"type\":\"dict\",\"keys_schema\":{\"type\":\"str\"},\"values_schema\":{\"type\":\"any\"}}},\"required\":false}},\"config\":{\"extra_fields_behavior\":\"allow\",\"title\":\"Input\"},\"extra_behavior\":\"allow\"}}"}',1767225600000000);
INSERT INTO "ostinato_function_codes" VALUES('agent-schedule',1,'7aefb3c85122','{"at_most_once":false,"defaults":{"bounded":false},"limit":null,"needs":["agent","schedule","definition"],"places":4,"priority":0,"queue":"default","serial_hold":"chain","serial_key":null,"takes":["agent","schedule","definition","bounded"],"types":"{\"pydantic_core\":\"2.50.4\",\"schema\":{\"type\":\"typed-dict\",\"fields\":{\"agent\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"str\"},\"required\":false},\"schedule\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"str\"},\"required\":false},\"definition\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"dict\",\"keys_schema\":{\"type\":\"str\"},\"values_schema\":{\"type\":\"any\"}},\"required\":false},\"bounded\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"bool\"},\"required\":false}},\"config\":{\"extra_fields_behavior\":\"allow\",\"title\":\"Input\"},\"extra_behavior\":\"allow\"}}"}',1767225600000000);
INSERT INTO "ostinato_function_codes" VALUES('agent-turn',1,'c0797b47f704','{"at_most_once":false,"defaults":{},"limit":null,"needs":["agent","turn"],"places":2,"priority":0,"queue":"default","serial_hold":"chain","serial_key":null,"takes":["agent","turn"],"types":"{\"pydantic_core\":\"2.50.4\",\"schema\":{\"type\":\"typed-dict\",\"fields\":{\"agent\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"str\"},\"required\":false},\"turn\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"dict\",\"keys_schema\":{\"type\":\"str\"},\"values_schema\":{\"type\":\"any\"}},\"required\":false}},\"config\":{\"extra_fields_behavior\":\"allow\",\"title\":\"Input\"},\"extra_behavior\":\"allow\"}}"}',1767225600000000);
INSERT INTO "ostinato_function_codes" VALUES('agent/buddy',1,'2337779ee0ab','{"at_most_once":false,"defaults":{"active":null,"ending":null},"limit":null,"needs":["session"],"places":4,"priority":0,"queue":"default","serial_hold":"chain","serial_key":null,"takes":["session","deferred","ending","active"],"types":"{\"pydantic_core\":\"2.50.4\",\"schema\":{\"type\":\"typed-dict\",\"fields\":{\"session\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"str\"},\"required\":false},\"deferred\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"list\",\"items_schema\":{\"type\":\"any\"}},\"required\":false},\"ending\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"nullable\",\"schema\":{\"type\":\"str\"}},\"required\":false},\"active\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"nullable\",\"schema\":{\"type\":\"int\"}},\"required\":false}},\"config\":{\"extra_fields_behavior\":\"allow\",\"title\":\"Input\"},\"extra_behavior\":\"allow\"}}"}',1767225600000000);
INSERT INTO "ostinato_function_codes" VALUES('onboard',1,'e7bbd0e4cc61','{"at_most_once":false,"defaults":{},"limit":null,"needs":["user"],"places":1,"priority":0,"queue":"default","serial_hold":"chain","serial_key":null,"takes":["user"],"types":"{\"pydantic_core\":\"2.50.4\",\"schema\":{\"type\":\"typed-dict\",\"fields\":{\"user\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"str\"},\"required\":false}},\"config\":{\"extra_fields_behavior\":\"allow\",\"title\":\"Input\"},\"extra_behavior\":\"allow\"}}"}',1767225600000000);
INSERT INTO "ostinato_function_codes" VALUES('rest',1,'839c48b2c950','{"at_most_once":false,"defaults":{},"limit":null,"needs":["length"],"places":1,"priority":0,"queue":"default","serial_hold":"chain","serial_key":null,"takes":["length"],"types":"{\"pydantic_core\":\"2.50.4\",\"schema\":{\"type\":\"typed-dict\",\"fields\":{\"length\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"str\"},\"required\":false}},\"config\":{\"extra_fields_behavior\":\"allow\",\"title\":\"Input\"},\"extra_behavior\":\"allow\"}}"}',1767225600000000);
CREATE TABLE ostinato_function_messages (
    run_id text NOT NULL,
    id text NOT NULL,
    name text NOT NULL,
    payload text,
    sent integer NOT NULL,
    actor text,
    position text,
    PRIMARY KEY (run_id, id)
) WITHOUT ROWID;
INSERT INTO "ostinato_function_messages" VALUES('01kdvdna00dhw93dtr98h6bcfp','01kdvdna00dhw93dtr98h6bcfq','reply','"hello"',1767225600000000,NULL,'1');
INSERT INTO "ostinato_function_messages" VALUES('01kdvqyww0109w71nvrk6p2fhk','01kdvqyww0109w71nvrk6p2fhh','turn','{"turn":"01kdvqyww0109w71nvrk6p2fhh"}',1767236400000000,'teacher','0');
INSERT INTO "ostinato_function_messages" VALUES('01kdvqyww0109w71nvrk6p2fhq','01kdvqyww0109w71nvrk6p2fhn','turn','{"turn":"01kdvqyww0109w71nvrk6p2fhn"}',1767236400000000,'teacher','0');
INSERT INTO "ostinato_function_messages" VALUES('01kdvqyww0109w71nvrk6p2fhq','01kdvqyww0109w71nvrk6p2fhr','turn','{"turn":"01kdvqyww0109w71nvrk6p2fhr"}',1767236400000000,'teacher','11');
INSERT INTO "ostinato_function_messages" VALUES('01kdvqyww0109w71nvrk6p2fhw','01kdvqyww0109w71nvrk6p2fht','turn','{"turn":"01kdvqyww0109w71nvrk6p2fht"}',1767236400000000,'teacher','0');
INSERT INTO "ostinato_function_messages" VALUES('01kdvqyww0109w71nvrk6p2fjd','01kdvqyww0109w71nvrk6p2fjb','turn','{"turn":"01kdvqyww0109w71nvrk6p2fjb"}',1767236400000000,NULL,'0');
INSERT INTO "ostinato_function_messages" VALUES('01kdvrh6t07xn1wbzbh50mrd1y','01kdvrh6t07xn1wbzbh50mrd1w','turn','{"turn":"01kdvrh6t07xn1wbzbh50mrd1w"}',1767237000000000,NULL,'0');
INSERT INTO "ostinato_function_messages" VALUES('01kdvs3gr07hs764ermf1cwvt6','01kdvs3gr07hs764ermf1cwvt4','turn','{"turn":"01kdvs3gr07hs764ermf1cwvt4"}',1767237600000000,NULL,'0');
INSERT INTO "ostinato_function_messages" VALUES('01kdvsntp0ckt62bkpjtkcxk0x','01kdvsntp0ckt62bkpjtkcxk0v','turn','{"turn":"01kdvsntp0ckt62bkpjtkcxk0v"}',1767238200000000,NULL,'0');
CREATE TABLE ostinato_function_steps (
    run_id text NOT NULL,
    position text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    digest text,
    status text NOT NULL,
    seq integer,
    result text,
    error text,
    attempts integer NOT NULL,
    due integer,
    child_id text,
    begun integer NOT NULL,
    finished integer,
    PRIMARY KEY (run_id, position)
) WITHOUT ROWID;
INSERT INTO "ostinato_function_steps" VALUES('01kdvdna00dhw93dtr98h6bcfp','0','step','make_account','8f1f5ff8f81a89be7ddfc0e5f4973f58','done',1,'"account of ada"',NULL,1,NULL,NULL,1767225600000000,1767225600000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvdna00dhw93dtr98h6bcfp','1','receive','reply',NULL,'done',2,'"hello"',NULL,0,1769817600000000,NULL,1767225600000000,1767225600000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvdna00dhw93dtr98h6bcfp','2','sleep','',NULL,'done',3,NULL,NULL,0,1767229200000000,NULL,1767225600000000,1767229200000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvdna00dhw93dtr98h6bcfr','0','step','make_account','2e1120774eab87cbb83c8a8088f64629','done',1,'"account of bob"',NULL,1,NULL,NULL,1767225600000000,1767225600000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvdna00dhw93dtr98h6bcfr','1','receive','reply',NULL,'pending',NULL,NULL,NULL,0,1769817600000000,NULL,1767225600000000,NULL);
INSERT INTO "ostinato_function_steps" VALUES('01kdvdna00dhw93dtr98h6bcfs','0','sleep','',NULL,'pending',NULL,NULL,NULL,0,1767398400000000,NULL,1767225600000000,NULL);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fhk','0','receive','turn',NULL,'done',1,'{"turn":"01kdvqyww0109w71nvrk6p2fhh"}',NULL,0,1767237300000000,NULL,1767236400000000,1767236400000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fhk','1','step','begin','5eed25f9aa1c68139fe47d7ea93769c1','done',2,'{"id":"01kdvqyww0109w71nvrk6p2fhh","source":"inbound","text":"check in","flow":null,"input":null,"metadata":{},"on_active_flow":"skip","expires":1767322800000000,"declared":false,"user":{"id":"01kdvqyww0109w71nvrk6p2fhg","external_id":"asked","address":"asked","name":null,"zone":null,"locale":null,"consent":"unknown","consent_at":null,"tags":[],"data":{},"created":1767236400000000,"active":1767236400000000},"hooks":["router"]}',NULL,1,NULL,NULL,1767236400000000,1767236400000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fhk','10','now','',NULL,'done',NULL,'1767236400000000',NULL,0,NULL,NULL,1767236400000000,1767236400000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fhk','11','receive','turn',NULL,'pending',NULL,NULL,NULL,0,1768964400000000,NULL,1767236400000000,NULL);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fhk','2','step','router','5eed25f9aa1c68139fe47d7ea93769c1','done',3,'{"action":"continue","flow":"checkin"}',NULL,1,NULL,NULL,1767236400000000,1767236400000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fhk','3','step','flow','5eed25f9aa1c68139fe47d7ea93769c1','done',4,'{"version":1}',NULL,1,NULL,NULL,1767236400000000,1767236400000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fhk','4','step','flow_start','5eed25f9aa1c68139fe47d7ea93769c1','done',5,NULL,NULL,1,NULL,NULL,1767236400000000,1767236400000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fhk','5','step','intent','5eed25f9aa1c68139fe47d7ea93769c1','done',6,'{"key":"01kdvqyww0109w71nvrk6p2fhh_0","address":"asked","user":"asked"}',NULL,1,NULL,NULL,1767236400000000,1767236400000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fhk','6','step','dispatch','5eed25f9aa1c68139fe47d7ea93769c1','done',7,'{"status":"sent","id":"provider-1"}',NULL,1,NULL,NULL,1767236400000000,1767236400000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fhk','7','step','settle','5eed25f9aa1c68139fe47d7ea93769c1','done',8,'{"hitl_state":"none","escalation_id":null}',NULL,1,NULL,NULL,1767236400000000,1767236400000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fhk','8','now','',NULL,'done',NULL,'1767236400000000',NULL,0,NULL,NULL,1767236400000000,1767236400000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fhk','9','step','finish','5eed25f9aa1c68139fe47d7ea93769c1','done',9,'{"outcome":"success","reason":"flow_waiting","turn_id":"01kdvqyww0109w71nvrk6p2fhh","session_id":"01kdvqyww0109w71nvrk6p2fhj","delivered":1,"hitl":"none","flow":"checkin"}',NULL,1,NULL,NULL,1767236400000000,1767236400000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fhq','0','receive','turn',NULL,'done',1,'{"turn":"01kdvqyww0109w71nvrk6p2fhn"}',NULL,0,1767237300000000,NULL,1767236400000000,1767236400000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fhq','1','step','begin','5eed25f9aa1c68139fe47d7ea93769c1','done',2,'{"id":"01kdvqyww0109w71nvrk6p2fhn","source":"inbound","text":"check in","flow":null,"input":null,"metadata":{},"on_active_flow":"skip","expires":1767322800000000,"declared":false,"user":{"id":"01kdvqyww0109w71nvrk6p2fhm","external_id":"judged","address":"judged","name":null,"zone":null,"locale":null,"consent":"unknown","consent_at":null,"tags":[],"data":{},"created":1767236400000000,"active":1767236400000000},"hooks":["router"]}',NULL,1,NULL,NULL,1767236400000000,1767236400000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fhq','10','now','',NULL,'done',NULL,'1767236400000000',NULL,0,NULL,NULL,1767236400000000,1767236400000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fhq','11','receive','turn',NULL,'done',10,'{"turn":"01kdvqyww0109w71nvrk6p2fhr"}',NULL,0,1768964400000000,NULL,1767236400000000,1767236400000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fhq','12','step','begin','5eed25f9aa1c68139fe47d7ea93769c1','done',11,'{"id":"01kdvqyww0109w71nvrk6p2fhr","source":"inbound","text":"7","flow":null,"input":null,"metadata":{},"on_active_flow":"skip","expires":1767322800000000,"declared":false,"user":{"id":"01kdvqyww0109w71nvrk6p2fhm","external_id":"judged","address":"judged","name":null,"zone":null,"locale":null,"consent":"unknown","consent_at":null,"tags":[],"data":{},"created":1767236400000000,"active":1767236400000000},"hooks":["router"]}',NULL,1,NULL,NULL,1767236400000000,1767236400000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fhq','13','now','',NULL,'done',NULL,'1767236400000000',NULL,0,NULL,NULL,1767236400000000,1767236400000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fhq','14','uuid','',NULL,'done',NULL,'"6bff2090-81bb-4803-9ca9-a6d1cecb2832"',NULL,0,NULL,NULL,1767236400000000,1767236400000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fhq','15','step','escalate','5eed25f9aa1c68139fe47d7ea93769c1','done',12,NULL,NULL,1,NULL,NULL,1767236400000000,1767236400000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fhq','16','step','finish','5eed25f9aa1c68139fe47d7ea93769c1','done',13,'{"outcome":"success","reason":"flow_waiting","turn_id":"01kdvqyww0109w71nvrk6p2fhr","session_id":"01kdvqyww0109w71nvrk6p2fhp","delivered":0,"hitl":"pending_admin_resolution","flow":"checkin"}',NULL,1,NULL,NULL,1767236400000000,1767236400000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fhq','17','now','',NULL,'done',NULL,'1767236400000000',NULL,0,NULL,NULL,1767236400000000,1767236400000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fhq','18','receive','turn',NULL,'pending',NULL,NULL,NULL,0,1768964400000000,NULL,1767236400000000,NULL);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fhq','2','step','router','5eed25f9aa1c68139fe47d7ea93769c1','done',3,'{"action":"continue","flow":"checkin"}',NULL,1,NULL,NULL,1767236400000000,1767236400000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fhq','3','step','flow','5eed25f9aa1c68139fe47d7ea93769c1','done',4,'{"version":1}',NULL,1,NULL,NULL,1767236400000000,1767236400000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fhq','4','step','flow_start','5eed25f9aa1c68139fe47d7ea93769c1','done',5,NULL,NULL,1,NULL,NULL,1767236400000000,1767236400000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fhq','5','step','intent','5eed25f9aa1c68139fe47d7ea93769c1','done',6,'{"key":"01kdvqyww0109w71nvrk6p2fhn_0","address":"judged","user":"judged"}',NULL,1,NULL,NULL,1767236400000000,1767236400000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fhq','6','step','dispatch','5eed25f9aa1c68139fe47d7ea93769c1','done',7,'{"status":"sent","id":"provider-2"}',NULL,1,NULL,NULL,1767236400000000,1767236400000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fhq','7','step','settle','5eed25f9aa1c68139fe47d7ea93769c1','done',8,'{"hitl_state":"none","escalation_id":null}',NULL,1,NULL,NULL,1767236400000000,1767236400000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fhq','8','now','',NULL,'done',NULL,'1767236400000000',NULL,0,NULL,NULL,1767236400000000,1767236400000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fhq','9','step','finish','5eed25f9aa1c68139fe47d7ea93769c1','done',9,'{"outcome":"success","reason":"flow_waiting","turn_id":"01kdvqyww0109w71nvrk6p2fhn","session_id":"01kdvqyww0109w71nvrk6p2fhp","delivered":1,"hitl":"none","flow":"checkin"}',NULL,1,NULL,NULL,1767236400000000,1767236400000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fhw','0','receive','turn',NULL,'timed_out',1,NULL,NULL,0,1767237300000000,NULL,1767236400000000,1767237300000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fhw','1','step','idle','5eed25f9aa1c68139fe47d7ea93769c1','done',2,'true',NULL,1,NULL,NULL,1767237300000000,1767237300000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fhw','2','receive','turn',NULL,'pending',NULL,NULL,NULL,0,1767322800000000,NULL,1767237300000000,NULL);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fj9','0','step','begin','5eed25f9aa1c68139fe47d7ea93769c1','done',1,'{"id":"01kdvqyww0109w71nvrk6p2fj9","status":"resolving"}',NULL,1,NULL,NULL,1767236400000000,1767236400000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fj9','1','step','resolve','5eed25f9aa1c68139fe47d7ea93769c1','done',2,'"sending"',NULL,1,NULL,NULL,1767236400000000,1767236400000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fj9','10','receive','campaign',NULL,'timed_out',8,NULL,NULL,0,1767238200000000,NULL,1767237600040000,1767238200000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fj9','2','step','send','5eed25f9aa1c68139fe47d7ea93769c1','done',3,'{"over":false,"idle":true,"changed":true,"flying":0,"next":1767237000000000}',NULL,1,NULL,NULL,1767236400000000,1767236400040000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fj9','3','now','',NULL,'done',NULL,'1767236400040000',NULL,0,NULL,NULL,1767236400040000,1767236400040000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fj9','4','receive','campaign',NULL,'timed_out',4,NULL,NULL,0,1767237000000000,NULL,1767236400040000,1767237000000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fj9','5','step','send','5eed25f9aa1c68139fe47d7ea93769c1','done',5,'{"over":false,"idle":true,"changed":true,"flying":0,"next":1767237600000000}',NULL,1,NULL,NULL,1767237000000000,1767237000040000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fj9','6','now','',NULL,'done',NULL,'1767237000040000',NULL,0,NULL,NULL,1767237000040000,1767237000040000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fj9','7','receive','campaign',NULL,'timed_out',6,NULL,NULL,0,1767237600000000,NULL,1767237000040000,1767237600000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fj9','8','step','send','5eed25f9aa1c68139fe47d7ea93769c1','done',7,'{"over":false,"idle":true,"changed":true,"flying":0,"next":1767238200000000}',NULL,1,NULL,NULL,1767237600000000,1767237600040000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fj9','9','now','',NULL,'done',NULL,'1767237600040000',NULL,0,NULL,NULL,1767237600040000,1767237600040000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fjd','0','receive','turn',NULL,'timed_out',1,NULL,NULL,0,1767237300000000,NULL,1767236400000000,1767237300000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fjd','1','step','idle','5eed25f9aa1c68139fe47d7ea93769c1','done',2,'true',NULL,1,NULL,NULL,1767237300000000,1767237300000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvqyww0109w71nvrk6p2fjd','2','receive','turn',NULL,'pending',NULL,NULL,NULL,0,1767322800000000,NULL,1767237300000000,NULL);
INSERT INTO "ostinato_function_steps" VALUES('01kdvrh6t07xn1wbzbh50mrd1y','0','receive','turn',NULL,'timed_out',1,NULL,NULL,0,1767237900000000,NULL,1767237000000000,1767237900000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvrh6t07xn1wbzbh50mrd1y','1','step','idle','5eed25f9aa1c68139fe47d7ea93769c1','done',2,'true',NULL,1,NULL,NULL,1767237900000000,1767237900000000);
INSERT INTO "ostinato_function_steps" VALUES('01kdvrh6t07xn1wbzbh50mrd1y','2','receive','turn',NULL,'pending',NULL,NULL,NULL,0,1767323400000000,NULL,1767237900000000,NULL);
INSERT INTO "ostinato_function_steps" VALUES('01kdvs3gr07hs764ermf1cwvt6','0','receive','turn',NULL,'pending',NULL,NULL,NULL,0,1767238500000000,NULL,1767237600000000,NULL);
INSERT INTO "ostinato_function_steps" VALUES('01kdvsntp0ckt62bkpjtkcxk0x','0','receive','turn',NULL,'pending',NULL,NULL,NULL,0,1767239100000000,NULL,1767238200000000,NULL);
CREATE TABLE ostinato_functions (
    run_id text NOT NULL PRIMARY KEY,
    namespace text NOT NULL,
    name text NOT NULL,
    version integer NOT NULL,
    code text NOT NULL,
    pinned integer NOT NULL,
    generation integer NOT NULL,
    depth integer NOT NULL,
    input text,
    state text,
    steps integer NOT NULL,
    lines integer NOT NULL,
    cancel integer,
    cancelled integer,
    reason text,
    created integer NOT NULL,
    updated integer NOT NULL
);
INSERT INTO "ostinato_functions" VALUES('01kdvdna00dhw93dtr98h6bcfp','default','onboard',1,'e7bbd0e4cc61',0,0,0,NULL,NULL,3,0,NULL,NULL,NULL,1767225600000000,1767229200000000);
INSERT INTO "ostinato_functions" VALUES('01kdvdna00dhw93dtr98h6bcfr','default','onboard',1,'e7bbd0e4cc61',0,0,0,NULL,NULL,2,0,NULL,NULL,NULL,1767225600000000,1767225600000002);
INSERT INTO "ostinato_functions" VALUES('01kdvdna00dhw93dtr98h6bcfs','default','rest',1,'839c48b2c950',0,0,0,NULL,NULL,1,0,NULL,NULL,NULL,1767225600000000,1767225600000001);
INSERT INTO "ostinato_functions" VALUES('01kdvqyww0109w71nvrk6p2fhk','default','agent/buddy',1,'2337779ee0ab',0,0,0,NULL,NULL,12,0,NULL,NULL,NULL,1767236400000000,1767236400000002);
INSERT INTO "ostinato_functions" VALUES('01kdvqyww0109w71nvrk6p2fhq','default','agent/buddy',1,'2337779ee0ab',0,0,0,NULL,NULL,19,0,NULL,NULL,NULL,1767236400000000,1767236400000003);
INSERT INTO "ostinato_functions" VALUES('01kdvqyww0109w71nvrk6p2fhw','default','agent/buddy',1,'2337779ee0ab',0,1,0,'{"session":"01kdvqyww0109w71nvrk6p2fhv","deferred":[],"ending":null}',NULL,3,0,NULL,NULL,NULL,1767236400000000,1767237300000000);
INSERT INTO "ostinato_functions" VALUES('01kdvqyww0109w71nvrk6p2fj9','default','agent-campaign',1,'0333cf4bd7fa',0,0,0,NULL,NULL,11,0,NULL,NULL,NULL,1767236400000000,1767237600040000);
INSERT INTO "ostinato_functions" VALUES('01kdvqyww0109w71nvrk6p2fjd','default','agent/buddy',1,'2337779ee0ab',0,1,0,'{"session":"01kdvqyww0109w71nvrk6p2fjc","deferred":[],"ending":null}',NULL,3,0,NULL,NULL,NULL,1767236400000000,1767237300000000);
INSERT INTO "ostinato_functions" VALUES('01kdvrh6t07xn1wbzbh50mrd1y','default','agent/buddy',1,'2337779ee0ab',0,1,0,'{"session":"01kdvrh6t07xn1wbzbh50mrd1x","deferred":[],"ending":null}',NULL,3,0,NULL,NULL,NULL,1767237000000000,1767237900000000);
INSERT INTO "ostinato_functions" VALUES('01kdvs3gr07hs764ermf1cwvt6','default','agent/buddy',1,'2337779ee0ab',0,1,0,'{"session":"01kdvs3gr07hs764ermf1cwvt5","deferred":[],"ending":null}',NULL,1,0,NULL,NULL,NULL,1767237600000000,1767237600000003);
INSERT INTO "ostinato_functions" VALUES('01kdvsntp0ckt62bkpjtkcxk0x','default','agent/buddy',1,'2337779ee0ab',0,1,0,'{"session":"01kdvsntp0ckt62bkpjtkcxk0w","deferred":[],"ending":null}',NULL,1,0,NULL,NULL,NULL,1767238200000000,1767238200000003);
CREATE TABLE ostinato_jobs (
    name text PRIMARY KEY,
    declared text NOT NULL
) WITHOUT ROWID;
INSERT INTO "ostinato_jobs" VALUES('http','{"at_most_once":false,"defaults":{"body":null,"expect":null,"headers":null,"json":null,"method":"POST","redirects":0,"sign":null,"timeout":"30s"},"limit":null,"needs":["url"],"places":11,"priority":0,"queue":"default","serial_hold":"chain","serial_key":null,"takes":["url","method","headers","json","body","sign","timeout","retry_on","expect","redirects","keep"],"types":null}');
INSERT INTO "ostinato_jobs" VALUES('webhook','{"at_most_once":false,"defaults":{},"limit":null,"needs":["webhook","event"],"places":2,"priority":-10,"queue":"default","serial_hold":"chain","serial_key":null,"takes":["webhook","event"],"types":"{\"pydantic_core\":\"2.50.4\",\"schema\":{\"type\":\"typed-dict\",\"fields\":{\"webhook\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"str\"},\"required\":false},\"event\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"dict\",\"keys_schema\":{\"type\":\"str\"},\"values_schema\":{\"type\":\"any\"}},\"required\":false}},\"config\":{\"extra_fields_behavior\":\"allow\",\"title\":\"Input\"},\"extra_behavior\":\"allow\"}}"}');
CREATE TABLE ostinato_journey_answers (
    run_id text NOT NULL,
    step text NOT NULL,
    key text NOT NULL,
    digest text NOT NULL,
    answer text NOT NULL,
    at integer NOT NULL,
    PRIMARY KEY (run_id, step, key)
) WITHOUT ROWID;
CREATE TABLE ostinato_journey_bindings (
    schedule_id text PRIMARY KEY,
    namespace text NOT NULL,
    definition text NOT NULL,
    version text NOT NULL,
    start text NOT NULL,
    subject text,
    start_at integer NOT NULL,
    period text NOT NULL,
    max_runs integer NOT NULL,
    runs_executed integer NOT NULL,
    last_context text NOT NULL,
    generation integer NOT NULL,
    state text NOT NULL,
    made_by text,
    created integer NOT NULL,
    updated integer NOT NULL,
    actor text
);
CREATE TABLE ostinato_journey_cache (
    namespace text NOT NULL,
    key text NOT NULL,
    value text NOT NULL,
    expires integer,
    PRIMARY KEY (namespace, key)
) WITHOUT ROWID;
CREATE TABLE ostinato_journey_definitions (
    namespace text NOT NULL,
    name text NOT NULL,
    version text NOT NULL,
    kind text NOT NULL,
    file text NOT NULL,
    source text NOT NULL,
    digest text NOT NULL,
    created integer NOT NULL,
    actor text, documents text,
    PRIMARY KEY (namespace, name, version)
) WITHOUT ROWID;
CREATE TABLE ostinato_journey_labels (
    namespace text NOT NULL,
    label text NOT NULL,
    run_id text NOT NULL,
    PRIMARY KEY (namespace, label, run_id)
) WITHOUT ROWID;
CREATE TABLE ostinato_journeys (
    run_id text PRIMARY KEY,
    namespace text NOT NULL,
    definition text NOT NULL,
    version text NOT NULL,
    phase text NOT NULL,
    current_state text NOT NULL,
    state text NOT NULL,
    context text NOT NULL,
    tags text,
    attributes text,
    binding_id text,
    binding_generation integer,
    started integer NOT NULL,
    updated integer NOT NULL,
    finished integer
);
CREATE TABLE ostinato_limits (
    namespace text NOT NULL,
    key text NOT NULL,
    most integer,
    rate integer,
    per integer NOT NULL,
    weight integer NOT NULL,
    used integer NOT NULL CHECK (used >= 0),
    arrival integer NOT NULL,
    PRIMARY KEY (namespace, key)
) WITHOUT ROWID;
CREATE TABLE ostinato_logs (
    run_id text NOT NULL,
    line integer NOT NULL,
    at integer NOT NULL,
    level text NOT NULL,
    message text NOT NULL,
    PRIMARY KEY (run_id, line)
) WITHOUT ROWID;
CREATE TABLE ostinato_meta (
    key text PRIMARY KEY,
    value text NOT NULL
) WITHOUT ROWID;
INSERT INTO "ostinato_meta" VALUES('clock','{"origin":"virtual","ahead":0}');
INSERT INTO "ostinato_meta" VALUES('schema','12');
INSERT INTO "ostinato_meta" VALUES('schema:agents','3');
INSERT INTO "ostinato_meta" VALUES('schema:functions','1');
INSERT INTO "ostinato_meta" VALUES('schema:workflows','2');
CREATE TABLE ostinato_namespaces (
    name text PRIMARY KEY,
    notes text NOT NULL,
    created integer NOT NULL,
    actor text
) WITHOUT ROWID;
INSERT INTO "ostinato_namespaces" VALUES('default','',0,NULL);
CREATE TABLE ostinato_nodes (
    id text PRIMARY KEY,
    name text NOT NULL,
    started integer NOT NULL,
    lease_until integer NOT NULL,
    queues text NOT NULL,
    handlers text NOT NULL,
    version text NOT NULL,
    zone_rules text NOT NULL
, lease integer, steady_since integer, kinds text) WITHOUT ROWID;
INSERT INTO "ostinato_nodes" VALUES('01kdvdna00dhw93dtr98h6bcfn','golden',1767225600000000,1767238230000000,'["default"]','["http","webhook"]','0.1.0','2025b',30000000,1767225600000000,'["job","journey","workflow","function"]');
CREATE TABLE ostinato_requests (
    namespace text NOT NULL,
    id text NOT NULL,
    at integer NOT NULL,
    call text NOT NULL,
    answer text,
    PRIMARY KEY (namespace, id)
) WITHOUT ROWID;
INSERT INTO "ostinato_requests" VALUES('default','2d6902eebb91676b8ccd43a44dcc99a2',1767236400000000,'send campaign b5f620674f0947a11082dd0455db6106','{"id":"01kdvqyww0109w71nvrk6p2fj9","new":true}');
CREATE TABLE ostinato_runs (
    id text PRIMARY KEY,
    namespace text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    key text,
    status text NOT NULL,
    reason text,
    queue text NOT NULL,
    priority integer NOT NULL DEFAULT 0,
    due integer NOT NULL,
    ready_at integer,
    created integer NOT NULL,
    started integer,
    finished integer,
    root_id text NOT NULL,
    retry_of text,
    number integer NOT NULL DEFAULT 1,
    parent_id text,
    node text,
    claim integer NOT NULL DEFAULT 0,
    token integer,
    serial_key text,
    serial_hold text,
    concurrency_key text,
    hold text,
    options text,
    input text,
    result text,
    error text,
    checkpoint text,
    progress text,
    cancel_requested integer,
    superseded integer NOT NULL DEFAULT 0,
    crashes integer NOT NULL DEFAULT 0,
    actor text
, schedule_id text, detail text);
INSERT INTO "ostinato_runs" VALUES('01kdvdna0042yg32m83ce9g7xg','default','workflow','inbox.Copy',NULL,'succeeded',NULL,'default',0,1767225600000000,NULL,1767225600000000,1767225600000000,1767225600000000,'01kdvdna0042yg32m83ce9g7xg',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,NULL,NULL,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvdna00dhw93dtr98h6bcfp','default','function','onboard',NULL,'succeeded',NULL,'default',0,1767225600000000,NULL,1767225600000000,1767229200000000,1767229200000000,'01kdvdna00dhw93dtr98h6bcfp',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',2,28,NULL,NULL,NULL,NULL,NULL,'{"user":"ada"}','"account of ada: hello"',NULL,NULL,NULL,NULL,0,0,NULL,NULL,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvdna00dhw93dtr98h6bcfr','default','function','onboard',NULL,'waiting','a message ''reply'' or a time','default',0,1767225600000000,NULL,1767225600000000,1767225600000000,NULL,'01kdvdna00dhw93dtr98h6bcfr',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,1,NULL,NULL,NULL,NULL,NULL,'{"user":"bob"}',NULL,NULL,NULL,NULL,NULL,0,0,NULL,NULL,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvdna00dhw93dtr98h6bcfs','default','function','rest',NULL,'waiting','a time','default',0,1767225600000000,NULL,1767225600000000,1767225600000000,NULL,'01kdvdna00dhw93dtr98h6bcfs',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,4,NULL,NULL,NULL,NULL,NULL,'{"length":"2d"}',NULL,NULL,NULL,NULL,NULL,0,0,NULL,NULL,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvdna0042yg32m83ce9g7xh','default','workflow','inbox.poll',NULL,'succeeded',NULL,'default',0,1767225600000000,NULL,1767225600000000,1767225600000000,1767225600000000,'01kdvdna0042yg32m83ce9g7xh',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,8,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,NULL,NULL,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvdna0042yg32m83ce9g7xn','default','workflow','inbox.Copy',NULL,'succeeded',NULL,'default',0,1767225600000000,NULL,1767225600000000,1767225600000000,1767225600000000,'01kdvdna0042yg32m83ce9g7xn',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,11,NULL,NULL,NULL,NULL,NULL,NULL,'{"status":"applied","result":{"rows":1}}',NULL,NULL,NULL,NULL,0,0,NULL,NULL,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvdna0042yg32m83ce9g7xq','default','workflow','inbox.Copy',NULL,'succeeded',NULL,'default',0,1767225600000000,NULL,1767225600000000,1767225600000000,1767225600000000,'01kdvdna0042yg32m83ce9g7xq',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,16,NULL,NULL,NULL,NULL,NULL,NULL,'{"status":"applied","result":{"rows":2}}',NULL,NULL,NULL,NULL,0,0,NULL,NULL,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvdna0042yg32m83ce9g7xs','default','workflow','inbox.Copy',NULL,'succeeded',NULL,'default',0,1767225600000000,NULL,1767225600000000,1767225600000000,1767225600000000,'01kdvdna0042yg32m83ce9g7xs',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,21,NULL,NULL,NULL,NULL,NULL,NULL,'{"status":"applied","result":{"rows":3}}',NULL,NULL,NULL,NULL,0,0,NULL,NULL,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvh35m01gfjvazrw4vgvqsa','default','workflow','inbox.poll',NULL,'succeeded',NULL,'default',0,1767229200000000,NULL,1767229200000000,1767229200000000,1767229200000000,'01kdvh35m01gfjvazrw4vgvqsa',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,28,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,NULL,NULL,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvmh1808r1n2yn14sp97gd1','default','workflow','inbox.poll',NULL,'succeeded',NULL,'default',0,1767232800000000,NULL,1767232800000000,1767232800000000,1767232800000000,'01kdvmh1808r1n2yn14sp97gd1',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,33,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,NULL,NULL,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvqyww0542kt8pjtc87hjsa','default','workflow','inbox.poll',NULL,'succeeded',NULL,'default',0,1767236400000000,NULL,1767236400000000,1767236400000000,1767236400000000,'01kdvqyww0542kt8pjtc87hjsa',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,37,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,NULL,NULL,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvqyww0109w71nvrk6p2fhk','default','function','agent/buddy','session/01kdvqyww0109w71nvrk6p2fhj','waiting','a message ''turn'' or a time','default',0,1767236400000000,NULL,1767236400000000,1767236400000000,NULL,'01kdvqyww0109w71nvrk6p2fhk',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,40,NULL,NULL,NULL,NULL,'{"crashes":10}','{"session":"01kdvqyww0109w71nvrk6p2fhj"}',NULL,NULL,NULL,NULL,NULL,0,0,'teacher',NULL,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvqyww0109w71nvrk6p2fhq','default','function','agent/buddy','session/01kdvqyww0109w71nvrk6p2fhp','waiting','a message ''turn'' or a time','default',0,1767236400000000,NULL,1767236400000000,1767236400000000,NULL,'01kdvqyww0109w71nvrk6p2fhq',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',2,59,NULL,NULL,NULL,NULL,'{"crashes":10}','{"session":"01kdvqyww0109w71nvrk6p2fhp"}',NULL,NULL,NULL,NULL,NULL,0,0,'teacher',NULL,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvqyww0109w71nvrk6p2fhw','default','function','agent/buddy','session/01kdvqyww0109w71nvrk6p2fhv','waiting','a message ''turn'' or a time','default',0,1767236400000000,NULL,1767236400000000,1767237300000000,NULL,'01kdvqyww0109w71nvrk6p2fhw',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',2,124,NULL,NULL,NULL,NULL,'{"crashes":10}','{"session":"01kdvqyww0109w71nvrk6p2fhv"}',NULL,NULL,NULL,NULL,NULL,0,0,'teacher',NULL,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvqyww0109w71nvrk6p2fj9','default','function','agent-campaign','campaign/buddy/spring','active',NULL,'default',0,1767236400000000,1767238200000000,1767236400000000,1767238200000000,NULL,'01kdvqyww0109w71nvrk6p2fj9',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',4,157,NULL,NULL,NULL,NULL,NULL,'{"agent":"buddy","segment":{"type":"users","users":["user00","user01","user02","user03","user04","user05","user06","user07","user08","user09","user10","user11"]},"flow":"hello","allow_session_bootstrap":true,"options":{"rate":"6/h"}}',NULL,NULL,NULL,NULL,NULL,0,0,NULL,NULL,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvqyww0109w71nvrk6p2fjd','default','function','agent/buddy','session/01kdvqyww0109w71nvrk6p2fjc','waiting','a message ''turn'' or a time','default',-10,1767236400000000,NULL,1767236400000000,1767237300000000,NULL,'01kdvqyww0109w71nvrk6p2fjd',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',2,124,NULL,NULL,NULL,NULL,'{"crashes":10}','{"session":"01kdvqyww0109w71nvrk6p2fjc"}',NULL,NULL,NULL,NULL,NULL,0,0,NULL,NULL,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvrh6t07xn1wbzbh50mrd1y','default','function','agent/buddy','session/01kdvrh6t07xn1wbzbh50mrd1x','waiting','a message ''turn'' or a time','default',-10,1767237000000000,NULL,1767237000000000,1767237900000000,NULL,'01kdvrh6t07xn1wbzbh50mrd1y',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',2,151,NULL,NULL,NULL,NULL,'{"crashes":10}','{"session":"01kdvrh6t07xn1wbzbh50mrd1x"}',NULL,NULL,NULL,NULL,NULL,0,0,NULL,NULL,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvs3gr07hs764ermf1cwvt6','default','function','agent/buddy','session/01kdvs3gr07hs764ermf1cwvt5','waiting','a message ''turn'' or a time','default',-10,1767237600000000,NULL,1767237600000000,1767237600000000,NULL,'01kdvs3gr07hs764ermf1cwvt6',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,132,NULL,NULL,NULL,NULL,'{"crashes":10}','{"session":"01kdvs3gr07hs764ermf1cwvt5"}',NULL,NULL,NULL,NULL,NULL,0,0,NULL,NULL,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvsntp0ckt62bkpjtkcxk0x','default','function','agent/buddy','session/01kdvsntp0ckt62bkpjtkcxk0w','waiting','a message ''turn'' or a time','default',-10,1767238200000000,NULL,1767238200000000,1767238200000000,NULL,'01kdvsntp0ckt62bkpjtkcxk0x',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,159,NULL,NULL,NULL,NULL,'{"crashes":10}','{"session":"01kdvsntp0ckt62bkpjtkcxk0w"}',NULL,NULL,NULL,NULL,NULL,0,0,NULL,NULL,NULL);
CREATE TABLE ostinato_schedule_labels (
    namespace text NOT NULL,
    label text NOT NULL,
    name text NOT NULL,
    PRIMARY KEY (namespace, label, name)
) WITHOUT ROWID;
CREATE TABLE ostinato_schedules (
    id text PRIMARY KEY,
    namespace text NOT NULL,
    name text NOT NULL,
    spec text NOT NULL,
    action text NOT NULL,
    policies text NOT NULL,
    seed text NOT NULL,
    state text NOT NULL,
    reason text,
    paused integer,
    notes text NOT NULL,
    remaining integer,
    reached integer NOT NULL,
    next integer,
    updated integer NOT NULL,
    token integer NOT NULL,
    memory text,
    outcome text,
    memo text,
    tags text,
    attributes text,
    origin text,
    created integer NOT NULL,
    closed integer,
    zone_rules text NOT NULL,
    actor text
, companion text);
CREATE TABLE ostinato_search_attributes (
    namespace text NOT NULL,
    name text NOT NULL,
    type text NOT NULL,
    PRIMARY KEY (namespace, name)
) WITHOUT ROWID;
CREATE TABLE ostinato_serials (
    namespace text NOT NULL,
    key text NOT NULL,
    holder text NOT NULL,
    PRIMARY KEY (namespace, key)
) WITHOUT ROWID;
CREATE TABLE "ostinato_temporal_executions" (
    run_id text PRIMARY KEY,
    namespace text NOT NULL,
    workflow_id text NOT NULL,
    request_id text NOT NULL,
    action text NOT NULL
) WITHOUT ROWID;
CREATE TABLE ostinato_timers (
    kind text NOT NULL,
    owner text NOT NULL,
    purpose text NOT NULL,
    due integer NOT NULL,
    namespace text NOT NULL,
    data text,
    parked text,
    PRIMARY KEY (kind, owner, purpose)
) WITHOUT ROWID;
INSERT INTO "ostinato_timers" VALUES('engine','store','housekeeping',1767247200000000,'default',NULL,NULL);
INSERT INTO "ostinato_timers" VALUES('engine','store','scan',1767247200000000,'default',NULL,NULL);
INSERT INTO "ostinato_timers" VALUES('function','01kdvdna00dhw93dtr98h6bcfr','wake',1769817600000000,'default',NULL,NULL);
INSERT INTO "ostinato_timers" VALUES('function','01kdvdna00dhw93dtr98h6bcfs','wake',1767398400000000,'default',NULL,NULL);
INSERT INTO "ostinato_timers" VALUES('function','01kdvqyww0109w71nvrk6p2fhk','wake',1768964400000000,'default',NULL,NULL);
INSERT INTO "ostinato_timers" VALUES('function','01kdvqyww0109w71nvrk6p2fhq','wake',1768964400000000,'default',NULL,NULL);
INSERT INTO "ostinato_timers" VALUES('function','01kdvqyww0109w71nvrk6p2fhw','wake',1767322800000000,'default',NULL,NULL);
INSERT INTO "ostinato_timers" VALUES('function','01kdvqyww0109w71nvrk6p2fjd','wake',1767322800000000,'default',NULL,NULL);
INSERT INTO "ostinato_timers" VALUES('function','01kdvrh6t07xn1wbzbh50mrd1y','wake',1767323400000000,'default',NULL,NULL);
INSERT INTO "ostinato_timers" VALUES('function','01kdvs3gr07hs764ermf1cwvt6','wake',1767238500000000,'default',NULL,NULL);
INSERT INTO "ostinato_timers" VALUES('function','01kdvsntp0ckt62bkpjtkcxk0x','wake',1767239100000000,'default',NULL,NULL);
INSERT INTO "ostinato_timers" VALUES('schedules','store','keeping',1767240000000000,'default',NULL,NULL);
INSERT INTO "ostinato_timers" VALUES('workflow','01kdvdna0042yg32m83ce9g7xf','next',1767240000000000,'default',NULL,NULL);
CREATE TABLE ostinato_tokens (
    id text PRIMARY KEY,
    namespace text,
    role text NOT NULL,
    hash text NOT NULL,
    label text NOT NULL,
    bound text,
    created integer NOT NULL,
    expires integer,
    used integer,
    revoked integer,
    actor text
) WITHOUT ROWID;
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
CREATE TABLE ostinato_workflow_causes (
    event_id text NOT NULL,
    input_id text NOT NULL,
    PRIMARY KEY (event_id, input_id)
) WITHOUT ROWID;
INSERT INTO "ostinato_workflow_causes" VALUES('01kdvdna0042yg32m83ce9g7xj','08866b9939c1498b63b2be8c9795f201');
INSERT INTO "ostinato_workflow_causes" VALUES('01kdvdna0042yg32m83ce9g7xm','4e00573c604f740c70b3f5e90c9ca046');
INSERT INTO "ostinato_workflow_causes" VALUES('01kdvdna0042yg32m83ce9g7xk','c33f3e8f2299bd82facaf19443fd5fb4');
CREATE TABLE ostinato_workflow_definitions (
    id text NOT NULL PRIMARY KEY,
    namespace text NOT NULL,
    name text NOT NULL,
    version integer NOT NULL,
    repairs integer NOT NULL,
    digest text NOT NULL,
    definition text NOT NULL,
    source text,
    state text NOT NULL,
    run_id text,
    blocked text,
    logic_failures integer NOT NULL,
    created integer NOT NULL,
    updated integer NOT NULL,
    actor text
);
INSERT INTO "ostinato_workflow_definitions" VALUES('01kdvdna0042yg32m83ce9g7xf','default','inbox',1,0,'c6ba665ac4163ba7','{"consumers":[{"emits":true,"mutates":true,"name":"Copy","publishes":[],"subscribes":["emails"]}],"policy":{"backoff_first":10000000,"backoff_longest":600000000,"crash_attempts":3,"empty_gap":30000000,"fix_attempts":3,"max_state_bytes":65536,"min_interval":30000000,"phase_timeout":300000000,"reconcile_attempts":5,"stale_after":604800000000,"transient_retries":5,"wake_max":86400000000,"wake_min":30000000},"producers":[{"name":"poll","publishes":["emails"],"schedule":{"interval":3600000000}}],"topics":["emails"]}',NULL,'active',NULL,NULL,0,1767225600000000,1767236400000001,NULL);
CREATE TABLE ostinato_workflow_events (
    id text NOT NULL PRIMARY KEY,
    workflow_id text NOT NULL,
    topic text NOT NULL,
    message_id text NOT NULL,
    payload text NOT NULL,
    status text NOT NULL,
    reserved_by text,
    created_by text,
    attempt integer NOT NULL,
    created integer NOT NULL,
    updated integer NOT NULL
);
INSERT INTO "ostinato_workflow_events" VALUES('01kdvdna0042yg32m83ce9g7xj','01kdvdna0042yg32m83ce9g7xf','emails','one','{"text":"one"}','consumed','01kdvdna0042yg32m83ce9g7xn','01kdvdna0042yg32m83ce9g7xh',1,1767225600000000,1767225600000000);
INSERT INTO "ostinato_workflow_events" VALUES('01kdvdna0042yg32m83ce9g7xk','01kdvdna0042yg32m83ce9g7xf','emails','two','{"text":"two"}','consumed','01kdvdna0042yg32m83ce9g7xq','01kdvdna0042yg32m83ce9g7xh',1,1767225600000000,1767225600000000);
INSERT INTO "ostinato_workflow_events" VALUES('01kdvdna0042yg32m83ce9g7xm','01kdvdna0042yg32m83ce9g7xf','emails','three','{"text":"three"}','consumed','01kdvdna0042yg32m83ce9g7xs','01kdvdna0042yg32m83ce9g7xh',1,1767225600000000,1767225600000000);
CREATE TABLE ostinato_workflow_handlers (
    workflow_id text NOT NULL,
    name text NOT NULL,
    type text NOT NULL,
    state text,
    next_run integer,
    wake_at integer,
    dirty integer NOT NULL,
    not_before integer,
    last_run integer,
    PRIMARY KEY (workflow_id, name)
) WITHOUT ROWID;
INSERT INTO "ostinato_workflow_handlers" VALUES('01kdvdna0042yg32m83ce9g7xf','Copy','consumer','{"last":"applied"}',NULL,NULL,0,NULL,1767225600000000);
INSERT INTO "ostinato_workflow_handlers" VALUES('01kdvdna0042yg32m83ce9g7xf','poll','producer','3',1767240000000000,NULL,0,NULL,1767236400000000);
CREATE TABLE ostinato_workflow_inputs (
    id text NOT NULL PRIMARY KEY,
    workflow_id text NOT NULL,
    source text NOT NULL,
    type text NOT NULL,
    external_id text NOT NULL,
    title text NOT NULL,
    created integer NOT NULL,
    skipped integer NOT NULL
);
INSERT INTO "ostinato_workflow_inputs" VALUES('08866b9939c1498b63b2be8c9795f201','01kdvdna0042yg32m83ce9g7xf','mail','email','one','one',1767225600000000,0);
INSERT INTO "ostinato_workflow_inputs" VALUES('c33f3e8f2299bd82facaf19443fd5fb4','01kdvdna0042yg32m83ce9g7xf','mail','email','two','two',1767225600000000,0);
INSERT INTO "ostinato_workflow_inputs" VALUES('4e00573c604f740c70b3f5e90c9ca046','01kdvdna0042yg32m83ce9g7xf','mail','email','three','three',1767225600000000,0);
CREATE TABLE ostinato_workflow_mutations (
    id text NOT NULL PRIMARY KEY,
    workflow_id text NOT NULL,
    origin_run text NOT NULL,
    run_id text NOT NULL,
    mutator text NOT NULL,
    params text NOT NULL,
    key text NOT NULL,
    status text NOT NULL,
    title text,
    result text,
    error text,
    attempts integer NOT NULL,
    next_at integer,
    resolved_by text,
    created integer NOT NULL,
    updated integer NOT NULL
);
INSERT INTO "ostinato_workflow_mutations" VALUES('01kdvdna0042yg32m83ce9g7xp','01kdvdna0042yg32m83ce9g7xf','01kdvdna0042yg32m83ce9g7xn','01kdvdna0042yg32m83ce9g7xn','sheet.append','{"text":"one"}','3e04c22097fc01dc29fc729838274ebb','applied',NULL,'{"rows":1}',NULL,0,NULL,NULL,1767225600000000,1767225600000003);
INSERT INTO "ostinato_workflow_mutations" VALUES('01kdvdna0042yg32m83ce9g7xr','01kdvdna0042yg32m83ce9g7xf','01kdvdna0042yg32m83ce9g7xq','01kdvdna0042yg32m83ce9g7xq','sheet.append','{"text":"two"}','4ad193da66479637245d0518fd1bb37a','applied',NULL,'{"rows":2}',NULL,0,NULL,NULL,1767225600000000,1767225600000003);
INSERT INTO "ostinato_workflow_mutations" VALUES('01kdvdna0042yg32m83ce9g7xt','01kdvdna0042yg32m83ce9g7xf','01kdvdna0042yg32m83ce9g7xs','01kdvdna0042yg32m83ce9g7xs','sheet.append','{"text":"three"}','3f71a081fbcce854728cf786e66e40d9','applied',NULL,'{"rows":3}',NULL,0,NULL,NULL,1767225600000000,1767225600000003);
CREATE TABLE ostinato_workflow_run_events (
    run_id text NOT NULL,
    event_id text NOT NULL,
    attempt integer NOT NULL,
    PRIMARY KEY (run_id, event_id)
) WITHOUT ROWID;
INSERT INTO "ostinato_workflow_run_events" VALUES('01kdvdna0042yg32m83ce9g7xn','01kdvdna0042yg32m83ce9g7xj',1);
INSERT INTO "ostinato_workflow_run_events" VALUES('01kdvdna0042yg32m83ce9g7xq','01kdvdna0042yg32m83ce9g7xk',1);
INSERT INTO "ostinato_workflow_run_events" VALUES('01kdvdna0042yg32m83ce9g7xs','01kdvdna0042yg32m83ce9g7xm',1);
CREATE TABLE ostinato_workflow_runs (
    run_id text NOT NULL PRIMARY KEY,
    workflow_id text NOT NULL,
    handler text NOT NULL,
    type text NOT NULL,
    retry_of text,
    version integer NOT NULL,
    repairs integer NOT NULL,
    phase text NOT NULL,
    status text NOT NULL,
    prepared text,
    outcome text,
    error text,
    failures integer NOT NULL,
    crashes integer NOT NULL,
    created integer NOT NULL,
    updated integer NOT NULL
);
INSERT INTO "ostinato_workflow_runs" VALUES('01kdvdna0042yg32m83ce9g7xg','01kdvdna0042yg32m83ce9g7xf','Copy','consumer',NULL,1,0,'committed','committed','{"reservations":[],"data":[],"title":null}',NULL,NULL,0,0,1767225600000000,1767225600000001);
INSERT INTO "ostinato_workflow_runs" VALUES('01kdvdna0042yg32m83ce9g7xh','01kdvdna0042yg32m83ce9g7xf','poll','producer',NULL,1,0,'committed','committed',NULL,NULL,NULL,0,0,1767225600000000,1767225600000001);
INSERT INTO "ostinato_workflow_runs" VALUES('01kdvdna0042yg32m83ce9g7xn','01kdvdna0042yg32m83ce9g7xf','Copy','consumer',NULL,1,0,'committed','committed','{"reservations":[["emails","one"]],"data":["one"],"title":null}','{"status":"applied","result":{"rows":1}}',NULL,0,0,1767225600000000,1767225600000004);
INSERT INTO "ostinato_workflow_runs" VALUES('01kdvdna0042yg32m83ce9g7xq','01kdvdna0042yg32m83ce9g7xf','Copy','consumer',NULL,1,0,'committed','committed','{"reservations":[["emails","two"]],"data":["two"],"title":null}','{"status":"applied","result":{"rows":2}}',NULL,0,0,1767225600000000,1767225600000004);
INSERT INTO "ostinato_workflow_runs" VALUES('01kdvdna0042yg32m83ce9g7xs','01kdvdna0042yg32m83ce9g7xf','Copy','consumer',NULL,1,0,'committed','committed','{"reservations":[["emails","three"]],"data":["three"],"title":null}','{"status":"applied","result":{"rows":3}}',NULL,0,0,1767225600000000,1767225600000004);
INSERT INTO "ostinato_workflow_runs" VALUES('01kdvh35m01gfjvazrw4vgvqsa','01kdvdna0042yg32m83ce9g7xf','poll','producer',NULL,1,0,'committed','committed',NULL,NULL,NULL,0,0,1767229200000000,1767229200000001);
INSERT INTO "ostinato_workflow_runs" VALUES('01kdvmh1808r1n2yn14sp97gd1','01kdvdna0042yg32m83ce9g7xf','poll','producer',NULL,1,0,'committed','committed',NULL,NULL,NULL,0,0,1767232800000000,1767232800000001);
INSERT INTO "ostinato_workflow_runs" VALUES('01kdvqyww0542kt8pjtc87hjsa','01kdvdna0042yg32m83ce9g7xf','poll','producer',NULL,1,0,'committed','committed',NULL,NULL,NULL,0,0,1767236400000000,1767236400000001);
CREATE UNIQUE INDEX ostinato_runs_key ON ostinato_runs (namespace, key) WHERE key IS NOT NULL;
CREATE INDEX ostinato_runs_ready ON ostinato_runs (queue, priority DESC, ready_at, id) WHERE status = 'ready';
CREATE INDEX ostinato_runs_active ON ostinato_runs (node, token) WHERE status = 'active';
CREATE INDEX ostinato_runs_serial ON ostinato_runs (namespace, serial_key, due, id) WHERE status = 'buffered' AND hold = 'serial';
CREATE INDEX ostinato_runs_limit ON ostinato_runs (namespace, concurrency_key, priority DESC, due, id) WHERE status = 'buffered' AND hold = 'limit';
CREATE INDEX ostinato_runs_parked ON ostinato_runs (name) WHERE status = 'waiting' AND reason = 'no_handler';
CREATE INDEX ostinato_runs_chain ON ostinato_runs (root_id, number) WHERE retry_of IS NOT NULL;
CREATE INDEX ostinato_runs_finished ON ostinato_runs (finished) WHERE finished IS NOT NULL;
CREATE INDEX ostinato_runs_going ON ostinato_runs (namespace, concurrency_key) WHERE status IN ('ready', 'active') AND concurrency_key IS NOT NULL;
CREATE INDEX ostinato_runs_name ON ostinato_runs (namespace, name, id);
CREATE INDEX ostinato_timers_due ON ostinato_timers (due) WHERE parked IS NULL;
CREATE INDEX ostinato_events_subject ON ostinato_events (subject, seq);
CREATE INDEX ostinato_runs_live ON ostinato_runs (schedule_id) WHERE schedule_id IS NOT NULL AND finished IS NULL;
CREATE UNIQUE INDEX ostinato_schedules_name ON ostinato_schedules (namespace, name) WHERE closed IS NULL;
CREATE INDEX ostinato_schedules_rules ON ostinato_schedules (zone_rules);
CREATE INDEX ostinato_schedules_keep ON ostinato_schedules (id) WHERE policies LIKE '%"keep"%';
CREATE INDEX ostinato_schedules_origin ON ostinato_schedules (namespace, origin) WHERE closed IS NULL AND origin IS NOT NULL;
CREATE INDEX ostinato_schedules_closed ON ostinato_schedules (closed) WHERE closed IS NOT NULL;
CREATE INDEX ostinato_backfills_finished ON ostinato_backfills (finished) WHERE finished IS NOT NULL;
CREATE INDEX ostinato_backfills_schedule ON ostinato_backfills (schedule_id, id);
CREATE INDEX ostinato_requests_at ON ostinato_requests (at);
CREATE INDEX ostinato_webhooks_namespace ON ostinato_webhooks (namespace, id);
CREATE INDEX ostinato_webhooks_active ON ostinato_webhooks (id) WHERE state = 'active';
CREATE INDEX ostinato_journeys_listed ON ostinato_journeys (namespace, run_id);
CREATE INDEX ostinato_journeys_defined ON ostinato_journeys (namespace, definition, run_id);
CREATE INDEX ostinato_journeys_running ON ostinato_journeys (namespace, definition, version) WHERE finished IS NULL;
CREATE INDEX ostinato_journeys_finished ON ostinato_journeys (finished) WHERE finished IS NOT NULL;
CREATE INDEX ostinato_journey_answers_at ON ostinato_journey_answers (at);
CREATE INDEX ostinato_journey_cache_expires ON ostinato_journey_cache (expires) WHERE expires IS NOT NULL;
CREATE INDEX ostinato_journey_bindings_found ON ostinato_journey_bindings (namespace, definition, subject, schedule_id);
CREATE INDEX ostinato_journey_bindings_subject ON ostinato_journey_bindings (namespace, subject) WHERE state = 'active';
CREATE INDEX ostinato_schedules_standing ON ostinato_schedules (namespace,
    (CASE WHEN state = 'running' AND paused IS NOT NULL THEN 'paused' ELSE state END), name) WHERE closed IS NULL AND state <> '';
CREATE INDEX ostinato_runs_status ON ostinato_runs (namespace, status, superseded, id)
    WHERE status <> 'ready' AND status <> 'active' AND status <> 'succeeded';
CREATE INDEX ostinato_runs_parent ON ostinato_runs (parent_id, id) WHERE parent_id IS NOT NULL;
CREATE INDEX ostinato_journeys_phase ON ostinato_journeys (namespace, phase, run_id);
CREATE INDEX ostinato_journey_labels_run ON ostinato_journey_labels (run_id) WHERE label <> '';
CREATE INDEX ostinato_temporal_executions_id ON ostinato_temporal_executions (namespace, workflow_id, run_id);
CREATE VIEW ostinato_workflows AS
SELECT run_id, namespace, workflow_id, request_id, action FROM ostinato_temporal_executions;
CREATE TRIGGER ostinato_workflows_delete INSTEAD OF DELETE ON ostinato_workflows BEGIN
    DELETE FROM ostinato_temporal_executions WHERE run_id = OLD.run_id;
END;
CREATE UNIQUE INDEX ostinato_workflow_definitions_name ON ostinato_workflow_definitions (namespace, name);
CREATE UNIQUE INDEX ostinato_workflow_events_message ON ostinato_workflow_events (workflow_id, topic, message_id);
CREATE INDEX ostinato_workflow_events_pending ON ostinato_workflow_events (workflow_id, topic, id) WHERE status = 'pending';
CREATE INDEX ostinato_workflow_events_reserved ON ostinato_workflow_events (reserved_by) WHERE status = 'reserved';
CREATE INDEX ostinato_workflow_inputs_listed ON ostinato_workflow_inputs (workflow_id, created, id);
CREATE INDEX ostinato_workflow_causes_input ON ostinato_workflow_causes (input_id, event_id);
CREATE INDEX ostinato_workflow_runs_listed ON ostinato_workflow_runs (workflow_id, run_id);
CREATE INDEX ostinato_workflow_run_events_event ON ostinato_workflow_run_events (event_id, run_id);
CREATE INDEX ostinato_workflow_mutations_run ON ostinato_workflow_mutations (run_id);
CREATE INDEX ostinato_workflow_mutations_listed ON ostinato_workflow_mutations (workflow_id, id);
CREATE INDEX ostinato_workflow_runs_retried ON ostinato_workflow_runs (retry_of) WHERE retry_of IS NOT NULL;
CREATE INDEX ostinato_functions_name ON ostinato_functions (namespace, name, run_id);
CREATE INDEX ostinato_function_messages_waiting ON ostinato_function_messages (run_id, name, id) WHERE position IS NULL;
CREATE UNIQUE INDEX ostinato_agent_users_external ON ostinato_agent_users (namespace, agent, external_id);
CREATE INDEX ostinato_agent_users_active ON ostinato_agent_users (namespace, agent, active) WHERE active IS NOT NULL;
CREATE INDEX ostinato_agent_tags_tag ON ostinato_agent_tags (namespace, agent, tag, user_id);
CREATE UNIQUE INDEX ostinato_agent_sessions_open ON ostinato_agent_sessions (user_id) WHERE ended IS NULL;
CREATE INDEX ostinato_agent_sessions_list ON ostinato_agent_sessions (namespace, agent, id);
CREATE INDEX ostinato_agent_sessions_ended ON ostinato_agent_sessions (agent, ended) WHERE ended IS NOT NULL;
CREATE UNIQUE INDEX ostinato_agent_turns_key ON ostinato_agent_turns (user_id, key);
CREATE INDEX ostinato_agent_turns_open ON ostinato_agent_turns (session_id, id) WHERE finished IS NULL;
CREATE INDEX ostinato_agent_turns_session ON ostinato_agent_turns (session_id, id);
CREATE INDEX ostinato_agent_turns_schedule ON ostinato_agent_turns (schedule_id, scheduled_for)
    WHERE schedule_id IS NOT NULL;
CREATE INDEX ostinato_agent_messages_session ON ostinato_agent_messages (session_id, id);
CREATE INDEX ostinato_agent_outgoing_turn ON ostinato_agent_outgoing (turn_id);
CREATE INDEX ostinato_agent_outgoing_user ON ostinato_agent_outgoing (user_id, created);
CREATE INDEX ostinato_agent_outgoing_unsettled ON ostinato_agent_outgoing (namespace, status, key) WHERE status <> 'sent';
CREATE INDEX ostinato_agent_escalations_status ON ostinato_agent_escalations (namespace, agent, status, id);
CREATE INDEX ostinato_agent_escalations_session ON ostinato_agent_escalations (session_id) WHERE status = 'pending';
CREATE UNIQUE INDEX ostinato_agent_campaigns_occurrence ON ostinato_agent_campaigns (namespace, agent, occurrence);
CREATE INDEX ostinato_agent_campaigns_list ON ostinato_agent_campaigns (namespace, agent, id);
CREATE INDEX ostinato_agent_campaigns_finished ON ostinato_agent_campaigns (agent, finished)
    WHERE finished IS NOT NULL;
CREATE INDEX ostinato_agent_campaigns_open ON ostinato_agent_campaigns (id) WHERE finished IS NULL;
CREATE INDEX ostinato_agent_recipients_pending ON ostinato_agent_recipients (campaign_id, due, external_id)
    WHERE status = 'pending';
CREATE INDEX ostinato_agent_recipients_started ON ostinato_agent_recipients (campaign_id, started)
    WHERE status = 'started';
CREATE INDEX ostinato_agent_recipients_user ON ostinato_agent_recipients (user_id, started) WHERE started IS NOT NULL;
CREATE INDEX ostinato_agent_schedules_engine ON ostinato_agent_schedules (engine_id);
CREATE INDEX ostinato_agent_schedules_user ON ostinato_agent_schedules (namespace, agent, user_external_id)
WHERE user_external_id IS NOT NULL AND status = 'active';
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('ostinato_events',153);
COMMIT;
