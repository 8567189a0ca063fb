-- Changes are of topics: owners were the only subject. The table is made anew, for SQLite cannot drop
-- a column that references another table; it has about 100,000 rows at most, so one statement moves
-- them in well under a second. A subject is no foreign key, since what it names depends on the topic;
-- that of `lineage` is the uid of an owner, which is unique, so joins find it by that index.
alter table change rename to owner_change;

create table change (
    sequence integer primary key autoincrement,
    topic    text not null,
    subject  text not null,
    time     bigint not null,
    what     text not null
);

insert into change (sequence, topic, subject, time, what)
select owner_change.sequence, 'lineage', owner.uid, owner_change.time, owner_change.what
from owner_change join owner on owner.id = owner_change.owner
order by owner_change.sequence;

-- No sequence is ever given out twice, also if the newest changes have been removed.
delete from sqlite_sequence where name = 'change';
insert into sqlite_sequence (name, seq)
select 'change', seq from sqlite_sequence where name = 'owner_change';

-- For the changes of one topic after a sequence.
create index change_topic on change (topic, sequence);

-- The newest change of each topic that is no longer kept.
create table trimmed_change (
    topic    text primary key,
    sequence bigint not null
);

insert into trimmed_change (topic, sequence)
select 'lineage', min(sequence) - 1 from owner_change having min(sequence) > 1;

drop table owner_change;
