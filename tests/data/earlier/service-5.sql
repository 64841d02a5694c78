-- The database of a service whose folder has version 5; ann's token is gp_FUW3_rVOWMOsu1GorkoQPa8pBwA3Qx01WFsVAboigFI
BEGIN TRANSACTION;
CREATE TABLE accounts (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,
    created TEXT NOT NULL
) STRICT;
INSERT INTO "accounts" VALUES('9e93d6c9e1c7680c','ann','custodian','2026-11-20T05:19:16.080Z');
CREATE TABLE answers (
    account TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    request TEXT NOT NULL,
    begun TEXT NOT NULL,
    status INTEGER,
    headers TEXT,
    body BLOB, process TEXT,
    PRIMARY KEY (account, key)
) STRICT;
CREATE TABLE audit_log (
    number INTEGER PRIMARY KEY,
    time TEXT NOT NULL,
    account TEXT,
    role TEXT,
    action TEXT NOT NULL,
    kind TEXT NOT NULL,
    object TEXT,
    details TEXT NOT NULL,
    hash TEXT NOT NULL
) STRICT;
INSERT INTO "audit_log" VALUES(1,'2026-11-20T05:19:16.082Z',NULL,NULL,'add','account','ann','{"role": "custodian"}','sha256:db506083f064e894a701b5c38db882c600e00dbad47fc6cd4e7ed98b03ac8914');
INSERT INTO "audit_log" VALUES(2,'2026-11-20T05:19:16.095Z','ann','custodian','sign in','session','ff091137eece','{}','sha256:dc6a6c221c96fb948e504f9d50ee0f19be708dcde1c3115420116a7397c57228');
CREATE TABLE audit_log_end (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    number INTEGER NOT NULL,
    hash TEXT NOT NULL
) STRICT;
INSERT INTO "audit_log_end" VALUES(1,2,'sha256:dc6a6c221c96fb948e504f9d50ee0f19be708dcde1c3115420116a7397c57228');
CREATE TABLE secret (only INTEGER PRIMARY KEY CHECK (only = 1), secret BLOB NOT NULL) STRICT;
INSERT INTO "secret" VALUES(1,X'DEAC784629FC76CE1CF80F6A4C7F9D60079637905331F359CEEC4C3145DA7E77');
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    token TEXT NOT NULL REFERENCES tokens (id) ON DELETE CASCADE,
    began TEXT NOT NULL,
    used TEXT NOT NULL
) STRICT;
INSERT INTO "sessions" VALUES('ff091137eece',X'2F1820154A836B560D3795372475894FCACFCA091350AC344734F57531F96AF4','3aa9b71b56cb','2026-11-20T05:19:16.088Z','2026-11-20T05:19:16.088Z');
CREATE TABLE tables (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    size INTEGER NOT NULL,
    created TEXT NOT NULL,
    UNIQUE (kind, name)
) STRICT;
CREATE TABLE tokens (
    id TEXT PRIMARY KEY,
    account TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    digest BLOB NOT NULL UNIQUE,
    created TEXT NOT NULL,
    expires TEXT NOT NULL,
    last_used TEXT
) STRICT;
INSERT INTO "tokens" VALUES('3aa9b71b56cb','9e93d6c9e1c7680c',X'1D302F271042570E2CEA20ABFD63230057C9217C6CC1211BD9CC6EC152F8ADDC','2026-11-20T05:19:16.080Z','2126-10-27T05:19:16.080Z',NULL);
CREATE TABLE uploads (
    id TEXT PRIMARY KEY,
    account TEXT NOT NULL,
    size INTEGER NOT NULL,
    suffix TEXT NOT NULL,
    created TEXT NOT NULL
) STRICT;
CREATE INDEX tokens_of_account ON tokens (account);
CREATE TRIGGER audit_log_is_not_changed BEFORE UPDATE ON audit_log
    BEGIN SELECT RAISE(ABORT, 'the audit log is only added to'); END;
CREATE TRIGGER audit_log_is_not_cut BEFORE DELETE ON audit_log
    BEGIN SELECT RAISE(ABORT, 'the audit log is only added to'); END;
COMMIT;
PRAGMA user_version = 5;
