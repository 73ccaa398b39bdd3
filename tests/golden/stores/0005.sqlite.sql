BEGIN TRANSACTION;
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
INSERT INTO "ostinato_backfills" VALUES('01kdvvnxf01maz3za2mabnbn62','default','01kdvvcrg0dbxe9c3cwr3m3hxc',1767207900000018,1767240300000018,1767211200000000,'allow_all',NULL,0.01,'running',9,1,1767240300000018,NULL,NULL,NULL);
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
INSERT INTO "ostinato_events" VALUES(1,1767225600000000,'default','run:created','01kdvdna00dhw93dtr98h6bcfp','{"name":"note","run_id":"01kdvdna00dhw93dtr98h6bcfp","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(2,1767225600000000,'default','run:started','01kdvdna00dhw93dtr98h6bcfp','{"name":"note","run_id":"01kdvdna00dhw93dtr98h6bcfp","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(3,1767225600000000,'default','run:created','01kdvdna00dhw93dtr98h6bcfq','{"name":"wrong","run_id":"01kdvdna00dhw93dtr98h6bcfq","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(4,1767225600000000,'default','run:succeeded','01kdvdna00dhw93dtr98h6bcfp','{"name":"note","run_id":"01kdvdna00dhw93dtr98h6bcfp","attempt":1,"reason":null}',NULL);
INSERT INTO "ostinato_events" VALUES(5,1767225600000000,'default','run:started','01kdvdna00dhw93dtr98h6bcfq','{"name":"wrong","run_id":"01kdvdna00dhw93dtr98h6bcfq","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(6,1767225600000000,'default','run:created','01kdvdna00dhw93dtr98h6bcfr','{"name":"slow","run_id":"01kdvdna00dhw93dtr98h6bcfr","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(7,1767225600000000,'default','run:retrying','01kdvdna00dhw93dtr98h6bcfq','{"name":"wrong","run_id":"01kdvdna00dhw93dtr98h6bcfq","attempt":1,"reason":"ValueError: no","next_attempt":"01kdvdna00dhw93dtr98h6bcfs","due":1767225601000000}',NULL);
INSERT INTO "ostinato_events" VALUES(8,1767225600000000,'default','run:started','01kdvdna00dhw93dtr98h6bcfr','{"name":"slow","run_id":"01kdvdna00dhw93dtr98h6bcfr","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(9,1767225600000000,'default','run:created','01kdvdna00dhw93dtr98h6bcft','{"name":"note","run_id":"01kdvdna00dhw93dtr98h6bcft","attempt":1,"due":1768003200000000}',NULL);
INSERT INTO "ostinato_events" VALUES(10,1767225600000000,'default','run:cancelled','01kdvdna00dhw93dtr98h6bcft','{"name":"note","run_id":"01kdvdna00dhw93dtr98h6bcft","attempt":1,"reason":"not wanted"}',NULL);
INSERT INTO "ostinato_events" VALUES(11,1767225601000000,'default','run:started','01kdvdna00dhw93dtr98h6bcfq','{"name":"wrong","run_id":"01kdvdna00dhw93dtr98h6bcfs","attempt":2,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(12,1767225601000000,'default','run:failed','01kdvdna00dhw93dtr98h6bcfq','{"name":"wrong","run_id":"01kdvdna00dhw93dtr98h6bcfs","attempt":2,"reason":"ValueError: no"}',NULL);
INSERT INTO "ostinato_events" VALUES(13,1767226200000000,'default','run:timed_out','01kdvdna00dhw93dtr98h6bcfr','{"name":"slow","run_id":"01kdvdna00dhw93dtr98h6bcfr","attempt":1,"reason":"timeout"}',NULL);
INSERT INTO "ostinato_events" VALUES(14,1767229200000006,'default','run:created','01kdvh35m07hs764ermf1cwvt4','{"name":"note","run_id":"01kdvh35m07hs764ermf1cwvt4","attempt":1,"due":1767488400000006}',NULL);
INSERT INTO "ostinato_events" VALUES(15,1767229200000006,'default','schedule:created','01kdvh35m07hs764ermf1cwvt5','{"name":"hourly","spec":{"intervals":[{"every":"PT1H"}]}}',NULL);
INSERT INTO "ostinato_events" VALUES(16,1767229200000006,'default','schedule:created','01kdvh35m07hs764ermf1cwvt6','{"name":"paused","spec":{"intervals":[{"every":"PT1H"}]}}',NULL);
INSERT INTO "ostinato_events" VALUES(17,1767229200000006,'default','schedule:paused','01kdvh35m07hs764ermf1cwvt6','{"name":"paused","notes":"a while"}',NULL);
INSERT INTO "ostinato_events" VALUES(18,1767229200000006,'default','schedule:created','01kdvh35m07hs764ermf1cwvt7','{"name":"berlin","spec":{"cron":["30 9 * * 1-5"],"zone":"Europe/Berlin"}}',NULL);
INSERT INTO "ostinato_events" VALUES(19,1767232800000000,'default','run:created','01kdvmh180ckt62bkpjtkcxk0v','{"name":"note","run_id":"01kdvmh180ckt62bkpjtkcxk0v","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(20,1767232800000000,'default','schedule:triggered','01kdvh35m07hs764ermf1cwvt5','{"name":"hourly","run_id":"01kdvmh180ckt62bkpjtkcxk0v","nominal":1767232800000000,"origin":"auto"}',NULL);
INSERT INTO "ostinato_events" VALUES(21,1767232800000000,'default','run:started','01kdvmh180ckt62bkpjtkcxk0v','{"name":"note","run_id":"01kdvmh180ckt62bkpjtkcxk0v","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(22,1767232800000000,'default','schedule:run_started','01kdvh35m07hs764ermf1cwvt5','{"name":"hourly","run_id":"01kdvmh180ckt62bkpjtkcxk0v","attempt":1,"nominal":1767232800000000,"origin":"auto"}',NULL);
INSERT INTO "ostinato_events" VALUES(23,1767232800000000,'default','run:succeeded','01kdvmh180ckt62bkpjtkcxk0v','{"name":"note","run_id":"01kdvmh180ckt62bkpjtkcxk0v","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(24,1767232800000000,'default','schedule:run_completed','01kdvh35m07hs764ermf1cwvt5','{"name":"hourly","run_id":"01kdvmh180ckt62bkpjtkcxk0v","attempt":1,"nominal":1767232800000000,"origin":"auto"}',NULL);
INSERT INTO "ostinato_events" VALUES(25,1767236400000000,'default','run:created','01kdvqyww07ss1g1sehgtvz69d','{"name":"note","run_id":"01kdvqyww07ss1g1sehgtvz69d","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(26,1767236400000000,'default','schedule:triggered','01kdvh35m07hs764ermf1cwvt5','{"name":"hourly","run_id":"01kdvqyww07ss1g1sehgtvz69d","nominal":1767236400000000,"origin":"auto"}',NULL);
INSERT INTO "ostinato_events" VALUES(27,1767236400000000,'default','run:started','01kdvqyww07ss1g1sehgtvz69d','{"name":"note","run_id":"01kdvqyww07ss1g1sehgtvz69d","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(28,1767236400000000,'default','schedule:run_started','01kdvh35m07hs764ermf1cwvt5','{"name":"hourly","run_id":"01kdvqyww07ss1g1sehgtvz69d","attempt":1,"nominal":1767236400000000,"origin":"auto"}',NULL);
INSERT INTO "ostinato_events" VALUES(29,1767236400000000,'default','run:succeeded','01kdvqyww07ss1g1sehgtvz69d','{"name":"note","run_id":"01kdvqyww07ss1g1sehgtvz69d","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(30,1767236400000000,'default','schedule:run_completed','01kdvh35m07hs764ermf1cwvt5','{"name":"hourly","run_id":"01kdvqyww07ss1g1sehgtvz69d","attempt":1,"nominal":1767236400000000,"origin":"auto"}',NULL);
INSERT INTO "ostinato_events" VALUES(31,1767240000000000,'default','run:created','01kdvvcrg0dbxe9c3cwr3m3hx8','{"name":"note","run_id":"01kdvvcrg0dbxe9c3cwr3m3hx8","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(32,1767240000000000,'default','schedule:triggered','01kdvh35m07hs764ermf1cwvt5','{"name":"hourly","run_id":"01kdvvcrg0dbxe9c3cwr3m3hx8","nominal":1767240000000000,"origin":"auto"}',NULL);
INSERT INTO "ostinato_events" VALUES(33,1767240000000000,'default','run:started','01kdvvcrg0dbxe9c3cwr3m3hx8','{"name":"note","run_id":"01kdvvcrg0dbxe9c3cwr3m3hx8","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(34,1767240000000000,'default','schedule:run_started','01kdvh35m07hs764ermf1cwvt5','{"name":"hourly","run_id":"01kdvvcrg0dbxe9c3cwr3m3hx8","attempt":1,"nominal":1767240000000000,"origin":"auto"}',NULL);
INSERT INTO "ostinato_events" VALUES(35,1767240000000000,'default','run:succeeded','01kdvvcrg0dbxe9c3cwr3m3hx8','{"name":"note","run_id":"01kdvvcrg0dbxe9c3cwr3m3hx8","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(36,1767240000000000,'default','schedule:run_completed','01kdvh35m07hs764ermf1cwvt5','{"name":"hourly","run_id":"01kdvvcrg0dbxe9c3cwr3m3hx8","attempt":1,"nominal":1767240000000000,"origin":"auto"}',NULL);
INSERT INTO "ostinato_events" VALUES(37,1767240000000012,'team','namespace:created','team','{"notes":""}',NULL);
INSERT INTO "ostinato_events" VALUES(38,1767240000000012,'default','token:created','01kdvvcrg0dbxe9c3cwr3m3hx9','{"role":"reader","label":""}',NULL);
INSERT INTO "ostinato_events" VALUES(39,1767240000000012,'default','webhook:created','01kdvvcrg0dbxe9c3cwr3m3hxa','{"url":"https://hooks.example/in","patterns":["engine:*"]}',NULL);
INSERT INTO "ostinato_events" VALUES(40,1767240000000012,'default','schedule:created','01kdvvcrg0dbxe9c3cwr3m3hxb','{"name":"buffered","spec":{"intervals":[{"every":"PT1M"}]}}',NULL);
INSERT INTO "ostinato_events" VALUES(41,1767240000000012,'default','schedule:created','01kdvvcrg0dbxe9c3cwr3m3hxc','{"name":"filled","spec":{"intervals":[{"every":"PT1H"}]}}',NULL);
INSERT INTO "ostinato_events" VALUES(42,1767240060000000,'default','run:created','01kdvvek309q06xjejgshwn0md','{"name":"slow","run_id":"01kdvvek309q06xjejgshwn0md","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(43,1767240060000000,'default','schedule:triggered','01kdvvcrg0dbxe9c3cwr3m3hxb','{"name":"buffered","run_id":"01kdvvek309q06xjejgshwn0md","nominal":1767240060000000,"origin":"auto"}',NULL);
INSERT INTO "ostinato_events" VALUES(44,1767240060000000,'default','run:started','01kdvvek309q06xjejgshwn0md','{"name":"slow","run_id":"01kdvvek309q06xjejgshwn0md","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(45,1767240060000000,'default','schedule:run_started','01kdvvcrg0dbxe9c3cwr3m3hxb','{"name":"buffered","run_id":"01kdvvek309q06xjejgshwn0md","attempt":1,"nominal":1767240060000000,"origin":"auto"}',NULL);
INSERT INTO "ostinato_events" VALUES(46,1767240120000000,'default','run:created','01kdvvgdp0012w8s3hb71j9jc5','{"name":"slow","run_id":"01kdvvgdp0012w8s3hb71j9jc5","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(47,1767240180000000,'default','run:created','01kdvvj89048bq41755ps246jr','{"name":"slow","run_id":"01kdvvj89048bq41755ps246jr","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(48,1767240240000000,'default','run:created','01kdvvm2w03n4cth3y6pwbdp7y','{"name":"slow","run_id":"01kdvvm2w03n4cth3y6pwbdp7y","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(49,1767240300000000,'default','run:created','01kdvvnxf01maz3za2mabnbn61','{"name":"slow","run_id":"01kdvvnxf01maz3za2mabnbn61","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(50,1767240300000018,'default','schedule:paused','01kdvvcrg0dbxe9c3cwr3m3hxb','{"name":"buffered","notes":"enough of it"}',NULL);
INSERT INTO "ostinato_events" VALUES(51,1767240300000018,'default','schedule:backfill_started','01kdvvcrg0dbxe9c3cwr3m3hxc','{"name":"filled","backfill_id":"01kdvvnxf01maz3za2mabnbn62","first":1767207900000018,"last":1767240300000018,"made":0,"total":9}',NULL);
INSERT INTO "ostinato_events" VALUES(52,1767240300000018,'default','run:created','01kdvvnxf01maz3za2mabnbn63','{"name":"note","run_id":"01kdvvnxf01maz3za2mabnbn63","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(53,1767240300000018,'default','schedule:triggered','01kdvvcrg0dbxe9c3cwr3m3hxc','{"name":"filled","run_id":"01kdvvnxf01maz3za2mabnbn63","nominal":1767211200000000,"origin":"backfill-01kdvvnxf01maz3za2mabnbn62"}',NULL);
INSERT INTO "ostinato_events" VALUES(54,1767240300000018,'default','schedule:backfill_progressed','01kdvvcrg0dbxe9c3cwr3m3hxc','{"name":"filled","backfill_id":"01kdvvnxf01maz3za2mabnbn62","first":1767207900000018,"last":1767240300000018,"made":1,"total":9}',NULL);
INSERT INTO "ostinato_events" VALUES(55,1767240300000018,'default','run:started','01kdvvnxf01maz3za2mabnbn63','{"name":"note","run_id":"01kdvvnxf01maz3za2mabnbn63","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(56,1767240300000018,'default','schedule:run_started','01kdvvcrg0dbxe9c3cwr3m3hxc','{"name":"filled","run_id":"01kdvvnxf01maz3za2mabnbn63","attempt":1,"nominal":1767211200000000,"origin":"backfill-01kdvvnxf01maz3za2mabnbn62"}',NULL);
INSERT INTO "ostinato_events" VALUES(57,1767240300000018,'default','run:succeeded','01kdvvnxf01maz3za2mabnbn63','{"name":"note","run_id":"01kdvvnxf01maz3za2mabnbn63","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(58,1767240300000018,'default','schedule:run_completed','01kdvvcrg0dbxe9c3cwr3m3hxc','{"name":"filled","run_id":"01kdvvnxf01maz3za2mabnbn63","attempt":1,"nominal":1767211200000000,"origin":"backfill-01kdvvnxf01maz3za2mabnbn62"}',NULL);
INSERT INTO "ostinato_events" VALUES(59,1767240305000024,'default','run:created','01kdvvp2b80fn52grhjfkc7wss','{"name":"slow","run_id":"01kdvvp2b80fn52grhjfkc7wss","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(60,1767240305000024,'default','run:started','01kdvvp2b80fn52grhjfkc7wss','{"name":"slow","run_id":"01kdvvp2b80fn52grhjfkc7wss","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(61,1767240305000024,'default','run:created','01kdvvp2b80fn52grhjfkc7wst','{"name":"slow","run_id":"01kdvvp2b80fn52grhjfkc7wst","attempt":1}',NULL);
CREATE TABLE ostinato_jobs (
    name text PRIMARY KEY,
    declared text NOT NULL
) WITHOUT ROWID;
INSERT INTO "ostinato_jobs" VALUES('http','{"at_most_once":false,"limit":null,"priority":0,"queue":"default","serial_hold":"chain","serial_key":null}');
INSERT INTO "ostinato_jobs" VALUES('note','{"at_most_once":false,"limit":null,"priority":0,"queue":"default","serial_hold":"chain","serial_key":null}');
INSERT INTO "ostinato_jobs" VALUES('slow','{"at_most_once":false,"limit":null,"priority":0,"queue":"default","serial_hold":"chain","serial_key":"{key}"}');
INSERT INTO "ostinato_jobs" VALUES('webhook','{"at_most_once":false,"limit":null,"priority":-10,"queue":"default","serial_hold":"chain","serial_key":null}');
INSERT INTO "ostinato_jobs" VALUES('wrong','{"at_most_once":false,"limit":null,"priority":0,"queue":"default","serial_hold":"chain","serial_key":null}');
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
INSERT INTO "ostinato_meta" VALUES('schema','5');
CREATE TABLE ostinato_namespaces (
    name text PRIMARY KEY,
    notes text NOT NULL,
    created integer NOT NULL,
    actor text
) WITHOUT ROWID;
INSERT INTO "ostinato_namespaces" VALUES('default','',0,NULL);
INSERT INTO "ostinato_namespaces" VALUES('team','',1767240000000012,NULL);
CREATE TABLE ostinato_nodes (
    id text PRIMARY KEY,
    name text NOT NULL,
    started integer NOT NULL,
    lease_until integer NOT NULL,
    queues text NOT NULL,
    handlers text NOT NULL,
    version text NOT NULL,
    zone_rules text NOT NULL
) WITHOUT ROWID;
INSERT INTO "ostinato_nodes" VALUES('01kdvdna00dhw93dtr98h6bcfn','golden',1767225600000000,1767240330000000,'["default"]','["http","note","slow","webhook","wrong"]','0.1.0','2025b');
CREATE TABLE ostinato_requests (
    namespace text NOT NULL,
    id text NOT NULL,
    at integer NOT NULL,
    call text NOT NULL,
    answer text,
    PRIMARY KEY (namespace, id)
) WITHOUT ROWID;
INSERT INTO "ostinato_requests" VALUES('default','140c7e5fc6946c6265d8c5e5e4dc001a',1767240300000018,'pause buffered ','{"id":"01kdvvcrg0dbxe9c3cwr3m3hxb","token":2}');
INSERT INTO "ostinato_requests" VALUES('default','60a6a159e672ab905f43b769e6139d12',1767229200000006,'create paused [{"intervals":[{"every":"PT1H"}]},"{\"input\":{},\"job\":\"note\",\"options\":{}}","{\"catchup\":{\"mode\":\"latest\",\"most\":null,\"pace\":100,\"window\":null},\"overlap\":\"skip\"}",null,[],{},null,"",false]','{"ids":["01kdvh35m07hs764ermf1cwvt6"],"token":1}');
INSERT INTO "ostinato_requests" VALUES('default','61c0b1d9c23bc26391abb6a2bcc0d685',1767229200000006,'pause paused ','{"id":"01kdvh35m07hs764ermf1cwvt6","token":2}');
INSERT INTO "ostinato_requests" VALUES('default','69ed23a603304d814411ae4c07c932bb',1767240300000018,'backfill filled 1767207900000018 1767240300000018','{"id":"01kdvvcrg0dbxe9c3cwr3m3hxc","token":2,"backfill":"01kdvvnxf01maz3za2mabnbn62"}');
INSERT INTO "ostinato_requests" VALUES('default','93b4aa3b127b8d99188be605868ecacc',1767229200000006,'create berlin [{"cron":["30 9 * * 1-5"],"zone":"Europe/Berlin"},"{\"input\":{},\"job\":\"note\",\"options\":{}}","{\"catchup\":{\"mode\":\"latest\",\"most\":null,\"pace\":100,\"window\":null},\"overlap\":\"buffer_all\"}",null,[],{},null,"",false]','{"ids":["01kdvh35m07hs764ermf1cwvt7"],"token":1}');
INSERT INTO "ostinato_requests" VALUES('default','97264dcba4ae9bd76a8af7f6aa8504df',1767240000000012,'create filled [{"intervals":[{"every":"PT1H"}]},"{\"input\":{},\"job\":\"note\",\"options\":{}}","{\"catchup\":{\"mode\":\"latest\",\"most\":null,\"pace\":100,\"window\":null},\"overlap\":\"skip\"}",null,[],{},null,"",false]','{"ids":["01kdvvcrg0dbxe9c3cwr3m3hxc"],"token":1}');
INSERT INTO "ostinato_requests" VALUES('default','d3639aac12e216dbdce37e7cc36cd345',1767240000000012,'create buffered [{"intervals":[{"every":"PT1M"}]},"{\"input\":{\"key\":\"b\",\"seconds\":500},\"job\":\"slow\",\"options\":{}}","{\"catchup\":{\"mode\":\"latest\",\"most\":null,\"pace\":100,\"window\":null},\"overlap\":\"buffer_all\"}",null,[],{},null,"",false]','{"ids":["01kdvvcrg0dbxe9c3cwr3m3hxb"],"token":1}');
INSERT INTO "ostinato_requests" VALUES('default','ed8ffebdf926339f3751117ee5c30662',1767240000000012,'webhook create ["https://hooks.example/in",["engine:*"],[],""]','["01kdvvcrg0dbxe9c3cwr3m3hxa","default","https://hooks.example/in","[\"engine:*\"]","[]","","active",null,38,0,null,null,null,1767240000000012,1767240000000012,null]');
INSERT INTO "ostinato_requests" VALUES('default','f8a41c96aead6eca8ff6fb030ea4200b',1767229200000006,'create hourly [{"intervals":[{"every":"PT1H"}]},"{\"input\":{\"who\":\"hourly\"},\"job\":\"note\",\"options\":{}}","{\"catchup\":{\"mode\":\"latest\",\"most\":null,\"pace\":100,\"window\":null},\"overlap\":\"skip\"}",null,[],{},null,"",false]','{"ids":["01kdvh35m07hs764ermf1cwvt5"],"token":1}');
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
INSERT INTO "ostinato_runs" VALUES('01kdvdna00dhw93dtr98h6bcfp','default','job','note','succeeded','succeeded',NULL,'default',0,1767225600000000,NULL,1767225600000000,1767225600000000,1767225600000000,'01kdvdna00dhw93dtr98h6bcfp',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,2,NULL,NULL,NULL,NULL,NULL,'{"who":"over"}','"over"',NULL,NULL,NULL,NULL,0,0,NULL,NULL,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvdna00dhw93dtr98h6bcfq','default','job','wrong','failed','failed','ValueError: no','default',0,1767225600000000,NULL,1767225600000000,1767225600000000,1767225600000000,'01kdvdna00dhw93dtr98h6bcfq',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,4,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"type":"ValueError","message":"no","traceback":"Traceback (most recent call last):\n  File \"src/ostinato/engine/executor.py\", line 74, in execute\n    value = await handler.function(**given)\n            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n  File \"tests/golden/fill.py\", line 48, in wrong\n    raise ValueError(\"no\")\nValueError: no\n"}',NULL,NULL,NULL,1,0,NULL,NULL,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvdna00dhw93dtr98h6bcfr','default','job','slow','timed-out','timed_out','timeout','default',0,1767225600000000,NULL,1767225600000000,1767225600000000,1767226200000000,'01kdvdna00dhw93dtr98h6bcfr',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,6,'a','chain',NULL,NULL,NULL,'{"key":"a","seconds":3600}',NULL,'{"type":"_OutOfTime","message":"timeout","traceback":"Traceback (most recent call last):\n  File \"src/ostinato/engine/executor.py\", line 78, in execute\n    value = await self._call_in_time(run, handler, context, given, timeout)\n            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n  File \"src/ostinato/engine/executor.py\", line 157, in _call_in_time\n    raise _OutOfTime(reason) from None\nostinato.engine.executor._OutOfTime: timeout\n"}',NULL,NULL,NULL,0,0,NULL,NULL,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvdna00dhw93dtr98h6bcfs','default','job','wrong',NULL,'failed','ValueError: no','default',0,1767225601000000,NULL,1767225600000000,1767225601000000,1767225601000000,'01kdvdna00dhw93dtr98h6bcfq','01kdvdna00dhw93dtr98h6bcfq',2,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,10,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"type":"ValueError","message":"no","traceback":"Traceback (most recent call last):\n  File \"src/ostinato/engine/executor.py\", line 74, in execute\n    value = await handler.function(**given)\n            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n  File \"tests/golden/fill.py\", line 48, in wrong\n    raise ValueError(\"no\")\nValueError: no\n"}',NULL,NULL,NULL,0,0,NULL,NULL,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvdna00dhw93dtr98h6bcft','default','job','note','cancelled','cancelled','not wanted','default',0,1768003200000000,NULL,1767225600000000,NULL,1767225600000000,'01kdvdna00dhw93dtr98h6bcft',NULL,1,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,NULL,NULL,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvh35m07hs764ermf1cwvt4','default','job','note','waiting','waiting',NULL,'default',0,1767488400000006,NULL,1767229200000006,NULL,NULL,'01kdvh35m07hs764ermf1cwvt4',NULL,1,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,'{"who":"later"}',NULL,NULL,NULL,NULL,NULL,0,0,NULL,NULL,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvmh180ckt62bkpjtkcxk0v','default','job','note','01kdvh35m07hs764ermf1cwvt5/1767232800000000/auto','succeeded',NULL,'default',0,1767232800000000,NULL,1767232800000000,1767232800000000,1767232800000000,'01kdvmh180ckt62bkpjtkcxk0v',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,16,NULL,NULL,NULL,NULL,NULL,'{"who":"hourly"}','"hourly"',NULL,NULL,NULL,NULL,0,0,NULL,'01kdvh35m07hs764ermf1cwvt5','{"schedule":"hourly","nominal":1767232800000000,"origin":"auto","previous":1767229200000000}');
INSERT INTO "ostinato_runs" VALUES('01kdvqyww07ss1g1sehgtvz69d','default','job','note','01kdvh35m07hs764ermf1cwvt5/1767236400000000/auto','succeeded',NULL,'default',0,1767236400000000,NULL,1767236400000000,1767236400000000,1767236400000000,'01kdvqyww07ss1g1sehgtvz69d',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,19,NULL,NULL,NULL,NULL,NULL,'{"who":"hourly"}','"hourly"',NULL,NULL,NULL,NULL,0,0,NULL,'01kdvh35m07hs764ermf1cwvt5','{"schedule":"hourly","nominal":1767236400000000,"origin":"auto","previous":1767232800000000,"last_result":"hourly"}');
INSERT INTO "ostinato_runs" VALUES('01kdvvcrg0dbxe9c3cwr3m3hx8','default','job','note','01kdvh35m07hs764ermf1cwvt5/1767240000000000/auto','succeeded',NULL,'default',0,1767240000000000,NULL,1767240000000000,1767240000000000,1767240000000000,'01kdvvcrg0dbxe9c3cwr3m3hx8',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,22,NULL,NULL,NULL,NULL,NULL,'{"who":"hourly"}','"hourly"',NULL,NULL,NULL,NULL,0,0,NULL,'01kdvh35m07hs764ermf1cwvt5','{"schedule":"hourly","nominal":1767240000000000,"origin":"auto","previous":1767236400000000,"last_result":"hourly"}');
INSERT INTO "ostinato_runs" VALUES('01kdvvek309q06xjejgshwn0md','default','job','slow','01kdvvcrg0dbxe9c3cwr3m3hxb/1767240060000000/auto','active',NULL,'default',0,1767240060000000,1767240060000000,1767240060000000,1767240060000000,NULL,'01kdvvek309q06xjejgshwn0md',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,26,'b','chain',NULL,NULL,NULL,'{"key":"b","seconds":500}',NULL,NULL,NULL,NULL,NULL,0,0,NULL,'01kdvvcrg0dbxe9c3cwr3m3hxb','{"schedule":"buffered","nominal":1767240060000000,"origin":"auto","previous":1767240000000000}');
INSERT INTO "ostinato_runs" VALUES('01kdvvgdp0012w8s3hb71j9jc5','default','job','slow','01kdvvcrg0dbxe9c3cwr3m3hxb/1767240120000000/auto','buffered','overlap','default',0,1767240120000000,NULL,1767240120000000,NULL,NULL,'01kdvvgdp0012w8s3hb71j9jc5',NULL,1,NULL,NULL,0,NULL,'b','chain',NULL,'overlap',NULL,'{"key":"b","seconds":500}',NULL,NULL,NULL,NULL,NULL,0,0,NULL,'01kdvvcrg0dbxe9c3cwr3m3hxb','{"schedule":"buffered","nominal":1767240120000000,"origin":"auto","previous":1767240060000000}');
INSERT INTO "ostinato_runs" VALUES('01kdvvj89048bq41755ps246jr','default','job','slow','01kdvvcrg0dbxe9c3cwr3m3hxb/1767240180000000/auto','buffered','overlap','default',0,1767240180000000,NULL,1767240180000000,NULL,NULL,'01kdvvj89048bq41755ps246jr',NULL,1,NULL,NULL,0,NULL,'b','chain',NULL,'overlap',NULL,'{"key":"b","seconds":500}',NULL,NULL,NULL,NULL,NULL,0,0,NULL,'01kdvvcrg0dbxe9c3cwr3m3hxb','{"schedule":"buffered","nominal":1767240180000000,"origin":"auto","previous":1767240120000000}');
INSERT INTO "ostinato_runs" VALUES('01kdvvm2w03n4cth3y6pwbdp7y','default','job','slow','01kdvvcrg0dbxe9c3cwr3m3hxb/1767240240000000/auto','buffered','overlap','default',0,1767240240000000,NULL,1767240240000000,NULL,NULL,'01kdvvm2w03n4cth3y6pwbdp7y',NULL,1,NULL,NULL,0,NULL,'b','chain',NULL,'overlap',NULL,'{"key":"b","seconds":500}',NULL,NULL,NULL,NULL,NULL,0,0,NULL,'01kdvvcrg0dbxe9c3cwr3m3hxb','{"schedule":"buffered","nominal":1767240240000000,"origin":"auto","previous":1767240180000000}');
INSERT INTO "ostinato_runs" VALUES('01kdvvnxf01maz3za2mabnbn61','default','job','slow','01kdvvcrg0dbxe9c3cwr3m3hxb/1767240300000000/auto','buffered','overlap','default',0,1767240300000000,NULL,1767240300000000,NULL,NULL,'01kdvvnxf01maz3za2mabnbn61',NULL,1,NULL,NULL,0,NULL,'b','chain',NULL,'overlap',NULL,'{"key":"b","seconds":500}',NULL,NULL,NULL,NULL,NULL,0,0,NULL,'01kdvvcrg0dbxe9c3cwr3m3hxb','{"schedule":"buffered","nominal":1767240300000000,"origin":"auto","previous":1767240240000000}');
INSERT INTO "ostinato_runs" VALUES('01kdvvnxf01maz3za2mabnbn63','default','job','note','01kdvvcrg0dbxe9c3cwr3m3hxc/1767211200000000/backfill-01kdvvnxf01maz3za2mabnbn62','succeeded',NULL,'default',-10,1767211200000000,NULL,1767240300000018,1767240300000018,1767240300000018,'01kdvvnxf01maz3za2mabnbn63',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,33,NULL,NULL,NULL,NULL,NULL,NULL,'""',NULL,NULL,NULL,NULL,0,0,NULL,'01kdvvcrg0dbxe9c3cwr3m3hxc','{"schedule":"filled","nominal":1767211200000000,"origin":"backfill-01kdvvnxf01maz3za2mabnbn62","previous":1767207600000000,"overlap":"allow_all"}');
INSERT INTO "ostinato_runs" VALUES('01kdvvp2b80fn52grhjfkc7wss','default','job','slow','active','active',NULL,'default',0,1767240305000024,1767240305000024,1767240305000024,1767240305000024,NULL,'01kdvvp2b80fn52grhjfkc7wss',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,36,'c','chain',NULL,NULL,NULL,'{"key":"c","seconds":300}',NULL,NULL,NULL,NULL,NULL,0,0,NULL,NULL,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvvp2b80fn52grhjfkc7wst','default','job','slow','blocked','buffered','serial c','default',0,1767240305000024,NULL,1767240305000024,NULL,NULL,'01kdvvp2b80fn52grhjfkc7wst',NULL,1,NULL,NULL,0,NULL,'c','chain',NULL,'serial',NULL,'{"key":"c","seconds":1}',NULL,NULL,NULL,NULL,NULL,0,0,NULL,NULL,NULL);
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
);
INSERT INTO "ostinato_schedules" VALUES('01kdvh35m07hs764ermf1cwvt5','default','hourly','{"intervals":[{"every":"PT1H"}]}','{"input":{"who":"hourly"},"job":"note","options":{}}','{"catchup":{"mode":"latest","most":null,"pace":100,"window":null},"overlap":"skip"}','default-hourly','running',NULL,NULL,'',NULL,1767240000000000,1767243600000000,1767229200000006,1,'{"counts":{"actions":3},"previous":1767240000000000}','{"result":"hourly","failure":null,"failures":0,"success_at":1767240000000000,"ended_at":1767240000000000}',NULL,NULL,NULL,NULL,1767229200000006,NULL,'2025b',NULL);
INSERT INTO "ostinato_schedules" VALUES('01kdvh35m07hs764ermf1cwvt6','default','paused','{"intervals":[{"every":"PT1H"}]}','{"input":{},"job":"note","options":{}}','{"catchup":{"mode":"latest","most":null,"pace":100,"window":null},"overlap":"skip"}','default-paused','running',NULL,1767229200000006,'a while',NULL,1767229200000006,NULL,1767229200000006,2,'{}','{"result":null,"failure":null,"failures":0,"success_at":null,"ended_at":null}',NULL,NULL,NULL,NULL,1767229200000006,NULL,'2025b',NULL);
INSERT INTO "ostinato_schedules" VALUES('01kdvh35m07hs764ermf1cwvt7','default','berlin','{"cron":["30 9 * * 1-5"],"zone":"Europe/Berlin"}','{"input":{},"job":"note","options":{}}','{"catchup":{"mode":"latest","most":null,"pace":100,"window":null},"overlap":"buffer_all"}','default-berlin','running',NULL,NULL,'',NULL,1767229200000006,1767256200000000,1767229200000006,1,'{}','{"result":null,"failure":null,"failures":0,"success_at":null,"ended_at":null}',NULL,NULL,NULL,NULL,1767229200000006,NULL,'2025b',NULL);
INSERT INTO "ostinato_schedules" VALUES('01kdvvcrg0dbxe9c3cwr3m3hxb','default','buffered','{"intervals":[{"every":"PT1M"}]}','{"input":{"key":"b","seconds":500},"job":"slow","options":{}}','{"catchup":{"mode":"latest","most":null,"pace":100,"window":null},"overlap":"buffer_all"}','default-buffered','running',NULL,1767240300000018,'enough of it',NULL,1767240300000000,NULL,1767240000000012,2,'{"counts":{"actions":1},"previous":1767240300000000,"waiting":4}','{"result":null,"failure":null,"failures":0,"success_at":null,"ended_at":null}',NULL,NULL,NULL,NULL,1767240000000012,NULL,'2025b',NULL);
INSERT INTO "ostinato_schedules" VALUES('01kdvvcrg0dbxe9c3cwr3m3hxc','default','filled','{"intervals":[{"every":"PT1H"}]}','{"input":{},"job":"note","options":{}}','{"catchup":{"mode":"latest","most":null,"pace":100,"window":null},"overlap":"skip"}','default-filled','running',NULL,NULL,'',NULL,1767240000000012,1767243600000000,1767240000000012,2,'{"counts":{"actions":1},"backfills":1}','{"result":"","failure":null,"failures":0,"success_at":1767240300000018,"ended_at":1767240300000018}',NULL,NULL,NULL,NULL,1767240000000012,NULL,'2025b',NULL);
CREATE TABLE ostinato_serials (
    namespace text NOT NULL,
    key text NOT NULL,
    holder text NOT NULL,
    PRIMARY KEY (namespace, key)
) WITHOUT ROWID;
INSERT INTO "ostinato_serials" VALUES('default','b','01kdvvek309q06xjejgshwn0md');
INSERT INTO "ostinato_serials" VALUES('default','c','01kdvvp2b80fn52grhjfkc7wss');
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
INSERT INTO "ostinato_timers" VALUES('run','01kdvh35m07hs764ermf1cwvt4','wake',1767488400000006,'default',NULL,NULL);
INSERT INTO "ostinato_timers" VALUES('schedule','01kdvh35m07hs764ermf1cwvt5','next',1767243600000000,'default',NULL,NULL);
INSERT INTO "ostinato_timers" VALUES('schedule','01kdvh35m07hs764ermf1cwvt7','next',1767256200000000,'default',NULL,NULL);
INSERT INTO "ostinato_timers" VALUES('schedule','01kdvvcrg0dbxe9c3cwr3m3hxc','next',1767243600000000,'default',NULL,NULL);
INSERT INTO "ostinato_timers" VALUES('schedule','01kdvvnxf01maz3za2mabnbn62','backfill',1767240400000018,'default',NULL,NULL);
INSERT INTO "ostinato_timers" VALUES('schedules','store','keeping',1767243600000000,'default',NULL,NULL);
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
INSERT INTO "ostinato_tokens" VALUES('01kdvvcrg0dbxe9c3cwr3m3hx9',NULL,'reader','5d792524005a320847fda9fb825c23c44fbb57a733d59ce569afabca5578ecab','',NULL,1767240000000012,NULL,NULL,NULL,NULL);
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
INSERT INTO "ostinato_webhooks" VALUES('01kdvvcrg0dbxe9c3cwr3m3hxa','default','https://hooks.example/in','["engine:*"]','[]','','active',NULL,38,0,NULL,NULL,NULL,1767240000000012,1767240000000012,NULL);
CREATE UNIQUE INDEX ostinato_runs_key ON ostinato_runs (namespace, key) WHERE key IS NOT NULL;
CREATE INDEX ostinato_runs_ready ON ostinato_runs (queue, priority DESC, ready_at, id) WHERE status = 'ready';
CREATE INDEX ostinato_runs_active ON ostinato_runs (node, token) WHERE status = 'active';
CREATE INDEX ostinato_runs_serial ON ostinato_runs (namespace, serial_key, due, id) WHERE status = 'buffered' AND hold = 'serial';
CREATE INDEX ostinato_runs_limit ON ostinato_runs (namespace, concurrency_key, priority DESC, due, id) WHERE status = 'buffered' AND hold = 'limit';
CREATE INDEX ostinato_runs_parked ON ostinato_runs (name) WHERE status = 'waiting' AND reason = 'no_handler';
CREATE INDEX ostinato_runs_chain ON ostinato_runs (root_id, number) WHERE retry_of IS NOT NULL;
CREATE INDEX ostinato_runs_parent ON ostinato_runs (parent_id) WHERE parent_id IS NOT NULL;
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
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('ostinato_events',61);
COMMIT;
