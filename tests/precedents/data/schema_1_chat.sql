BEGIN TRANSACTION;
CREATE TABLE gcmem_chat_heard (
	scope TEXT NOT NULL, 
	session TEXT NOT NULL, 
	hashes TEXT NOT NULL, 
	PRIMARY KEY (scope, session)
);
INSERT INTO "gcmem_chat_heard" VALUES('["ann"]','s1','["db4b32aa56bd"]');
CREATE TABLE gcmem_chat_message (
	seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	scope TEXT NOT NULL, 
	session TEXT NOT NULL, 
	content TEXT NOT NULL
);
INSERT INTO "gcmem_chat_message" VALUES(1,'["ann"]','s1','one');
INSERT INTO "gcmem_chat_message" VALUES(2,'["ann"]','s1','two');
CREATE TABLE gcmem_definition (
	"match" TEXT NOT NULL, 
	scope TEXT NOT NULL, 
	cardinality VARCHAR(12) NOT NULL, 
	PRIMARY KEY ("match", scope)
);
INSERT INTO "gcmem_definition" VALUES('hobby','','multi');
CREATE TABLE gcmem_evidence (
	seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	key_id INTEGER NOT NULL, 
	precedent_id BIGINT, 
	kind VARCHAR(16) NOT NULL, 
	at BIGINT NOT NULL, 
	authority FLOAT, 
	source TEXT, 
	detail TEXT, 
	FOREIGN KEY(key_id) REFERENCES gcmem_key (id)
);
INSERT INTO "gcmem_evidence" VALUES(1,1,1,'testimony',1735689600000000,0.0,'user:1',NULL);
INSERT INTO "gcmem_evidence" VALUES(2,1,2,'testimony',1767225600000000,0.0,'user:2',NULL);
INSERT INTO "gcmem_evidence" VALUES(3,2,3,'inferred',1767312000000000,0.0,NULL,NULL);
INSERT INTO "gcmem_evidence" VALUES(4,2,3,'inferred',1767398400000000,0.0,NULL,NULL);
INSERT INTO "gcmem_evidence" VALUES(5,2,3,'inferred',1767484800000000,0.0,NULL,NULL);
INSERT INTO "gcmem_evidence" VALUES(6,3,4,'testimony',1767571200000000,0.0,NULL,NULL);
INSERT INTO "gcmem_evidence" VALUES(7,3,5,'testimony',1767657600000000,0.0,NULL,NULL);
CREATE TABLE gcmem_key (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	scope TEXT NOT NULL, 
	"match" TEXT NOT NULL, 
	text TEXT NOT NULL, 
	cardinality VARCHAR(12) NOT NULL, 
	latest_at BIGINT, 
	supports BIGINT NOT NULL, 
	CONSTRAINT gcmem_key_once UNIQUE (scope, "match")
);
INSERT INTO "gcmem_key" VALUES(1,'["ann"]','city','city','single',1767225600000000,2);
INSERT INTO "gcmem_key" VALUES(2,'["ann"]','tool','tool','single',1767484800000000,3);
INSERT INTO "gcmem_key" VALUES(3,'["ann"]','hobby','hobby','multi',1767657600000000,2);
CREATE TABLE gcmem_meta (
	name VARCHAR(40) NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "gcmem_meta" VALUES('schema_version','1');
CREATE TABLE gcmem_precedent (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	key_id INTEGER NOT NULL, 
	"match" TEXT NOT NULL, 
	value TEXT NOT NULL, 
	support BIGINT NOT NULL, 
	"conflict" BIGINT NOT NULL, 
	state VARCHAR(12), 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	recent TEXT NOT NULL, 
	pinned BOOLEAN NOT NULL, 
	authority FLOAT NOT NULL, 
	testified BOOLEAN NOT NULL, 
	fresh_support BIGINT NOT NULL, 
	fresh_conflict BIGINT NOT NULL, 
	ordinal BIGINT NOT NULL, 
	tried BIGINT NOT NULL, 
	trial_passed BOOLEAN NOT NULL, 
	undo TEXT, 
	live BOOLEAN NOT NULL, 
	"exclusive" BOOLEAN NOT NULL, 
	CONSTRAINT gcmem_precedent_once UNIQUE (key_id, "match"), 
	FOREIGN KEY(key_id) REFERENCES gcmem_key (id)
);
INSERT INTO "gcmem_precedent" VALUES(1,1,'ulm','Ulm',1,1,'Revoked',1735689600000000,1767225600000000,'',0,0.0,0,0,0,1,0,0,NULL,0,1);
INSERT INTO "gcmem_precedent" VALUES(2,1,'kiel','Kiel',1,0,'Active',1767225600000000,1767225600000000,'',0,0.0,1,1,0,2,0,0,NULL,1,1);
INSERT INTO "gcmem_precedent" VALUES(3,2,'pandas','pandas',3,0,'Active',1767312000000000,1767484800000000,'111',0,0.0,0,3,0,3,0,0,NULL,1,1);
INSERT INTO "gcmem_precedent" VALUES(4,3,'chess','chess',1,0,'Active',1767571200000000,1767571200000000,'',0,0.0,1,1,0,1,0,0,NULL,1,0);
INSERT INTO "gcmem_precedent" VALUES(5,3,'golf','golf',1,0,'Active',1767657600000000,1767657600000000,'',0,0.0,1,1,0,2,0,0,NULL,1,0);
CREATE TABLE gcmem_purge (
	seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	at BIGINT NOT NULL, 
	scope_digest VARCHAR(64) NOT NULL, 
	precedents BIGINT NOT NULL, 
	observations BIGINT NOT NULL, 
	transitions BIGINT NOT NULL
);
INSERT INTO "gcmem_purge" VALUES(1,1796068291349512,'5cb33ced8fdb33a1c8da521f85ba23a4aecc49b69f5a96272a33d50f15ef5ea7',1,1,1);
CREATE TABLE gcmem_transition (
	seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	key_id INTEGER NOT NULL, 
	precedent_id BIGINT NOT NULL, 
	"before" VARCHAR(12), 
	"after" VARCHAR(12) NOT NULL, 
	at BIGINT NOT NULL, 
	recorded_at BIGINT NOT NULL, 
	cause VARCHAR(24) NOT NULL, 
	reason TEXT NOT NULL, 
	support BIGINT NOT NULL, 
	"conflict" BIGINT NOT NULL, 
	FOREIGN KEY(key_id) REFERENCES gcmem_key (id)
);
INSERT INTO "gcmem_transition" VALUES(1,1,1,NULL,'Active',1735689600000000,1796068291323961,'testimony','the user said so',1,0);
INSERT INTO "gcmem_transition" VALUES(2,1,1,'Active','Revoked',1767225600000000,1796068291328090,'superseded','superseded by ''Kiel'': the user said so',1,1);
INSERT INTO "gcmem_transition" VALUES(3,1,2,NULL,'Active',1767225600000000,1796068291328090,'testimony','the user said so',1,0);
INSERT INTO "gcmem_transition" VALUES(4,2,3,NULL,'Hypothesis',1767312000000000,1796068291332355,'observed','first evidence of this value',1,0);
INSERT INTO "gcmem_transition" VALUES(5,2,3,'Hypothesis','Active',1767484800000000,1796068291334973,'promoted','3 supports, posterior 0.800 >= 0.6',3,0);
INSERT INTO "gcmem_transition" VALUES(6,3,4,NULL,'Active',1767571200000000,1796068291336470,'testimony','the user said so',1,0);
INSERT INTO "gcmem_transition" VALUES(7,3,5,NULL,'Active',1767657600000000,1796068291337838,'testimony','the user said so',1,0);
CREATE INDEX gcmem_definition_scope ON gcmem_definition (scope);
CREATE INDEX gcmem_key_match ON gcmem_key ("match");
CREATE UNIQUE INDEX gcmem_one_active ON gcmem_precedent (key_id) WHERE state = 'Active' AND exclusive;
CREATE INDEX gcmem_precedent_live ON gcmem_precedent (key_id, live);
CREATE INDEX gcmem_evidence_order ON gcmem_evidence (key_id, at, seq);
CREATE INDEX gcmem_transition_precedent ON gcmem_transition (precedent_id, seq);
CREATE INDEX gcmem_transition_key ON gcmem_transition (key_id, seq);
CREATE INDEX gcmem_chat_message_session ON gcmem_chat_message (scope, session, seq);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('gcmem_key',4);
INSERT INTO "sqlite_sequence" VALUES('gcmem_precedent',6);
INSERT INTO "sqlite_sequence" VALUES('gcmem_evidence',8);
INSERT INTO "sqlite_sequence" VALUES('gcmem_transition',8);
INSERT INTO "sqlite_sequence" VALUES('gcmem_chat_message',2);
INSERT INTO "sqlite_sequence" VALUES('gcmem_purge',1);
COMMIT;
