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
INSERT INTO "ostinato_backfills" VALUES('01kdw2kfa0f0v04pt17y59m0gz','default','01kdw2aab048bq41755ps246jw',1767215160000000,1767247560000000,1767218400000000,'allow_all',NULL,0.01,'running',9,1,1767247560000000,NULL,NULL,NULL);
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
INSERT INTO "ostinato_events" VALUES(14,1767229200000000,'default','run:created','01kdvh35m07hs764ermf1cwvt4','{"name":"note","run_id":"01kdvh35m07hs764ermf1cwvt4","attempt":1,"due":1767488400000000}',NULL);
INSERT INTO "ostinato_events" VALUES(15,1767229200000000,'default','schedule:created','01kdvh35m07hs764ermf1cwvt5','{"name":"hourly","spec":{"intervals":[{"every":"PT1H"}]}}',NULL);
INSERT INTO "ostinato_events" VALUES(16,1767229200000000,'default','schedule:created','01kdvh35m07hs764ermf1cwvt6','{"name":"paused","spec":{"intervals":[{"every":"PT1H"}]}}',NULL);
INSERT INTO "ostinato_events" VALUES(17,1767229200000000,'default','schedule:paused','01kdvh35m07hs764ermf1cwvt6','{"name":"paused","notes":"a while"}',NULL);
INSERT INTO "ostinato_events" VALUES(18,1767229200000000,'default','schedule:created','01kdvh35m07hs764ermf1cwvt7','{"name":"berlin","spec":{"cron":["30 9 * * 1-5"],"tz":"Europe/Berlin"}}',NULL);
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
INSERT INTO "ostinato_events" VALUES(37,1767240000000000,'team','namespace:created','team','{"notes":""}',NULL);
INSERT INTO "ostinato_events" VALUES(38,1767240000000000,'default','token:created','01kdvvcrg0dbxe9c3cwr3m3hx9','{"role":"reader","label":""}',NULL);
INSERT INTO "ostinato_events" VALUES(39,1767240000000000,'default','webhook:created','01kdvvcrg0dbxe9c3cwr3m3hxa','{"url":"https://hooks.example/in","patterns":["token:*"]}',NULL);
INSERT INTO "ostinato_events" VALUES(40,1767240000000000,'default','journey:deployed','approval','{"version":"0.1.0"}',NULL);
INSERT INTO "ostinato_events" VALUES(41,1767240000000000,'default','schedule:created','01kdvvcrg0dbxe9c3cwr3m3hxb','{"name":"starting","spec":{"cron":["0 6 * * *"]}}',NULL);
INSERT INTO "ostinato_events" VALUES(42,1767240000000000,'default','run:created','01kdvvcrg0dbxe9c3cwr3m3hxc','{"name":"approval","run_id":"01kdvvcrg0dbxe9c3cwr3m3hxc","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(43,1767240000000000,'default','run:started','01kdvvcrg0dbxe9c3cwr3m3hxc','{"name":"approval","run_id":"01kdvvcrg0dbxe9c3cwr3m3hxc","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(44,1767240000000000,'default','journey:started','01kdvvcrg0dbxe9c3cwr3m3hxc','{"name":"approval","definition":"approval","version":"0.1.0"}',NULL);
INSERT INTO "ostinato_events" VALUES(45,1767240000000000,'default','journey:state_entered','01kdvvcrg0dbxe9c3cwr3m3hxc','{"name":"approval","frame":"0","path":["spec"],"state":"rest","visit":1}',NULL);
INSERT INTO "ostinato_events" VALUES(46,1767240000000000,'default','journey:timer_set','01kdvvcrg0dbxe9c3cwr3m3hxc','{"name":"approval","frame":"0","path":["spec"],"state":"rest","visit":1,"due":1767243600000000}',NULL);
INSERT INTO "ostinato_events" VALUES(47,1767240000000000,'default','run:waiting','01kdvvcrg0dbxe9c3cwr3m3hxc','{"name":"approval","run_id":"01kdvvcrg0dbxe9c3cwr3m3hxc","attempt":1,"reason":"a timer"}',NULL);
INSERT INTO "ostinato_events" VALUES(48,1767240000000000,'default','run:created','01kdvvcrg0dbxe9c3cwr3m3hxd','{"name":"approval","run_id":"01kdvvcrg0dbxe9c3cwr3m3hxd","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(49,1767240000000000,'default','run:started','01kdvvcrg0dbxe9c3cwr3m3hxd','{"name":"approval","run_id":"01kdvvcrg0dbxe9c3cwr3m3hxd","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(50,1767240000000000,'default','journey:started','01kdvvcrg0dbxe9c3cwr3m3hxd','{"name":"approval","definition":"approval","version":"0.1.0"}',NULL);
INSERT INTO "ostinato_events" VALUES(51,1767240000000000,'default','journey:state_entered','01kdvvcrg0dbxe9c3cwr3m3hxd','{"name":"approval","frame":"0","path":["spec"],"state":"rest","visit":1}',NULL);
INSERT INTO "ostinato_events" VALUES(52,1767240000000000,'default','journey:timer_set','01kdvvcrg0dbxe9c3cwr3m3hxd','{"name":"approval","frame":"0","path":["spec"],"state":"rest","visit":1,"due":1767243600000000}',NULL);
INSERT INTO "ostinato_events" VALUES(53,1767240000000000,'default','run:waiting','01kdvvcrg0dbxe9c3cwr3m3hxd','{"name":"approval","run_id":"01kdvvcrg0dbxe9c3cwr3m3hxd","attempt":1,"reason":"a timer"}',NULL);
INSERT INTO "ostinato_events" VALUES(54,1767243600000000,'default','run:created','01kdvytm409q06xjejgshwn0md','{"name":"note","run_id":"01kdvytm409q06xjejgshwn0md","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(55,1767243600000000,'default','schedule:triggered','01kdvh35m07hs764ermf1cwvt5','{"name":"hourly","run_id":"01kdvytm409q06xjejgshwn0md","nominal":1767243600000000,"origin":"auto"}',NULL);
INSERT INTO "ostinato_events" VALUES(56,1767243600000000,'default','run:started','01kdvytm409q06xjejgshwn0md','{"name":"note","run_id":"01kdvytm409q06xjejgshwn0md","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(57,1767243600000000,'default','schedule:run_started','01kdvh35m07hs764ermf1cwvt5','{"name":"hourly","run_id":"01kdvytm409q06xjejgshwn0md","attempt":1,"nominal":1767243600000000,"origin":"auto"}',NULL);
INSERT INTO "ostinato_events" VALUES(58,1767243600000000,'default','journey:timer_fired','01kdvvcrg0dbxe9c3cwr3m3hxc','{"name":"approval","frame":"0","path":["spec"],"state":"rest","visit":1}',NULL);
INSERT INTO "ostinato_events" VALUES(59,1767243600000000,'default','journey:state_entered','01kdvvcrg0dbxe9c3cwr3m3hxc','{"name":"approval","frame":"0","path":["spec"],"state":"ask","visit":2}',NULL);
INSERT INTO "ostinato_events" VALUES(60,1767243600000000,'default','journey:input_wanted','01kdvvcrg0dbxe9c3cwr3m3hxc','{"name":"approval","frame":"0","path":["spec"],"state":"ask","visit":2}',NULL);
INSERT INTO "ostinato_events" VALUES(61,1767243600000000,'default','journey:timer_fired','01kdvvcrg0dbxe9c3cwr3m3hxd','{"name":"approval","frame":"0","path":["spec"],"state":"rest","visit":1}',NULL);
INSERT INTO "ostinato_events" VALUES(62,1767243600000000,'default','journey:state_entered','01kdvvcrg0dbxe9c3cwr3m3hxd','{"name":"approval","frame":"0","path":["spec"],"state":"ask","visit":2}',NULL);
INSERT INTO "ostinato_events" VALUES(63,1767243600000000,'default','journey:input_wanted','01kdvvcrg0dbxe9c3cwr3m3hxd','{"name":"approval","frame":"0","path":["spec"],"state":"ask","visit":2}',NULL);
INSERT INTO "ostinato_events" VALUES(64,1767243600000000,'default','run:succeeded','01kdvytm409q06xjejgshwn0md','{"name":"note","run_id":"01kdvytm409q06xjejgshwn0md","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(65,1767243600000000,'default','schedule:run_completed','01kdvh35m07hs764ermf1cwvt5','{"name":"hourly","run_id":"01kdvytm409q06xjejgshwn0md","attempt":1,"nominal":1767243600000000,"origin":"auto"}',NULL);
INSERT INTO "ostinato_events" VALUES(66,1767247200000000,'default','run:created','01kdw28fr0012w8s3hb71j9jc5','{"name":"note","run_id":"01kdw28fr0012w8s3hb71j9jc5","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(67,1767247200000000,'default','schedule:triggered','01kdvh35m07hs764ermf1cwvt5','{"name":"hourly","run_id":"01kdw28fr0012w8s3hb71j9jc5","nominal":1767247200000000,"origin":"auto"}',NULL);
INSERT INTO "ostinato_events" VALUES(68,1767247200000000,'default','run:started','01kdw28fr0012w8s3hb71j9jc5','{"name":"note","run_id":"01kdw28fr0012w8s3hb71j9jc5","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(69,1767247200000000,'default','schedule:run_started','01kdvh35m07hs764ermf1cwvt5','{"name":"hourly","run_id":"01kdw28fr0012w8s3hb71j9jc5","attempt":1,"nominal":1767247200000000,"origin":"auto"}',NULL);
INSERT INTO "ostinato_events" VALUES(70,1767247200000000,'default','run:created','01kdw28fr0012w8s3hb71j9jc6','{"name":"approval","run_id":"01kdw28fr0012w8s3hb71j9jc6","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(71,1767247200000000,'default','schedule:triggered','01kdvvcrg0dbxe9c3cwr3m3hxb','{"name":"starting","run_id":"01kdw28fr0012w8s3hb71j9jc6","nominal":1767247200000000,"origin":"auto"}',NULL);
INSERT INTO "ostinato_events" VALUES(72,1767247200000000,'default','run:started','01kdw28fr0012w8s3hb71j9jc6','{"name":"approval","run_id":"01kdw28fr0012w8s3hb71j9jc6","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(73,1767247200000000,'default','schedule:run_started','01kdvvcrg0dbxe9c3cwr3m3hxb','{"name":"starting","run_id":"01kdw28fr0012w8s3hb71j9jc6","attempt":1,"nominal":1767247200000000,"origin":"auto"}',NULL);
INSERT INTO "ostinato_events" VALUES(74,1767247200000000,'default','run:succeeded','01kdw28fr0012w8s3hb71j9jc5','{"name":"note","run_id":"01kdw28fr0012w8s3hb71j9jc5","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(75,1767247200000000,'default','schedule:run_completed','01kdvh35m07hs764ermf1cwvt5','{"name":"hourly","run_id":"01kdw28fr0012w8s3hb71j9jc5","attempt":1,"nominal":1767247200000000,"origin":"auto"}',NULL);
INSERT INTO "ostinato_events" VALUES(76,1767247200000000,'default','run:waiting','01kdw28fr0012w8s3hb71j9jc6','{"name":"approval","run_id":"01kdw28fr0012w8s3hb71j9jc6","attempt":1,"reason":"a timer"}',NULL);
INSERT INTO "ostinato_events" VALUES(77,1767247200000000,'default','journey:started','01kdw28fr0012w8s3hb71j9jc6','{"name":"approval","definition":"approval","version":"0.1.0"}',NULL);
INSERT INTO "ostinato_events" VALUES(78,1767247200000000,'default','journey:state_entered','01kdw28fr0012w8s3hb71j9jc6','{"name":"approval","frame":"0","path":["spec"],"state":"rest","visit":1}',NULL);
INSERT INTO "ostinato_events" VALUES(79,1767247200000000,'default','journey:timer_set','01kdw28fr0012w8s3hb71j9jc6','{"name":"approval","frame":"0","path":["spec"],"state":"rest","visit":1,"due":1767250800000000}',NULL);
INSERT INTO "ostinato_events" VALUES(80,1767247200000000,'default','run:succeeded','01kdvvcrg0dbxe9c3cwr3m3hxc','{"name":"approval","run_id":"01kdvvcrg0dbxe9c3cwr3m3hxc","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(81,1767247200000000,'default','journey:input_received','01kdvvcrg0dbxe9c3cwr3m3hxc','{"name":"approval","frame":"0","path":["spec"],"state":"ask","visit":2,"call":"01kdw28fr0012w8s3hb71j9jc7"}',NULL);
INSERT INTO "ostinato_events" VALUES(82,1767247200000000,'default','journey:state_entered','01kdvvcrg0dbxe9c3cwr3m3hxc','{"name":"approval","frame":"0","path":["spec"],"state":"good","visit":3}',NULL);
INSERT INTO "ostinato_events" VALUES(83,1767247200000000,'default','journey:completed','01kdvvcrg0dbxe9c3cwr3m3hxc','{"name":"approval","phase":"SUCCEEDED","termination":"Success","code":null}',NULL);
INSERT INTO "ostinato_events" VALUES(84,1767247200000000,'default','run:created','01kdw28fr0012w8s3hb71j9jc8','{"name":"approval","run_id":"01kdw28fr0012w8s3hb71j9jc8","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(85,1767247200000000,'default','run:started','01kdw28fr0012w8s3hb71j9jc8','{"name":"approval","run_id":"01kdw28fr0012w8s3hb71j9jc8","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(86,1767247200000000,'default','journey:started','01kdw28fr0012w8s3hb71j9jc8','{"name":"approval","definition":"approval","version":"0.1.0"}',NULL);
INSERT INTO "ostinato_events" VALUES(87,1767247200000000,'default','journey:state_entered','01kdw28fr0012w8s3hb71j9jc8','{"name":"approval","frame":"0","path":["spec"],"state":"rest","visit":1}',NULL);
INSERT INTO "ostinato_events" VALUES(88,1767247200000000,'default','journey:timer_set','01kdw28fr0012w8s3hb71j9jc8','{"name":"approval","frame":"0","path":["spec"],"state":"rest","visit":1,"due":1767250800000000}',NULL);
INSERT INTO "ostinato_events" VALUES(89,1767247200000000,'default','run:waiting','01kdw28fr0012w8s3hb71j9jc8','{"name":"approval","run_id":"01kdw28fr0012w8s3hb71j9jc8","attempt":1,"reason":"a timer"}',NULL);
INSERT INTO "ostinato_events" VALUES(90,1767247260000000,'default','schedule:created','01kdw2aab048bq41755ps246jr','{"name":"wired","spec":{"intervals":[{"every":"PT1H"}]}}',NULL);
INSERT INTO "ostinato_events" VALUES(91,1767247260000000,'default','run:created','01kdw2aab048bq41755ps246jt','{"name":"note","run_id":"01kdw2aab048bq41755ps246jt","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(92,1767247260000000,'default','schedule:triggered','01kdw2aab048bq41755ps246jr','{"name":"wired","run_id":"01kdw2aab048bq41755ps246jt","nominal":1767247260000000,"origin":"trigger-01kdw2aab048bq41755ps246js"}',NULL);
INSERT INTO "ostinato_events" VALUES(93,1767247260000000,'default','run:started','01kdw2aab048bq41755ps246jt','{"name":"note","run_id":"01kdw2aab048bq41755ps246jt","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(94,1767247260000000,'default','schedule:run_started','01kdw2aab048bq41755ps246jr','{"name":"wired","run_id":"01kdw2aab048bq41755ps246jt","attempt":1,"nominal":1767247260000000,"origin":"trigger-01kdw2aab048bq41755ps246js"}',NULL);
INSERT INTO "ostinato_events" VALUES(95,1767247260000000,'default','run:succeeded','01kdw2aab048bq41755ps246jt','{"name":"note","run_id":"01kdw2aab048bq41755ps246jt","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(96,1767247260000000,'default','schedule:run_completed','01kdw2aab048bq41755ps246jr','{"name":"wired","run_id":"01kdw2aab048bq41755ps246jt","attempt":1,"nominal":1767247260000000,"origin":"trigger-01kdw2aab048bq41755ps246js"}',NULL);
INSERT INTO "ostinato_events" VALUES(97,1767247260000000,'default','schedule:created','01kdw2aab048bq41755ps246jv','{"name":"buffered","spec":{"intervals":[{"every":"PT1M"}]}}',NULL);
INSERT INTO "ostinato_events" VALUES(98,1767247260000000,'default','schedule:created','01kdw2aab048bq41755ps246jw','{"name":"filled","spec":{"intervals":[{"every":"PT1H"}]}}',NULL);
INSERT INTO "ostinato_events" VALUES(99,1767247320000000,'default','run:created','01kdw2c4y03n4cth3y6pwbdp7y','{"name":"slow","run_id":"01kdw2c4y03n4cth3y6pwbdp7y","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(100,1767247320000000,'default','schedule:triggered','01kdw2aab048bq41755ps246jv','{"name":"buffered","run_id":"01kdw2c4y03n4cth3y6pwbdp7y","nominal":1767247320000000,"origin":"auto"}',NULL);
INSERT INTO "ostinato_events" VALUES(101,1767247320000000,'default','run:started','01kdw2c4y03n4cth3y6pwbdp7y','{"name":"slow","run_id":"01kdw2c4y03n4cth3y6pwbdp7y","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(102,1767247320000000,'default','schedule:run_started','01kdw2aab048bq41755ps246jv','{"name":"buffered","run_id":"01kdw2c4y03n4cth3y6pwbdp7y","attempt":1,"nominal":1767247320000000,"origin":"auto"}',NULL);
INSERT INTO "ostinato_events" VALUES(103,1767247380000000,'default','run:created','01kdw2dzh01maz3za2mabnbn61','{"name":"slow","run_id":"01kdw2dzh01maz3za2mabnbn61","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(104,1767247440000000,'default','run:created','01kdw2ft400fn52grhjfkc7wss','{"name":"slow","run_id":"01kdw2ft400fn52grhjfkc7wss","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(105,1767247500000000,'default','run:created','01kdw2hmq0acj0d0wyq42vdsq3','{"name":"slow","run_id":"01kdw2hmq0acj0d0wyq42vdsq3","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(106,1767247560000000,'default','run:created','01kdw2kfa0f0v04pt17y59m0gy','{"name":"slow","run_id":"01kdw2kfa0f0v04pt17y59m0gy","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(107,1767247560000000,'default','schedule:paused','01kdw2aab048bq41755ps246jv','{"name":"buffered","notes":"enough of it"}',NULL);
INSERT INTO "ostinato_events" VALUES(108,1767247560000000,'default','schedule:backfill_started','01kdw2aab048bq41755ps246jw','{"name":"filled","backfill_id":"01kdw2kfa0f0v04pt17y59m0gz","first":1767215160000000,"last":1767247560000000,"made":0,"total":9}',NULL);
INSERT INTO "ostinato_events" VALUES(109,1767247560000000,'default','run:created','01kdw2kfa0f0v04pt17y59m0h0','{"name":"note","run_id":"01kdw2kfa0f0v04pt17y59m0h0","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(110,1767247560000000,'default','schedule:triggered','01kdw2aab048bq41755ps246jw','{"name":"filled","run_id":"01kdw2kfa0f0v04pt17y59m0h0","nominal":1767218400000000,"origin":"backfill-01kdw2kfa0f0v04pt17y59m0gz"}',NULL);
INSERT INTO "ostinato_events" VALUES(111,1767247560000000,'default','schedule:backfill_progressed','01kdw2aab048bq41755ps246jw','{"name":"filled","backfill_id":"01kdw2kfa0f0v04pt17y59m0gz","first":1767215160000000,"last":1767247560000000,"made":1,"total":9}',NULL);
INSERT INTO "ostinato_events" VALUES(112,1767247560000000,'default','run:started','01kdw2kfa0f0v04pt17y59m0h0','{"name":"note","run_id":"01kdw2kfa0f0v04pt17y59m0h0","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(113,1767247560000000,'default','schedule:run_started','01kdw2aab048bq41755ps246jw','{"name":"filled","run_id":"01kdw2kfa0f0v04pt17y59m0h0","attempt":1,"nominal":1767218400000000,"origin":"backfill-01kdw2kfa0f0v04pt17y59m0gz"}',NULL);
INSERT INTO "ostinato_events" VALUES(114,1767247560000000,'default','run:succeeded','01kdw2kfa0f0v04pt17y59m0h0','{"name":"note","run_id":"01kdw2kfa0f0v04pt17y59m0h0","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(115,1767247560000000,'default','schedule:run_completed','01kdw2aab048bq41755ps246jw','{"name":"filled","run_id":"01kdw2kfa0f0v04pt17y59m0h0","attempt":1,"nominal":1767218400000000,"origin":"backfill-01kdw2kfa0f0v04pt17y59m0gz"}',NULL);
INSERT INTO "ostinato_events" VALUES(116,1767247565000000,'default','run:created','01kdw2km68azf635msszgsh2ps','{"name":"slow","run_id":"01kdw2km68azf635msszgsh2ps","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(117,1767247565000000,'default','run:started','01kdw2km68azf635msszgsh2ps','{"name":"slow","run_id":"01kdw2km68azf635msszgsh2ps","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(118,1767247565000000,'default','run:created','01kdw2km68azf635msszgsh2pt','{"name":"slow","run_id":"01kdw2km68azf635msszgsh2pt","attempt":1}',NULL);
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
INSERT INTO "ostinato_forms" VALUES('01kdw2aab048bq41755ps246jr','default','greeting',0,'','6c9e20281751e47c6d148647fd0d3039','','1ffe61dd29e66e969602eb50ae6c1a2a',NULL);
CREATE TABLE ostinato_jobs (
    name text PRIMARY KEY,
    declared text NOT NULL
) WITHOUT ROWID;
INSERT INTO "ostinato_jobs" VALUES('http','{"at_most_once":false,"limit":null,"needs":["url"],"places":11,"priority":0,"queue":"default","serial_hold":"chain","serial_key":null,"takes":["url","method","headers","json","body","sign","timeout","retry_on","expect","redirects","keep"],"types":null}');
INSERT INTO "ostinato_jobs" VALUES('note','{"at_most_once":false,"limit":null,"needs":[],"places":1,"priority":0,"queue":"default","serial_hold":"chain","serial_key":null,"takes":["who"],"types":"{\"pydantic_core\":\"2.50.4\",\"schema\":{\"type\":\"typed-dict\",\"fields\":{\"who\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"str\"},\"required\":false}},\"config\":{\"extra_fields_behavior\":\"allow\",\"title\":\"Input\"},\"extra_behavior\":\"allow\"}}"}');
INSERT INTO "ostinato_jobs" VALUES('slow','{"at_most_once":false,"limit":null,"needs":["key","seconds"],"places":2,"priority":0,"queue":"default","serial_hold":"chain","serial_key":"{key}","takes":["key","seconds"],"types":"{\"pydantic_core\":\"2.50.4\",\"schema\":{\"type\":\"typed-dict\",\"fields\":{\"key\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"str\"},\"required\":false},\"seconds\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"float\"},\"required\":false}},\"config\":{\"extra_fields_behavior\":\"allow\",\"title\":\"Input\"},\"extra_behavior\":\"allow\"}}"}');
INSERT INTO "ostinato_jobs" VALUES('webhook','{"at_most_once":false,"limit":null,"needs":["webhook","event"],"places":2,"priority":-10,"queue":"default","serial_hold":"chain","serial_key":null,"takes":["webhook","event"],"types":"{\"pydantic_core\":\"2.50.4\",\"schema\":{\"type\":\"typed-dict\",\"fields\":{\"webhook\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"str\"},\"required\":false},\"event\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"dict\",\"keys_schema\":{\"type\":\"str\"},\"values_schema\":{\"type\":\"any\"}},\"required\":false}},\"config\":{\"extra_fields_behavior\":\"allow\",\"title\":\"Input\"},\"extra_behavior\":\"allow\"}}"}');
INSERT INTO "ostinato_jobs" VALUES('wrong','{"at_most_once":false,"limit":null,"needs":[],"places":0,"priority":0,"queue":"default","serial_hold":"chain","serial_key":null,"takes":[],"types":null}');
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
INSERT INTO "ostinato_journey_definitions" VALUES('default','approval','0.1.0','Journey','journey.yaml','
apiVersion: v1
kind: Journey
metadata: {name: approval, version: 0.1.0}
spec:
  start: rest
  states:
    rest: {type: timer, timer: {duration: PT1H}, next: ask}
    ask:
      type: wait
      wait: {channel: manual, input: {schema: {type: object}}, timeoutSec: 864000, onTimeout: late}
      next: good
    good: {type: succeed, outputVar: payload}
    late: {type: fail, errorCode: LATE, reason: nobody answered}
','65866b2601a72e3ca3de61795c677bbc349fe29474c700797e94f21d4c05d637',1767240000000000,NULL,NULL);
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
INSERT INTO "ostinato_journeys" VALUES('01kdvvcrg0dbxe9c3cwr3m3hxc','default','approval','0.1.0','SUCCEEDED','good','{"id":"01kdvvcrg0dbxe9c3cwr3m3hxc","definition":"approval","version":"0.1.0","frames":[{"id":"0","path":["spec"],"state":"good","visit":3,"parent":null,"branch":null,"rest":"over","due":null,"ending":{"kind":"Success","state":"good","output":{"ok":true},"code":null,"reason":null,"named":true,"order":1,"problem":null},"decided_by":null}],"started":1767240000000000,"deadline":null,"frames_made":1,"ended":1,"tags":[],"attributes":{},"given":{},"scheduled":false,"compensating":"no"}','{"n":1,"payload":{"ok":true}}',NULL,NULL,NULL,NULL,1767240000000000,1767247200000000,1767247200000000);
INSERT INTO "ostinato_journeys" VALUES('01kdvvcrg0dbxe9c3cwr3m3hxd','default','approval','0.1.0','RUNNING','ask','{"id":"01kdvvcrg0dbxe9c3cwr3m3hxd","definition":"approval","version":"0.1.0","frames":[{"id":"0","path":["spec"],"state":"ask","visit":2,"parent":null,"branch":null,"rest":"parked","due":1768107600000000,"ending":null,"decided_by":null}],"started":1767240000000000,"deadline":null,"frames_made":1,"ended":0,"tags":[],"attributes":{},"given":{},"scheduled":false,"compensating":"open"}','{"n":2}',NULL,NULL,NULL,NULL,1767240000000000,1767243600000000,NULL);
INSERT INTO "ostinato_journeys" VALUES('01kdw28fr0012w8s3hb71j9jc6','default','approval','0.1.0','RUNNING','rest','{"id":"01kdw28fr0012w8s3hb71j9jc6","definition":"approval","version":"0.1.0","frames":[{"id":"0","path":["spec"],"state":"rest","visit":1,"parent":null,"branch":null,"rest":"parked","due":1767250800000000,"ending":null,"decided_by":null}],"started":1767247200000000,"deadline":null,"frames_made":1,"ended":0,"tags":[],"attributes":{},"given":{},"scheduled":false,"compensating":"open"}','{}',NULL,NULL,NULL,NULL,1767247200000000,1767247200000000,NULL);
INSERT INTO "ostinato_journeys" VALUES('01kdw28fr0012w8s3hb71j9jc8','default','approval','0.1.0','RUNNING','rest','{"id":"01kdw28fr0012w8s3hb71j9jc8","definition":"approval","version":"0.1.0","frames":[{"id":"0","path":["spec"],"state":"rest","visit":1,"parent":null,"branch":null,"rest":"parked","due":1767250800000000,"ending":null,"decided_by":null}],"started":1767247200000000,"deadline":null,"frames_made":1,"ended":0,"tags":[],"attributes":{},"given":{},"scheduled":false,"compensating":"open"}','{"n":3}',NULL,NULL,NULL,NULL,1767247200000000,1767247200000001,NULL);
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
INSERT INTO "ostinato_meta" VALUES('schema','11');
CREATE TABLE ostinato_namespaces (
    name text PRIMARY KEY,
    notes text NOT NULL,
    created integer NOT NULL,
    actor text
) WITHOUT ROWID;
INSERT INTO "ostinato_namespaces" VALUES('default','',0,NULL);
INSERT INTO "ostinato_namespaces" VALUES('team','',1767240000000000,NULL);
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
INSERT INTO "ostinato_nodes" VALUES('01kdvdna00dhw93dtr98h6bcfn','golden',1767225600000000,1767247590000000,'["default"]','["http","note","slow","webhook","wrong"]','0.1.0','2025b',30000000,1767225600000000,'["job","journey"]');
CREATE TABLE ostinato_requests (
    namespace text NOT NULL,
    id text NOT NULL,
    at integer NOT NULL,
    call text NOT NULL,
    answer text,
    PRIMARY KEY (namespace, id)
) WITHOUT ROWID;
INSERT INTO "ostinato_requests" VALUES('default','089b4350c4c2683949e83701e8e20d46',1767229200000000,'create hourly 45d2fccbcff364c0294ef54d9c4d6c88','{"ids":["01kdvh35m07hs764ermf1cwvt5"],"token":1}');
INSERT INTO "ostinato_requests" VALUES('default','0e0177ebad3295c783c24c81fb033617',1767229200000000,'create berlin 7105586fcbd2c810c1fc6dfabfe1dbc4','{"ids":["01kdvh35m07hs764ermf1cwvt7"],"token":1}');
INSERT INTO "ostinato_requests" VALUES('default','45e0842f487aaf889e042cf5d85906d4',1767247260000000,'create buffered 7fc7b6bf9dcf3936d6d3ab56b8f46eb2','{"ids":["01kdw2aab048bq41755ps246jv"],"token":1}');
INSERT INTO "ostinato_requests" VALUES('default','583376c8738e4e12cc74a790d98e6b4c',1767247560000000,'backfill filled 54c2b5e9d1286838c3b0f6e813a69f80','{"id":"01kdw2aab048bq41755ps246jw","token":2,"backfill":"01kdw2kfa0f0v04pt17y59m0gz"}');
INSERT INTO "ostinato_requests" VALUES('default','6a2c8ee371a982a929a849c589684244',1767247260000000,'create wired fill','{"id":"01kdw2aab048bq41755ps246jr","token":2,"run":{"origin":"trigger-01kdw2aab048bq41755ps246js","id":"01kdw2aab048bq41755ps246jt","status":"started"}}');
INSERT INTO "ostinato_requests" VALUES('default','7d999e3174370d169095c62a1e3e72ca',1767229200000000,'pause paused d4a4d1e24d004be25974cd7c5a44a98c','{"id":"01kdvh35m07hs764ermf1cwvt6","token":2}');
INSERT INTO "ostinato_requests" VALUES('default','91bf5c65d146189710dc77eff61df5ab',1767240000000000,'webhook create ["https://hooks.example/in",["token:*"],[],""]','["01kdvvcrg0dbxe9c3cwr3m3hxa","default","https://hooks.example/in","[\"token:*\"]","[]","","active",null,38,0,null,null,null,1767240000000000,1767240000000000,null]');
INSERT INTO "ostinato_requests" VALUES('default','99f16ad670b04c5e236d7a78ce37a31c',1767240000000000,'create namespace team 055539df4a0b804c58caf46c0cd2941a','true');
INSERT INTO "ostinato_requests" VALUES('default','a9510ec72fe63a943212767780c8ee7e',1767247560000000,'pause buffered 026e5b21048fe3e392a2966160db5af1','{"id":"01kdw2aab048bq41755ps246jv","token":2}');
INSERT INTO "ostinato_requests" VALUES('default','b2f897bbf22a1b9c466f6a96865e9869',1767240000000000,'deploy 462f3ed8e072f07a3e9ca9a33ab39aec','[true]');
INSERT INTO "ostinato_requests" VALUES('default','c2c3a776deed957ab7042b5f75b5a93a',1767240000000000,'create starting 0d77e4132a5c3e9f3ce233c87fcc8074','{"ids":["01kdvvcrg0dbxe9c3cwr3m3hxb"],"token":1}');
INSERT INTO "ostinato_requests" VALUES('default','cde64340aa4635653c6b777322ddc5c8',1767229200000000,'create paused 63862ab19d77bfe45ef22d1bd0d7d1de','{"ids":["01kdvh35m07hs764ermf1cwvt6"],"token":1}');
INSERT INTO "ostinato_requests" VALUES('default','d5c2c119920735390bc51c653f13acff',1767247260000000,'create filled 63862ab19d77bfe45ef22d1bd0d7d1de','{"ids":["01kdw2aab048bq41755ps246jw"],"token":1}');
INSERT INTO "ostinato_requests" VALUES('default','f0a1bae70b1de950b8671ed4c67937df',1767240000000000,'create token a69ace9815630234ce3ae9d11cdd019f','"01kdvvcrg0dbxe9c3cwr3m3hx9"');
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
INSERT INTO "ostinato_runs" VALUES('01kdvdna00dhw93dtr98h6bcfq','default','job','wrong','failed','failed','ValueError: no','default',0,1767225600000000,NULL,1767225600000000,1767225600000000,1767225600000000,'01kdvdna00dhw93dtr98h6bcfq',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,4,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"type":"ValueError","message":"no","traceback":"Traceback (most recent call last):\n  File \"tests/golden/fill.py\", line 48, in wrong\n    raise ValueError(\"no\")\nValueError: no\n"}',NULL,NULL,NULL,1,0,NULL,NULL,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvdna00dhw93dtr98h6bcfr','default','job','slow','timed-out','timed_out','timeout','default',0,1767225600000000,NULL,1767225600000000,1767225600000000,1767226200000000,'01kdvdna00dhw93dtr98h6bcfr',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,6,'a','chain',NULL,NULL,NULL,'{"key":"a","seconds":3600}',NULL,'{"type":"_OutOfTime","message":"timeout","traceback":"ostinato.engine.executor._OutOfTime: timeout\n"}',NULL,NULL,NULL,0,0,NULL,NULL,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvdna00dhw93dtr98h6bcfs','default','job','wrong',NULL,'failed','ValueError: no','default',0,1767225601000000,NULL,1767225600000000,1767225601000000,1767225601000000,'01kdvdna00dhw93dtr98h6bcfq','01kdvdna00dhw93dtr98h6bcfq',2,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,11,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"type":"ValueError","message":"no","traceback":"Traceback (most recent call last):\n  File \"tests/golden/fill.py\", line 48, in wrong\n    raise ValueError(\"no\")\nValueError: no\n"}',NULL,NULL,NULL,0,0,NULL,NULL,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvdna00dhw93dtr98h6bcft','default','job','note','cancelled','cancelled','not wanted','default',0,1768003200000000,NULL,1767225600000000,NULL,1767225600000000,'01kdvdna00dhw93dtr98h6bcft',NULL,1,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,NULL,NULL,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvh35m07hs764ermf1cwvt4','default','job','note','waiting','waiting',NULL,'default',0,1767488400000000,NULL,1767229200000000,NULL,NULL,'01kdvh35m07hs764ermf1cwvt4',NULL,1,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,'{"who":"later"}',NULL,NULL,NULL,NULL,NULL,0,0,NULL,NULL,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvmh180ckt62bkpjtkcxk0v','default','job','note','01kdvh35m07hs764ermf1cwvt5/1767232800000000/auto','succeeded',NULL,'default',0,1767232800000000,NULL,1767232800000000,1767232800000000,1767232800000000,'01kdvmh180ckt62bkpjtkcxk0v',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,18,NULL,NULL,NULL,NULL,NULL,'{"who":"hourly"}','"hourly"',NULL,NULL,NULL,NULL,0,0,NULL,'01kdvh35m07hs764ermf1cwvt5','{"schedule":"hourly","nominal":1767232800000000,"origin":"auto","previous":1767229200000000}');
INSERT INTO "ostinato_runs" VALUES('01kdvqyww07ss1g1sehgtvz69d','default','job','note','01kdvh35m07hs764ermf1cwvt5/1767236400000000/auto','succeeded',NULL,'default',0,1767236400000000,NULL,1767236400000000,1767236400000000,1767236400000000,'01kdvqyww07ss1g1sehgtvz69d',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,21,NULL,NULL,NULL,NULL,NULL,'{"who":"hourly"}','"hourly"',NULL,NULL,NULL,NULL,0,0,NULL,'01kdvh35m07hs764ermf1cwvt5','{"schedule":"hourly","nominal":1767236400000000,"origin":"auto","previous":1767232800000000,"last_result":"hourly"}');
INSERT INTO "ostinato_runs" VALUES('01kdvvcrg0dbxe9c3cwr3m3hx8','default','job','note','01kdvh35m07hs764ermf1cwvt5/1767240000000000/auto','succeeded',NULL,'default',0,1767240000000000,NULL,1767240000000000,1767240000000000,1767240000000000,'01kdvvcrg0dbxe9c3cwr3m3hx8',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,24,NULL,NULL,NULL,NULL,NULL,'{"who":"hourly"}','"hourly"',NULL,NULL,NULL,NULL,0,0,NULL,'01kdvh35m07hs764ermf1cwvt5','{"schedule":"hourly","nominal":1767240000000000,"origin":"auto","previous":1767236400000000,"last_result":"hourly"}');
INSERT INTO "ostinato_runs" VALUES('01kdvvcrg0dbxe9c3cwr3m3hxc','default','journey','approval',NULL,'succeeded',NULL,'default',0,1767240000000000,NULL,1767240000000000,1767240000000000,1767247200000000,'01kdvvcrg0dbxe9c3cwr3m3hxc',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',2,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,NULL,NULL,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvvcrg0dbxe9c3cwr3m3hxd','default','journey','approval',NULL,'waiting','a timer','default',0,1767240000000000,NULL,1767240000000000,1767240000000000,NULL,'01kdvvcrg0dbxe9c3cwr3m3hxd',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,NULL,NULL,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvytm409q06xjejgshwn0md','default','job','note','01kdvh35m07hs764ermf1cwvt5/1767243600000000/auto','succeeded',NULL,'default',0,1767243600000000,NULL,1767243600000000,1767243600000000,1767243600000000,'01kdvytm409q06xjejgshwn0md',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,35,NULL,NULL,NULL,NULL,NULL,'{"who":"hourly"}','"hourly"',NULL,NULL,NULL,NULL,0,0,NULL,'01kdvh35m07hs764ermf1cwvt5','{"schedule":"hourly","nominal":1767243600000000,"origin":"auto","previous":1767240000000000,"last_result":"hourly"}');
INSERT INTO "ostinato_runs" VALUES('01kdw28fr0012w8s3hb71j9jc5','default','job','note','01kdvh35m07hs764ermf1cwvt5/1767247200000000/auto','succeeded',NULL,'default',0,1767247200000000,NULL,1767247200000000,1767247200000000,1767247200000000,'01kdw28fr0012w8s3hb71j9jc5',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,38,NULL,NULL,NULL,NULL,NULL,'{"who":"hourly"}','"hourly"',NULL,NULL,NULL,NULL,0,0,NULL,'01kdvh35m07hs764ermf1cwvt5','{"schedule":"hourly","nominal":1767247200000000,"origin":"auto","previous":1767243600000000,"last_result":"hourly"}');
INSERT INTO "ostinato_runs" VALUES('01kdw28fr0012w8s3hb71j9jc6','default','journey','approval','01kdvvcrg0dbxe9c3cwr3m3hxb/1767247200000000/auto','waiting','a timer','default',0,1767247200000000,NULL,1767247200000000,1767247200000000,NULL,'01kdw28fr0012w8s3hb71j9jc6',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,39,NULL,NULL,NULL,NULL,NULL,'{}',NULL,NULL,NULL,NULL,NULL,0,0,NULL,'01kdvvcrg0dbxe9c3cwr3m3hxb','{"schedule":"starting","nominal":1767247200000000,"origin":"auto","previous":1767160800000000}');
INSERT INTO "ostinato_runs" VALUES('01kdw28fr0012w8s3hb71j9jc8','default','journey','approval',NULL,'waiting','a timer','default',0,1767247200000000,NULL,1767247200000000,1767247200000000,NULL,'01kdw28fr0012w8s3hb71j9jc8',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,NULL,NULL,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdw2aab048bq41755ps246jt','default','job','note','01kdw2aab048bq41755ps246jr/1767247260000000/trigger-01kdw2aab048bq41755ps246js','succeeded',NULL,'default',0,1767247260000000,NULL,1767247260000000,1767247260000000,1767247260000000,'01kdw2aab048bq41755ps246jt',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,47,NULL,NULL,NULL,NULL,NULL,NULL,'""',NULL,NULL,NULL,NULL,0,0,NULL,'01kdw2aab048bq41755ps246jr','{"schedule":"wired","nominal":1767247260000000,"origin":"trigger-01kdw2aab048bq41755ps246js","previous":1767247200000000}');
INSERT INTO "ostinato_runs" VALUES('01kdw2c4y03n4cth3y6pwbdp7y','default','job','slow','01kdw2aab048bq41755ps246jv/1767247320000000/auto','active',NULL,'default',0,1767247320000000,1767247320000000,1767247320000000,1767247320000000,NULL,'01kdw2c4y03n4cth3y6pwbdp7y',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,51,'b','chain',NULL,NULL,NULL,'{"key":"b","seconds":500}',NULL,NULL,NULL,NULL,NULL,0,0,NULL,'01kdw2aab048bq41755ps246jv','{"schedule":"buffered","nominal":1767247320000000,"origin":"auto","previous":1767247260000000}');
INSERT INTO "ostinato_runs" VALUES('01kdw2dzh01maz3za2mabnbn61','default','job','slow','01kdw2aab048bq41755ps246jv/1767247380000000/auto','buffered','overlap','default',0,1767247380000000,NULL,1767247380000000,NULL,NULL,'01kdw2dzh01maz3za2mabnbn61',NULL,1,NULL,NULL,0,NULL,'b','chain',NULL,'overlap',NULL,'{"key":"b","seconds":500}',NULL,NULL,NULL,NULL,NULL,0,0,NULL,'01kdw2aab048bq41755ps246jv','{"schedule":"buffered","nominal":1767247380000000,"origin":"auto","previous":1767247320000000}');
INSERT INTO "ostinato_runs" VALUES('01kdw2ft400fn52grhjfkc7wss','default','job','slow','01kdw2aab048bq41755ps246jv/1767247440000000/auto','buffered','overlap','default',0,1767247440000000,NULL,1767247440000000,NULL,NULL,'01kdw2ft400fn52grhjfkc7wss',NULL,1,NULL,NULL,0,NULL,'b','chain',NULL,'overlap',NULL,'{"key":"b","seconds":500}',NULL,NULL,NULL,NULL,NULL,0,0,NULL,'01kdw2aab048bq41755ps246jv','{"schedule":"buffered","nominal":1767247440000000,"origin":"auto","previous":1767247380000000}');
INSERT INTO "ostinato_runs" VALUES('01kdw2hmq0acj0d0wyq42vdsq3','default','job','slow','01kdw2aab048bq41755ps246jv/1767247500000000/auto','buffered','overlap','default',0,1767247500000000,NULL,1767247500000000,NULL,NULL,'01kdw2hmq0acj0d0wyq42vdsq3',NULL,1,NULL,NULL,0,NULL,'b','chain',NULL,'overlap',NULL,'{"key":"b","seconds":500}',NULL,NULL,NULL,NULL,NULL,0,0,NULL,'01kdw2aab048bq41755ps246jv','{"schedule":"buffered","nominal":1767247500000000,"origin":"auto","previous":1767247440000000}');
INSERT INTO "ostinato_runs" VALUES('01kdw2kfa0f0v04pt17y59m0gy','default','job','slow','01kdw2aab048bq41755ps246jv/1767247560000000/auto','buffered','overlap','default',0,1767247560000000,NULL,1767247560000000,NULL,NULL,'01kdw2kfa0f0v04pt17y59m0gy',NULL,1,NULL,NULL,0,NULL,'b','chain',NULL,'overlap',NULL,'{"key":"b","seconds":500}',NULL,NULL,NULL,NULL,NULL,0,0,NULL,'01kdw2aab048bq41755ps246jv','{"schedule":"buffered","nominal":1767247560000000,"origin":"auto","previous":1767247500000000}');
INSERT INTO "ostinato_runs" VALUES('01kdw2kfa0f0v04pt17y59m0h0','default','job','note','01kdw2aab048bq41755ps246jw/1767218400000000/backfill-01kdw2kfa0f0v04pt17y59m0gz','succeeded',NULL,'default',-10,1767218400000000,NULL,1767247560000000,1767247560000000,1767247560000000,'01kdw2kfa0f0v04pt17y59m0h0',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,63,NULL,NULL,NULL,NULL,NULL,NULL,'""',NULL,NULL,NULL,NULL,0,0,NULL,'01kdw2aab048bq41755ps246jw','{"schedule":"filled","nominal":1767218400000000,"origin":"backfill-01kdw2kfa0f0v04pt17y59m0gz","previous":1767214800000000,"overlap":"allow_all"}');
INSERT INTO "ostinato_runs" VALUES('01kdw2km68azf635msszgsh2ps','default','job','slow','active','active',NULL,'default',0,1767247565000000,1767247565000000,1767247565000000,1767247565000000,NULL,'01kdw2km68azf635msszgsh2ps',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,66,'c','chain',NULL,NULL,NULL,'{"key":"c","seconds":300}',NULL,NULL,NULL,NULL,NULL,0,0,NULL,NULL,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdw2km68azf635msszgsh2pt','default','job','slow','blocked','buffered','serial c','default',0,1767247565000000,NULL,1767247565000000,NULL,NULL,'01kdw2km68azf635msszgsh2pt',NULL,1,NULL,NULL,0,NULL,'c','chain',NULL,'serial',NULL,'{"key":"c","seconds":1}',NULL,NULL,NULL,NULL,NULL,0,0,NULL,NULL,NULL);
CREATE TABLE ostinato_schedule_labels (
    namespace text NOT NULL,
    label text NOT NULL,
    name text NOT NULL,
    PRIMARY KEY (namespace, label, name)
) WITHOUT ROWID;
INSERT INTO "ostinato_schedule_labels" VALUES('default','job:journey','starting');
INSERT INTO "ostinato_schedule_labels" VALUES('default','job:note','berlin');
INSERT INTO "ostinato_schedule_labels" VALUES('default','job:note','filled');
INSERT INTO "ostinato_schedule_labels" VALUES('default','job:note','hourly');
INSERT INTO "ostinato_schedule_labels" VALUES('default','job:note','paused');
INSERT INTO "ostinato_schedule_labels" VALUES('default','job:note','wired');
INSERT INTO "ostinato_schedule_labels" VALUES('default','job:slow','buffered');
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
INSERT INTO "ostinato_schedules" VALUES('01kdvh35m07hs764ermf1cwvt5','default','hourly','{"intervals":[{"every":"PT1H"}]}','{"input":{"who":"hourly"},"job":"note","options":{}}','{"catchup":{"mode":"latest","most":null,"pace":100,"window":null},"overlap":"skip"}','default-hourly','running',NULL,NULL,'',NULL,1767247200000000,1767250800000000,1767229200000000,1,'{"counts":{"actions":5},"previous":1767247200000000}','{"result":"hourly","failure":null,"failures":0,"success_at":1767247200000000,"ended_at":1767247200000000}',NULL,NULL,NULL,NULL,1767229200000000,NULL,'2025b',NULL);
INSERT INTO "ostinato_schedules" VALUES('01kdvh35m07hs764ermf1cwvt6','default','paused','{"intervals":[{"every":"PT1H"}]}','{"input":{},"job":"note","options":{}}','{"catchup":{"mode":"latest","most":null,"pace":100,"window":null},"overlap":"skip"}','default-paused','running',NULL,1767229200000000,'a while',NULL,1767229200000000,NULL,1767229200000000,2,'{}','{"result":null,"failure":null,"failures":0,"success_at":null,"ended_at":null}',NULL,NULL,NULL,NULL,1767229200000000,NULL,'2025b',NULL);
INSERT INTO "ostinato_schedules" VALUES('01kdvh35m07hs764ermf1cwvt7','default','berlin','{"cron":["30 9 * * 1-5"],"tz":"Europe/Berlin"}','{"input":{},"job":"note","options":{}}','{"catchup":{"mode":"latest","most":null,"pace":100,"window":null},"overlap":"buffer_all"}','default-berlin','running',NULL,NULL,'',NULL,1767229200000000,1767256200000000,1767229200000000,1,'{}','{"result":null,"failure":null,"failures":0,"success_at":null,"ended_at":null}',NULL,NULL,NULL,NULL,1767229200000000,NULL,'2025b',NULL);
INSERT INTO "ostinato_schedules" VALUES('01kdvvcrg0dbxe9c3cwr3m3hxb','default','starting','{"cron":["0 6 * * *"]}','{"input":{"journey":"approval"},"job":"journey","kind":"journey","options":{}}','{"catchup":{"mode":"latest","most":null,"pace":100,"window":null},"overlap":"allow_all"}','default-starting','running',NULL,NULL,'',NULL,1767247200000000,1767333600000000,1767240000000000,1,'{"counts":{"actions":1},"previous":1767247200000000}','{"result":null,"failure":null,"failures":0,"success_at":null,"ended_at":null}',NULL,NULL,NULL,NULL,1767240000000000,NULL,'2025b',NULL);
INSERT INTO "ostinato_schedules" VALUES('01kdw2aab048bq41755ps246jr','default','wired','{"intervals":[{"every":"PT1H"}]}','{"input":{},"job":"note","options":{}}','{"catchup":{"mode":"latest","most":null,"pace":100,"window":null},"overlap":"skip"}','default-wired','running',NULL,NULL,'',NULL,1767247260000000,1767250800000000,1767247260000000,2,'{"counts":{"actions":1}}','{"result":"","failure":null,"failures":0,"success_at":1767247260000000,"ended_at":1767247260000000}',NULL,NULL,NULL,NULL,1767247260000000,NULL,'2025b',NULL);
INSERT INTO "ostinato_schedules" VALUES('01kdw2aab048bq41755ps246jv','default','buffered','{"intervals":[{"every":"PT1M"}]}','{"input":{"key":"b","seconds":500},"job":"slow","options":{}}','{"catchup":{"mode":"latest","most":null,"pace":100,"window":null},"overlap":"buffer_all"}','default-buffered','running',NULL,1767247560000000,'enough of it',NULL,1767247560000000,NULL,1767247260000000,2,'{"counts":{"actions":1},"previous":1767247560000000,"waiting":4,"alike":true}','{"result":null,"failure":null,"failures":0,"success_at":null,"ended_at":null}',NULL,NULL,NULL,NULL,1767247260000000,NULL,'2025b',NULL);
INSERT INTO "ostinato_schedules" VALUES('01kdw2aab048bq41755ps246jw','default','filled','{"intervals":[{"every":"PT1H"}]}','{"input":{},"job":"note","options":{}}','{"catchup":{"mode":"latest","most":null,"pace":100,"window":null},"overlap":"skip"}','default-filled','running',NULL,NULL,'',NULL,1767247260000000,1767250800000000,1767247260000000,2,'{"counts":{"actions":1},"backfills":1}','{"result":"","failure":null,"failures":0,"success_at":1767247560000000,"ended_at":1767247560000000}',NULL,NULL,NULL,NULL,1767247260000000,NULL,'2025b',NULL);
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
INSERT INTO "ostinato_serials" VALUES('default','b','01kdw2c4y03n4cth3y6pwbdp7y');
INSERT INTO "ostinato_serials" VALUES('default','c','01kdw2km68azf635msszgsh2ps');
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
INSERT INTO "ostinato_timers" VALUES('engine','store','housekeeping',1767268800000000,'default',NULL,NULL);
INSERT INTO "ostinato_timers" VALUES('engine','store','scan',1767268800000000,'default',NULL,NULL);
INSERT INTO "ostinato_timers" VALUES('journey','01kdvvcrg0dbxe9c3cwr3m3hxd','journey:0:2',1768107600000000,'default',NULL,NULL);
INSERT INTO "ostinato_timers" VALUES('journey','01kdw28fr0012w8s3hb71j9jc6','journey:0:1',1767250800000000,'default',NULL,NULL);
INSERT INTO "ostinato_timers" VALUES('journey','01kdw28fr0012w8s3hb71j9jc8','journey:0:1',1767250800000000,'default',NULL,NULL);
INSERT INTO "ostinato_timers" VALUES('run','01kdvh35m07hs764ermf1cwvt4','wake',1767488400000000,'default',NULL,NULL);
INSERT INTO "ostinato_timers" VALUES('schedule','01kdvh35m07hs764ermf1cwvt5','next',1767250800000000,'default',NULL,NULL);
INSERT INTO "ostinato_timers" VALUES('schedule','01kdvh35m07hs764ermf1cwvt7','next',1767256200000000,'default',NULL,NULL);
INSERT INTO "ostinato_timers" VALUES('schedule','01kdvvcrg0dbxe9c3cwr3m3hxb','next',1767333600000000,'default',NULL,NULL);
INSERT INTO "ostinato_timers" VALUES('schedule','01kdw2aab048bq41755ps246jr','next',1767250800000000,'default',NULL,NULL);
INSERT INTO "ostinato_timers" VALUES('schedule','01kdw2aab048bq41755ps246jw','next',1767250800000000,'default',NULL,NULL);
INSERT INTO "ostinato_timers" VALUES('schedule','01kdw2kfa0f0v04pt17y59m0gz','backfill',1767247660000000,'default',NULL,NULL);
INSERT INTO "ostinato_timers" VALUES('schedules','store','keeping',1767250800000000,'default',NULL,NULL);
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
INSERT INTO "ostinato_tokens" VALUES('01kdvvcrg0dbxe9c3cwr3m3hx9',NULL,'reader','2979d44bfcb18467bdeddc5f53242b2b4950b170cf1ed2c8c6bddc1894247ba8','',NULL,1767240000000000,NULL,NULL,NULL,NULL);
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
INSERT INTO "ostinato_webhooks" VALUES('01kdvvcrg0dbxe9c3cwr3m3hxa','default','https://hooks.example/in','["token:*"]','[]','','active',NULL,38,0,NULL,NULL,NULL,1767240000000000,1767240000000000,NULL);
CREATE TABLE ostinato_workflows (
    run_id text PRIMARY KEY,
    namespace text NOT NULL,
    workflow_id text NOT NULL,
    request_id text NOT NULL,
    action text NOT NULL
) WITHOUT ROWID;
INSERT INTO "ostinato_workflows" VALUES('01kdw2aab048bq41755ps246jt','default','greeting-2026-01-01T06:01:00Z','sched-01kdw2aab048bq41755ps246js-dec3393a-f82a-5a04-abcc-10f8fba5c505','');
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
CREATE INDEX ostinato_workflows_id ON ostinato_workflows (namespace, workflow_id, run_id);
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
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('ostinato_events',118);
COMMIT;
