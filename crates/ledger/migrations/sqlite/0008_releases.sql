-- The same changes as in ../postgres: what moves releases from one environment to the next.

-- Microseconds for which the release had been live before live_since; live_since is null while it is not.
alter table entry add column live_counted bigint not null default 0;
alter table entry add column live_since bigint;
alter table entry add column restore text; -- what follows a failure, as JSON
-- What a tick may take, a page of trackers at a time; how long something has been queued; what is under way.
create index entry_queued on entry (environment, tracker_uid, since) where state = 'queued';
create index entry_oldest on entry (environment, since) where state = 'queued';
create index entry_deploying on entry (tracker_uid) where state = 'deploying';
create index entry_restoring on entry (tracker_uid, number) where restore = '"pending"';

-- Who has asked for a release, and why; null for those that followed from an observation.
alter table release add column formed_by text;
alter table release add column reason text;
-- Nothing stops a rollback, so a tick looks for them apart.
create index release_rollback on release (tracker_uid, number) where cause = 'rollback';

-- All environments that a release has ever been in; handled is the last tick that was handled, null before the first.
create table environment (
    name    text primary key,
    handled bigint
);
insert into environment (name) select distinct environment from entry;

create table hold (
    tracker_uid text not null, -- empty where the environment is held as a whole
    environment text not null,
    reason      text not null,
    held_by     text not null,
    since       bigint not null,
    primary key (tracker_uid, environment)
);

-- The name of the tracker's objects in clusters; null in rows of earlier versions, until another tracker is made.
alter table tracker add column owner_name text;
create index tracker_owner_name on tracker (owner_name) where deleted is null;
