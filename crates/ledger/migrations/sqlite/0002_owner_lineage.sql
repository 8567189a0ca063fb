-- The lineage of an owner was called its track.
alter table owner rename column track to lineage;
