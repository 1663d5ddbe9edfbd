-- A ledger of format 2 as an earlier command wrote it: three reviews of two files, one of which failed.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE events (
        seq    INTEGER PRIMARY KEY AUTOINCREMENT,
        stream TEXT    NOT NULL,
        n      INTEGER NOT NULL,
        at_ms  INTEGER NOT NULL,
        kind   TEXT    NOT NULL,
        body   TEXT    NOT NULL,
        chain  BLOB    NOT NULL,
        UNIQUE (stream, n)
    );
INSERT INTO events VALUES(1,'rv-va7ksk1f9a4q',1,1794804718970,'review_opened','{"kind":"review_opened","subject":"cli/1keqwsn0je25","rules":[{"name":"docs","scope":{"files":{"patterns":["*.md"],"each":true}},"criteria":[{"name":"Complete","question":"Is it complete?","severity":"must"},{"name":"Clear","question":"Is it clear?","severity":"must"}]}],"policy":{"attempts":"once","blocking":[{"from_round":1,"severity":"should"}],"max_stalled_rounds":3,"reuse_days":30,"accept_bare_verdicts":false,"overrides":"people-only"}}',X'ee03046f5309e7f87e52f35bfa58f1eb6eae61c83a1eacb35602aee00b323566');
INSERT INTO events VALUES(2,'rv-va7ksk1f9a4q',2,1794804718970,'submitted','{"kind":"submitted","round":1,"submission":{"digest":"324cef98a857195e857b548dd87331e5ae98ec2a72259b3ffc46e8847226993b","outputs":[{"name":"files","kind":"files"}],"files":[{"path":"a.md","output":0,"digest":"e498b98526c0eaf20019231f487c4ca2ca89a303889c9448b032098522b9835a","size_bytes":15,"content":"text"},{"path":"b.md","output":0,"digest":"8374a5318a5bfe0e6a4ec609da71c1670cfb393682896922dce80264c6a72df8","size_bytes":8,"content":"text"}]},"assignments":[{"rule":0,"target":{"file":"a.md"},"criteria":[0,1],"files":[0],"candidates":[{"reviewer":"main","kind":"asked","key":"14b29ac70621db23ef25a98c191ad37d3e06165a2012c957a13ad88b652b1121","reuse":"anywhere","place":"f0c5ad11ff6dc5424d5df88aba22e2f5f9a7f125aa61938d33e2902101845cc2"}]},{"rule":0,"target":{"file":"b.md"},"criteria":[0,1],"files":[1],"candidates":[{"reviewer":"main","kind":"asked","key":"ac836273b1f307988ff182cddd0d9c6f24270b49ff2bcd9caddc64429e8e0c48","reuse":"anywhere","place":"f0c5ad11ff6dc5424d5df88aba22e2f5f9a7f125aa61938d33e2902101845cc2"}]}]}',X'70f32f8c4c015e9925a722dfa548cf413d88388a20efc100c84993568ee43134');
INSERT INTO events VALUES(3,'rv-va7ksk1f9a4q',3,1794804718993,'asked','{"kind":"asked","round":1,"call":"ca-471k5y8ryqag","key":"14b29ac70621db23ef25a98c191ad37d3e06165a2012c957a13ad88b652b1121","reviewer":"main","place":{"programs":["/usr/bin/sh"],"variables":{"HOME":"5d4ff3e96fceeafd73f7565c63249fdfd60ca8a50f1f8c86026dbfd1f491908f"}}}',X'a654afa2ea99c7e8f6524d510045db714b3b6419badee135c22362592cedd90a');
INSERT INTO events VALUES(4,'rv-va7ksk1f9a4q',4,1794804718993,'asked','{"kind":"asked","round":1,"call":"ca-0xww4fkfgfwt","key":"ac836273b1f307988ff182cddd0d9c6f24270b49ff2bcd9caddc64429e8e0c48","reviewer":"main","place":{"programs":["/usr/bin/sh"],"variables":{"HOME":"5d4ff3e96fceeafd73f7565c63249fdfd60ca8a50f1f8c86026dbfd1f491908f"}}}',X'3d18fa96c13adb8e6913facb71a83447357e8a840010c15321c82fcc0a99aad8');
INSERT INTO events VALUES(5,'rv-va7ksk1f9a4q',5,1794804719104,'answered','{"kind":"answered","round":1,"key":"ac836273b1f307988ff182cddd0d9c6f24270b49ff2bcd9caddc64429e8e0c48","answer":{"rulings":[{"criterion":"Complete","passed":false,"feedback":"line 1"},{"criterion":"Clear","passed":true,"feedback":null}],"feedback":"f"},"by":{"call":{"call":"ca-0xww4fkfgfwt","reviewer":"main"}},"place":"f0c5ad11ff6dc5424d5df88aba22e2f5f9a7f125aa61938d33e2902101845cc2"}',X'dabd525e8f365646d3364ef44f0514115779579b2cc95ebc864ac1db95f79d3c');
INSERT INTO events VALUES(6,'rv-va7ksk1f9a4q',6,1794804719104,'answered','{"kind":"answered","round":1,"key":"14b29ac70621db23ef25a98c191ad37d3e06165a2012c957a13ad88b652b1121","answer":{"rulings":[{"criterion":"Complete","passed":true,"feedback":"line 1"},{"criterion":"Clear","passed":true,"feedback":null}],"feedback":"f"},"by":{"call":{"call":"ca-471k5y8ryqag","reviewer":"main"}},"place":"f0c5ad11ff6dc5424d5df88aba22e2f5f9a7f125aa61938d33e2902101845cc2"}',X'fa5aaa305d5a80851ad76cfa059ebc39fec0b4a5dad5b4cb6e71d6322d9067d1');
INSERT INTO events VALUES(7,'rv-va7ksk1f9a4q',7,1794804719120,'round_judged','{"kind":"round_judged","round":1,"end":"needs_work","judgement":{"blocking":[{"assignment":1,"ruling":0}],"waived":[],"unanswered":[]},"at_ms":1794804719120}',X'26404ec48888fa2ef66879e0c3a69d169af1c85607bd1d2ddf35a426eb9f8671');
INSERT INTO events VALUES(8,'rv-va7ksk1f9a4q',8,1794804719120,'settled','{"kind":"settled","outcome":"needs_work"}',X'06899acf9f4fa4dde890f3d99d89f50293b39c1a086e7da426b3de2f3e03023d');
INSERT INTO events VALUES(9,'rv-va7ksk1f9a4q',9,1794804719140,'notified','{"kind":"notified","round":1}',X'facee085bbb728f174399254c85f6dbcc3a71d81837f9e51327b592b0cd7588c');
INSERT INTO events VALUES(10,'rv-aec49pcjdc4x',1,1794804719303,'review_opened','{"kind":"review_opened","subject":"cli/dmt7kwm7dnb9","rules":[{"name":"docs","scope":{"files":{"patterns":["*.md"],"each":true}},"criteria":[{"name":"Complete","question":"Is it complete?","severity":"must"},{"name":"Clear","question":"Is it clear?","severity":"must"}]}],"policy":{"attempts":"once","blocking":[{"from_round":1,"severity":"should"}],"max_stalled_rounds":3,"reuse_days":30,"accept_bare_verdicts":false,"overrides":"people-only"}}',X'2781dd51e3b1c0bb9120601332c85a1489a5c3da37058450eefc2294d5799978');
INSERT INTO events VALUES(11,'rv-aec49pcjdc4x',2,1794804719303,'submitted','{"kind":"submitted","round":1,"submission":{"digest":"195c6f34d745d8bb4a06400ccf5139de6167aac33a3fded1b921584ed9ba8231","outputs":[{"name":"files","kind":"files"}],"files":[{"path":"a.md","output":0,"digest":"e498b98526c0eaf20019231f487c4ca2ca89a303889c9448b032098522b9835a","size_bytes":15,"content":"text"}]},"assignments":[{"rule":0,"target":{"file":"a.md"},"criteria":[0,1],"files":[0],"candidates":[{"reviewer":"main","kind":"asked","key":"14b29ac70621db23ef25a98c191ad37d3e06165a2012c957a13ad88b652b1121","reuse":"anywhere","place":"f0c5ad11ff6dc5424d5df88aba22e2f5f9a7f125aa61938d33e2902101845cc2"}]}]}',X'f74fbbf62a555b46c3d515ae2906a4a629e4609498af3e3aaac281b920aa0605');
INSERT INTO events VALUES(12,'rv-aec49pcjdc4x',3,1794804719303,'answered','{"kind":"answered","round":1,"key":"14b29ac70621db23ef25a98c191ad37d3e06165a2012c957a13ad88b652b1121","answer":{"rulings":[{"criterion":"Complete","passed":true,"feedback":"line 1"},{"criterion":"Clear","passed":true,"feedback":null}],"feedback":"f"},"by":{"reused":{"review":"rv-va7ksk1f9a4q","n":6,"reviewer":"main"}},"place":"f0c5ad11ff6dc5424d5df88aba22e2f5f9a7f125aa61938d33e2902101845cc2"}',X'2dbb6fbf506d0ae0f31eb111e6ba554732039116ef19d12343cf030e72cf1741');
INSERT INTO events VALUES(13,'rv-aec49pcjdc4x',4,1794804719352,'round_judged','{"kind":"round_judged","round":1,"end":"pass","judgement":{"blocking":[],"waived":[],"unanswered":[]},"at_ms":1794804719352}',X'4470e3e479e7dbcbf47fffef2627146e84a1d4a3aca23641dd9f6c0f89b113a1');
INSERT INTO events VALUES(14,'rv-aec49pcjdc4x',5,1794804719352,'settled','{"kind":"settled","outcome":"passed"}',X'ee24fffce16da961efdfd43077d0e271abb0fab3ffc8f972a0c57f64174c17b9');
INSERT INTO events VALUES(15,'rv-aec49pcjdc4x',6,1794804719415,'notified','{"kind":"notified","round":1}',X'9582201bf91bb2a652480011cc52b71d66318887ea2d4e6c7763a319a25f4e05');
INSERT INTO events VALUES(16,'rv-hzwk12mews9f',1,1794804719732,'review_opened','{"kind":"review_opened","subject":"cli/w76gv335zcmm","rules":[{"name":"docs","scope":{"files":{"patterns":["*.md"],"each":true}},"criteria":[{"name":"Complete","question":"Is it complete?","severity":"must"},{"name":"Clear","question":"Is it clear?","severity":"must"}]}],"policy":{"attempts":"once","blocking":[{"from_round":1,"severity":"should"}],"max_stalled_rounds":3,"reuse_days":30,"accept_bare_verdicts":false,"overrides":"people-only"}}',X'a37ef2c48d2a59087f111c79686b18e2b0fa7ab5a21b29a374c2ca8a02bc953b');
INSERT INTO events VALUES(17,'rv-hzwk12mews9f',2,1794804719732,'submitted','{"kind":"submitted","round":1,"submission":{"digest":"94c441526588d09828f2e8151c1c05d600a953bcaa723d421b42556f2dcb58b0","outputs":[{"name":"files","kind":"files"}],"files":[{"path":"a.md","output":0,"digest":"e498b98526c0eaf20019231f487c4ca2ca89a303889c9448b032098522b9835a","size_bytes":15,"content":"text"},{"path":"b.md","output":0,"digest":"61a8030d26401832b43d6b36dbff07b8ad69558ffaf5e1da46c02275c686df17","size_bytes":6,"content":"text"}]},"assignments":[{"rule":0,"target":{"file":"a.md"},"criteria":[0,1],"files":[0],"candidates":[{"reviewer":"main","kind":"asked","key":"14b29ac70621db23ef25a98c191ad37d3e06165a2012c957a13ad88b652b1121","reuse":"anywhere","place":"f0c5ad11ff6dc5424d5df88aba22e2f5f9a7f125aa61938d33e2902101845cc2"}]},{"rule":0,"target":{"file":"b.md"},"criteria":[0,1],"files":[1],"candidates":[{"reviewer":"main","kind":"asked","key":"5c49444f3a3b8733f7b11681e20b5b5f419fd2679217a5043f02878e4f0768b7","reuse":"anywhere","place":"f0c5ad11ff6dc5424d5df88aba22e2f5f9a7f125aa61938d33e2902101845cc2"}]}]}',X'8a11c855c2a2adb017ad9521382bb121b9a7f48609d27c2345a57c72a24dc3ed');
INSERT INTO events VALUES(18,'rv-hzwk12mews9f',3,1794804719732,'answered','{"kind":"answered","round":1,"key":"14b29ac70621db23ef25a98c191ad37d3e06165a2012c957a13ad88b652b1121","answer":{"rulings":[{"criterion":"Complete","passed":true,"feedback":"line 1"},{"criterion":"Clear","passed":true,"feedback":null}],"feedback":"f"},"by":{"reused":{"review":"rv-va7ksk1f9a4q","n":6,"reviewer":"main"}},"place":"f0c5ad11ff6dc5424d5df88aba22e2f5f9a7f125aa61938d33e2902101845cc2"}',X'6ab943d09756f2a877efd328122a045167d531d85908bc5910a64c11c7c9acbd');
INSERT INTO events VALUES(19,'rv-hzwk12mews9f',4,1794804719753,'asked','{"kind":"asked","round":1,"call":"ca-mf74qfgyz7vk","key":"5c49444f3a3b8733f7b11681e20b5b5f419fd2679217a5043f02878e4f0768b7","reviewer":"main","place":{"programs":["/usr/bin/sh"],"variables":{"HOME":"5d4ff3e96fceeafd73f7565c63249fdfd60ca8a50f1f8c86026dbfd1f491908f"}}}',X'68e49cd8340bbf93f6d3d9e75449303dec05197184f5c31dede1f0ef6f97d2f1');
INSERT INTO events VALUES(20,'rv-hzwk12mews9f',5,1794804719807,'answered','{"kind":"answered","round":1,"key":"5c49444f3a3b8733f7b11681e20b5b5f419fd2679217a5043f02878e4f0768b7","answer":{"rulings":[{"criterion":"Complete","passed":true,"feedback":"line 1"},{"criterion":"Clear","passed":true,"feedback":null}],"feedback":"f"},"by":{"call":{"call":"ca-mf74qfgyz7vk","reviewer":"main"}},"place":"f0c5ad11ff6dc5424d5df88aba22e2f5f9a7f125aa61938d33e2902101845cc2"}',X'f5cb4db17c0319c4393a3a9ec3895593fb76e068b42303821ed92f3dbc0d0633');
INSERT INTO events VALUES(21,'rv-hzwk12mews9f',6,1794804719856,'round_judged','{"kind":"round_judged","round":1,"end":"pass","judgement":{"blocking":[],"waived":[],"unanswered":[]},"at_ms":1794804719856}',X'bcda069313497366334182b94da902643bacda1bf1a08e7e56bd52f265e51cf3');
INSERT INTO events VALUES(22,'rv-hzwk12mews9f',7,1794804719856,'settled','{"kind":"settled","outcome":"passed"}',X'39e46609c4bd56b635a920b2014281e4c89202bfb70b58509c39ba897af6569d');
INSERT INTO events VALUES(23,'rv-hzwk12mews9f',8,1794804719899,'notified','{"kind":"notified","round":1}',X'5427b68e64fbaae5083fbc1024f4ee4e99ed1469342973206f18118508ff88aa');
CREATE TABLE reviews (
        opened_seq INTEGER PRIMARY KEY,
        id         TEXT    NOT NULL UNIQUE,
        n          INTEGER NOT NULL,
        subject    TEXT    NOT NULL,
        door       TEXT    NOT NULL,
        state      TEXT    NOT NULL,
        outcome    TEXT,
        round      INTEGER NOT NULL,
        attempts   INTEGER NOT NULL,
        digest     TEXT,
        holder     TEXT,
        opened_ms  INTEGER NOT NULL,
        changed_ms INTEGER NOT NULL
    );
INSERT INTO reviews VALUES(1,'rv-va7ksk1f9a4q',9,'cli/1keqwsn0je25','cli','settled','needs_work',1,1,'324cef98a857195e857b548dd87331e5ae98ec2a72259b3ffc46e8847226993b','bnv1sqnrxrwc',1794804718970,1794804719140);
INSERT INTO reviews VALUES(10,'rv-aec49pcjdc4x',6,'cli/dmt7kwm7dnb9','cli','settled','passed',1,0,'195c6f34d745d8bb4a06400ccf5139de6167aac33a3fded1b921584ed9ba8231','z378ftk59vtm',1794804719303,1794804719415);
INSERT INTO reviews VALUES(16,'rv-hzwk12mews9f',8,'cli/w76gv335zcmm','cli','settled','passed',1,0,'94c441526588d09828f2e8151c1c05d600a953bcaa723d421b42556f2dcb58b0','eq7xhnfkcy7j',1794804719732,1794804719899);
CREATE TABLE rulings (
        key    TEXT    PRIMARY KEY,
        stream TEXT    NOT NULL,
        n      INTEGER NOT NULL
    ) WITHOUT ROWID;
INSERT INTO rulings VALUES('14b29ac70621db23ef25a98c191ad37d3e06165a2012c957a13ad88b652b1121@f0c5ad11ff6dc5424d5df88aba22e2f5f9a7f125aa61938d33e2902101845cc2','rv-va7ksk1f9a4q',6);
INSERT INTO rulings VALUES('5c49444f3a3b8733f7b11681e20b5b5f419fd2679217a5043f02878e4f0768b7@f0c5ad11ff6dc5424d5df88aba22e2f5f9a7f125aa61938d33e2902101845cc2','rv-hzwk12mews9f',5);
INSERT INTO rulings VALUES('ac836273b1f307988ff182cddd0d9c6f24270b49ff2bcd9caddc64429e8e0c48@f0c5ad11ff6dc5424d5df88aba22e2f5f9a7f125aa61938d33e2902101845cc2','rv-va7ksk1f9a4q',5);
CREATE TABLE calls (
        id                TEXT    PRIMARY KEY,
        review            TEXT    NOT NULL,
        round             INTEGER NOT NULL,
        assignment        INTEGER,
        reviewer          TEXT    NOT NULL,
        model             TEXT,
        state             TEXT    NOT NULL,
        reserved_tokens   INTEGER NOT NULL DEFAULT 0,
        tokens_in         INTEGER,
        tokens_out        INTEGER,
        cost_microusd     INTEGER,
        reply             TEXT,
        asked_ms          INTEGER NOT NULL DEFAULT 0,
        reserved_microusd INTEGER NOT NULL DEFAULT 0
    );
INSERT INTO calls VALUES('ca-471k5y8ryqag','rv-va7ksk1f9a4q',1,0,'main',NULL,'answered',0,NULL,NULL,NULL,'{"passed": true, "feedback": "f", "criteria_results": [{"criterion": "Complete", "passed": true, "feedback": "line 1"}, {"criterion": "Clear", "passed": true}]}',1794804718993,0);
INSERT INTO calls VALUES('ca-0xww4fkfgfwt','rv-va7ksk1f9a4q',1,1,'main',NULL,'answered',0,NULL,NULL,NULL,'{"passed": false, "feedback": "f", "criteria_results": [{"criterion": "Complete", "passed": false, "feedback": "line 1"}, {"criterion": "Clear", "passed": true}]}',1794804718993,0);
INSERT INTO calls VALUES('ca-mf74qfgyz7vk','rv-hzwk12mews9f',1,1,'main',NULL,'answered',0,NULL,NULL,NULL,'{"passed": true, "feedback": "f", "criteria_results": [{"criterion": "Complete", "passed": true, "feedback": "line 1"}, {"criterion": "Clear", "passed": true}]}',1794804719753,0);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('events',23);
CREATE UNIQUE INDEX reviews_one_open ON reviews (subject) WHERE state <> 'settled';
CREATE INDEX reviews_by_subject ON reviews (subject, opened_seq);
CREATE INDEX reviews_by_state ON reviews (state, outcome);
CREATE INDEX calls_by_review ON calls (review);
CREATE INDEX calls_by_time ON calls (asked_ms);
COMMIT;
PRAGMA user_version = 2;
