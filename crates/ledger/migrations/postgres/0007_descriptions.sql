-- The same change as in ../sqlite: whether it was read what the image of a release says of itself. A release is formed
-- before that. What was formed by earlier versions was asked once, and is left alone.

alter table release add column is_described boolean not null default true;
create index release_undescribed on release (tracker_uid) where not is_described;
